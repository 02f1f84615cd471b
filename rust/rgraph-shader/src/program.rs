//! Programs: one compute stage, or the stages of a raster or a ray-tracing pipeline, ready for it.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rgraph_ir::access::Stages;
use rgraph_ir::error::Code;
use rgraph_ir::feature::Features;

use crate::constant::{Constants, NONE};
use crate::error::{self, ShaderError};
use crate::interface::{Interface, Length};
use crate::language::Language;
use crate::link;
use crate::loaded::Loaded;
use crate::points::Points;
use crate::source::{Given, GivenCode, Source};
use crate::stage::{Kind, Module, Stage};
use crate::stage_interface::StageInterface;
use crate::text::Text;

/// A compute program, or the stages of a raster program. [`Program::new`] is the only way to one, and
/// nothing changes its code: drivers trust it, and pipelines are known by it. Its fields are those of [`Parts`], which
/// programs of the same sources share; the name is each one's own.
///
/// ```compile_fail,E0594
/// fn edit(program: &mut rgraph_shader::Program) {
///     program.hash = 0;
/// }
/// ```
/// ```compile_fail,E0596
/// fn edit(program: &mut rgraph_shader::Program) {
///     program.sources.clear();
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The shader's name in messages; empty: that of its pass.
    pub name: Arc<str>,
    parts: Arc<Parts>,
}

/// The fields of a [`Program`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Parts {
    /// What it is for.
    pub kind: Kind,
    /// Its stages; a raster program without a fragment stage writes depth only.
    pub modules: Arc<[Module]>,
    /// What it asks of its pass.
    pub interface: Interface,
    /// A hash of all its code: equal programs have equal hashes, but others may, too.
    pub hash: u64,
    /// The sources that it was compiled from.
    pub sources: Vec<Given>,
    /// The entry points that were asked for.
    pub entry: Option<String>,
    /// The values that were given to its constants.
    pub constants: Constants,
    /// Optional features that a device needs to run it.
    pub needs: Features,
    /// The lengths that its arrays of open length got when they were bound, in order; none while they are open.
    pub lengths: Vec<Length>,
}

impl Deref for Program {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

static COMPILED: AtomicU64 = AtomicU64::new(0);

/// Stack of the thread that compiles: naga's front ends and back ends recurse, and so does glslang. Reserved, not used,
/// unless a text is deep.
const STACK: usize = 128 << 20;

/// Does what recurses on a thread with a large stack, and turns a panic into an error.
pub(crate) fn on_large_stack<T: Send>(
    name: &str,
    work: impl FnOnce() -> Result<T, ShaderError> + Send,
) -> Result<T, ShaderError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("rgraph shader".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| {
                let cause = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                let help = "simplify the shader, or give it as SPIR-V; please report the shader";
                Err(error::plain(Code::BadShader, name, format!("the compiler failed on it: {cause}"), help))
            }),
            Err(fault) => {
                let message = format!("there is no thread to compile it: {fault}");
                Err(error::plain(Code::BadShader, name, message, "free memory or threads"))
            }
        }
    })
}

/// The vertex stage of programs that have only a fragment stage: one triangle that covers everything, `uv` (0, 0) at
/// the top left.
const FULL_SCREEN: &str = "
struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }
@vertex fn full_screen(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv * 2.0 - 1.0, 0.0, 1.0), uv);
}
";

/// Most shaders of a ray-tracing program.
const MOST_RAY_SHADERS: usize = 4096;

impl Program {
    /// The language that a text seems to be in: GLSL if it says `#version`, else WGSL.
    pub fn language_of(text: &str) -> Language {
        Language::of(text)
    }

    /// Compiles sources into the stages of a program and joins what they ask of their pass. `name` is for messages.
    ///
    /// A compute program has one source; a raster program one source with a vertex and a fragment stage (or only a
    /// vertex stage: depth only), or one with only a fragment stage (a triangle that covers the target is then
    /// supplied, to be drawn as three vertices, at depth 0, with `@location(0) uv: vec2<f32>`), or a source for each
    /// stage, in the order of a pipeline: vertex, tessellation control and evaluation, geometry, fragment; or task,
    /// mesh, fragment. A ray-tracing program has a source for each shader, at most 4,096, in GLSL or SPIR-V. `entry`
    /// chooses where there are several entry points; of a program with several stages it may name several, with commas.
    ///
    /// Coordinates are Vulkan's in every language, nothing is flipped: (-1, -1) in clip space and (0, 0) of `uv` and
    /// of fragment coordinates are the top left of the picture, whose first texel is (0, 0). Depth goes from 0 to 1.
    ///
    /// WGSL is compiled so that no access leaves its resource: an index outside an array becomes one inside, texels
    /// outside an image read as zero and are not written. GLSL and SPIR-V are passed on unchanged: there the device's
    /// robust access keeps accesses of buffers and images inside, and an index outside an array of the shader's own is
    /// undefined, as it is in GLSL.
    ///
    /// # Errors
    /// `RG-E301` it does not compile, `RG-E302` entry points, `RG-E303` stages that do not fit each other,
    /// `RG-E304` bindings that clash or are not supported, `RG-E305` bad SPIR-V.
    pub fn new(name: &str, kind: Kind, sources: &[Source<'_>], entry: Option<&str>) -> Result<Self, ShaderError> {
        Self::specialized(name, kind, sources, entry, &NONE)
    }

    /// The same with values for its constants: WGSL's `override`, specialization constants of GLSL and SPIR-V. They are
    /// in the code of the program, so its workgroups, layouts and pipelines are those of the values. A name holds in
    /// every stage that has it.
    ///
    /// # Errors
    /// As [`Program::new`]; `RG-E308`: no stage has a constant of that name; `RG-E306`: the value does not fit.
    pub fn specialized(
        name: &str,
        kind: Kind,
        sources: &[Source<'_>],
        entry: Option<&str>,
        constants: &Constants,
    ) -> Result<Self, ShaderError> {
        Self::with(name, kind, sources, entry, constants, &[])
    }

    /// The same, with lengths for arrays of bindings.
    pub(crate) fn with(
        name: &str,
        kind: Kind,
        sources: &[Source<'_>],
        entry: Option<&str>,
        constants: &Constants,
        lengths: &[Length],
    ) -> Result<Self, ShaderError> {
        COMPILED.fetch_add(1, Ordering::Relaxed);
        on_large_stack(name, || Self::compile(name, kind, sources, entry, constants, lengths))
    }

    /// How many programs this process compiled or tried to, so far: what is remembered is not counted again.
    pub fn compiled_so_far() -> u64 {
        COMPILED.load(Ordering::Relaxed)
    }

    /// How many texts of GLSL this process compiled or tried to, so far: programs that are remembered and texts that
    /// were found on disk (`RGRAPH_SHADER_CACHE`) are not counted.
    pub fn glsl_compiled_so_far() -> u64 {
        crate::glsl::compiled_so_far()
    }

    fn compile(
        name: &str,
        kind: Kind,
        sources: &[Source<'_>],
        entry: Option<&str>,
        constants: &Constants,
        lengths: &[Length],
    ) -> Result<Self, ShaderError> {
        let most = match kind {
            Kind::Compute => 1,
            Kind::Raster => 5,
            Kind::RayTracing => MOST_RAY_SHADERS,
        };
        if sources.is_empty() || sources.len() > most {
            let message =
                format!("it has {} sources; this kind of program has at least one and at most {most}", sources.len());
            return Err(error::plain(Code::EntryPoint, name, message, ""));
        }
        let mut loaded = Loaded::all(name, sources, kind)?;
        let declared = Loaded::specialize(name, &mut loaded, constants)?;
        loaded.iter_mut().for_each(|loaded| loaded.set_lengths(lengths));
        let points = Points::new(name, &loaded, entry)?;
        let mut parts = Vec::new();
        let mut supplied = false;
        if kind == Kind::Compute {
            let (source, entry) = points.pick(Stage::Compute)?.ok_or_else(|| points.none("compute"))?;
            parts.push(loaded[source].part(Stage::Compute, entry)?);
        } else if kind == Kind::RayTracing {
            for (source, loaded) in loaded.iter().enumerate() {
                let (stage, entry) = points.pick_ray(source)?;
                parts.push(loaded.part(stage, entry)?);
            }
        } else {
            for stage in Stage::RASTER {
                if let Some((source, entry)) = points.pick(stage)? {
                    parts.push(loaded[source].part(stage, entry)?);
                }
            }
            match parts.as_slice() {
                [] => return Err(points.none("vertex or fragment")),
                [one] if one.module.stage == Stage::Fragment => {
                    supplied = true;
                    let corners = Text::new("full screen", FULL_SCREEN)?;
                    parts.insert(0, corners.part(Stage::Vertex, "full_screen")?);
                }
                _ => together(name, &parts)?,
            }
        }
        let mut interface = match kind {
            Kind::RayTracing => link::merge(name, &parts)?,
            _ => link::join(name, &parts).map_err(|fault| if supplied { supplied_help(fault) } else { fault })?,
        };
        interface.constants = declared;
        let modules: Vec<Module> = parts.into_iter().map(|part| part.module).collect();
        let hash = hash(&modules);
        let sources = sources.iter().map(|source| Given::from(GivenCode::of(*source))).collect();
        let needs = needs(&modules, &interface);
        let (modules, entry, constants) = (modules.into(), entry.map(str::to_owned), constants.clone());
        let lengths = lengths.to_vec();
        let parts = Parts { kind, modules, interface, hash, sources, entry, constants, needs, lengths };
        Ok(Self { name: name.into(), parts: Arc::new(parts) })
    }

    /// Its fields, to be changed before anybody else has them.
    pub(crate) fn parts_mut(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.parts)
    }

    /// The same program, of sources that say where they were read.
    pub(crate) fn given(mut self, sources: Vec<Given>) -> Self {
        self.parts_mut().sources = sources;
        self
    }

    /// The same program under another name.
    pub fn renamed(&self, name: &str) -> Self {
        Self { name: name.into(), parts: Arc::clone(&self.parts) }
    }

    /// Whether both were compiled once, from the same sources.
    pub fn shares_code(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts)
    }
}

/// Optional features by the capabilities of the code, and by the stages that store (Vulkan 1.3, "Features":
/// `fragmentStoresAndAtomics`, `vertexPipelineStoresAndAtomics`).
pub(crate) fn needs(modules: &[Module], interface: &Interface) -> Features {
    const BEFORE_FRAGMENTS: Stages = Stages::VERTEX_SHADER
        .union(Stages::TESSELLATION_CONTROL_SHADER)
        .union(Stages::TESSELLATION_EVALUATION_SHADER)
        .union(Stages::GEOMETRY_SHADER);
    let stores = [
        (Stages::FRAGMENT_SHADER, Features::FRAGMENT_STORES_AND_ATOMICS),
        (BEFORE_FRAGMENTS, Features::VERTEX_PIPELINE_STORES_AND_ATOMICS),
    ];
    let written = |stages| interface.bindings.iter().any(|one| one.writes && one.stages.intersects(stages));
    let by_stores = stores.into_iter().filter(|(stages, _)| written(*stages)).map(|(_, feature)| feature);
    let capabilities = modules.iter().flat_map(Module::capabilities);
    by_stores.chain(capabilities.map(Features::of_capability)).collect()
}

/// Refuses stages that do not make a pipeline (Vulkan 1.3, "Graphics Pipelines": a vertex or a mesh stage begins it,
/// both tessellation stages or none).
fn together(name: &str, parts: &[StageInterface]) -> Result<(), ShaderError> {
    let has = |stage: Stage| parts.iter().any(|part| part.module.stage == stage);
    let (control, evaluation) = (has(Stage::TessellationControl), has(Stage::TessellationEvaluation));
    let (message, help) = if has(Stage::Mesh) && parts.iter().any(|part| part.module.stage.reads_vertices()) {
        (
            "it has a mesh stage, and stages behind a vertex stage",
            "keep task, mesh and fragment, or leave out the mesh stage",
        )
    } else if has(Stage::Task) && !has(Stage::Mesh) {
        ("it has a task stage without a mesh stage", "add the mesh stage")
    } else if !has(Stage::Mesh) && !has(Stage::Vertex) {
        ("it has no vertex stage", "add a vertex stage in front of the others")
    } else if control && !evaluation {
        ("it has a tessellation control stage without an evaluation stage", "add the tessellation evaluation stage")
    } else if evaluation && !control {
        ("it has a tessellation evaluation stage without a control stage", "add the tessellation control stage")
    } else {
        return Ok(());
    };
    Err(error::plain(Code::EntryPoint, name, message.to_owned(), help))
}

/// What the supplied vertex stage writes is known, so its help says more.
fn supplied_help(mut fault: ShaderError) -> ShaderError {
    if fault.code == Code::StageMismatch {
        fault.help =
            "the supplied vertex stage writes location 0: 'uv' vec2<f32>, (0, 0) at the top left; for others, \
                      add a vertex stage"
                .to_owned();
    }
    fault
}

/// FNV-1a over stages, entry points and code.
pub(crate) fn hash(modules: &[Module]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |word: u32| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for module in modules {
        eat(module.stage as u32);
        eat(module.entry.len() as u32);
        module.entry.bytes().for_each(|byte| eat(u32::from(byte)));
        eat(module.spirv.len() as u32);
        module.spirv.iter().for_each(|word| eat(*word));
    }
    hash
}
