// Nozzles that go round, and the colours of their ink.

const JETS: u32 = 5u;

const INKS: array<vec3<f32>, 5> = array<vec3<f32>, 5>(
    vec3<f32>(1.0, 0.36, 0.06), vec3<f32>(0.90, 0.07, 0.16), vec3<f32>(0.36, 0.10, 0.85), vec3<f32>(0.03, 0.35, 0.95),
    vec3<f32>(0.04, 0.72, 0.60));

struct Jet { place: vec2<f32>, velocity: vec2<f32>, radius: f32, colour: vec3<f32> }

fn jet_of(n: u32, size: vec2<f32>) -> Jet {
    let part = f32(n) / f32(JETS);
    let t = moment.seconds;
    let angle = 2.0 * PI * part + 0.23 * t;
    let ring = vec2<f32>(cos(angle), sin(angle)) * (0.30 + 0.05 * sin(0.7 * t + 9.0 * part));
    let place = size * 0.5 + ring * size.y;
    // Inwards, but past the middle, so that the whole turns.
    let aim = angle + PI + 0.55 + 0.35 * sin(0.9 * t + 5.0 * part);
    let speed = size.y * (0.62 + 0.22 * sin(1.7 * t + 14.0 * part));
    return Jet(place, vec2<f32>(cos(aim), sin(aim)) * speed, 0.022 * size.y, INKS[n]);
}

fn jet_weight(jet: Jet, at: vec2<f32>) -> f32 {
    let off = at - jet.place;
    let share = 1.0 - exp(-moment.step * 24.0);
    return share * exp(-dot(off, off) / (jet.radius * jet.radius)) * moment.ink;
}
