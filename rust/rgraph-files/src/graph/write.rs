//! Writing a graph file: one resource, one access a line.

use crate::write::{Row, Sheet, words};
use rgraph_ir::access::{DECLARED_STAGE_NAMES, Stages};
use rgraph_ir::graph::{Access, Clear, Graph, PassId};
use rgraph_ir::id::IdVec;
use rgraph_ir::resource::{Axis, Image, Kind, Life, Mips, Resource, ResourceId, Round, Size};

/// Writes a graph file: images first, then buffers, each in the order of declaration; modules and extension points
/// flattened; nothing that has its default value. A number that is not finite becomes `null`, which readers refuse.
///
/// Reading it gives an equal graph wherever its resources were declared in that order. O(declarations).
pub fn write_graph(graph: &Graph) -> String {
    struct Declaration;
    impl Tails for Declaration {
        fn tables(&mut self, _: &mut Sheet) {}
        fn resource(&mut self, _: &mut Row<'_>, _: ResourceId) {}
        fn pass(&mut self, _: &mut Row<'_>, _: PassId) {}
    }
    let flat = graph.flattened();
    write_graph_with(flat.as_ref().unwrap_or(graph), &mut Declaration)
}

/// The parts of a graph file besides the declaration.
pub trait Tails {
    /// Lines of the graph, before its images: see [`Sheet::key`].
    fn tables(&mut self, sheet: &mut Sheet);
    /// The last keys of an image or a buffer.
    fn resource(&mut self, row: &mut Row<'_>, resource: ResourceId);
    /// The keys of a pass before its accesses.
    fn pass(&mut self, row: &mut Row<'_>, pass: PassId);
}

/// The same of a graph without modules and extension points, with what `tails` adds.
pub fn write_graph_with(graph: &Graph, tails: &mut dyn Tails) -> String {
    let mut sheet = Sheet::default();
    sheet.text("{\n  \"rgraph\": 1");
    sheet.line("  ", "name", graph.name());
    sheet.line("  ", "reference_size", &graph.reference_size());
    tails.tables(&mut sheet);
    resources(&mut sheet, "images", graph, tails, |resource| resource.as_image().is_some());
    resources(&mut sheet, "buffers", graph, tails, |resource| resource.as_buffer().is_some());
    let mut accesses: IdVec<PassId, Vec<&Access>> = IdVec::filled(Vec::new(), graph.passes().len());
    for access in graph.accesses() {
        accesses[access.pass].push(access);
    }
    let mut after: IdVec<PassId, Vec<&str>> = IdVec::filled(Vec::new(), graph.passes().len());
    for (later, earlier) in graph.orderings() {
        after[*later].push(graph.pass_name(*earlier));
    }
    let mut fallbacks: IdVec<PassId, Vec<[&str; 2]>> = IdVec::filled(Vec::new(), graph.passes().len());
    for fallback in graph.fallbacks() {
        let names = [fallback.output, fallback.input].map(|resource| graph.resource_name(resource));
        fallbacks[fallback.pass].push(names);
    }
    sheet.key("  ", "passes");
    sheet.list("  ", graph.passes().ids(), |sheet, id| {
        pass(sheet, graph, id, tails, (&after[id], &fallbacks[id], &accesses[id]));
    });
    let roots: Vec<&str> = graph.roots().iter().map(|root| graph.resource_name(*root)).collect();
    sheet.line("  ", "roots", &roots);
    sheet.text("\n}\n");
    sheet.finish()
}

fn resources(sheet: &mut Sheet, key: &str, graph: &Graph, tails: &mut dyn Tails, belongs: impl Fn(&Resource) -> bool) {
    sheet.key("  ", key);
    sheet.text("{");
    let mut first = true;
    for (id, resource) in graph.resources().iter_ids().filter(|(_, resource)| belongs(resource)) {
        rgraph_ir::cancel::poll();
        sheet.text(if first { "\n    " } else { ",\n    " });
        first = false;
        sheet.value(graph.resource_name(id));
        sheet.text(": ");
        let mut row = sheet.row();
        self::resource(&mut row, graph, resource);
        tails.resource(&mut row, id);
        row.end();
    }
    sheet.text(if first { "}" } else { "\n  }" });
}

fn resource(row: &mut Row<'_>, graph: &Graph, resource: &Resource) {
    match &resource.kind {
        Kind::Image(image) => self::image(row, graph, image),
        Kind::Buffer(buffer) => {
            row.some("size", buffer.size).flag("acceleration_structure", buffer.acceleration_structure);
        }
    }
    row.some("modifies", resource.modifies.map(|of| graph.resource_name(of)));
    match resource.life {
        Life::Transient => {}
        Life::Fresh => {
            row.put("fresh", true);
        }
        Life::Persistent => {
            row.put("persistent", true);
        }
        Life::History(history) => {
            row.put("history_of", graph.resource_name(history.of));
            row.some("frames", (history.frames != 1).then_some(history.frames));
            row.some("first_frame", (!history.zero_first).then_some("undefined"));
        }
        Life::Imported(imported) => {
            let mut state = row.key("imported").row();
            state.some("layout", imported.layout.map(|layout| layout.name()));
            state.some("queue", imported.queue.map(|queue| queue.name()));
            let (stages, access) = (imported.stages, imported.access);
            state.some("stages", (!stages.is_empty()).then(|| words(stages.names())));
            state.some("access", (!access.is_empty()).then(|| words(access.names())));
            state.some("contents", (!imported.defined).then_some("undefined"));
            state.flag("wait", imported.wait).flag("signal", imported.signal);
            state.end();
        }
    }
    if let Some(leave) = resource.leave {
        let mut state = row.key("leave").row();
        state.some("layout", leave.layout.map(|layout| layout.name()));
        state.some("queue", leave.queue.map(|queue| queue.name())).end();
    }
    row.some("sharing", resource.sharing.map(|sharing| sharing.name()));
    row.some("memory_domain", resource.memory_domain.map(|domain| domain.name()));
}

fn image(row: &mut Row<'_>, graph: &Graph, image: &Image) {
    row.some("format", image.format.map(|format| format.name()));
    if let Some(size) = image.size {
        self::size(row.key("size"), graph, size);
    }
    row.some("layers", image.layers);
    match image.mips {
        Some(Mips::Count(count)) => row.put("mips", count),
        Some(Mips::Full) => row.put("mips", "full"),
        None => row,
    };
    row.some("samples", image.samples).flag("cube", image.cube);
}

fn size(sheet: &mut Sheet, graph: &Graph, size: Size) {
    let axes = [Some(size.x), Some(size.y), size.z];
    let axes: Vec<Axis> = axes.into_iter().flatten().collect();
    let texels: Vec<u32> =
        axes.iter().filter_map(|axis| if let Axis::Texels(n) = axis { Some(*n) } else { None }).collect();
    let up = (size.round == Round::Up).then_some("up");
    if texels.len() == axes.len() && up.is_none() {
        return sheet.value(&texels);
    }
    let scaled: Vec<(Option<ResourceId>, f64)> = axes
        .iter()
        .filter_map(|axis| if let Axis::Scaled(of, scale) = axis { Some((*of, *scale)) } else { None })
        .collect();
    let mut row = sheet.row();
    if scaled.len() == axes.len() && scaled.iter().all(|(of, _)| *of == scaled[0].0) {
        let factors: Vec<f64> = scaled.iter().map(|(_, scale)| *scale).collect();
        row.put("relative_to", base(graph, scaled[0].0)).put("scale", factors);
    } else {
        for (key, axis) in ["x", "y", "z"].into_iter().zip(axes) {
            match axis {
                Axis::Texels(texels) => {
                    row.put(key, texels);
                }
                Axis::Scaled(of, scale) => {
                    row.key(key).row().put("relative_to", base(graph, of)).put("scale", scale).end();
                }
            }
        }
    }
    row.some("round", up).end();
}

fn base(graph: &Graph, of: Option<ResourceId>) -> &str {
    of.map_or("reference", |image| graph.resource_name(image))
}

/// What else belongs to a pass: those that come before it, its fallbacks, its accesses.
type Rest<'r> = (&'r [&'r str], &'r [[&'r str; 2]], &'r [&'r Access]);

fn pass(sheet: &mut Sheet, graph: &Graph, id: PassId, tails: &mut dyn Tails, (after, fallbacks, accesses): Rest<'_>) {
    let pass = &graph.passes()[id];
    let mut row = sheet.row();
    row.put("name", graph.pass_name(id)).put("queue", pass.queue.name());
    row.some("weight_us", pass.weight_us);
    row.some("unit", pass.unit.map(|unit| graph.units()[unit].as_str()));
    row.some("device", pass.device);
    row.flag("side_effects", pass.side_effects);
    row.flag("unordered", pass.unordered);
    row.some("after", (!after.is_empty()).then_some(after));
    row.some("conditional", pass.conditional.map(|flag| graph.flags()[flag].as_str()));
    if !fallbacks.is_empty() {
        let mut object = row.key("fallback").row();
        for [output, input] in fallbacks {
            object.put(output, input);
        }
        object.end();
    }
    row.flag("setup", pass.setup);
    let needs = pass.needed_features();
    row.some("needs", (!needs.is_empty()).then(|| needs.names().collect::<Vec<_>>()));
    tails.pass(&mut row, id);
    row.key("accesses").list("    ", accesses, |sheet, access| self::access(sheet, graph, access));
    row.end();
}

/// The value of a `clear` key.
pub fn clear(sheet: &mut Sheet, value: Clear) {
    match value {
        Clear::Color(color) => sheet.value(&color),
        Clear::Depth(depth, None) => sheet.value(&depth),
        Clear::Depth(depth, Some(stencil)) => sheet.value(&(depth, stencil)),
    }
}

fn declared_stages(stages: Stages) -> Vec<&'static str> {
    let whole = stages.contains(Stages::ALL_TRANSFER);
    let rest = if whole { stages - Stages::ALL_TRANSFER } else { stages };
    let leaves = DECLARED_STAGE_NAMES.iter().enumerate().filter(|(bit, _)| rest.bits() & (1 << bit) != 0);
    leaves.map(|(_, name)| *name).chain(whole.then_some("all_transfer")).collect()
}

fn access(sheet: &mut Sheet, graph: &Graph, access: &Access) {
    let (ranges, details) = (graph.ranges_of(access), graph.details_of(access));
    let mut row = sheet.row();
    row.put("resource", graph.resource_name(access.resource)).put("usage", access.usage.name());
    row.some("stages", (!access.stages.is_empty()).then(|| declared_stages(access.stages)));
    row.some("mips", ranges.mips).some("layers", ranges.layers);
    row.some("aspects", (!access.aspects.is_empty()).then(|| words(access.aspects.names())));
    row.some("range", ranges.bytes);
    row.some("load", access.load.map(|load| load.name()));
    row.some("stencil_load", access.stencil_load.map(|load| load.name()));
    if let Some(value) = details.clear {
        clear(row.key("clear"), value);
    }
    row.flag("generate_mips", access.generate_mips);
    row.some("resolves", details.resolves.map(|of| graph.resource_name(of)));
    row.some("resolve_mode", details.resolve_mode.map(|mode| mode.name()));
    row.some("transfer", access.transfer.map(|transfer| transfer.name()));
    row.flag("unordered", access.unordered).end();
}
