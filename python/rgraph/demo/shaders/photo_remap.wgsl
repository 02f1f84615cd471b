// The picture's stops of luminance, and the same with local differences made larger about LAYERS levels of grey: Paris,
// Hasinoff, Kautz, "Local Laplacian Filters", SIGGRAPH 2011, by samples as in Aubry, Paris, Hasinoff, Kautz, Durand,
// "Fast Local Laplacian Filters", 2014.

struct Push { detail: f32 }
var<immediate> push: Push;
@group(0) @binding(0) var signal: texture_2d<f32>;
@group(0) @binding(1) var stops: texture_storage_2d<r16float, write>;
@group(0) @binding(2) var remapped: texture_storage_2d_array<r16float, write>;

const WIDTH: f32 = 1.1;  // stops; larger differences are edges, and stay

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(stops))) { return; }
    let here = stops_of(textureLoad(signal, id.xy, 0).xyz);
    textureStore(stops, id.xy, vec4<f32>(here, 0.0, 0.0, 0.0));
    for (var layer = 0u; layer < LAYERS; layer++) {
        let grey = grey_of(layer);
        let away = here - grey;
        let raised = away * (1.0 + push.detail * exp(-0.5 * away * away / (WIDTH * WIDTH)));
        textureStore(remapped, id.xy, layer, vec4<f32>(grey + raised, 0.0, 0.0, 0.0));
    }
}
