//! Plans that this device did not bake: the graph is validated for the device, and the plan checked against the graph,
//! before anything allocates, indexes or records by them.

use rgraph_plan::declared;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::profile::Profile;

use crate::error::{Error, PlanError};

/// Findings that an error lists.
const SHOWN: usize = 8;

/// Refuses a graph that the device cannot run, whatever device its plan was baked for. O(accesses + resources).
pub(crate) fn check_graph(graph: &Graph, profile: &Profile) -> Result<(), Error> {
    Ok(declared::check(graph, profile)?)
}

/// Refuses a plan with any finding. Linear in the plan.
pub(crate) fn check(graph: &Graph, plan: &Plan) -> Result<(), Error> {
    refused(graph, &rgraph_check::check(graph, plan))
}

/// The error of a plan with findings.
pub(crate) fn refused(graph: &Graph, findings: &[rgraph_check::Finding]) -> Result<(), Error> {
    let Some(first) = findings.first() else { return Ok(()) };
    let count = if findings.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", findings.len()) };
    let mut notes: Vec<String> = findings.iter().take(SHOWN).map(ToString::to_string).collect();
    if findings.len() > SHOWN {
        notes.push(format!("and {} more", findings.len() - SHOWN));
    }
    Err(Error::Plan(Box::new(PlanError {
        code: Code::Unsound,
        pass: first.pass.clone(),
        resource: first.resource.clone(),
        message: format!("unsound plan of graph \"{}\": {count}", graph.name()),
        notes,
        help: "bake the graph again; plan.check(graph) lists all findings".to_owned(),
    })))
}
