//! A plan and the checker: a baked plan has no finding and computes the declaration; a plan with a hole has findings.

use rgraph_check::{check, interpret};
use rgraph_plan::id::Span;
use rgraph_plan::prelude::*;

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("checked", [1280, 720]);
    let hdr = g.image("hdr", Format::Rgba16float);
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("light", PassQueue::AsyncCompute).storage_write(hdr);
    g.pass("tonemap", PassQueue::Graphics).sampled(hdr).color(out);
    g.root(out);

    let plan = bake(&g, &Profile::discrete(), &Options::default(), &mut Scratch::default())?;
    assert!(check(&g, &plan).is_empty());
    let computed = interpret::interpret_plan(&g, &plan, 4)?;
    assert_eq!(interpret::interpret_graph(&g).difference(&computed), None);

    // Somebody forgets what the graphics queue waits for.
    let mut holed = plan.clone();
    for batch in holed.batches.iter_mut() {
        batch.waits = Span::default();
    }
    let findings = check(&g, &holed);
    assert!(!findings.is_empty());
    for finding in findings.iter().take(3) {
        println!("{finding}");
    }
    Ok(())
}
