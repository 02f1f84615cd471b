//! How much was done so far in this process, counted where it is done: tests compare counts, which are the same on
//! every machine, where they would else compare times.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows.
pub(crate) struct Count(AtomicU64);

impl Count {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts so many more.
    pub(crate) fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Graphs and plans that devices compiled.
pub(crate) static GRAPHS_COMPILED: Count = Count::new();
/// Passes of declarations whose hash was computed.
pub(crate) static PASSES_HASHED: Count = Count::new();
/// Passes whose work was compared with that of a graph that was compiled before.
pub(crate) static PASSES_COMPARED: Count = Count::new();

/// Allocations of this thread, where debug assertions are on; else 0.
fn allocations() -> u64 {
    #[cfg(debug_assertions)]
    {
        super::counting::allocations()
    }
    #[cfg(not(debug_assertions))]
    {
        0
    }
}

/// All counts by name.
pub(crate) fn all() -> [(&'static str, u64); 7] {
    [
        ("shaders_compiled", rgraph_shader::Program::compiled_so_far()),
        ("glsl_compiled", rgraph_shader::Program::glsl_compiled_so_far()),
        ("pipelines_made", rgraph_vk::pipelines_made_so_far()),
        ("graphs_compiled", GRAPHS_COMPILED.get()),
        ("passes_hashed", PASSES_HASHED.get()),
        ("passes_compared", PASSES_COMPARED.get()),
        ("allocations", allocations()),
    ]
}
