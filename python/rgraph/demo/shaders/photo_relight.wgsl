// Light again, as bright as the pyramids say, in the colours that were there.

@group(0) @binding(0) var signal: texture_2d<f32>;
@group(0) @binding(1) var stops: texture_2d<f32>;
@group(0) @binding(2) var relit: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(relit))) { return; }
    let here = textureLoad(signal, id.xy, 0);
    let change = clamp(textureLoad(stops, id.xy, 0).x - stops_of(here.xyz), -3.0, 3.0);
    textureStore(relit, id.xy, vec4<f32>(light_of(here.xyz) * exp2(change), here.a));
}
