struct Camera { view: mat4x4<f32>, eye: vec3<f32> }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var albedo: texture_2d<f32>;
@group(0) @binding(2) var smooth_sampler: sampler;
struct In { @location(0) position: vec3<f32>, @location(1) uv: vec2<f32>, @location(2) id: u32 }
struct Between { @builtin(position) clip: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) @interpolate(flat) id: u32 }
struct Out { @location(0) color: vec4<f32>, @location(1) id: u32, @builtin(frag_depth) depth: f32 }
@vertex fn vertex_main(in: In) -> Between {
    return Between(camera.view * vec4<f32>(in.position, 1.0), in.uv, in.id);
}
@fragment fn fragment_main(in: Between) -> Out {
    return Out(textureSample(albedo, smooth_sampler, in.uv) * camera.eye.x, in.id, in.clip.z * 0.5);
}
