//! Which pass and which resource: a trial that differs is narrowed down by more trials, each a step of a binary search.
//! Intermediate results are made roots only here, since that changes what is planned.

use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::{Options, Policy};
use rgraph_plan::resource::{Life, Resource, ResourceId};

use crate::chaos::poison::Poison;
use crate::chaos::random::mix;
use crate::chaos::report::{ChaosFinding, Difference, Switch};
use crate::chaos::trial::{Outcome, Subject, Trial, Tried};
use crate::error::Error;

/// Random orders that are tried before a difference is put down to something else.
const ORDERS: u64 = 8;

/// A trial that differs from the reference.
pub(crate) struct Diagnosis<'a> {
    pub subject: &'a Subject<'a>,
    pub reference: &'a Trial,
    pub trial: &'a Trial,
    pub wanted: &'a Outcome,
    pub outcome: &'a Outcome,
    /// The first of the differences.
    pub difference: Difference,
}

/// Pass, other pass and resource.
#[derive(Default)]
struct Names {
    pass: Option<PassId>,
    other: Option<PassId>,
    resource: Option<ResourceId>,
    difference: Option<Difference>,
}

impl Diagnosis<'_> {
    /// Looks for the reason.
    pub(super) fn finding(&self, switch: Switch, seed: u64) -> Result<ChaosFinding, Error> {
        let found = match switch {
            Switch::Poison => self.deferred()?,
            Switch::Culling => self.needed()?,
            Switch::Order => self.swapped(self.trial.options)?,
            Switch::Queues | Switch::Plan | Switch::PlanOnThree => {
                if let Some(names) = self.reordered(seed)? {
                    return Ok(self.in_words(Switch::Order, seed, &names));
                }
                self.first_pass(self.reference, self.trial, &[])?
            }
            _ => self.first_pass(self.reference, self.trial, &[])?,
        };
        let names = found.unwrap_or_else(|| Names {
            pass: self.last_writer(self.difference.resource, usize::MAX),
            resource: Some(self.difference.resource),
            ..Names::default()
        });
        Ok(self.in_words(switch, seed, &names))
    }

    fn graph(&self) -> &Graph {
        self.subject.graph()
    }

    /// Passes in declared order, modules in their places.
    fn declared(&self) -> Vec<PassId> {
        self.graph().flattened_order().unwrap_or_else(|| self.graph().passes().ids().collect())
    }

    /// The last of the first so many passes that writes a resource.
    fn last_writer(&self, resource: ResourceId, first: usize) -> Option<PassId> {
        let uses_it = |pass: &PassId| {
            let all = self.graph().accesses().iter();
            all.filter(|one| one.pass == *pass && one.resource == resource).any(|one| one.usage.writes())
        };
        self.declared().into_iter().take(first).rfind(uses_it)
    }

    /// How two trials differ, if both can run.
    fn compared(&self, one: &Trial, two: &Trial) -> Result<Vec<Difference>, Error> {
        let (Tried::Ran(one), Tried::Ran(two)) =
            (self.subject.tried(one, Some(self.reference))?, self.subject.tried(two, Some(self.reference))?)
        else {
            return Ok(Vec::new());
        };
        Ok(self.subject.differences(&one, &two))
    }

    /// Whether a trial leaves what the reference does.
    fn is_equal(&self, trial: &Trial) -> Result<bool, Error> {
        Ok(match self.subject.tried(trial, Some(self.reference))? {
            Tried::Ran(outcome) => self.subject.difference(self.wanted, &outcome).is_none(),
            Tried::Cannot(_) => false,
        })
    }

    /// The first pass in declared order that leaves something else though all before it is equal: with all later passes
    /// idle and intermediate results as roots, two trials differ from that pass on.
    fn first_pass(&self, one: &Trial, two: &Trial, ignored: &[ResourceId]) -> Result<Option<Names>, Error> {
        let passes = self.declared();
        let differs = |count: usize| -> Result<Vec<Difference>, Error> {
            let idle = passes[count..].to_vec();
            let prefix = |trial: &Trial| Trial { exposed: true, idle: idle.clone(), ..trial.clone() };
            let mut found = self.compared(&prefix(one), &prefix(two))?;
            found.retain(|one| !ignored.contains(&one.resource));
            Ok(found)
        };
        let mut found = differs(passes.len())?;
        if found.is_empty() {
            return Ok(None);
        }
        let (mut equal, mut unequal) = (0, passes.len());
        while unequal - equal > 1 {
            let middle = equal.midpoint(unequal);
            let here = differs(middle)?;
            if here.is_empty() {
                equal = middle;
            } else {
                (unequal, found) = (middle, here);
            }
        }
        let pass = passes[unequal - 1];
        let own = |difference: &&Difference| self.accesses(pass, difference.resource, true);
        let difference = found.iter().find(own).or(found.first()).cloned();
        let resource = difference.as_ref().map(|difference| difference.resource);
        Ok(Some(Names { pass: Some(pass), other: None, resource, difference }))
    }

    fn accesses(&self, pass: PassId, resource: ResourceId, written: bool) -> bool {
        let all = self.graph().accesses().iter();
        all.filter(|one| one.pass == pass && one.resource == resource).any(|one| !written || one.usage.writes())
    }

    /// The memory whose deferred deletions reaches a result, and the first pass that reads it there.
    fn deferred(&self) -> Result<Option<Names>, Error> {
        let graph = self.graph();
        let top = |mut id: ResourceId| {
            for _ in 0..graph.resources().len() {
                id = match graph.resources()[id] {
                    Resource { life: Life::History(history), .. } => history.of,
                    Resource { modifies, .. } => modifies.unwrap_or(id),
                };
            }
            id
        };
        let mut suspects: Vec<ResourceId> = graph.resources().ids().filter(|id| top(*id) == *id).collect();
        let names = |of: &[ResourceId]| -> Vec<ResourceId> {
            graph.resources().ids().filter(|id| of.contains(&top(*id))).collect()
        };
        let trial = |of: &[ResourceId]| {
            let other = Some((self.trial.poison.seed, names(of)));
            Trial { poison: Poison { other, ..self.reference.poison.clone() }, ..self.reference.clone() }
        };
        if suspects.is_empty() || self.is_equal(&trial(&suspects))? {
            return Ok(None);
        }
        while suspects.len() > 1 {
            let (one, two) = suspects.split_at(suspects.len() / 2);
            suspects = if self.is_equal(&trial(one))? { two.to_vec() } else { one.to_vec() };
        }
        let Some(&resource) = suspects.first().filter(|_| matches!(self.is_equal(&trial(&suspects)), Ok(false))) else {
            return Ok(None);
        };
        let reader =
            self.first_pass(self.reference, &trial(&suspects), &names(&suspects))?.and_then(|names| names.pass);
        let reader = reader.filter(|reader| names(&suspects).iter().any(|name| self.accesses(*reader, *name, false)));
        let position = self.declared().iter().position(|pass| Some(*pass) == reader).unwrap_or(usize::MAX);
        let writers = names(&suspects).into_iter().filter_map(|name| self.last_writer(name, position));
        let writer = writers.max_by_key(|pass| self.declared().iter().position(|one| one == pass));
        let (pass, other) = (reader.or(writer), reader.and(writer));
        Ok(Some(Names { pass, other, resource: Some(resource), difference: None }))
    }

    /// The pass without which the result is another one, though no declaration leads from it to a root.
    fn needed(&self) -> Result<Option<Names>, Error> {
        let runs =
            |plan: &Plan, pass: PassId| plan.live().any(|live| plan.pass_name(live) == self.graph().pass_name(pass));
        for pass in self.declared() {
            if !runs(&self.wanted.plan, pass) || runs(&self.outcome.plan, pass) {
                continue;
            }
            if self.is_equal(&Trial { kept: Some(pass), ..self.trial.clone() })? {
                let resource = Some(self.difference.resource);
                return Ok(Some(Names { pass: Some(pass), resource, ..Names::default() }));
            }
        }
        Ok(None)
    }

    /// Two passes whose order matters, found by other random orders of the reference: where several things changed, the
    /// order of passes is the likeliest reason.
    fn reordered(&self, seed: u64) -> Result<Option<Names>, Error> {
        for seed in (0..ORDERS).map(|more| mix(seed ^ more)) {
            let policy = Policy::Random { seed, swaps: u32::MAX };
            let options = Options { policy, ..self.reference.options };
            if !self.is_equal(&Trial { options, ..self.reference.clone() })? {
                return self.swapped(options);
            }
        }
        Ok(None)
    }

    /// Two passes whose order matters: on the way from the declared order to the random one neighbours change places,
    /// one pair at a time, and one of these changes makes the difference.
    fn swapped(&self, options: Options) -> Result<Option<Names>, Error> {
        let Policy::Random { seed, .. } = options.policy else { return Ok(None) };
        let with = |swaps: u32| {
            let policy = Policy::Random { seed, swaps };
            Trial { options: Options { policy, ..options }, ..self.reference.clone() }
        };
        let count = self.outcome.plan.passes.len() as u32;
        let (mut equal, mut unequal) = (0, count.saturating_mul(count) / 2 + 1);
        if !self.is_equal(&with(equal))? {
            return Ok(None);
        }
        while unequal - equal > 1 {
            let middle = equal.midpoint(unequal);
            *(if self.is_equal(&with(middle))? { &mut equal } else { &mut unequal }) = middle;
        }
        let (Tried::Ran(before), Tried::Ran(after)) = (
            self.subject.tried(&with(equal), Some(self.reference))?,
            self.subject.tried(&with(unequal), Some(self.reference))?,
        ) else {
            return Ok(None);
        };
        let order = |plan: &Plan| plan.live().map(|pass| plan.pass_name(pass).to_owned()).collect::<Vec<_>>();
        let (before, after) = (order(&before.plan), order(&after.plan));
        let Some(at) = before.iter().zip(&after).position(|(one, two)| one != two) else { return Ok(None) };
        let find = |name: &String| self.graph().find_pass(name);
        let (Some(first), Some(second)) = (find(&before[at]), after.get(at).and_then(find)) else { return Ok(None) };
        let resource = self.common(first, second).or(Some(self.difference.resource));
        Ok(Some(Names { pass: Some(second), other: Some(first), resource, difference: None }))
    }

    /// A resource that both passes access.
    fn common(&self, one: PassId, two: PassId) -> Option<ResourceId> {
        let mut all = self.graph().accesses().iter().filter(|access| access.pass == one);
        all.find(|access| self.accesses(two, access.resource, false)).map(|access| access.resource)
    }

    fn in_words(&self, switch: Switch, seed: u64, names: &Names) -> ChaosFinding {
        let graph = self.graph();
        let pass = names.pass.map(|pass| graph.pass_name(pass));
        let other = names.other.map(|pass| graph.pass_name(pass));
        let resource = graph.resource_name(names.resource.unwrap_or(self.difference.resource));
        let (message, help) = describe(switch, pass.unwrap_or("?"), other, resource);
        let mut mistake = Mistake::new(Code::Undeclared, format!("{message} (seed {seed}, {})", switch.name()), help)
            .resource(resource);
        if let Some(id) = names.pass {
            let access = if names.resource.is_some_and(|of| self.accesses(id, of, false)) {
                format!("accesses \"{resource}\"")
            } else {
                "declared here".to_owned()
            };
            mistake =
                mistake.pass(graph.pass_name(id)).side(graph.pass_name(id), access, graph.pass_place(id).cloned());
        }
        if let Some(id) = names.other {
            let says = match switch {
                Switch::Poison => "writes it last before, not all of it",
                _ => "nothing orders the two",
            };
            mistake = mistake.side(graph.pass_name(id), says, graph.pass_place(id).cloned());
        }
        let shown = names.difference.as_ref().unwrap_or(&self.difference);
        let place = graph.resource_place(shown.resource).cloned();
        mistake = mistake.side(&shown.name, shown.to_string(), place);
        ChaosFinding {
            switch,
            seed,
            pass: pass.map(str::to_owned),
            other: other.map(str::to_owned),
            resource: Some(resource.to_owned()),
            mistake,
        }
    }
}

/// Message and hint.
fn describe(switch: Switch, pass: &str, other: Option<&str>, resource: &str) -> (String, String) {
    match (switch, other) {
        (Switch::Again, _) => (
            format!("pass \"{pass}\" computes something else when the same frame is run again"),
            format!(
                "keep state that it uses in a persistent resource or a history, seed random numbers in each call, and add \
                 floats in a fixed order; \"{resource}\" shows the difference"
            ),
        ),
        (Switch::Poison, Some(writer)) => (
            format!(
                "pass \"{pass}\" uses parts of \"{resource}\" that nothing wrote: \"{writer}\" leaves them as they were"
            ),
            format!(
                "let \"{writer}\" write all that it replaces, declare load \"load\" or \"clear\" there, or read less"
            ),
        ),
        (Switch::Poison, None) => (
            format!("pass \"{pass}\" leaves parts of \"{resource}\" that nothing wrote"),
            "write all that it replaces, or declare load \"clear\" or \"load\"".to_owned(),
        ),
        (Switch::Culling, _) => (
            format!(
                "\"{resource}\" depends on pass \"{pass}\", which is culled: no root needs what it declares to write"
            ),
            format!("declare the resource through which \"{pass}\" acts, or side_effects=True"),
        ),
        (Switch::Order, Some(other)) => (
            format!(
                "pass \"{pass}\" computes something else before \"{other}\" than after it, and nothing declares that order"
            ),
            format!("declare what goes from \"{other}\" to \"{pass}\" as a resource, or the order: after=\"{other}\""),
        ),
        _ => (
            format!("pass \"{pass}\" computes something else in \"{resource}\" {}", switch.means()),
            format!("look for what \"{pass}\" reads or writes without declaring it"),
        ),
    }
}
