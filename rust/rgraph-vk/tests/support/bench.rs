//! A graph under construction for tests: passes with their work, run on a device that must stay silent.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::Arc;

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::graph::{Graph, Pass, PassId, Use};
use rgraph_plan::prelude::Options;
use rgraph_plan::resource::{Imported, Life, Resource as Declared, ResourceId};
use rgraph_shader::{BindingKind, Kind, Language, Program, Source};
use rgraph_vk::work::{
    Bound, Compare, Dispatch, Draw, DrawCount, Groups, RasterState, Sampler, Step, View, What, Work, Workload,
};
use rgraph_vk::{Compiled, Device, DeviceOptions};

#[path = "demand.rs"]
pub mod demand;

/// A device, and what it complained of.
pub struct Silent(pub Device);

impl Drop for Silent {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.0.messages(), Vec::<String>::new(), "the driver and its layers stay silent");
        }
    }
}

/// A device, if there is one.
pub fn device(frames_in_flight: u32) -> Option<Silent> {
    let made = Device::new(&DeviceOptions { frames_in_flight, ..DeviceOptions::default() });
    demand::demand(made.map(Silent).map_err(|error| error.to_string()))
}

/// A program of WGSL.
pub fn program(kind: Kind, text: &str) -> Arc<Program> {
    match Program::new("test", kind, &[Source::Text(Language::Wgsl, text)], None) {
        Ok(program) => Arc::new(program),
        Err(error) => panic!("{error}"),
    }
}

/// What is bound by name.
pub type Binds<'a> = &'a [(&'a str, What)];

/// A resource, whole.
pub fn whole(resource: ResourceId) -> What {
    What::Resource(View::whole(resource))
}

/// Everything bound; samplers that are not given are the default ones.
pub fn bound(program: &Program, binds: Binds<'_>) -> Arc<[Bound]> {
    let what = |name: &str, kind: BindingKind| {
        let given = binds.iter().find(|(known, _)| *known == name).map(|(_, what)| what.clone());
        given.unwrap_or_else(|| match kind {
            BindingKind::Sampler { comparison } => {
                let compare = comparison.then_some(Compare::LessEqual);
                What::Sampler(Sampler { compare, ..Sampler::default() })
            }
            _ => panic!("\"{name}\" is not bound"),
        })
    };
    let one =
        |(binding, of): (u32, &rgraph_shader::Binding)| Bound { binding, element: 0, what: what(&of.name, of.kind) };
    (0..).zip(&program.interface.bindings).map(one).collect()
}

/// A graph and the work of its passes.
pub struct Bench {
    pub workload: Workload,
}

impl Bench {
    pub fn new(size: [u32; 2]) -> Self {
        Self { workload: Workload::new(Graph::new("test", size)) }
    }

    /// The workload of a graph with a root that nothing but a pass without work writes.
    pub fn with_a_root(mut self) -> Workload {
        let out = self.graph().buffer("out", 256);
        self.graph().root(out);
        self.pass("nothing", PassQueue::Graphics, &[(out, using(Usage::TransferDst))]);
        self.workload
    }

    pub fn graph(&mut self) -> &mut Graph {
        &mut self.workload.graph
    }

    /// A pass with accesses.
    pub fn pass(&mut self, name: &str, queue: PassQueue, uses: &[(ResourceId, Use)]) -> PassId {
        let pass = self.workload.graph.add_pass(name, Pass::new(queue), None);
        for (resource, how) in uses {
            self.workload.graph.access(pass, *resource, how, None);
        }
        pass
    }

    /// A compute pass whose accesses come from the shader.
    pub fn compute(&mut self, name: &str, queue: PassQueue, text: &str, groups: Groups, binds: Binds<'_>) -> PassId {
        let program = program(Kind::Compute, text);
        let uses = uses(&program, binds);
        let pass = self.pass(name, queue, &uses);
        self.dispatch(pass, &program, groups, binds, Vec::new());
        pass
    }

    pub fn dispatch(&mut self, pass: PassId, program: &Arc<Program>, groups: Groups, binds: Binds<'_>, push: Vec<u8>) {
        let bound = bound(program, binds);
        let step = Step::Dispatch(Dispatch { program: program.clone(), bound, push: push.into(), groups, key: 0 });
        self.workload.works.insert(pass, Work::Steps(vec![step]));
    }

    /// A raster pass of one draw whose shader accesses come from the shader, and whose attachments are given.
    pub fn raster(&mut self, name: &str, text: &str, targets: &[(ResourceId, Use)], binds: Binds<'_>) -> PassId {
        let program = program(Kind::Raster, text);
        let mut all = targets.to_vec();
        all.extend(uses(&program, binds));
        let pass = self.pass(name, PassQueue::Graphics, &all);
        let draw = draw(&program, RasterState::default(), binds);
        self.workload.works.insert(pass, Work::Steps(vec![Step::Draw(draw)]));
        pass
    }

    pub fn steps(&mut self, pass: PassId, steps: Vec<Step>) {
        self.workload.works.insert(pass, Work::Steps(steps));
    }

    pub fn import_buffer(&mut self, name: &str, size: u64) -> ResourceId {
        let resource = Declared { life: Life::Imported(Imported::default()), ..Declared::buffer(size) };
        self.workload.graph.add_resource(name, resource, None)
    }

    pub fn persistent_buffer(&mut self, name: &str, size: u64) -> ResourceId {
        let resource = Declared { life: Life::Persistent, ..Declared::buffer(size) };
        self.workload.graph.add_resource(name, resource, None)
    }

    pub fn compile(&self, device: &Device) -> Compiled {
        match device.compile(self.workload.clone(), &Options::default()) {
            Ok(compiled) => compiled,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A draw of a full-screen triangle.
pub fn draw(program: &Arc<Program>, state: RasterState, binds: Binds<'_>) -> Draw {
    Draw {
        program: program.clone(),
        state: Arc::new(state),
        bound: bound(program, binds),
        push: Default::default(),
        vertex_buffers: Vec::new(),
        index: None,
        count: DrawCount::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0, vertex_offset: 0 },
        viewport: None,
        key: 0,
    }
}

/// The accesses that a shader makes of what is bound.
pub fn uses(program: &Program, binds: Binds<'_>) -> Vec<(ResourceId, Use)> {
    let mut out = Vec::new();
    for (name, what) in binds {
        let (_, binding) = program.interface.find(name).unwrap_or_else(|| panic!("no binding \"{name}\""));
        if let (What::Resource(view) | What::Combined(view, _), Some(usage)) = (what, binding.usage()) {
            let mut how = Use { stages: binding.stages, ..Use::new(usage) };
            how.ranges.mips = view.mips;
            how.ranges.layers = view.layers;
            how.ranges.bytes = view.range;
            out.push((view.resource, how));
        }
    }
    out
}

pub fn using(usage: Usage) -> Use {
    Use::new(usage)
}

/// 32-bit words of bytes.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Bytes of 32-bit words.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
