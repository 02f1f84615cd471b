// From light to the screen: exposure, AgX (Sobotka 2022, as fitted by Wrensch 2023) with a little more
// contrast, a darker rim, and noise below one step so that gradients have no bands.

@group(0) @binding(1) var light: texture_2d<f32>;
@group(0) @binding(2) var<storage, read> exposure: vec4<f32>;

fn agx(light: vec3<f32>) -> vec3<f32> {
    let into = mat3x3<f32>(
        vec3<f32>(0.842479062253094, 0.0423282422610123, 0.0423756549057051),
        vec3<f32>(0.0784335999999992, 0.878468636469772, 0.0784336),
        vec3<f32>(0.0792237451477643, 0.0791661274605434, 0.879142973793104));
    let x = clamp((log2(max(into * light, vec3<f32>(1e-10))) + 12.47393) / 16.5, vec3<f32>(0.0), vec3<f32>(1.0));
    let x2 = x * x;
    let x4 = x2 * x2;
    return 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232;
}

fn out_of_agx(x: vec3<f32>) -> vec3<f32> {
    let back = mat3x3<f32>(
        vec3<f32>(1.19687900512017, -0.0528968517574562, -0.0529716355144438),
        vec3<f32>(-0.0980208811401368, 1.15190312990417, -0.0980434501171241),
        vec3<f32>(-0.0990297440797205, -0.0989611768448433, 1.15107367264116));
    return pow(max(back * x, vec3<f32>(0.0)), vec3<f32>(2.2));
}

@fragment
fn fs(@builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let aspect = frame.size.x / frame.size.y;
    let off = (uv - 0.5) * vec2<f32>(min(aspect, 1.5), 1.0);
    let rim = 1.0 / pow(1.0 + 0.42 * dot(off, off), 2.0);
    let scene = textureLoad(light, vec2<i32>(position.xy), 0).rgb * (exposure.x * rim);
    var look = agx(scene);
    // ASC CDL: power and saturation.
    look = pow(max(look, vec3<f32>(0.0)), vec3<f32>(1.3));
    look = luminance(look) + (look - luminance(look)) * 1.32;
    let noise = (gradient_noise(position.xy) - 0.5) / 255.0;
    return vec4<f32>(clamp(out_of_agx(look) + noise * 0.5, vec3<f32>(0.0), vec3<f32>(1.0)), 1.0);
}
