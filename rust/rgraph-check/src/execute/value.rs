//! Values while a plan runs: who wrote them, not yet what they are. What a pass computes is known only when all its
//! reads have happened, and some of its writes may happen before that, so symbols are worked out at the end.

use super::memory::{POISON, UNDEFINED};
use super::scene::Scene;
use crate::ids::FlagStates;
use crate::outcome::symbol;

/// A value, known by who made it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Undefined,
    Known(u128),
    /// What instance of a pass wrote by which use into which subresource.
    Written {
        instance: u32,
        number: u32,
        subresource: u32,
    },
    /// The same, resolved from samples.
    Resolved {
        instance: u32,
        number: u32,
        subresource: u32,
        samples: Vec<u32>,
    },
    /// A sum.
    Added {
        to: u32,
        new: u32,
    },
}

/// All values of a run of everything, and what each instance of a pass read.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    list: Vec<Value>,
    symbols: Vec<State>,
    /// By exec: first slot.
    first: Vec<u32>,
    /// By run and slot.
    reads: Vec<u32>,
    total: u32,
    bases: Vec<State>,
    ran: Vec<bool>,
}

/// How far a symbol is worked out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Unknown,
    Open,
    Known(Option<u128>),
}

/// Nothing was read here.
const UNREAD: u32 = u32::MAX;

impl Values {
    pub(crate) const ZEROS: u32 = 2;
    pub(crate) const WHATEVER: u32 = 3;

    /// Slots by exec, and how many runs there are.
    pub(crate) fn new(slots: &[u32], runs: u32) -> Self {
        let mut first = Vec::with_capacity(slots.len());
        let mut total = 0;
        for count in slots {
            first.push(total);
            total += count;
        }
        let list = vec![
            Value::Undefined,
            Value::Undefined,
            Value::Known(symbol("zeros", &[])),
            Value::Known(symbol("whatever was there", &[])),
        ];
        Self {
            list,
            symbols: Vec::new(),
            first,
            reads: vec![UNREAD; (total * runs) as usize],
            total,
            bases: vec![State::Unknown; slots.len() * runs as usize],
            ran: vec![false; slots.len() * runs as usize],
        }
    }

    pub(crate) fn add(&mut self, value: Value) -> u32 {
        if matches!(value, Value::Undefined) {
            return UNDEFINED;
        }
        self.list.push(value);
        self.list.len() as u32 - 1
    }

    pub(crate) fn ran(&mut self, instance: u32) {
        self.ran[instance as usize] = true;
    }

    fn slot(&self, instance: u32, slot: u32) -> usize {
        let execs = self.first.len() as u32;
        (instance / execs * self.total + self.first[(instance % execs) as usize] + slot) as usize
    }

    /// Notes what an instance read; it reads one thing at all its stages and in all parts of a subresource that the
    /// plan's barriers cut, or nothing that can be relied on.
    pub(crate) fn note(&mut self, instance: u32, slot: u32, value: u32) {
        let at = self.slot(instance, slot);
        let known = self.reads[at];
        let same = known == UNREAD || known == value || self.is_same(known, value);
        self.reads[at] = if same { value } else { POISON };
    }

    /// Whether two values are one write of one pass, noted once for each part of a subresource.
    pub(crate) fn is_same(&self, a: u32, b: u32) -> bool {
        a != POISON && b != POISON && self.list[a as usize] == self.list[b as usize]
    }

    /// What an instance computes: a hash of its name, its run and all that it read.
    pub(crate) fn base(&mut self, scene: &Scene, instance: u32, flags: &[FlagStates]) -> u128 {
        self.symbols.resize(self.list.len(), State::Unknown);
        let values = self.reads_of(scene, instance, flags);
        for value in &values {
            self.symbol_with(scene, *value, flags);
        }
        self.hash(scene, instance, &values)
    }

    fn reads_of(&self, scene: &Scene, instance: u32, flags: &[FlagStates]) -> Vec<u32> {
        let execs = self.first.len() as u32;
        let run = (instance / execs) as usize;
        let exec = &scene.execs[(instance % execs) as usize];
        let mut values = Vec::new();
        for (number, at) in scene.facts.declared_passes[exec.declared].uses.iter_ids() {
            let resource = scene.facts.effective(at, &flags[run]);
            if let Some((_, slots)) = exec.slots[number].iter().find(|(of, _)| *of == resource) {
                values.extend(slots.clone().map(|slot| self.reads[self.slot(instance, slot)]));
            }
        }
        values
    }

    fn hash(&self, scene: &Scene, instance: u32, values: &[u32]) -> u128 {
        let undefined = symbol("undefined", &[]);
        let execs = self.first.len() as u32;
        let mut parts = vec![u128::from(instance / execs)];
        parts.extend(values.iter().map(|value| match self.symbols.get(*value as usize) {
            Some(State::Known(Some(symbol))) => *symbol,
            _ => undefined,
        }));
        let declared = scene.execs[(instance % execs) as usize].declared;
        symbol(&scene.facts.declared_passes[declared].name, &parts)
    }
}

/// What has to be worked out first.
enum Work {
    Value(u32),
    Base(u32),
}

impl Values {
    /// The symbol of a value.
    pub(crate) fn symbol(&mut self, scene: &Scene, value: u32, flags: &[FlagStates]) -> Option<u128> {
        self.symbols.resize(self.list.len(), State::Unknown);
        self.symbol_with(scene, value, flags);
        match self.symbols.get(value as usize) {
            Some(State::Known(symbol)) => *symbol,
            _ => None,
        }
    }

    /// Works a symbol out, without recursion: values of many runs stand on each other. A circle is undefined.
    fn symbol_with(&mut self, scene: &Scene, value: u32, flags: &[FlagStates]) {
        let mut work = vec![Work::Value(value)];
        while let Some(top) = work.last() {
            match *top {
                Work::Value(value) => {
                    let Some(state) = self.symbols.get(value as usize).copied() else {
                        work.pop();
                        continue;
                    };
                    if matches!(state, State::Known(_)) {
                        work.pop();
                        continue;
                    }
                    let wanted = self.wanted(value);
                    self.symbols[value as usize] = State::Open;
                    let missing = if state == State::Open { None } else { self.missing(wanted) };
                    if state == State::Unknown && missing.is_some() {
                        work.extend(missing.into_iter().flatten());
                        continue;
                    }
                    self.symbols[value as usize] = State::Known(self.symbol_of(value));
                    work.pop();
                }
                Work::Base(instance) => {
                    let state = self.bases[instance as usize];
                    if matches!(state, State::Known(_)) {
                        work.pop();
                        continue;
                    }
                    let values = self.reads_of(scene, instance, flags);
                    if state == State::Unknown {
                        self.bases[instance as usize] = State::Open;
                        work.extend(values.iter().map(|value| Work::Value(*value)));
                        continue;
                    }
                    self.bases[instance as usize] = State::Known(Some(self.hash(scene, instance, &values)));
                    work.pop();
                }
            }
        }
    }

    /// Bases and values that a value stands on.
    fn wanted(&self, value: u32) -> Vec<Work> {
        match &self.list[value as usize] {
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
            Work::Value(value) => self.symbols.get(*value as usize) == Some(&State::Unknown),
            Work::Base(instance) => self.bases[*instance as usize] == State::Unknown,
        };
        let missing: Vec<_> = wanted.into_iter().filter(unknown).collect();
        (!missing.is_empty()).then_some(missing)
    }

    fn symbol_of(&self, value: u32) -> Option<u128> {
        let known = |value: u32| match self.symbols.get(value as usize) {
            Some(State::Known(symbol)) => *symbol,
            _ => None,
        };
        let base = |instance: u32| match self.bases[instance as usize] {
            State::Known(base) => base,
            _ => None,
        };
        match &self.list[value as usize] {
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
