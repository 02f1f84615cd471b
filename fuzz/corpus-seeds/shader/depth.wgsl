// Depth pre-pass: the nearest surface, so that the g-buffer shades no texel twice.

@vertex
fn main(@builtin(vertex_index) index: u32) -> @invariant @builtin(position) vec4<f32> {
    return frame.view_projection * vec4<f32>(corner(index).world, 1.0);
}
