//! Temporal anti-aliasing: read what the frame before wrote.

use rgraph_plan::prelude::*;

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("temporal", [1280, 720]);
    let lit = g.image("lit", Format::Rgba16float);
    let steady = g.image("steady", Format::Rgba16float);
    let out = g.image("out", Format::Rgba8unorm);
    // Format and size are those of what is remembered.
    let before = g.history("steady before", steady, 1);

    g.pass("lighting", PassQueue::Graphics).color_cleared(lit, [0.0, 0.0, 0.0, 1.0]);
    g.pass("resolve", PassQueue::Graphics).sampled(lit).sampled(before).color(steady);
    g.pass("tonemap", PassQueue::Graphics).sampled(steady).color(out);
    g.root(out);

    let plan = bake(&g, &Profile::single_queue(), &Options::default(), &mut Scratch::default())?;
    print!("{}", rgraph_report::listing(&plan));
    Ok(())
}
