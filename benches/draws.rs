//! A pass of ten thousand draws with equal bindings, each with push data of its own: recorded again in each frame by a
//! function of the caller, and as steps that are compiled once.

use std::sync::Arc;

use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Life};
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{
    Bound, CallbackError, Commands, Draw, DrawCount, RasterState, RecordWork, Step, View, What, Work, Workload,
};
use rgraph_vk::{Device, DeviceOptions, Inputs, Upload};

use crate::{as_text, clock, median, thread_time};

const DRAWS: usize = 10_000;
const ROUNDS: u32 = 40;

const TEXT: &str = "var<immediate> number: u32;
    @group(0) @binding(0) var<storage, read> colors: array<u32, 64>;
    @fragment fn main() -> @location(0) vec4<f32> { return unpack4x8unorm(colors[number % 64u]); }";

/// The draws of one pass, and what its function took of its thread's time.
struct List {
    program: Arc<Program>,
    state: Arc<RasterState>,
    bound: Arc<[Bound]>,
    took: std::sync::Mutex<f64>,
}

impl List {
    fn steps(&self) -> impl Iterator<Item = Step> {
        (0..DRAWS as u32).map(|number| Step::Draw(self.draw(number)))
    }

    fn draw(&self, number: u32) -> Draw {
        Draw {
            program: self.program.clone(),
            state: self.state.clone(),
            bound: self.bound.clone(),
            push: number.to_le_bytes().into(),
            vertex_buffers: Vec::new(),
            index: None,
            count: DrawCount::Direct {
                vertices: 3,
                instances: 1,
                first_vertex: 0,
                first_instance: 0,
                vertex_offset: 0,
            },
            viewport: None,
            key: 0,
        }
    }
}

impl RecordWork for List {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let start = clock::thread_us();
        commands.steps.extend(self.steps());
        *self.took.lock().map_err(|error| error.to_string())? = clock::thread_us() - start;
        Ok(())
    }
}

/// Prints what a draw takes.
pub fn draws() -> Result<(), String> {
    let options = DeviceOptions { labels: Some(false), validation: Some(false), ..DeviceOptions::default() };
    let device = Device::new(&options).map_err(as_text)?;
    let mut graph = Graph::new("draws", [64, 64]);
    let colors = graph.buffer("colors", 256);
    graph.resource_mut(colors).life = Life::Imported(Imported::default());
    let out = graph.image("out", Format::Rgba8unorm);
    graph.pass("draw", PassQueue::Graphics).color_cleared(out, [0.0; 4]).storage_read(colors);
    graph.root(out);
    let program = Program::new("draw", Kind::Raster, &[Source::Text(Language::Wgsl, TEXT)], None).map_err(as_text)?;
    let list = Arc::new(List {
        program: Arc::new(program),
        state: Arc::new(RasterState::default()),
        bound: [Bound { binding: 0, element: 0, what: What::Resource(View::whole(colors)) }].into(),
        took: std::sync::Mutex::new(0.0),
    });
    let bytes: Vec<u8> = (0..64_u32).flat_map(|at| [at as u8, 2, 3, 255]).collect();
    let mut workload = Workload::new(graph);
    let mut pictures = Vec::new();
    for (name, work) in
        [("recorded again", Work::Record(list.clone())), ("compiled", Work::Steps(list.steps().collect()))]
    {
        workload.works.insert(PassId::new(0), work);
        let (compile_us, compiled) = thread_time(|| device.compile(workload.clone(), &Options::default()));
        let compiled = compiled.map_err(as_text)?;
        let (mut records, mut own) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // Other push data: the steps are recorded again.
            let push = vec![(PassId::new(0), round.to_le_bytes().to_vec())];
            let push = if name == "compiled" { push } else { Vec::new() };
            let uploads = vec![(colors, Upload::Bytes(&bytes))];
            let ran = compiled.run(&Inputs { uploads, push, ..Inputs::default() }).map_err(as_text)?;
            ran.wait(None).map_err(as_text)?;
            let report = ran.report().map_err(as_text)?;
            assert!(report.recorded, "it is recorded in each round");
            records.push(report.record_us);
            own.push(*list.took.lock().map_err(as_text)?);
            if round == 0 && name == "recorded again" || round + 1 == ROUNDS && name == "compiled" {
                pictures.push(ran.read(out).map_err(as_text)?.bytes().to_vec());
            }
        }
        let per = |us: f64| us * 1e3 / DRAWS as f64;
        let function =
            if name == "compiled" { String::new() } else { format!(", of which its function {:.0}", per(median(own))) };
        println!(
            "{DRAWS} draws, {name}: recorded in {:.0} ns each{function}; compile {:.0}",
            per(median(records)),
            per(compile_us)
        );
    }
    assert!(pictures[0].chunks_exact(4).all(|texel| texel[1..] == [2, 3, 255]), "each texel was drawn");
    device.close().map_err(as_text)
}
