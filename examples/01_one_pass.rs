//! One pass that draws one image: the smallest frame there is.

use rgraph_plan::prelude::*;

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("triangle", [640, 480]);
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("draw", PassQueue::Graphics).color_cleared(out, [0.0, 0.0, 0.0, 1.0]);
    g.root(out);

    let plan = bake(&g, &Profile::discrete(), &Options::default(), &mut Scratch::default())?;
    print!("{}", rgraph_report::listing(&plan));
    Ok(())
}
