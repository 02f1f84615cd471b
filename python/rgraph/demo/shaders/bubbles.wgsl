// Soap bubbles, blended over what is there: reflections of the sky, coloured by interference in the film.

@group(0) @binding(1) var<storage, read> vertices: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> bubbles: array<vec4<f32>>;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) @interpolate(flat) seed: f32,
}

@vertex
fn vs(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Varying {
    let it = bubbles[instance];
    let seed = fract(f32(instance) * 0.618034);
    let t = frame.eye.w * (0.35 + 0.25 * seed) + seed * 20.0;
    let floats = vec3<f32>(0.35 * sin(t * 0.7), 0.28 * sin(t), 0.35 * cos(t * 0.6));
    let n = vertices[index * 2u].xyz;
    let wobble = 1.0 + 0.02 * sin(6.0 * n.y + 3.0 * t) + 0.015 * sin(5.0 * n.x - 2.3 * t);
    let world = it.xyz + floats + n * (it.w * wobble);
    return Varying(frame.view_projection * vec4<f32>(world, 1.0), world, n, seed);
}

// Colour of light reflected at a film of a thickness in nanometres, refractive index 1.33: two beams half a wave apart.
fn film(thickness: f32, cosine: f32) -> vec3<f32> {
    let inside = sqrt(1.0 - (1.0 - cosine * cosine) / (1.33 * 1.33));
    let path = 2.0 * 1.33 * thickness * inside;
    let phase = PI * path / vec3<f32>(612.0, 549.0, 464.0);
    return sin(phase) * sin(phase);
}

@fragment
fn fs(in: Varying) -> @location(0) vec4<f32> {
    let n = normalize(in.normal);
    let v = normalize(frame.eye.xyz - in.world);
    let nv = clamp(abs(dot(n, v)), 0.02, 1.0);
    let fresnel = 0.04 + 0.96 * pow(1.0 - nv, 5.0);
    let flows = 0.5 + 0.5 * sin(4.0 * n.y + 2.0 * sin(3.0 * n.x + in.seed * 9.0) + frame.eye.w * 0.4);
    let thickness = 240.0 + 420.0 * (0.55 - 0.45 * n.y) + 90.0 * flows;
    let tint = mix(vec3<f32>(1.0), 2.2 * film(thickness, nv), 0.8);
    let front = sky_at(reflect(-v, n), 0.02);
    let back = sky_at(reflect(-v, -n) * vec3<f32>(1.0, -1.0, 1.0), 0.05);
    let h = normalize(v + frame.sun.xyz);
    let spark = pow(max(dot(n, h), 0.0), 1800.0) * 60.0;
    let edge = smoothstep(0.0, 0.5, nv);
    let light = (front + 0.35 * back) * tint * (fresnel + 0.035) + sunlight() * spark * 0.1;
    return vec4<f32>(hazed(light, in.world), clamp(0.65 * fresnel + 0.015, 0.0, 0.85)) * vec4<f32>(vec3<f32>(0.35 + 0.65 * edge), 1.0);
}
