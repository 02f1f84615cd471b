//! A compiled graph that loses its owner and gets another one.

use crate::compile::compiled_graph::CompiledGraph;
use crate::frame::record::passes_on;
use crate::frame::state::RunState;
use crate::run::spare::Renewed;

impl RunState {
    /// Lets go of what its owner gave; `false`: it cannot do the work of another owner. Its frames may be under way.
    pub(crate) fn retire(&mut self) -> bool {
        let alone = self.begins.is_empty() && !self.has_heir;
        if !alone || self.failed.is_some() || self.host.is_some() || self.sink.is_some() {
            return false;
        }
        // The release of what is bound waits for the frames that use it.
        self.imports.iter_mut().for_each(|bound| *bound = None);
        self.rebound += 1;
        for context in self.contexts.iter_mut() {
            context.kept = (Vec::new(), 0);
            context.timed = None;
        }
        true
    }

    /// Starts again with a graph whose steps may differ from the earlier ones.
    pub(crate) fn renew(&mut self, compiled: &CompiledGraph, commands: Renewed) {
        self.first = self.run;
        self.initialised = false;
        if self.key.off.iter().any(|off| *off) {
            self.key.off.fill(false);
            self.on = passes_on(compiled, &self.key.off);
        }
        if self.push != compiled.packets.push {
            self.push.clone_from(&compiled.packets.push);
            self.push_stamp += 1;
        }
        if self.data != compiled.packets.data {
            self.data.clone_from(&compiled.packets.data);
            self.data_stamp += 1;
        }
        if commands == Renewed::Other {
            self.contexts.iter_mut().for_each(|context| context.recordings.clear());
        }
    }
}
