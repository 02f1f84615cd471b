//! WGSL texts through naga: parsed, validated, written as SPIR-V and reflected, one stage at a time.

use crate::block::{Block, Member, Type};
use rgraph_ir::error::Code;

use crate::constant::{Constant, Constants, SpecConstant};
use crate::error::{self, ShaderError};
use crate::excerpt::{Label, in_text};
use crate::inline::MOST_INSTRUCTIONS;
use crate::interface::{Binding, BindingKind, Length};
use crate::language::Language;
use crate::naga_type;
use crate::nesting;
use crate::pointers::{self, Refused};
use crate::stage::{Module, Stage};
use crate::stage_interface::{StageInterface, Varying};
use crate::wgsl_absent;
use crate::wgsl_inline::{self, Explodes};
use crate::wgsl_spell::spell;
use naga::back::pipeline_constants::PipelineConstantError;
use naga::back::{PipelineConstants, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, EntryPointError, GlobalUse, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{AddressSpace, Expression, Handle, Literal, ScalarKind, ShaderStage, TypeInner, WithSpan};
use std::borrow::Cow;

/// Most bytes of push data in WGSL.
const MOST_PUSHED: u32 = 256;

/// A text that is valid.
pub(crate) struct Text<'a> {
    name: &'a str,
    /// What was compiled: the user's text after `lead` bytes.
    text: Cow<'a, str>,
    lead: usize,
    module: naga::Module,
    info: ModuleInfo,
    /// Values of overrides by their numbers, or their names where they have none.
    values: PipelineConstants,
    /// Lengths of arrays of bindings that the text leaves open.
    lengths: Vec<Length>,
}

impl<'a> Text<'a> {
    /// Parses and validates a text.
    pub(crate) fn new(name: &'a str, text: &'a str) -> Result<Self, ShaderError> {
        nesting::guard(name, Language::Wgsl, text)?;
        let (text, lead) = spell(text);
        let mut new = Self {
            name,
            text,
            lead,
            module: naga::Module::default(),
            info: ModuleInfo::default(),
            values: PipelineConstants::default(),
            lengths: Vec::new(),
        };
        new.module = naga::front::wgsl::parse_str(&new.text).map_err(|fault| new.wgsl_error(&fault))?;
        if let Some((handle, name)) = new.external() {
            let span = new.module.global_variables.get_span(handle);
            let help = "use texture_2d<f32>: frames of a video are images here, a new array for each run";
            let message = format!("'{name}': external textures are not supported");
            return Err(new.error(Code::Unsupported, message, &[(span, String::new())], help.to_owned()));
        }
        new.check_push()?;
        pointers::resolve(&mut new.module).map_err(|Refused { at, message, help }| {
            new.error(Code::BadShader, message, &[(at, String::new())], help.to_owned())
        })?;
        let unsupported = Capabilities::MESH_SHADER
            | Capabilities::MESH_SHADER_POINT_TOPOLOGY
            | Capabilities::RAY_QUERY
            | Capabilities::RAY_HIT_VERTEX_POSITION
            | Capabilities::RAY_TRACING_PIPELINE
            | Capabilities::COOPERATIVE_MATRIX;
        let mut validator = Validator::new(ValidationFlags::all(), spv::supported_capabilities() - unsupported);
        new.info = validator.validate(&new.module).map_err(|fault| new.invalid(&fault))?;
        wgsl_inline::check(&new.module).map_err(|Explodes { function, at }| {
            let message =
                format!("'{function}' has more than {MOST_INSTRUCTIONS} instructions once its calls are inlined");
            let help = "call fewer functions, or loop: a driver copies a function's code to each of its calls";
            new.error(Code::BadShader, message, &[(at, String::new())], help.to_owned())
        })?;
        Ok(new)
    }

    /// A texture of browsers alone, a frame of a video that the shader does not know the planes of.
    fn external(&self) -> Option<(Handle<naga::GlobalVariable>, &str)> {
        let class = |ty: &TypeInner| matches!(ty, TypeInner::Image { class: naga::ImageClass::External, .. });
        let mut variables = self.module.global_variables.iter();
        let (handle, variable) = variables.find(|(_, variable)| class(&self.module.types[variable.ty].inner))?;
        Some((handle, variable.name.as_deref().unwrap_or("a texture")))
    }

    /// Refuses push data that naga (30) has no bits for: it counts the words of a block in 64 bits, without a check.
    fn check_push(&self) -> Result<(), ShaderError> {
        let size = |variable: &naga::GlobalVariable| self.module.types[variable.ty].inner.size(self.module.to_ctx());
        let push = |variable: &naga::GlobalVariable| variable.space == AddressSpace::Immediate;
        let mut variables = self.module.global_variables.iter();
        match variables.find(|(_, variable)| push(variable) && size(variable) > MOST_PUSHED) {
            None => Ok(()),
            Some((handle, variable)) => {
                let name = variable.name.as_deref().unwrap_or("push data");
                let message = format!("'{name}' is push data of {} bytes; {MOST_PUSHED} is the most", size(variable));
                let help = "make it a uniform block: @group(0) @binding(0) var<uniform>".to_owned();
                let span = self.module.global_variables.get_span(handle);
                Err(self.error(Code::Unsupported, message, &[(span, String::new())], help))
            }
        }
    }

    /// Entry points in the order of the text; those of stages that are not supported are left out.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Stage, &str)> {
        self.module.entry_points.iter().filter_map(|entry| {
            let (stage, _) = NAGA_STAGES.into_iter().find(|(_, naga)| *naga == entry.stage)?;
            Some((stage, entry.name.as_str()))
        })
    }

    /// Writes one entry point as SPIR-V and says what it asks for.
    pub(crate) fn part(&self, stage: Stage, entry: &str) -> Result<StageInterface, ShaderError> {
        let absent = || error::plain(Code::EntryPoint, self.name, format!("there is no entry point '{entry}'"), "");
        let (_, naga_stage) = NAGA_STAGES.into_iter().find(|(ours, _)| *ours == stage).ok_or_else(absent)?;
        let chosen = Some((naga_stage, entry));
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(&self.module, &self.info, chosen, &self.values)
                .map_err(|fault| self.no_value(&fault))?;
        let mut spirv = spv::write_vec(
            &module,
            &info,
            &options(self.open_arrays(&module)),
            Some(&spv::PipelineOptions { shader_stage: naga_stage, entry_point: entry.to_owned() }),
        )
        .map_err(|fault| {
            error::plain(Code::BadShader, self.name, format!("it cannot be written as SPIR-V: {fault}"), "")
        })?;
        crate::spirv::layout::fix(&mut spirv);
        crate::spirv::sample_mask::fix(&mut spirv);
        let index = module
            .entry_points
            .iter()
            .position(|point| point.stage == naga_stage && point.name == entry)
            .ok_or_else(absent)?;
        let point = &module.entry_points[index];
        let mut part = StageInterface {
            module: Module { stage, entry: entry.to_owned(), spirv },
            bindings: Vec::new(),
            refused: Vec::new(),
            push: None,
            unused_push: false,
            workgroup: if stage == Stage::Compute { point.workgroup_size } else { [0; 3] },
            inputs: Vec::new(),
            outputs: Vec::new(),
            writes_depth: false,
            unused: Vec::new(),
            parts: 0,
        };
        let uses = info.get_entry_point(index);
        for (handle, variable) in module.global_variables.iter() {
            if variable.binding.is_none() && variable.space != AddressSpace::Immediate {
                continue;
            }
            self.global(&module, handle, uses[handle], stage, &mut part)?;
        }
        // Of what process_overrides dropped because no entry point uses it, the names are still in the first module.
        for (_, variable) in self.module.global_variables.iter() {
            let Some(name) = variable.name.as_ref().filter(|_| variable.binding.is_some()) else { continue };
            if !part.bindings.iter().any(|binding| binding.name == *name) && !part.unused.contains(name) {
                part.unused.push(name.clone());
            }
        }
        let pushes =
            |module: &naga::Module| module.global_variables.iter().any(|(_, of)| of.space == AddressSpace::Immediate);
        part.unused_push = part.push.is_none() && pushes(&self.module);
        for argument in &point.function.arguments {
            self.varyings(&module, argument.name.as_deref(), argument.ty, argument.binding.as_ref(), true, &mut part)?;
        }
        if let Some(result) = &point.function.result {
            self.varyings(&module, None, result.ty, result.binding.as_ref(), false, &mut part)?;
        }
        Ok(part)
    }

    /// The overrides that it declares.
    pub(crate) fn constants(&self) -> Vec<SpecConstant> {
        let number = |scalar: naga::Scalar, value: Literal| match (value, scalar.kind) {
            (Literal::Bool(value), _) => Some(Constant::Bool(value)),
            (Literal::I32(value), _) => Some(Constant::Int(value.into())),
            (Literal::U32(value), _) => Some(Constant::Int(value.into())),
            (Literal::F32(value), _) => {
                value.to_string().parse().ok().map(|value: f64| Constant::Float(value.to_bits()))
            }
            (Literal::F16(value), _) => Some(Constant::Float(f64::from(value).to_bits())),
            (Literal::AbstractInt(value), ScalarKind::Float) => Some(Constant::Float((value as f64).to_bits())),
            (Literal::AbstractInt(value), _) => Some(Constant::Int(value.into())),
            (Literal::AbstractFloat(value), _) => Some(Constant::Float(value.to_bits())),
            _ => None,
        };
        let all = self.module.overrides.iter().filter_map(|(_, one)| {
            let TypeInner::Scalar(scalar) = self.module.types[one.ty].inner else { return None };
            let default = one.init.and_then(|init| match self.module.global_expressions[init] {
                Expression::Literal(value) => number(scalar, value),
                _ => None,
            });
            let (name, id) = (one.name.clone().unwrap_or_default(), one.id.map(u32::from));
            let scalar = naga_type::number(scalar).ok()?;
            Some(SpecConstant { name, id, scalar, default, required: one.init.is_none() })
        });
        all.collect()
    }

    /// Gives overrides values.
    ///
    /// # Errors
    /// `RG-E306` if a value does not fit its type.
    pub(crate) fn specialize(&mut self, given: &Constants) -> Result<(), ShaderError> {
        for constant in self.constants() {
            if let Some((value, _)) = given.find(self.name, &constant)? {
                let key = constant.id.map_or(constant.name, |id| id.to_string());
                self.values.insert(key, value.as_f64());
            }
        }
        Ok(())
    }

    /// Gives overrides that have no value the value 1.
    pub(crate) fn assume_values(&mut self) {
        for constant in self.constants().into_iter().filter(|constant| constant.required) {
            let key = constant.id.map_or(constant.name, |id| id.to_string());
            self.values.entry(key).or_insert(1.0);
        }
    }

    /// Gives lengths to arrays of bindings that the text leaves open.
    pub(crate) fn set_lengths(&mut self, lengths: &[Length]) {
        self.lengths = lengths.to_vec();
    }

    /// Where the arrays of bindings of open length are, and how long; until that is known, as short as they can be.
    fn open_arrays(&self, module: &naga::Module) -> spv::BindingMap {
        let open = |variable: &naga::GlobalVariable| {
            let TypeInner::BindingArray { size: naga::ArraySize::Dynamic, .. } = module.types[variable.ty].inner else {
                return None;
            };
            let naga::ResourceBinding { group, binding } = variable.binding?;
            let length = self.lengths.iter().find(|length| (length.group, length.binding) == (group, binding));
            let size = Some(length.map_or(1, |length| length.count));
            let info = spv::BindingInfo { descriptor_set: group, binding, binding_array_size: size };
            Some((naga::ResourceBinding { group, binding }, info))
        };
        module.global_variables.iter().filter_map(|(_, variable)| open(variable)).collect()
    }

    fn no_value(&self, fault: &PipelineConstantError) -> ShaderError {
        let PipelineConstantError::MissingValue(key) = fault else {
            return error::plain(Code::BadShader, self.name, fault.to_string(), "give the overrides other values");
        };
        let id = |one: &naga::Override| one.id.map(|id| id.to_string());
        let found = self
            .module
            .overrides
            .iter()
            .find(|(_, one)| one.name.as_ref() == Some(key) || id(one).as_ref() == Some(key));
        let (name, span) = found.map_or((key.as_str(), naga::Span::default()), |(handle, one)| {
            (one.name.as_deref().unwrap_or(key), self.module.overrides.get_span(handle))
        });
        let help = format!("give it one: constants={{\"{name}\": …}}, or in the shader: `override {name}: f32 = 1.0;`");
        self.error(Code::BadShader, format!("override '{name}' has no value"), &[(span, String::new())], help)
    }

    fn global(
        &self,
        module: &naga::Module,
        handle: Handle<naga::GlobalVariable>,
        uses: GlobalUse,
        stage: Stage,
        part: &mut StageInterface,
    ) -> Result<(), ShaderError> {
        if uses.is_empty() {
            return Ok(());
        }
        let variable = &module.global_variables[handle];
        let named = &module.types[variable.ty];
        let name = match (&variable.name, &variable.binding) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Some(at)) => named.name.clone().unwrap_or_else(|| format!("group{}_binding{}", at.group, at.binding)),
            _ => "push".to_owned(),
        };
        let unsupported = |why: String| {
            let span = module.global_variables.get_span(handle);
            self.error(Code::Unsupported, format!("'{name}': {why}"), &[(span, String::new())], String::new())
        };
        let Some(at) = variable.binding else {
            let ty = naga_type::layout(module, variable.ty, &mut part.parts).map_err(unsupported)?;
            part.push = Some((name.clone(), as_block(&name, ty)));
            return Ok(());
        };
        let (ty, count) = match named.inner {
            TypeInner::BindingArray { base, size: naga::ArraySize::Constant(len) } => (base, len.get()),
            TypeInner::BindingArray { base, .. } => (base, 0),
            _ => (variable.ty, 1),
        };
        let kind = match (naga_type::opaque(&module.types[ty].inner), variable.space) {
            (Some(kind), _) => kind.map_err(unsupported)?,
            (None, AddressSpace::Uniform) => BindingKind::Uniform,
            (None, _) => BindingKind::Storage,
        };
        let layout = match kind {
            BindingKind::Uniform | BindingKind::Storage => {
                Some(naga_type::layout(module, ty, &mut part.parts).map_err(unsupported)?)
            }
            _ => None,
        };
        part.bindings.push(Binding {
            name,
            group: at.group,
            binding: at.binding,
            count,
            kind,
            stages: stage.stages(),
            reads: uses.intersects(GlobalUse::READ | GlobalUse::ATOMIC),
            writes: uses.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
            ty: layout,
        });
        Ok(())
    }

    fn varyings(
        &self,
        module: &naga::Module,
        name: Option<&str>,
        ty: Handle<naga::Type>,
        binding: Option<&naga::Binding>,
        input: bool,
        part: &mut StageInterface,
    ) -> Result<(), ShaderError> {
        match binding {
            None => {
                if let TypeInner::Struct { members, .. } = &module.types[ty].inner {
                    for member in members.iter().filter(|member| member.binding.is_some()) {
                        self.varyings(module, member.name.as_deref(), member.ty, member.binding.as_ref(), input, part)?;
                    }
                }
            }
            Some(naga::Binding::BuiltIn(naga::BuiltIn::FragDepth)) => part.writes_depth |= !input,
            Some(naga::Binding::BuiltIn(_)) => {}
            // The second source of dual source blending has no target of its own.
            Some(naga::Binding::Location { blend_src: Some(1), .. }) => {}
            Some(naga::Binding::Location { location, .. }) => {
                let name = name.map_or_else(|| format!("location{location}"), str::to_owned);
                let (scalar, components) = naga_type::varying(module, ty)
                    .map_err(|why| error::plain(Code::Unsupported, self.name, format!("'{name}': {why}"), ""))?;
                let list = if input { &mut part.inputs } else { &mut part.outputs };
                list.push(Varying { name, location: *location, component: 0, scalar, components });
            }
        }
        Ok(())
    }

    fn error(&self, code: Code, message: String, spans: &[(naga::Span, String)], help: String) -> ShaderError {
        let labels: Vec<Label> = spans
            .iter()
            .filter_map(|(span, text)| {
                let range = span.to_range()?;
                let lead = self.lead;
                Some(Label {
                    span: range.start.saturating_sub(lead)..range.end.saturating_sub(lead),
                    text: text.clone(),
                })
            })
            .collect();
        in_text(code, self.name, &self.text[self.lead..], message, &labels, help)
    }

    fn wgsl_error(&self, fault: &naga::front::wgsl::ParseError) -> ShaderError {
        // Where a label only points back at the message, the carets say enough.
        let ours = |text: &str| if text == "see msg" { String::new() } else { text.to_owned() };
        let spans: Vec<_> = fault.labels().map(|(span, text)| (span, ours(text))).collect();
        if let Some((message, help)) = wgsl_absent::constant(fault.message()) {
            return self.error(Code::BadShader, message, &spans, help);
        }
        let called = spans.first().and_then(|(span, _)| self.text.get(span.to_range()?)).unwrap_or_default();
        // Of an element of a result the span is the whole expression.
        let called = called.split('(').next().unwrap_or_default();
        let help = wgsl_absent::untyped(called).filter(|_| fault.message().contains("to a concrete type"));
        if let Some(help) = help {
            let message = format!("'{called}' of numbers without a type");
            return self.error(Code::BadShader, message, &spans, help.to_owned());
        }
        let notes: Vec<&str> = fault.notes().take(6).collect();
        self.error(Code::BadShader, fault.message().to_owned(), &spans, notes.join("; "))
    }

    fn invalid(&self, fault: &WithSpan<ValidationError>) -> ShaderError {
        // Naga names the arenas of its representation in labels and messages; nobody outside it knows them.
        let ours = |text: &str| if text.starts_with("naga::") { String::new() } else { text.to_owned() };
        let spans: Vec<_> = fault.spans().map(|(span, text)| (*span, ours(text))).collect();
        if let ValidationError::EntryPoint { source: EntryPointError::BindingCollision(handle), .. } = fault.as_inner()
        {
            let name = self.module.global_variables[*handle].name.as_deref().unwrap_or("a variable");
            let message = format!("'{name}' has the group and the binding of another variable");
            return self.error(Code::Unsupported, message, &spans, "give it a binding of its own".to_owned());
        }
        let mut message = fault.as_inner().to_string();
        let mut source = std::error::Error::source(fault.as_inner());
        while let Some(inner) = source {
            message = format!("{}: {inner}", message.trim_end_matches('.'));
            source = inner.source();
        }
        let help = match message.contains("forbidden at this stage") {
            true => "only fragment stages have derivatives: sample with a level (textureSampleLevel, textureLod)",
            false => "",
        };
        self.error(Code::BadShader, without_handles(&message), &spans, help.to_owned())
    }
}

/// A message of naga without its indices: `Function [3] 'f'` is `Function 'f'`.
fn without_handles(message: &str) -> String {
    let mut parts = message.split(" [");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((digits, rest)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                out.push_str(rest)
            }
            _ => {
                out.push_str(" [");
                out.push_str(part);
            }
        }
    }
    out
}

/// Push data is always a struct: a bare variable becomes the one member of its name.
fn as_block(name: &str, ty: Type) -> Type {
    match ty {
        Type::Struct(_) => ty,
        ty => {
            let size = ty.size();
            Type::Struct(Block {
                name: String::new(),
                members: vec![Member { name: name.to_owned(), offset: 0, ty }],
                size,
            })
        }
    }
}

/// The stages of WGSL that programs have, with naga's.
const NAGA_STAGES: [(Stage, ShaderStage); 3] = [
    (Stage::Compute, ShaderStage::Compute),
    (Stage::Vertex, ShaderStage::Vertex),
    (Stage::Fragment, ShaderStage::Fragment),
];

/// SPIR-V 1.3 with names, Vulkan's clip space as it is, and no access beyond what there is, whatever the device's
/// robustness: an index outside becomes one inside, texels outside read as zero. (Naga could skip accesses of buffers
/// instead, but not atomic ones.) An array of open length must have an element. Points have a size of one texel, which
/// WGSL cannot write and Vulkan wants written (VUID-VkGraphicsPipelineCreateInfo-Vertex-07722); draws of lines and
/// triangles ignore it.
fn options(binding_map: spv::BindingMap) -> spv::Options<'static> {
    spv::Options {
        binding_map,
        lang_version: (1, 3),
        flags: spv::WriterFlags::DEBUG
            | spv::WriterFlags::LABEL_VARYINGS
            | spv::WriterFlags::CLAMP_FRAG_DEPTH
            | spv::WriterFlags::FORCE_POINT_SIZE,
        fake_missing_bindings: true,
        // The driver's zeros: naga's own are written by one invocation, element by element, which takes some compilers
        // minutes.
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::ReadZeroSkipWrite,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        ..spv::Options::default()
    }
}
