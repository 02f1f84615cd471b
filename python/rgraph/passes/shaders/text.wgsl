// One quad a character; a fragment looks its dot up.
struct Params { size: vec2<f32>, position: vec2<f32>, colour: vec4<f32>, background: vec4<f32>, scale: f32 }
struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) dot: vec2<f32>,
    @location(1) @interpolate(flat) code: u32,
}
const CELL = vec2<f32>($cell);
var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> glyphs: array<u32>;
@group(0) @binding(1) var<storage, read> font: array<vec2<u32>, 256>;

@vertex
fn place(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
    let glyph = glyphs[instance];
    let dot = vec2<f32>(vec2<u32>(vertex & 1u, vertex >> 1u)) * CELL;
    let cell = vec2<f32>(vec2<u32>((glyph >> 8u) & 4095u, glyph >> 20u));
    // Line breaks, and room that a shorter text leaves.
    if ((glyph & 255u) == 0u) { return Corner(vec4<f32>(0.0, 0.0, 0.0, 1.0), dot, 0u); }
    let texel = params.position + (cell * CELL + dot) * params.scale;
    return Corner(vec4<f32>(2.0 * texel / params.size - 1.0, 0.0, 1.0), dot, glyph & 255u);
}

@fragment
fn fill(in: Corner) -> @location(0) vec4<f32> {
    let dot = vec2<u32>(in.dot);
    let bit = 5u * dot.y + dot.x;
    let words = font[in.code];
    let on = ((select(words.x, words.y, bit >= 32u) >> (bit & 31u)) & 1u) != 0u && dot.x < 5u;
    return select(params.background, params.colour, on);
}
