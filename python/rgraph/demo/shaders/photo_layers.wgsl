// Levels of grey for which pyramids are made, in stops of luminance.

const LAYERS: u32 = 10u;
const LOWEST: f32 = -9.0;
const HIGHEST: f32 = 0.5;

fn grey_of(layer: u32) -> f32 { return LOWEST + (HIGHEST - LOWEST) * f32(layer) / f32(LAYERS - 1u); }
