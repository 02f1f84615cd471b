//! Values while a plan runs: who wrote them, not yet what they are. What a pass computes is known only when all its
//! reads have happened, and some of its writes may happen before that, so symbols are worked out at the end.

use rgraph_ir::id::{Id, IdVec};

use super::ids::{ByRun, ExecId, Instance, POISON, ReadId, UNDEFINED, ValueId};
use super::mapping::Mapping;
use crate::ids::{FlagStates, SubresourceId, UseId};
use crate::outcome::symbol;

/// A value, known by who made it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Undefined,
    Known(u128),
    /// What instance of a pass wrote by which use into which subresource.
    Written {
        instance: Instance,
        number: UseId,
        subresource: SubresourceId,
    },
    /// The same, resolved from samples.
    Resolved {
        instance: Instance,
        number: UseId,
        subresource: SubresourceId,
        samples: Vec<ValueId>,
    },
    /// A sum.
    Added {
        to: ValueId,
        new: ValueId,
    },
}

/// All values of a run of everything, and what each instance of a pass read.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    list: IdVec<ValueId, Value>,
    symbols: IdVec<ValueId, Progress>,
    /// What was read; `None`: nothing.
    reads: ByRun<ReadId, Option<ValueId>>,
    bases: ByRun<ExecId, Progress>,
    ran: ByRun<ExecId, bool>,
}

/// How far a symbol is worked out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    Unknown,
    Open,
    Known(Option<u128>),
}

impl Values {
    /// Of a number of runs; those that have a name of their own are there from the start.
    pub(crate) fn new(mapping: &Mapping, runs: usize) -> Self {
        let named = [
            Value::Undefined,
            Value::Undefined,
            Value::Known(symbol("zeros", &[])),
            Value::Known(symbol("whatever was there", &[])),
        ];
        Self {
            list: named.into_iter().collect(),
            symbols: IdVec::new(),
            reads: ByRun::filled(None, runs, mapping.reads),
            bases: ByRun::filled(Progress::Unknown, runs, mapping.execs.len()),
            ran: ByRun::filled(false, runs, mapping.execs.len()),
        }
    }

    pub(crate) fn add(&mut self, value: Value) -> ValueId {
        if matches!(value, Value::Undefined) { UNDEFINED } else { self.list.push(value) }
    }

    pub(crate) fn ran(&mut self, instance: Instance) {
        self.ran[instance] = true;
    }

    /// Notes what an instance read; it reads one thing at all its stages and in all parts of a subresource that the
    /// plan's barriers cut, or nothing that can be relied on.
    pub(crate) fn note(&mut self, instance: Instance, read: ReadId, value: ValueId) {
        let at = (instance.run, read);
        let same = self.reads[at].is_none_or(|known| known == value || self.is_same(known, value));
        self.reads[at] = Some(if same { value } else { POISON });
    }

    /// Whether two values are one write of one pass, noted once for each part of a subresource.
    pub(crate) fn is_same(&self, a: ValueId, b: ValueId) -> bool {
        a != POISON && b != POISON && self.list[a] == self.list[b]
    }

    /// What an instance computes: a hash of its name, its run and all that it read.
    pub(crate) fn base(&mut self, mapping: &Mapping, instance: Instance, flags: &[FlagStates]) -> u128 {
        self.symbols.as_vec_mut().resize(self.list.len(), Progress::Unknown);
        let values = self.reads_of(mapping, instance, flags);
        for value in values.iter().flatten() {
            self.symbol_with(mapping, *value, flags);
        }
        self.hash(mapping, instance, &values)
    }

    fn reads_of(&self, mapping: &Mapping, instance: Instance, flags: &[FlagStates]) -> Vec<Option<ValueId>> {
        let exec = &mapping.execs[instance.exec];
        let mut values = Vec::new();
        for (number, at) in mapping.facts.declared_passes[exec.declared].uses.iter_ids() {
            let resource = mapping.facts.effective(at, &flags[instance.run.index()]);
            if let Some((_, reads)) = exec.reads[number].iter().find(|(of, _)| *of == resource) {
                values.extend(reads.ids().map(|read| self.reads[(instance.run, read)]));
            }
        }
        values
    }

    fn hash(&self, mapping: &Mapping, instance: Instance, values: &[Option<ValueId>]) -> u128 {
        let undefined = symbol("undefined", &[]);
        let mut parts = vec![instance.run.index() as u128];
        parts.extend(values.iter().map(|value| match value.and_then(|value| self.symbols.get(value)) {
            Some(Progress::Known(Some(symbol))) => *symbol,
            _ => undefined,
        }));
        let declared = mapping.execs[instance.exec].declared;
        symbol(&mapping.facts.declared_passes[declared].name, &parts)
    }
}

/// What has to be worked out first.
enum Work {
    Value(ValueId),
    Base(Instance),
}

impl Values {
    /// The symbol of a value.
    pub(crate) fn symbol(&mut self, mapping: &Mapping, value: ValueId, flags: &[FlagStates]) -> Option<u128> {
        self.symbols.as_vec_mut().resize(self.list.len(), Progress::Unknown);
        self.symbol_with(mapping, value, flags);
        match self.symbols.get(value) {
            Some(Progress::Known(symbol)) => *symbol,
            _ => None,
        }
    }

    /// Works a symbol out, without recursion: values of many runs stand on each other. A circle is undefined.
    fn symbol_with(&mut self, mapping: &Mapping, value: ValueId, flags: &[FlagStates]) {
        let mut work = vec![Work::Value(value)];
        while let Some(top) = work.last() {
            match *top {
                Work::Value(value) => {
                    let Some(state) = self.symbols.get(value).copied() else {
                        work.pop();
                        continue;
                    };
                    if matches!(state, Progress::Known(_)) {
                        work.pop();
                        continue;
                    }
                    let wanted = self.wanted(value);
                    self.symbols[value] = Progress::Open;
                    let missing = if state == Progress::Open { None } else { self.missing(wanted) };
                    if state == Progress::Unknown && missing.is_some() {
                        work.extend(missing.into_iter().flatten());
                        continue;
                    }
                    self.symbols[value] = Progress::Known(self.symbol_of(value));
                    work.pop();
                }
                Work::Base(instance) => {
                    let state = self.bases[instance];
                    if matches!(state, Progress::Known(_)) {
                        work.pop();
                        continue;
                    }
                    let values = self.reads_of(mapping, instance, flags);
                    if state == Progress::Unknown {
                        self.bases[instance] = Progress::Open;
                        work.extend(values.iter().flatten().map(|value| Work::Value(*value)));
                        continue;
                    }
                    self.bases[instance] = Progress::Known(Some(self.hash(mapping, instance, &values)));
                    work.pop();
                }
            }
        }
    }

    /// Bases and values that a value stands on.
    fn wanted(&self, value: ValueId) -> Vec<Work> {
        match &self.list[value] {
            Value::Undefined | Value::Known(_) => Vec::new(),
            Value::Written { instance, .. } => vec![Work::Base(*instance)],
            Value::Resolved { instance, samples, .. } => {
                let mut wanted = vec![Work::Base(*instance)];
                wanted.extend(samples.iter().map(|sample| Work::Value(*sample)));
                wanted
            }
            Value::Added { to, new } => vec![Work::Value(*to), Work::Value(*new)],
        }
    }

    fn missing(&self, wanted: Vec<Work>) -> Option<Vec<Work>> {
        let unknown = |work: &Work| match work {
            Work::Value(value) => self.symbols.get(*value) == Some(&Progress::Unknown),
            Work::Base(instance) => self.bases[*instance] == Progress::Unknown,
        };
        let missing: Vec<_> = wanted.into_iter().filter(unknown).collect();
        (!missing.is_empty()).then_some(missing)
    }

    fn symbol_of(&self, value: ValueId) -> Option<u128> {
        let known = |value: ValueId| match self.symbols.get(value) {
            Some(Progress::Known(symbol)) => *symbol,
            _ => None,
        };
        let base = |instance: Instance| match self.bases[instance] {
            Progress::Known(base) => base,
            _ => None,
        };
        match &self.list[value] {
            Value::Undefined => None,
            Value::Known(symbol) => Some(*symbol),
            Value::Written { instance, number, subresource } => {
                Some(crate::outcome::written(base(*instance)?, *number, *subresource))
            }
            Value::Resolved { instance, number, subresource, samples } => {
                let samples: Vec<_> = samples.iter().map(|sample| known(*sample)).collect();
                Some(crate::outcome::resolved(base(*instance)?, *number, *subresource, &samples))
            }
            Value::Added { to, new } if *to == UNDEFINED => Some(symbol("undefined", &[]).wrapping_add(known(*new)?)),
            Value::Added { to, new } => Some(known(*to)?.wrapping_add(known(*new)?)),
        }
    }
}
