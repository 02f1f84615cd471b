//! A graph that is declared again for each frame: a chain of dispatches, each of which reads the image that the one
//! before wrote. Every library declares it, records or finds its commands, and submits; the frame is waited for outside
//! of what is timed. Libraries take turns, frame by frame; times are the thread's own, medians.
//!
//! `cargo run --release [PASSES [ROUNDS [PART OF A NAME]]]`: by default all sizes, all libraries.

#[path = "../../clock.rs"]
mod clock;
mod ours;
mod vk_graph_peer;

use std::sync::Arc;

use rgraph_shader::{Kind, Language, Program, Source};

/// Numbers of passes.
const SIZES: [usize; 4] = [16, 64, 256, 1024];

/// The first pass, and the others; `more` is pushed.
const SHADERS: [&str; 2] = [
    "var<immediate> more: u32;
    @group(0) @binding(0) var after: texture_storage_2d<r32uint, write>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        textureStore(after, id.xy, vec4<u32>(more));
    }",
    "var<immediate> more: u32;
    @group(0) @binding(0) var before: texture_storage_2d<r32uint, read>;
    @group(0) @binding(1) var after: texture_storage_2d<r32uint, write>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        textureStore(after, id.xy, textureLoad(before, id.xy) + vec4<u32>(more));
    }",
];

/// Something that runs a frame and says the microseconds of its parts.
pub trait Library {
    /// Declares a chain of so many passes that each push a word, submits it and waits for it.
    fn frame(&mut self, passes: usize, push: u32) -> Result<Parts, String>;
}

/// Microseconds of the calling thread.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    pub declare: f64,
    pub compile: f64,
    pub run: f64,
    /// Letting go of the graph.
    pub end: f64,
}

impl Parts {
    fn total(self) -> f64 {
        self.declare + self.compile + self.run + self.end
    }
}

/// Microseconds of this thread that something takes.
pub fn timed<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = clock::thread_us();
    let value = what();
    (clock::thread_us() - start, value)
}

pub fn as_text(error: impl ToString) -> String {
    error.to_string()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), String> {
    let only: Option<usize> = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let rounds: Option<usize> = std::env::args().nth(2).and_then(|text| text.parse().ok());
    let named = std::env::args().nth(3).unwrap_or_default();
    let [first, next] = SHADERS.map(|text| {
        Arc::new(
            Program::new("chain", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None).expect("it compiles"),
        )
    });
    let most = *SIZES.iter().max().expect("there are sizes");
    let mut libraries: Vec<(&str, bool, Box<dyn Library>)> = vec![
        ("rgraph, equal frames", false, Box::new(ours::Ours::new([&first, &next], most, 2)?)),
        ("rgraph, other push data", true, Box::new(ours::Ours::new([&first, &next], most, 2)?)),
        ("rgraph, keeping nothing", true, Box::new(ours::Ours::new([&first, &next], most, 0)?)),
        ("vk-graph 0.14", true, Box::new(vk_graph_peer::VkGraph::new([&first, &next], most)?)),
    ];
    libraries.retain(|(name, ..)| name.contains(&named));
    println!("µs per pass of the calling thread: declare + compile + run + end");
    for passes in SIZES.into_iter().filter(|passes| only.is_none_or(|only| *passes == only)) {
        let rounds = rounds.unwrap_or(40_000 / passes).clamp(1, 1_000);
        let mut taken = vec![Vec::new(); libraries.len()];
        for round in 0..rounds + 10 {
            for ((_, changes, library), taken) in libraries.iter_mut().zip(&mut taken) {
                let parts = library.frame(passes, if *changes { 1 + round as u32 % 7 } else { 1 })?;
                if round >= 10 {
                    taken.push(parts);
                }
            }
        }
        for ((name, ..), taken) in libraries.iter().zip(&taken) {
            let of = |part: fn(&Parts) -> f64| median(&mut taken.iter().map(part).collect::<Vec<_>>()) / passes as f64;
            println!(
                "{passes:6}  {name:24}  {:6.3} = {:.3} + {:.3} + {:.3} + {:.3}",
                of(|parts| parts.total()),
                of(|parts| parts.declare),
                of(|parts| parts.compile),
                of(|parts| parts.run),
                of(|parts| parts.end)
            );
        }
    }
    Ok(())
}
