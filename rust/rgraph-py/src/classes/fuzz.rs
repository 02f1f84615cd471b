//! Random graphs, and plans that break a law, for Python.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::prelude::*;
use pyo3::types::PyList;
use rgraph_check::generate::{CHUNK, Limits, from_bytes};
use rgraph_check::interpret;
use rgraph_check::shrink::shrink as smallest;
use rgraph_plan::cancel::{Cancelled, poll_now};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::{MemoryBudget, Options, Policy, Profile, Scratch, Split, bake};
use serde_json::Value;

use crate::arguments::convert::{Bytes, Count, Text};
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::classes::profile::PyProfile;
use crate::run::error::{bad, guarded};

/// A random well-formed graph and a profile that it can be baked for: the same for the same seed on every machine.
///
/// Parameters
/// ----------
/// seed
///     0 to 2^64 - 1.
/// fewest
///     Approximate minimum number of passes.
/// most
///     Approximate maximum number of passes.
///
/// Returns
/// -------
/// tuple of Graph and Profile
///     Aimed at edge cases: every usage and queue, sub-ranges, histories, conditions, forward reads.
#[pyfunction]
#[pyo3(signature = (seed, *, fewest = Count(5), most = Count(40)), text_signature = "(seed, *, fewest=5, most=40)")]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    seed: Bytes,
    fewest: Count,
    most: Count,
) -> PyResult<(Bound<'py, PyGraph>, Bound<'py, PyProfile>)> {
    if fewest.0 > most.0 || most.0 > 100_000 {
        let message = format!("cannot generate graphs of {} to {} passes", fewest.0, most.0);
        return Err(bad(py, Code::BadNumber, message, "fewest is at most most, which is at most 100000"));
    }
    let limits = Limits { fewest_passes: fewest.0, most_passes: most.0, ..Limits::default() };
    let (graph, profile) = guarded(py, move || rgraph_check::generate::generate(seed.0, limits))?;
    Ok((PyGraph::object(py, graph)?, Bound::new(py, PyProfile(profile))?))
}

/// The graph and the profile that bytes stand for, for `rgraph.testing`. Missing bytes count as zeros, the simplest
/// choice.
///
/// Parameters
/// ----------
/// header
///     Up to 64 bytes: the profile, and the graph as a whole.
/// steps
///     Up to 64 bytes for each step: one to four passes.
#[pyfunction]
pub(crate) fn _drawn<'py>(
    py: Python<'py>,
    header: Vec<u8>,
    steps: Vec<Vec<u8>>,
) -> PyResult<(Bound<'py, PyGraph>, Bound<'py, PyProfile>)> {
    let mut bytes = Vec::with_capacity((1 + steps.len()) * CHUNK);
    for chunk in std::iter::once(&header).chain(&steps) {
        let end = bytes.len() + CHUNK;
        bytes.extend(chunk.iter().take(CHUNK));
        bytes.resize(end, 0);
    }
    let limits = Limits { most_passes: u32::MAX, ..Limits::default() };
    let (graph, profile) = guarded(py, move || from_bytes(&bytes, limits))?;
    Ok((PyGraph::object(py, graph)?, Bound::new(py, PyProfile(profile))?))
}

/// Try generated graphs against the laws that every plan obeys.
///
/// Each is baked with a policy and a splitting of barriers chosen by its seed, checked, interpreted, written and read.
/// A graph that breaks a law is made as small as it can be while the same law breaks.
///
/// Parameters
/// ----------
/// seed
///     The first seed.
/// count
///     Number of seeds.
///
/// Returns
/// -------
/// list of tuple
///     For each seed that breaks a law: (seed, what is broken, graph, profile, plan or None).
#[pyfunction]
#[pyo3(signature = (seed, count))]
pub(crate) fn fuzz<'py>(py: Python<'py>, seed: Bytes, count: Count) -> PyResult<Bound<'py, PyList>> {
    let broken = guarded(py, move || {
        let mut scratch = Scratch::default();
        let seeds = (0..u64::from(count.0)).map(|at| seed.0.wrapping_add(at));
        let tried = |seed| {
            poll_now();
            Case::of(seed).broken(&mut scratch).map(|found| found.shrunk(&mut scratch))
        };
        seeds.filter_map(tried).collect::<Vec<_>>()
    })?;
    let found = PyList::empty(py);
    for Broken { case, law, plan } in broken {
        let plan = plan.map(|plan| PyPlan::object(py, plan, None)).transpose()?;
        let graph = PyGraph::object(py, case.graph)?;
        found.append((case.seed, law, graph, Bound::new(py, PyProfile(case.profile))?, plan))?;
    }
    Ok(found)
}

/// See `rgraph.testing.shrink`: the same over the text of a JSON document.
#[pyfunction]
#[pyo3(signature = (text, fails, most), text_signature = "(text, fails, most)")]
pub(crate) fn shrink(text: Text<'_>, fails: &Bound<'_, PyAny>, most: Count) -> PyResult<String> {
    let py = fails.py();
    let document: Value = serde_json::from_str(text.0)
        .map_err(|error| bad(py, Code::BadFile, format!("{error}"), "give the text of a JSON document"))?;
    let mut raised = None;
    let least = smallest(&document, most.0 as usize, &mut |smaller| {
        let answer = || py.check_signals().and_then(|()| fails.call1((smaller.to_string(),))?.is_truthy());
        raised.is_none()
            && answer().unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
    });
    raised.map_or_else(|| Ok(least.to_string()), Err)
}

/// A generated graph and how it is baked.
struct Case {
    seed: u64,
    graph: Graph,
    profile: Profile,
    options: Options,
}

impl Case {
    fn of(seed: u64) -> Self {
        let (mut graph, profile) = rgraph_check::generate::generate(seed, Limits::default());
        graph.to_file_order();
        let policies =
            [Policy::Auto, Policy::Weighted, Policy::Overlap, Policy::Declared, Policy::Exact { nodes: 200 }];
        let policy = policies[(seed % 5) as usize];
        let split = [Split::Never, Split::Distance, Split::Always][(seed / 5 % 3) as usize];
        let budgets = MemoryBudget::NAMED.into_iter().chain([MemoryBudget::Bytes(0)]);
        let memory = budgets.cycle().nth((seed / 15 % 4) as usize).unwrap_or_default();
        Self { seed, graph, profile, options: Options { policy, split, memory, ..Options::default() } }
    }

    /// The law that the case breaks, if any; a panic breaks one too.
    fn broken(self, scratch: &mut Scratch) -> Option<Broken> {
        let tried = catch_unwind(AssertUnwindSafe(|| self.laws(scratch)));
        let (law, plan) = tried.unwrap_or_else(|panic| {
            if panic.is::<Cancelled>() {
                resume_unwind(panic);
            }
            *scratch = Scratch::default();
            Some((format!("a stage panics ({:?})", self.options), None))
        })?;
        Some(Broken { case: self, law, plan })
    }

    /// The case of a document of a graph and a profile.
    fn read(&self, document: &Value) -> Option<Self> {
        let graph = rgraph_files::read_graph(document.get(0)?.to_string().as_bytes(), "graph").ok()?;
        let profile = rgraph_files::read_profile(document.get(1)?.to_string().as_bytes(), "profile").ok()?;
        Some(Self { seed: self.seed, graph, profile, options: self.options })
    }

    fn laws(&self, scratch: &mut Scratch) -> Option<(String, Option<Plan>)> {
        let plan = match bake(&self.graph, &self.profile, &self.options, scratch) {
            Ok(plan) => plan,
            Err(error) => return Some((format!("a well-formed graph is refused: {error}"), None)),
        };
        let law = self.law_of(&plan, scratch);
        law.map(|law| (law, Some(plan)))
    }

    fn law_of(&self, plan: &Plan, scratch: &mut Scratch) -> Option<String> {
        if let Some(finding) = rgraph_check::check(&self.graph, plan).first() {
            return Some(format!("the plan does not check clean: {}", finding.message));
        }
        if let Some(what) = interpret::disagreement(&self.graph, plan, 4) {
            return Some(format!("the plan does not compute the declared results: {what}"));
        }
        if bake(&self.graph, &self.profile, &self.options, scratch).as_ref() != Ok(plan) {
            return Some("baking twice gives two plans".to_owned());
        }
        let text = rgraph_files::write_graph(&self.graph);
        if rgraph_files::read_graph(text.as_bytes(), "graph").as_ref().map(Graph::content_hash)
            != Ok(self.graph.content_hash())
        {
            return Some("the graph file declares another graph".to_owned());
        }
        if rgraph_files::read_plan(rgraph_files::write_plan(plan).as_bytes(), "plan").as_ref() != Ok(plan) {
            return Some("the plan file holds another plan".to_owned());
        }
        None
    }
}

/// A case with the law that it breaks.
struct Broken {
    case: Case,
    law: String,
    plan: Option<Plan>,
}

impl Broken {
    /// Documents that the search for a smaller case tries at most.
    const TRIES: usize = 2_000;

    /// A smaller case that breaks the same law, or this one.
    fn shrunk(self, scratch: &mut Scratch) -> Self {
        let texts = [rgraph_files::write_graph(&self.case.graph), rgraph_files::write_profile(&self.case.profile)];
        let [Ok(graph), Ok(profile)] = texts.map(|text| serde_json::from_str::<Value>(&text)) else { return self };
        let kind = kind_of(&self.law);
        let mut found = None;
        smallest(&Value::Array(vec![graph, profile]), Self::TRIES, &mut |document| {
            poll_now();
            let broken = self.case.read(document).and_then(|case| case.broken(scratch));
            let broken = broken.filter(|broken| kind_of(&broken.law) == kind);
            let fails = broken.is_some();
            found = broken.or(found.take());
            fails
        });
        found.unwrap_or(self)
    }
}

/// A law without the names and numbers of one graph.
fn kind_of(law: &str) -> String {
    let outside = law.split('"').step_by(2);
    outside.flat_map(str::chars).filter(|letter| !letter.is_ascii_digit()).take(60).collect()
}
