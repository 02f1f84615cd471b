//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

mod support;

#[path = "../../../benches/families.rs"]
mod families;
#[path = "../../rgraph-plan/tests/common/kept.rs"]
mod kept;

mod agree;
mod attachments;
mod bound;
mod certificate;
mod corners;
mod corpus;
mod devices;
mod entries;
mod events;
mod figures;
mod foreign;
mod generator;
mod memories;
mod minimal;
mod mutations;
mod naive;
mod needs;
mod ownership;
mod packets;
mod planner;
mod played;
mod reach;
mod reach_plans;
mod robust;
mod search;
mod sets;
mod small;
mod subpasses;
mod transitions;
mod verdicts;
