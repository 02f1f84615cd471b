//! Requirements of shaders on the resources that are bound to them, checked against the declaration.

use std::sync::Arc;

use rgraph_ir::access::Aspects;
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::graph::{Graph, Place};
use rgraph_ir::resource::{Kind, Life, ResourceId};
use rgraph_shader::{Binding, BindingKind, Dimension, Output, Program, SampleKind, Scalar};

use super::{AccessRange, Who};

/// Something that a resource must be.
#[derive(Clone, Debug)]
pub struct Check {
    /// Position in the table of the pending work.
    pub at: ResourceId,
    /// Which part of it is used.
    pub part: AccessRange,
    /// The program that asks.
    pub program: Arc<Program>,
    pub asks: Asks,
}

/// See [`Check`].
#[derive(Clone, Copy, Debug)]
pub enum Asks {
    /// What the binding at this position of the interface needs.
    Binding(usize),
    /// A colour target of the output at this position of the interface.
    Target(usize),
}

/// An image with what it inherits from those that it modifies or remembers.
struct Facts {
    format: Option<Format>,
    volume: bool,
    layers: u32,
    cube: bool,
    samples: u32,
}

/// How many images may inherit from each other here; the planner finds cycles.
pub const MOST_LINKS: usize = 64;

/// The format of an image, its own or inherited.
pub fn format_of(graph: &Graph, id: ResourceId) -> Option<Format> {
    facts(graph, id)?.format
}

/// The format of an image, whether it is 3D, and its layers; its own or inherited.
pub fn like_of(graph: &Graph, id: ResourceId) -> (Option<Format>, bool, u32) {
    facts(graph, id).map_or((None, false, 1), |facts| (facts.format, facts.volume, facts.layers))
}

fn facts(graph: &Graph, mut id: ResourceId) -> Option<Facts> {
    let (mut format, mut size, mut layers, mut samples, mut cube) = (None, None, None, None, false);
    for _ in 0..MOST_LINKS {
        let resource = graph.resources().get(id)?;
        let image = resource.as_image()?;
        format = format.or(image.format);
        size = size.or(image.size);
        layers = layers.or(image.layers);
        samples = samples.or(image.samples);
        cube |= image.cube;
        let next = match resource.life {
            Life::History(history) => Some(history.of),
            _ => resource.modifies,
        };
        match next {
            Some(next) => id = next,
            None => break,
        }
    }
    let layers = layers.unwrap_or(if cube { 6 } else { 1 });
    Some(Facts {
        format,
        volume: size.is_some_and(|size| size.z.is_some()),
        layers,
        cube,
        samples: samples.unwrap_or(1),
    })
}

impl Check {
    /// What does not fit; `None` if all does, or if that is not known yet.
    pub fn mistake(
        &self,
        graph: &Graph,
        (pass, place): (&str, Option<&Place>),
        find: impl Fn(ResourceId) -> Option<ResourceId>,
    ) -> Option<Mistake> {
        let id = find(self.at)?;
        let (wants, got, help, who, code) = match self.asks {
            Asks::Binding(at) => {
                let binding = &self.program.interface.bindings[at];
                let (got, help) = self.misfit(graph, id, binding)?;
                (words(binding), got, help, format!("binding \"{}\"", binding.name), Code::BadBinding)
            }
            Asks::Target(at) => {
                let output = &self.program.interface.outputs[at];
                let (got, help) = target_misfit(graph, id, output)?;
                let wants = format!("{} numbers", scalar_word(output.scalar));
                (wants, got, help, format!("output \"{}\"", output.name), Code::BadTarget)
            }
        };
        let who_asks = Who { pass, place };
        let (shader, name) = (who_asks.shader(&self.program), graph.resource_name(id));
        let message = format!("pass \"{pass}\": {who} of shader \"{shader}\" is {wants}, got {got}");
        let side = Mistake::new(code, message, help).pass(pass).resource(name);
        let side = side.side(pass, format!("{who} is {wants}"), place.cloned());
        Some(side.side(name, format!("declared here, {got}"), graph.resource_place(id).cloned()))
    }

    fn misfit(&self, graph: &Graph, id: ResourceId, binding: &Binding) -> Option<(String, String)> {
        let name = graph.resource_name(id);
        let buffer = || format!("buffer \"{name}\"");
        let of_image = |facts: &Facts| match facts.format {
            Some(format) => format!("image \"{name}\" of {format}"),
            None => format!("image \"{name}\""),
        };
        let image = matches!(graph.resources()[id].kind, Kind::Image(_));
        let refused = |facts: &Facts, help: String| Some((of_image(facts), help));
        match binding.kind {
            BindingKind::Sampler { .. } => {
                let got = if image { format!("image \"{name}\"") } else { buffer() };
                Some((got, "bind an rgraph.Sampler, or leave it out for a linear one".to_owned()))
            }
            BindingKind::Uniform | BindingKind::Storage | BindingKind::Texels { .. } => image
                .then(|| (format!("image \"{name}\""), "bind a buffer, or make it a texture in the shader".to_owned())),
            BindingKind::AccelerationStructure => {
                let structure = graph.resources()[id].as_buffer().is_some_and(|buffer| buffer.acceleration_structure);
                let got = if image { format!("image \"{name}\"") } else { buffer() };
                (!structure).then(|| (got, "bind what build_instances returned".to_owned()))
            }
            _ if !image => Some((buffer(), "bind an image, or make it a buffer in the shader".to_owned())),
            BindingKind::InputAttachment { .. } => None,
            BindingKind::Sampled { dimension, arrayed, multisampled, sample }
            | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
                let facts = facts(graph, id)?;
                if (facts.samples > 1) != multisampled {
                    let help = match multisampled {
                        true => format!("declare \"{name}\" with samples=4, or use a texture of one sample"),
                        false => "resolve it first (resolve= of raster), or use a multisampled texture".to_owned(),
                    };
                    return Some((format!("{} with {} samples", of_image(&facts), facts.samples), help));
                }
                if let Some((got, help)) = self.shape_misfit(&facts, dimension, arrayed) {
                    return Some((format!("{} {got}", of_image(&facts)), help));
                }
                let reads = kinds_of(facts.format?, self.part.aspects);
                (!reads.contains(&sample)).then(|| {
                    let fits = reads.first().map_or("nothing", |kind| sample_word(*kind));
                    (of_image(&facts), format!("its texels read as {fits}: change the shader's type or the format"))
                })
            }
            BindingKind::Image { dimension, arrayed, format, sample } => {
                let facts = facts(graph, id)?;
                if facts.samples > 1 {
                    let got = format!("{} with {} samples", of_image(&facts), facts.samples);
                    return Some((got, "storage images have one sample here: resolve it first".to_owned()));
                }
                if let Some([first, end]) = self.part.ranges.mips.filter(|[first, end]| end - first != 1) {
                    let got = format!("mips {first} to {end} of {}", of_image(&facts));
                    return Some((got, format!("a storage image is one mip: bind .mip({first})")));
                }
                if let Some((got, help)) = self.shape_misfit(&facts, dimension, arrayed) {
                    return Some((format!("{} {got}", of_image(&facts)), help));
                }
                let has = facts.format?;
                if has.name().ends_with("-srgb") || has.is_depth_stencil() || has.numbers() == Numbers::Block {
                    return refused(
                        &facts,
                        "no storage image has such a format: write a linear one and copy".to_owned(),
                    );
                }
                match format {
                    Some(format) if format != has => {
                        refused(&facts, format!("declare the image as {format}, or declare {has} in the shader"))
                    }
                    None if !kinds_of(has, Aspects::COLOR).contains(&sample) => {
                        refused(&facts, "change the shader's type or the format".to_owned())
                    }
                    _ => None,
                }
            }
        }
    }

    /// What is wrong with the shape of the view.
    fn shape_misfit(&self, facts: &Facts, dimension: Dimension, arrayed: bool) -> Option<(String, String)> {
        let layers = self.part.ranges.layers.map_or(facts.layers, |[first, end]| end - first);
        match dimension {
            Dimension::D1 => Some(("which is no line".to_owned(), "use a 2D texture of height 1".to_owned())),
            Dimension::D3 if !facts.volume => {
                Some(("which is no volume".to_owned(), "declare it with size (width, height, depth)".to_owned()))
            }
            Dimension::D2 | Dimension::Cube if facts.volume => {
                Some(("which is a volume".to_owned(), "use a 3D texture in the shader".to_owned()))
            }
            Dimension::Cube if !facts.cube || !layers.is_multiple_of(6) => {
                let help = "declare it with cube=True; copy what import_array made to image(NAME, like=…, cube=True)";
                Some((format!("with {layers} layers which are no cube"), help.to_owned()))
            }
            Dimension::D2 if !arrayed && layers != 1 => Some((
                format!("with {layers} layers"),
                "bind one of them, as image.layer(0), or use an array in the shader".to_owned(),
            )),
            _ => None,
        }
    }
}

fn target_misfit(graph: &Graph, id: ResourceId, output: &Output) -> Option<(String, String)> {
    let name = graph.resource_name(id);
    if graph.resources()[id].as_image().is_none() {
        return Some((format!("buffer \"{name}\""), "colour targets are images".to_owned()));
    }
    let format = format_of(graph, id)?;
    let fits = match format.numbers() {
        Numbers::Float | Numbers::Unorm | Numbers::Snorm => matches!(output.scalar, Scalar::F32 | Scalar::F16),
        Numbers::Uint => output.scalar.is_unsigned(),
        Numbers::Sint => output.scalar.is_signed(),
        Numbers::Depth | Numbers::Block => false,
    };
    (!fits).then(|| (format!("image \"{name}\" of {format}"), "change the shader's output or the format".to_owned()))
}

/// What texels of a format can read as.
fn kinds_of(format: Format, aspects: Aspects) -> &'static [SampleKind] {
    match format.numbers() {
        Numbers::Float | Numbers::Unorm | Numbers::Snorm | Numbers::Block => &[SampleKind::Float],
        Numbers::Uint => &[SampleKind::Uint],
        Numbers::Sint => &[SampleKind::Int],
        Numbers::Depth if aspects == Aspects::STENCIL || format == Format::Stencil8 => &[SampleKind::Uint],
        Numbers::Depth => &[SampleKind::Depth, SampleKind::Float],
    }
}

fn scalar_word(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "f32",
        Scalar::F16 => "f16",
        Scalar::F64 => "f64",
        Scalar::I32 => "i32",
        Scalar::U32 => "u32",
        Scalar::I64 => "i64",
        Scalar::U64 => "u64",
        Scalar::I16 => "i16",
        Scalar::U16 => "u16",
        Scalar::I8 => "i8",
        Scalar::U8 => "u8",
        Scalar::Bool => "bool",
    }
}

fn sample_word(sample: SampleKind) -> &'static str {
    match sample {
        SampleKind::Float => "f32",
        SampleKind::Int => "i32",
        SampleKind::Uint => "u32",
        SampleKind::Depth => "depth",
    }
}

/// A binding's type as WGSL would say it.
pub fn words(binding: &Binding) -> String {
    let shape = |dimension, arrayed| {
        let dimension = match dimension {
            Dimension::D1 => "1d",
            Dimension::D2 => "2d",
            Dimension::D3 => "3d",
            Dimension::Cube => "cube",
        };
        format!("{dimension}{}", if arrayed { "_array" } else { "" })
    };
    match binding.kind {
        BindingKind::Uniform => "a uniform buffer".to_owned(),
        BindingKind::Storage => "a storage buffer".to_owned(),
        BindingKind::Texels { storage, format, sample } => {
            let storage = if storage { "storage " } else { "" };
            let texel = format.map_or_else(|| sample_word(sample).to_owned(), |format| format.to_string());
            format!("a {storage}texel buffer of {texel}")
        }
        BindingKind::Sampler { comparison: false } => "a sampler".to_owned(),
        BindingKind::Sampler { comparison: true } => "a comparison sampler".to_owned(),
        BindingKind::AccelerationStructure => "an acceleration structure".to_owned(),
        BindingKind::InputAttachment { .. } => "an input attachment".to_owned(),
        BindingKind::Sampled { dimension, arrayed, multisampled, sample }
        | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
            let samples = if multisampled { "_multisampled" } else { "" };
            let shape = shape(dimension, arrayed);
            match sample {
                SampleKind::Depth => format!("texture_depth{samples}_{shape}"),
                _ => format!("texture{samples}_{shape}<{}>", sample_word(sample)),
            }
        }
        BindingKind::Image { dimension, arrayed, format, sample } => {
            let texel = format.map_or_else(|| sample_word(sample).to_owned(), |format| format.to_string());
            let access = match (binding.reads, binding.writes) {
                (true, true) => ", read_write",
                (false, true) => ", write",
                _ => ", read",
            };
            format!("texture_storage_{}<{texel}{access}>", shape(dimension, arrayed))
        }
    }
}
