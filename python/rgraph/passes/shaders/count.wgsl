// Frames since the beginning or the last reset.
struct State { frames: u32 }
struct Control { reset: u32 }
@group(0) @binding(0) var<storage, read_write> state: State;
@group(0) @binding(1) var<uniform> control: Control;

@compute @workgroup_size(1)
fn main() { state.frames = select(min(state.frames, 1048575u) + 1u, 1u, control.reset != 0u); }
