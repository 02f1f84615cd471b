//! An exclusive image that a family takes from another without a transfer is as if it were new.

use rgraph_check::{Rule, check};
use rgraph_plan::access::Layout;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Barriers, Command};
use rgraph_plan::profile::Profile;

use crate::support::corner;

#[test]
fn an_image_that_a_family_takes_keeps_no_layout() {
    let graph = corner::graph(
        "image a sharing=exclusive root
         pass first async_compute effects: storage_write a
         pass second compute: storage_write a load=discard",
    );
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    assert_eq!(check(&graph, &plan), []);
    let takes = plan.image_barriers.iter().rposition(|one| one.old_layout == Layout::Undefined).unwrap();
    let [first, second] = [0, takes].map(|at| plan.image_barriers[at].new_layout);
    assert_eq!((takes, first, second), (1, Layout::General, Layout::General), "a transition for each family");
    for old_layout in [Layout::General, Layout::TransferDst] {
        let mut kept = plan.clone();
        kept.image_barriers[takes].old_layout = old_layout;
        let findings = check(&graph, &kept);
        assert!(findings.iter().any(|finding| finding.rule == Rule::Ownership), "{findings:?}");
    }
    let mut none = plan.clone();
    for command in &mut none.commands {
        if let Command::Barriers(barriers) = command
            && barriers.images.range().contains(&takes)
        {
            *command = Command::Barriers(Barriers::default());
        }
    }
    let findings = check(&graph, &none);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Ownership), "{findings:?}");
}
