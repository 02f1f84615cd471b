// Reflection, the sky's light and haze; what `lighting.wgsl` and `bubbles.wgsl` share.

@group(1) @binding(0) var sky: texture_2d<f32>;
@group(1) @binding(1) var sky_sampler: sampler;
@group(1) @binding(2) var<storage, read> irradiance: array<vec4<f32>, 9>;

const SKY_LEVELS: f32 = 6.0;

struct Brdf {
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    alpha: f32,
}

// Diffuse and specular reflection, over the light that arrives: Lambert; GGX, Smith's visibility as approximated by
// Hammon ("PBR Diffuse Lighting for GGX+Smith Microsurfaces", GDC 2017), Schlick's Fresnel.
fn shaded(it: Brdf, n: vec3<f32>, v: vec3<f32>, l: vec3<f32>, nv: f32) -> vec3<f32> {
    let h = normalize(v + l);
    let nl = max(dot(n, l), 1e-4);
    let nh = max(dot(n, h), 0.0);
    let vh = max(dot(v, h), 0.0);
    let a2 = it.alpha * it.alpha;
    let d = nh * nh * (a2 - 1.0) + 1.0;
    let distribution = a2 / (PI * d * d);
    let visible = 0.5 / mix(2.0 * nl * nv, nl + nv, it.alpha);
    let fresnel = it.specular + (1.0 - it.specular) * pow(1.0 - vh, 5.0);
    return it.diffuse / PI * (1.0 - fresnel) + fresnel * (distribution * visible);
}

// The sun's light here, after the air.
fn sunlight() -> vec3<f32> {
    let high = clamp(frame.sun.y, 0.0, 1.0);
    // Optical depth by the path's length in the air (Kasten, Young 1989).
    let path = 1.0 / (high + 0.50572 * pow(degrees(asin(high)) + 6.07995, -1.6364));
    return vec3<f32>(22.0, 21.0, 19.5) * exp(-vec3<f32>(0.055, 0.115, 0.27) * path) * 1.15;
}

fn sky_at(direction: vec3<f32>, roughness: f32) -> vec3<f32> {
    return textureSampleLevel(sky, sky_sampler, sky_uv(direction), roughness * (SKY_LEVELS - 1.0)).rgb;
}

fn sky_on(n: vec3<f32>) -> vec3<f32> {
    let sum = irradiance[0].rgb * 0.282095 + irradiance[1].rgb * (0.488603 * n.y) + irradiance[2].rgb * (0.488603 * n.z)
        + irradiance[3].rgb * (0.488603 * n.x) + irradiance[4].rgb * (1.092548 * n.x * n.y)
        + irradiance[5].rgb * (1.092548 * n.y * n.z) + irradiance[6].rgb * (0.315392 * (3.0 * n.z * n.z - 1.0))
        + irradiance[7].rgb * (1.092548 * n.x * n.z) + irradiance[8].rgb * (0.546274 * (n.x * n.x - n.y * n.y));
    return max(sum, vec3<f32>(0.0));
}

// The sky's light: diffuse by the nine coefficients, specular by the blurred picture and Karis' fit of the BRDF's
// integral ("Physically Based Shading on Mobile", 2014); occluded as Lagarde, de Rousiers (2014) and Jimenez (2016) do.
fn ambient(it: Brdf, n: vec3<f32>, v: vec3<f32>, nv: f32, roughness: f32, open: f32) -> vec3<f32> {
    let c0 = vec4<f32>(-1.0, -0.0275, -0.572, 0.022);
    let c1 = vec4<f32>(1.0, 0.0425, 1.04, -0.04);
    let r = roughness * c0 + c1;
    let a004 = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    let ab = vec2<f32>(-1.04, 1.04) * a004 + r.zw;
    let reflected = reflect(-v, n);
    // What the court's own floor sends back, instead of the dark plain below the horizon.
    let seen = sky_at(reflected, roughness);
    let hidden = clamp(pow(nv + open, exp2(-16.0 * roughness - 1.0)) - 1.0 + open, 0.0, 1.0);
    let colour = it.diffuse;
    let a = 2.0404 * colour - 0.3324;
    let b = -4.7951 * colour + 0.6417;
    let c = 2.7552 * colour + 0.6903;
    let bounced = max(vec3<f32>(open), ((open * a + b) * open + c) * open);
    return sky_on(n) * colour * bounced + seen * (it.specular * ab.x + ab.y) * hidden;
}

// What haze looks like along a direction.
fn haze_at(direction: vec3<f32>) -> vec3<f32> {
    let level = normalize(vec3<f32>(direction.x, max(direction.y, 0.03), direction.z));
    let cosine = max(dot(direction, frame.sun.xyz), 0.0);
    return sky_at(level, 0.3) * 0.75 + sunlight() * (0.015 + 0.10 * pow(cosine, 8.0));
}

// Haze between the eye and a place: thins upwards, glows about the sun.
fn hazed(light: vec3<f32>, world: vec3<f32>) -> vec3<f32> {
    let ray = world - frame.eye.xyz;
    let away = length(ray);
    let direction = ray / max(away, 1e-4);
    let thins = 0.11;
    let rise = direction.y * thins;
    let column = select((1.0 - exp(-away * rise)) / rise, away, abs(rise) < 1e-4);
    let depth = 0.0085 * exp(-frame.eye.y * thins) * max(column, 0.0);
    return mix(haze_at(direction), light, exp(-depth));
}
