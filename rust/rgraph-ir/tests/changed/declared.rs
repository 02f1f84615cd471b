//! Declarations that differ in one field of one noun.

use rgraph_ir::access::{Accesses, Aspects, Layout, Load, MemoryDomain, PassQueue, ResolveMode, Sharing, Stages};
use rgraph_ir::access::{Transfer, Usage};
use rgraph_ir::error::{Code, Mistake, Side};
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, Details, Graph, Pass, Ranges, ShaderNeed, Use};
use rgraph_ir::resource::{Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, Round, Size};

use super::{Changed, changed, id, within};

/// What the declarations are made of: a noun that differs is put in here.
#[derive(Clone)]
struct Parts {
    how: Use,
    pass: Pass,
    resource: Resource,
    buffer: Buffer,
    mistake: Mistake,
}

impl Parts {
    /// Every option is taken, so that what it holds can differ.
    fn new() -> Self {
        let mut how = Use::new(Usage::ColorAttachment).mips([0, 1]).clear(Clear::Color([0.0; 4]));
        how.details.resolves = Some(id(0));
        let size = Size { x: Axis::Texels(8), y: Axis::Texels(8), z: None, round: Round::Down };
        let resource = Resource::image(Image { size: Some(size), ..Image::default() });
        let need = ShaderNeed { shader: "lit".into(), features: Features::RAY_QUERY };
        Self {
            how,
            pass: Pass { needs: vec![need], ..Pass::new(PassQueue::Graphics) },
            resource: Resource { leave: Some(Leave::default()), ..resource },
            buffer: Buffer { size: Some(64), acceleration_structure: false },
            mistake: Mistake::new(Code::NoRoot, "message", "help").side("name", "says", None),
        }
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new("graph", [8, 8]);
        graph.add_resource("image", self.resource.clone(), None);
        graph.add_resource("buffer", Resource::new(Kind::Buffer(self.buffer.clone()), Life::Transient), None);
        let pass = graph.add_pass("pass", self.pass.clone(), None);
        graph.access(pass, id(0), &self.how, None);
        graph.add_mistake(self.mistake.clone());
        graph
    }

    fn image(&mut self) -> &mut Image {
        let Kind::Image(image) = &mut self.resource.kind else { unreachable!("`new` makes an image") };
        image
    }
}

/// The graph that the others differ from.
pub fn base() -> Graph {
    Parts::new().graph()
}

fn graphs(parts: Vec<Changed<Parts>>) -> impl Iterator<Item = Changed<Graph>> {
    parts.into_iter().map(|(what, parts)| (what, parts.graph()))
}

/// Fields that do not count: words for messages.
pub const FOR_MESSAGES: [&str; 7] =
    ["ShaderNeed.shader", "Mistake.pass", "Mistake.resource", "Mistake.sides", "Side.name", "Side.says", "Side.place"];

/// Each field of each noun of a declaration, changed.
pub fn all() -> Vec<Changed<Graph>> {
    let base = Parts::new();
    let mut all = Vec::new();
    all.extend(graphs(accesses(&base)));
    all.extend(graphs(passes(&base)));
    all.extend(graphs(resources(&base)));
    all.extend(graphs(lives(&base)));
    all.extend(graphs(mistakes(&base)));
    all
}

fn accesses(base: &Parts) -> Vec<Changed<Parts>> {
    let uses = changed!(base.how => Use {
        usage: Usage::StorageRead,
        stages: Stages::COMPUTE_SHADER,
        ranges: Ranges::default(),
        aspects: Aspects::DEPTH,
        load: Some(Load::Discard),
        stencil_load: Some(Load::Load),
        details: Details::default(),
        transfer: Some(Transfer::Copy),
        generate_mips: true,
        unordered: true,
    });
    let mut all = within(base, uses, |parts, how| parts.how = how);
    let ranges = changed!(base.how.ranges => Ranges {
        mips: Some([1, 2]),
        layers: Some([0, 1]),
        bytes: Some([0, 1]),
    });
    all.extend(within(base, ranges, |parts, ranges| parts.how.ranges = ranges));
    let details = changed!(base.how.details => Details {
        clear: Some(Clear::Depth(0.0, None)),
        resolves: Some(id(1)),
        resolve_mode: Some(ResolveMode::Max),
    });
    all.extend(within(base, details, |parts, details| parts.how.details = details));
    all
}

fn passes(base: &Parts) -> Vec<Changed<Parts>> {
    let passes = changed!(base.pass.clone() => Pass {
        queue: PassQueue::Any,
        weight_us: Some(1.0),
        unit: Some(id(0)),
        device: Some(0),
        side_effects: true,
        unordered: true,
        conditional: Some(id(0)),
        setup: true,
        slot: Some(id(0)),
        needs: Vec::new(),
    });
    let mut all = within(base, passes, |parts, pass| parts.pass = pass);
    let needs = changed!(base.pass.needs[0].clone() => ShaderNeed {
        shader: "other".into(),
        features: Features::MESH_SHADER,
    });
    all.extend(within(base, needs, |parts, need| parts.pass.needs[0] = need));
    all
}

fn resources(base: &Parts) -> Vec<Changed<Parts>> {
    let resources = changed!(base.resource.clone() => Resource {
        kind: Kind::Buffer(Buffer::default()),
        life: Life::Persistent,
        modifies: Some(id(1)),
        leave: None,
        sharing: Some(Sharing::Concurrent),
        memory_domain: Some(MemoryDomain::Host),
    });
    let mut all = within(base, resources, |parts, resource| parts.resource = resource);
    let image = base.resource.as_image().expect("an image").clone();
    let size = image.size.expect("a size");
    let images = changed!(image => Image {
        format: Some(Format::R32float),
        size: None,
        layers: Some(1),
        mips: Some(Mips::Full),
        samples: Some(1),
        cube: true,
    });
    all.extend(within(base, images, |parts, image| *parts.image() = image));
    let sizes = changed!(size => Size {
        x: Axis::Texels(9),
        y: Axis::Scaled(None, 1.0),
        z: Some(Axis::Texels(8)),
        round: Round::Up,
    });
    all.extend(within(base, sizes, |parts, size| parts.image().size = Some(size)));
    let buffers = changed!(base.buffer.clone() => Buffer { size: Some(65), acceleration_structure: true });
    all.extend(within(base, buffers, |parts, buffer| parts.buffer = buffer));
    let leaves = changed!(Leave::default() => Leave { layout: Some(Layout::General), queue: Some(PassQueue::Any) });
    all.extend(within(base, leaves, |parts, leave| parts.resource.leave = Some(leave)));
    all
}

/// Of what a life holds: each differs from the base by the life, and from the others of its kind by one field.
fn lives(base: &Parts) -> Vec<Changed<Parts>> {
    let history = History { of: id(1), frames: 1, zero_first: false };
    let mut histories = changed!(history => History { of: id(0), frames: 2, zero_first: true });
    histories.push(("History", history));
    let mut all = within(base, histories, |parts, history| parts.resource.life = Life::History(history));
    let mut imports = changed!(Imported::default() => Imported {
        layout: Some(Layout::General),
        queue: Some(PassQueue::Graphics),
        stages: Stages::COPY,
        access: Accesses::TRANSFER_READ,
        defined: false,
        wait: true,
        signal: true,
    });
    imports.push(("Imported", Imported::default()));
    all.extend(within(base, imports, |parts, imported| parts.resource.life = Life::Imported(imported)));
    all.extend(within(base, vec![("Life::Fresh", Life::Fresh)], |parts, life| parts.resource.life = life));
    all
}

fn mistakes(base: &Parts) -> Vec<Changed<Parts>> {
    let mistakes = changed!(base.mistake.clone() => Mistake {
        code: Code::Cycle,
        message: "other".to_owned(),
        pass: Some("pass".to_owned()),
        resource: Some("image".to_owned()),
        sides: Vec::new(),
        help: "other".to_owned(),
    });
    let mut all = within(base, mistakes, |parts, mistake| parts.mistake = mistake);
    let place = rgraph_ir::graph::Place { file: "x.py".into(), line: 1 };
    let sides = changed!(base.mistake.sides[0].clone() => Side {
        name: "other".to_owned(),
        says: "other".to_owned(),
        place: Some(place),
    });
    all.extend(within(base, sides, |parts, side| parts.mistake.sides[0] = side));
    all
}
