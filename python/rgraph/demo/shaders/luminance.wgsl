// The range of the histogram, in log2 of luminance.

const LEAST: f32 = -9.0;
const RANGE: f32 = 16.0;
