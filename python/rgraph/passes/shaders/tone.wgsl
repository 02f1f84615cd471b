// Scene-linear Rec. 709 colours to what a display shows. The sources are named in _tone.py.
const WHITE: f32 = $white;
// The look of AgX.
const SLOPE = vec3<f32>($slope);
const POWER = vec3<f32>($power);
const SATURATION: f32 = $saturation;
struct Exposure { scale: f32 }
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var<uniform> exposure: Exposure;

const LUMINANCE = vec3<f32>(0.2126, 0.7152, 0.0722);

fn linear(x: vec3<f32>) -> vec3<f32> { return x; }

fn reinhard(x: vec3<f32>) -> vec3<f32> { return x / (1.0 + x); }

fn reinhard_extended(x: vec3<f32>) -> vec3<f32> {
    return x * (1.0 + x / (WHITE * WHITE)) / (1.0 + x);
}

fn reinhard_luminance(x: vec3<f32>) -> vec3<f32> {
    let l = dot(x, LUMINANCE);
    return x * (1.0 + l / (WHITE * WHITE)) / (1.0 + l);
}

fn aces(x: vec3<f32>) -> vec3<f32> { return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14); }

fn aces_hill(x: vec3<f32>) -> vec3<f32> {
    let to_ap1 = mat3x3<f32>(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
    let from_ap1 = mat3x3<f32>(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
    let v = to_ap1 * x;
    return from_ap1 * ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081));
}

fn agx(x: vec3<f32>) -> vec3<f32> {
    let inset = mat3x3<f32>(
        0.842479062253094, 0.0423282422610123, 0.0423756549057051,
        0.0784335999999992, 0.878468636469772, 0.0784336,
        0.0792237451477643, 0.0791661274605434, 0.879142973793104,
    );
    let outset = mat3x3<f32>(
        1.19687900512017, -0.0528968517574562, -0.0529716355144438,
        -0.0980208811401368, 1.15190312990417, -0.0980434501171241,
        -0.0990297440797205, -0.0989611768448433, 1.15107367264116,
    );
    let least = -12.47393;
    let most = 4.026069;
    let log = clamp(log2(max(inset * x, vec3<f32>(1e-10))), vec3<f32>(least), vec3<f32>(most));
    let v = (log - least) / (most - least);
    let v2 = v * v;
    let v4 = v2 * v2;
    var curve = 15.5 * v4 * v2 - 40.14 * v4 * v + 31.96 * v4 - 6.868 * v2 * v + 0.4298 * v2 + 0.1191 * v - 0.00232;
    // The look is an ASC CDL on the curve's values.
    curve = pow(max(curve * SLOPE, vec3<f32>(0.0)), POWER);
    let grey = dot(curve, LUMINANCE);
    curve = grey + SATURATION * (curve - grey);
    return pow(max(outset * curve, vec3<f32>(0.0)), vec3<f32>(2.2));
}

fn encode(x: vec3<f32>) -> vec3<f32> {
    return select(1.055 * pow(x, vec3<f32>(1.0 / 2.4)) - 0.055, 12.92 * x, x <= vec3<f32>(0.0031308));
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let colour = textureLoad(source, at, 0);
    let mapped = $operator(max(colour.rgb * exposure.scale, vec3<f32>(0.0)));
    let shown = clamp(mapped, vec3<f32>(0.0), vec3<f32>(1.0));
    return vec4<f32>($encode(shown), colour.a);
}
