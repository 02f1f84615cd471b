// Depth as the sun sees it, one cascade.

struct Push { cascade: u32 }
var<immediate> push: Push;

@vertex
fn main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    var at = frame.cascades[push.cascade] * vec4<f32>(corner(index).world, 1.0);
    // What stands between the sun and the box still throws its shadow into it.
    at.z = max(at.z, 0.0);
    return at;
}
