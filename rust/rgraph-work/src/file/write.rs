//! Writing a graph file with its work.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rgraph_files::graph::{Tails, Typed, write_clear, write_graph_with};
use rgraph_files::write::{Row, Sheet};
use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, Graph, PassId, Ranges};
use rgraph_ir::resource::ResourceId;
use rgraph_shader::{BindingKind, Given, GivenCode, Interface, Language, Program, Stage};

use super::shader::end_of;
use super::{data, range, sampler, sidecar, state};
use crate::infer::{AccessRange, Who, covered, indirect_bytes};
use crate::words::{FILTERS, INDICES, name_of};
use crate::work::{
    Bound, ClearValue, Compare, Dispatch, Draw, DrawCount, Groups, Level, Sampler, Step, Transfer, View, What, Work,
    Workload,
};

/// What becomes of passes that are functions, which no file can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callbacks {
    /// The graph is refused.
    Refuse,
    /// What they do is left out; the declaration stays.
    Skip,
}

/// What a graph file says of the arrays of its resources.
#[derive(Clone, Copy, Default, Debug)]
pub struct Arrays<'a> {
    /// Names of files that fill resources.
    pub contents: &'a [(ResourceId, String)],
    /// How buffers are seen.
    pub typed: &'a [(ResourceId, Typed)],
}

/// Writes a graph file with its work: the declaration as `rgraph_files::write_graph` does, with all accesses, and
/// shaders, samplers and the work of each pass. Shaders that were read from files below `folder` and did not change
/// since are named, all others written out. Reading it gives the same graph with the same work and the same arrays.
///
/// # Errors
/// `GraphError` with every pass whose work is a function, unless those are skipped.
pub fn write<R: ?Sized>(
    load: &Workload<R>,
    arrays: Arrays<'_>,
    folder: Option<&Path>,
    callbacks: Callbacks,
) -> Result<String, GraphError> {
    let mut graph = load.graph.clone();
    graph.to_file_order();
    let (mut works, mut mistakes) = (HashMap::new(), Vec::new());
    for (pass, work) in &load.works {
        let name = load.graph.pass_name(*pass);
        match (work, graph.find_pass(name)) {
            (Work::Steps(steps), Some(id)) => drop(works.insert(id, steps.as_slice())),
            (_, Some(id)) if callbacks == Callbacks::Refuse => mistakes.push((id, function(&load.graph, *pass))),
            _ => {}
        }
    }
    mistakes.sort_by_key(|(id, _)| *id);
    GraphError::check(mistakes.into_iter().map(|(_, mistake)| mistake).collect())?;
    let mut names = Names::new(&load.graph);
    let here = |id: ResourceId| graph.find_resource(load.graph.resource_name(id));
    let contents = arrays.contents.iter().filter_map(|(id, file)| Some((here(*id)?, file.as_str()))).collect();
    let typed = arrays.typed.iter().filter_map(|(id, typed)| Some((here(*id)?, typed))).collect();
    let mut writer = Writer {
        contents,
        typed,
        from: &load.graph,
        graph: &graph,
        works,
        folder,
        shaders: Vec::new(),
        known: HashMap::new(),
        samplers: Vec::new(),
    };
    writer.collect(&mut names);
    Ok(write_graph_with(&graph, &mut writer))
}

fn function(graph: &Graph, pass: PassId) -> Mistake {
    let name = graph.pass_name(pass);
    let message = format!("pass \"{name}\" is a function, which no file can hold");
    let help = "give it a shader or a transfer, or save the rest: save(path, callbacks=\"skip\")";
    let who = Who { pass: name, place: graph.pass_place(pass) };
    who.mistake(Code::BadFile, message, "is a function", help)
}

/// Names of shaders, each used once.
struct Names<'g> {
    used: HashMap<String, usize>,
    graph: &'g Graph,
}

impl<'g> Names<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self { used: HashMap::new(), graph }
    }

    fn take(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { self.graph.name() } else { wanted };
        let mut end = wanted.len().min(rgraph_ir::graph::MAX_NAME - 16);
        while !wanted.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = wanted[..end].to_owned();
        loop {
            let count = self.used.entry(name.clone()).or_insert(0);
            *count += 1;
            if *count == 1 {
                return name;
            }
            name = format!("{}-{count}", &wanted[..end]);
        }
    }
}

pub(super) struct Writer<'w> {
    /// Files that fill resources.
    contents: HashMap<ResourceId, &'w str>,
    /// How buffers are seen.
    typed: HashMap<ResourceId, &'w Typed>,
    /// The graph whose ids the works have.
    from: &'w Graph,
    /// The graph as it is written.
    graph: &'w Graph,
    works: HashMap<PassId, &'w [Step]>,
    folder: Option<&'w Path>,
    /// Names and sources of shaders that are written out.
    shaders: Vec<(String, &'w Given)>,
    /// What sources are called in passes: a name of `shaders`, or a file's.
    known: HashMap<(&'w Given, String), String>,
    samplers: Vec<Sampler>,
}

fn program(step: &Step) -> Option<(&Arc<Program>, &[Bound])> {
    match step {
        Step::Dispatch(dispatch) => Some((&dispatch.program, &dispatch.bound)),
        Step::Draw(draw) => Some((&draw.program, &draw.bound)),
        Step::Trace(trace) => Some((&trace.program, &trace.bound)),
        Step::Transfer(_) | Step::Build(_) | Step::Instances(_) => None,
    }
}

/// What the sources of a program are called, where they are not files.
fn titles(program: &Program) -> impl Iterator<Item = (String, &Given)> {
    // Sources are given in the order of the stages that they have.
    let several = program.sources.len() > 1;
    let end = move |stage: Stage| if several { end_of(stage) } else { "" };
    program.modules.iter().map(move |module| format!("{}{}", program.name, end(module.stage))).zip(&program.sources)
}

impl<'w> Writer<'w> {
    /// Finds names for shaders and samplers, in the order of the passes.
    fn collect(&mut self, names: &mut Names<'_>) {
        let mut passes: Vec<_> = self.works.iter().map(|(pass, steps)| (*pass, *steps)).collect();
        passes.sort_by_key(|(pass, _)| *pass);
        for (program, bound) in passes.iter().flat_map(|(_, steps)| steps.iter()).filter_map(program) {
            for (title, given) in titles(program) {
                let key = (given, title.clone());
                if self.known.contains_key(&key) {
                    continue;
                }
                let name = self.file(given).unwrap_or_else(|| {
                    let name = names.take(&title);
                    self.shaders.push((name.clone(), given));
                    name
                });
                self.known.insert(key, name);
            }
            for bound in bound {
                let sampler = match &bound.what {
                    What::Sampler(sampler) if !is_usual(&program.interface, bound, sampler) => sampler,
                    What::Combined(_, sampler) if *sampler != Sampler::default() => sampler,
                    _ => continue,
                };
                if !self.samplers.contains(sampler) {
                    self.samplers.push(*sampler);
                }
            }
        }
    }

    /// The name of a source's file, if it lies below the folder and holds the source.
    fn file(&self, given: &Given) -> Option<String> {
        let path = given.path.as_ref()?;
        let folder = self.folder?;
        let name = sidecar::name_below(folder, path)?;
        if !given.files().all(|file| sidecar::name_below(folder, &file).is_some()) {
            return None;
        }
        (GivenCode::is_shader_file(Path::new(&name)) && sidecar::bytes(path).ok()? == given.code.bytes())
            .then_some(name)
    }

    pub(super) fn resource(&self, id: ResourceId) -> &'w str {
        self.from.resource_name(id)
    }

    /// The name of a resource, or what part of it is meant.
    fn part(&self, sheet: &mut Sheet, id: ResourceId, part: &AccessRange, with: With<'_>) {
        if *part == AccessRange::default() && matches!(with, With::Nothing) {
            return sheet.value(self.resource(id));
        }
        let mut row = sheet.row();
        row.put("resource", self.resource(id));
        range::write(&mut row, part);
        match with {
            With::Nothing => {}
            With::Sampler(sampler) => {
                row.put("sampler", self.sampler(sampler));
            }
            With::Format(format) => {
                row.put("format", format.name());
            }
        }
        row.end();
    }

    fn view(&self, sheet: &mut Sheet, interface: &Interface, bound: &Bound, view: &View, with: With<'_>) {
        // A storage image is mip 0 unless it says another.
        let image = matches!(interface.bindings[bound.binding as usize].kind, BindingKind::Image { .. });
        let mips = view.mips.filter(|mips| !(image && *mips == [0, 1]));
        let ranges = Ranges { mips, layers: view.layers, bytes: view.range };
        self.part(sheet, view.resource, &AccessRange { ranges, aspects: view.aspects }, with);
    }

    fn sampler(&self, sampler: &Sampler) -> String {
        let at = self.samplers.iter().position(|known| known == sampler).unwrap_or(0);
        sampler_name(&self.samplers, at)
    }

    /// The keys that dispatches and draws share.
    fn shader(&self, row: &mut Row<'_>, program: &Program, bound: &[Bound], push: &[u8]) {
        let names = self.sources(program);
        match names[..] {
            [one] => row.put("shader", one),
            _ => row.put("shader", &names),
        };
        self.values(row, program, bound, push);
    }

    /// What the sources of a program are called, one by one.
    pub(super) fn sources<'a>(&'a self, program: &'a Program) -> Vec<&'a str> {
        titles(program).filter_map(|(title, given)| self.known.get(&(given, title)).map(String::as_str)).collect()
    }

    /// The keys behind the shaders.
    pub(super) fn values(&self, row: &mut Row<'_>, program: &Program, bound: &[Bound], push: &[u8]) {
        row.some("entry", program.entry.as_deref());
        if !program.constants.is_empty() {
            let mut object = row.key("constants").row();
            for (name, value) in program.constants.iter() {
                data::put(object.key(name), &value.value());
            }
            object.end();
        }
        let interface = &program.interface;
        let shown = |bound: &&Bound| match &bound.what {
            What::Sampler(sampler) => !is_usual(interface, bound, sampler),
            _ => true,
        };
        let shown: Vec<&Bound> = bound.iter().filter(shown).collect();
        if !shown.is_empty() {
            let mut object = row.key("bindings").row();
            for group in shown.chunk_by(|one, other| one.binding == other.binding) {
                let binding = &interface.bindings[group[0].binding as usize];
                let sheet = object.key(&binding.name);
                let several = binding.count > 1;
                sheet.text(if several { "[" } else { "" });
                for (at, bound) in group.iter().enumerate() {
                    sheet.text(if at > 0 { ", " } else { "" });
                    match &bound.what {
                        What::Resource(view) => self.view(sheet, interface, bound, view, With::Nothing),
                        What::Combined(view, sampler) => {
                            let usual = *sampler == Sampler::default();
                            let with = if usual { With::Nothing } else { With::Sampler(sampler) };
                            self.view(sheet, interface, bound, view, with);
                        }
                        What::Texels(view, format) => {
                            let named = matches!(binding.kind, BindingKind::Texels { format: Some(_), .. });
                            let with = if named { With::Nothing } else { With::Format(*format) };
                            self.view(sheet, interface, bound, view, with);
                        }
                        What::Sampler(sampler) => sheet.value(&self.sampler(sampler)),
                        What::Data(bytes) => {
                            let mut row = sheet.row();
                            data::write(row.key("data"), binding.ty.as_ref(), bytes);
                            row.end();
                        }
                    }
                }
                sheet.text(if several { "]" } else { "" });
            }
            object.end();
        }
        if let Some(data) = &interface.push {
            data::write(row.key("push"), Some(&data.ty), push);
        }
    }

    fn step(&self, row: &mut Row<'_>, step: &Step) {
        match step {
            Step::Dispatch(dispatch) => self.dispatch(&mut row.key("compute").row(), dispatch),
            Step::Draw(draw) => self.draw(&mut row.key("raster").row(), draw),
            Step::Transfer(transfer) => self.transfer(row, transfer),
            Step::Build(build) => self.build(&mut row.key("build").row(), build),
            Step::Instances(instances) => self.instances(&mut row.key("instances").row(), instances),
            Step::Trace(trace) => self.trace(&mut row.key("trace").row(), trace),
        }
    }

    fn dispatch(&self, row: &mut Row<'_>, dispatch: &Dispatch) {
        let Dispatch { program, bound, push, groups, key } = dispatch;
        self.shader(row, program, bound, push);
        self.groups(row, "groups", (program, bound), *groups);
        row.some("key", (*key != 0).then_some(*key)).end();
    }

    /// Workgroups or rays, unless they follow from what is written.
    pub(super) fn groups(&self, row: &mut Row<'_>, key: &str, (program, bound): (&Program, &[Bound]), groups: Groups) {
        match groups {
            Groups::Fixed(groups) => {
                row.put(key, groups);
            }
            Groups::Cover(id, mip) => {
                let who = Who { pass: "", place: None };
                let written: Vec<_> = bound.iter().filter_map(|bound| written(&program.interface, bound)).collect();
                if covered(who, program, &written).ok() != Some(groups) {
                    let mut object = row.key(key).row();
                    object.put("cover", self.resource(id)).some("mip", (mip != 0).then_some(mip)).end();
                }
            }
            Groups::Indirect { buffer, offset } => {
                let bytes = (offset != 0).then(|| [offset, offset.saturating_add(12)]);
                let part = AccessRange { ranges: Ranges { bytes, ..Ranges::default() }, ..AccessRange::default() };
                self.part(row.key(key), buffer, &part, With::Nothing);
            }
        }
    }

    fn draw(&self, row: &mut Row<'_>, draw: &Draw) {
        self.shader(row, &draw.program, &draw.bound, &draw.push);
        let inputs = &draw.program.interface.vertex_inputs;
        if !draw.vertex_buffers.is_empty() {
            let sheet = row.key("vertex_buffers");
            for (at, one) in draw.vertex_buffers.iter().enumerate() {
                sheet.text(if at == 0 { "[" } else { ", " });
                let mut row = sheet.row();
                row.put("buffer", self.resource(one.buffer));
                let attributes = one.attributes.iter().map(|(location, format, offset)| {
                    let input = inputs.iter().find(|input| input.location == *location);
                    (input.map_or("", |input| input.name.as_str()), format.name(), *offset)
                });
                row.put("attributes", attributes.collect::<Vec<_>>()).put("stride", one.stride);
                row.some("offset", (one.offset != 0).then_some(one.offset))
                    .flag("per_instance", one.per_instance)
                    .end();
            }
            sheet.text("]");
        }
        let from = |sheet: &mut Sheet, id, offset: u64| self.bytes(sheet, id, offset, None);
        if let Some(index) = draw.index {
            from(row.key("index"), index.buffer, index.offset);
            row.some("index_format", (!index.wide).then(|| name_of(false, INDICES)));
        }
        match draw.count {
            DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset } => {
                row.put("vertices", vertices);
                row.some("instances", (instances != 1).then_some(instances));
                row.some("first_vertex", (first_vertex != 0).then_some(first_vertex));
                row.some("first_instance", (first_instance != 0).then_some(first_instance));
                row.some("vertex_offset", (vertex_offset != 0).then_some(vertex_offset));
            }
            DrawCount::Mesh { groups } => {
                row.put("groups", groups);
            }
            DrawCount::Indirect { buffer, offset, draws, stride } => {
                from(row.key("indirect"), buffer, offset);
                row.some("draws", (draws != 1).then_some(draws));
                row.some("stride", (stride != indirect_bytes(&draw.program, draw.index.is_some())).then_some(stride));
            }
        }
        row.some("viewport", draw.viewport).some("key", (draw.key != 0).then_some(draw.key));
        state::write(row, &draw.state);
        row.end();
    }

    fn transfer(&self, row: &mut Row<'_>, transfer: &Transfer) {
        let level = |sheet: &mut Sheet, level: &Level| self.level(sheet, level);
        match transfer {
            Transfer::CopyBuffer { from, from_offset, to, to_offset, size } => {
                let mut row = row.key("copy").row();
                let sides = [("from", *from, *from_offset), ("to", *to, *to_offset)];
                for (key, id, offset) in sides {
                    self.bytes(row.key(key), id, offset, *size);
                }
                row.end();
            }
            Transfer::CopyImage { from, to } => {
                let mut row = row.key("copy").row();
                level(row.key("from"), from);
                level(row.key("to"), to);
                row.end();
            }
            Transfer::BufferToImage { from, offset, to } => {
                let mut row = row.key("copy").row();
                self.bytes(row.key("from"), *from, *offset, None);
                level(row.key("to"), to);
                row.end();
            }
            Transfer::ImageToBuffer { from, to, offset } => {
                let mut row = row.key("copy").row();
                level(row.key("from"), from);
                self.bytes(row.key("to"), *to, *offset, None);
                row.end();
            }
            Transfer::Blit { from, to, linear } => {
                let mut row = row.key("blit").row();
                level(row.key("from"), from);
                level(row.key("to"), to);
                row.some("filter", (!linear).then(|| name_of(false, FILTERS))).end();
            }
            Transfer::Resolve { from, to } => {
                let mut row = row.key("resolve").row();
                level(row.key("from"), from);
                level(row.key("to"), to);
                row.end();
            }
            Transfer::Clear { image, value } => {
                let mut row = row.key("clear").row();
                let ranges = Ranges { mips: image.mips, layers: image.layers, bytes: None };
                self.part(
                    row.key("image"),
                    image.resource,
                    &AccessRange { ranges, aspects: image.aspects },
                    With::Nothing,
                );
                write_clear(row.key("value"), clear(*value));
                row.end();
            }
            Transfer::Fill { buffer, offset, size, word } => {
                let mut row = row.key("fill").row();
                self.bytes(row.key("buffer"), *buffer, *offset, *size);
                row.some("word", (*word != 0).then_some(word)).end();
            }
        }
    }

    pub(super) fn bytes(&self, sheet: &mut Sheet, id: ResourceId, offset: u64, size: Option<u64>) {
        let end = size.map(|size| offset.saturating_add(size));
        let whole = self.from.resources()[id].as_buffer().and_then(|buffer| buffer.size);
        let bytes = (offset != 0 || size.is_some()).then(|| [offset, end.or(whole).unwrap_or(offset + 1)]);
        let part = AccessRange { ranges: Ranges { bytes, ..Ranges::default() }, ..AccessRange::default() };
        self.part(sheet, id, &part, With::Nothing);
    }

    fn level(&self, sheet: &mut Sheet, level: &Level) {
        let Level { image, mip, layers, aspects, offset, size } = *level;
        let mips = (mip != 0).then(|| [mip, mip.saturating_add(1)]);
        let part = AccessRange { ranges: Ranges { mips, layers, bytes: None }, aspects };
        if offset == [0; 3] && size.is_none() {
            return self.part(sheet, image, &part, With::Nothing);
        }
        let mut row = sheet.row();
        row.put("resource", self.resource(image));
        range::write(&mut row, &part);
        row.some("offset", (offset != [0; 3]).then_some(offset)).some("size", size).end();
    }
}

/// What is bound together with a part of a resource.
#[derive(Clone, Copy)]
enum With<'w> {
    Nothing,
    Sampler(&'w Sampler),
    /// The format of its texels.
    Format(Format),
}

/// Whether a sampler is the one that a variable has when nothing is bound.
fn is_usual(interface: &Interface, bound: &Bound, sampler: &Sampler) -> bool {
    let BindingKind::Sampler { comparison } = interface.bindings[bound.binding as usize].kind else { return false };
    *sampler == Sampler { compare: comparison.then_some(Compare::LessEqual), ..Sampler::default() }
}

fn written(interface: &Interface, bound: &Bound) -> Option<crate::infer::Written> {
    let binding = &interface.bindings[bound.binding as usize];
    let (What::Resource(view) | What::Texels(view, _)) = &bound.what else { return None };
    let image = matches!(binding.kind, BindingKind::Image { .. });
    binding.writes.then(|| (view.resource, image, view.mips.map_or(0, |[first, _]| first)))
}

fn clear(value: ClearValue) -> Clear {
    match value {
        ClearValue::Float(color) => Clear::Color(color.map(|channel| channel.to_string().parse().unwrap_or(0.0))),
        ClearValue::Int(color) => Clear::Color(color.map(f64::from)),
        ClearValue::Uint(color) => Clear::Color(color.map(f64::from)),
        ClearValue::Depth(depth, stencil) => Clear::Depth(depth.to_string().parse().unwrap_or(0.0), Some(stencil)),
    }
}

/// The name of a sampler: what it does, and a number where several do that.
fn sampler_name(all: &[Sampler], at: usize) -> String {
    let base = |sampler: &Sampler| {
        let filter = name_of(sampler.mag_linear, FILTERS);
        let address = name_of(sampler.address[0], crate::words::ADDRESSES);
        let compare = if sampler.compare.is_some() { "shadow_" } else { "" };
        format!("{compare}{filter}_{address}")
    };
    let name = base(&all[at]);
    match all[..at].iter().filter(|earlier| base(earlier) == name).count() {
        0 => name,
        count => format!("{name}_{}", count + 1),
    }
}

impl Tails for Writer<'_> {
    fn tables(&mut self, sheet: &mut Sheet) {
        if !self.shaders.is_empty() {
            sheet.key("  ", "shaders");
            sheet.text("{");
            for (at, (name, given)) in self.shaders.iter().enumerate() {
                sheet.text(if at == 0 { "\n    " } else { ",\n    " });
                sheet.value(name);
                sheet.text(": {");
                match &given.code {
                    GivenCode::Text(language, text) => {
                        // Its included files are not in the folder of the graph.
                        let flat = given.included.flat(text);
                        let text = flat.as_ref().unwrap_or(text);
                        sheet.value(if *language == Language::Wgsl { "wgsl" } else { "glsl" });
                        sheet.text(": ");
                        sheet.list("    ", text.split('\n'), |sheet, line| sheet.value(line));
                    }
                    GivenCode::Spirv(bytes) => {
                        sheet.value("spirv");
                        sheet.text(": ");
                        sheet.value(&BASE64_STANDARD.encode(bytes));
                    }
                }
                sheet.text("}");
            }
            sheet.text("\n  }");
        }
        if !self.samplers.is_empty() {
            sheet.key("  ", "samplers");
            sheet.text("{");
            for (at, sampler) in self.samplers.iter().enumerate() {
                sheet.text(if at == 0 { "\n    " } else { ",\n    " });
                sheet.value(&sampler_name(&self.samplers, at));
                sheet.text(": ");
                sampler::write(sheet, sampler);
            }
            sheet.text("\n  }");
        }
    }

    fn resource(&mut self, row: &mut Row<'_>, resource: ResourceId) {
        if let Some(Typed { shape, dtype }) = self.typed.get(&resource) {
            row.put("shape", shape).put("dtype", dtype.name());
        }
        row.some("file", self.contents.get(&resource));
    }

    fn pass(&mut self, row: &mut Row<'_>, pass: PassId) {
        match self.works.get(&pass) {
            None => {}
            Some([step]) => self.step(row, step),
            Some(steps) => {
                let sheet = row.key("steps");
                sheet.text("[");
                for (at, step) in steps.iter().enumerate() {
                    sheet.text(if at == 0 { "" } else { ", " });
                    let mut row = sheet.row();
                    self.step(&mut row, step);
                    row.end();
                }
                sheet.text("]");
            }
        }
        debug_assert!(self.graph.passes().get(pass).is_some(), "passes are written by the ids of the written graph");
    }
}
