// What the fluid's passes share. The grid is staggered (Harlow, Welch, "Numerical Calculation of Time-Dependent Viscous
// Incompressible Flow", 1965): texel (i, j) holds the pressure of cell (i, j), the speed to the right through its left
// side, at (i, j + ½), and the speed downwards through its upper side, at (i + ½, j). Lengths are in cells, speeds in
// cells a second; the box is closed.

struct Step { seconds: f32, step: f32, frame: f32, ink: f32 }
@group(0) @binding(0) var<uniform> moment: Step;

const PI: f32 = 3.14159265;

// Where a texel's value lies in its cell: x of the first component of velocity, and so on.
const RIGHTWARDS: vec2<f32> = vec2<f32>(0.0, 0.5);
const DOWNWARDS: vec2<f32> = vec2<f32>(0.5, 0.0);
const MIDDLE: vec2<f32> = vec2<f32>(0.5, 0.5);
