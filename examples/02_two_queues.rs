//! Ambient occlusion on an async compute queue, while the graphics queue draws shadows.

use rgraph_plan::prelude::*;

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("two queues", [1920, 1080]);
    let depth = g.image("depth", Format::Depth32float);
    let shadow = g.sized_image("shadow", Format::Depth32float, Size::absolute(2048, 2048));
    let ao = g.sized_image("ao", Format::R8unorm, Size::scaled(None, 0.5, 0.5));
    let lit = g.image("lit", Format::Rgba16float);

    g.pass("depth", PassQueue::Graphics).depth_cleared(depth, 1.0).weight_us(300.0);
    g.pass("ao", PassQueue::AsyncCompute).sampled(depth).storage_write(ao).weight_us(500.0);
    g.pass("shadows", PassQueue::Graphics).depth_cleared(shadow, 1.0).weight_us(600.0);
    g.pass("lighting", PassQueue::Graphics).sampled(depth).sampled(shadow).sampled(ao).color(lit).weight_us(700.0);
    g.root(lit);

    // What baking needs besides its input is kept: a steady frame allocates nothing.
    let mut scratch = Scratch::default();
    for profile in [Profile::single_queue(), Profile::discrete()] {
        let plan = bake(&g, &profile, &Options::default(), &mut scratch)?;
        println!("{}: {} batches on {} queues", profile.name, plan.batches.len(), plan.queues.len());
    }
    Ok(())
}
