@group(0) @binding(0) var images: binding_array<texture_2d<f32>, 4>;
@group(0) @binding(1) var filtering: sampler;
@fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return textureSample(images[0], filtering, uv) + textureSample(images[3], filtering, uv);
}
