//! Compiles graphs and plans for a device.

use std::sync::Arc;
use std::time::Instant;

use rgraph_plan::bake::Options;
use rgraph_plan::plan::Plan;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::foreign;
use crate::compile::inherit::Heritage;
use crate::compile::known_plans::PlanKey;
use crate::device::Device;
use crate::error::{Code, DeviceError, Error};
use crate::memory::reclaim::Reclaim;
use crate::run::compiled::Compiled;
use crate::work::Workload;

impl Device {
    /// Bakes a graph for this device, with the sizes that its driver asks for, and makes it ready to run. A graph that
    /// is declared as one of the last few is not baked again: both have the same plan.
    ///
    /// A program may declare its graph again for each frame. With
    /// [`DeviceOptions::spare_graphs`](crate::DeviceOptions), of a graph nothing of which lasts from run to run and
    /// whose passes have steps only, the device keeps memory, views, descriptor sets and recorded commands when the
    /// last handle and the last frame are dropped, and the next equal declaration reuses them; where its steps have
    /// other push data, they are recorded again, and where they are other steps, memory and views are kept. Such a
    /// graph is kept for 64 further compilations and runs, until memory is short, or until the device is closed.
    ///
    /// # Errors
    /// What is wrong with the declaration, the work of its passes or its shaders; or that the device cannot do it.
    pub fn compile(&self, mut workload: Workload, options: &Options) -> Result<Compiled, Error> {
        self.0.check()?;
        self.1.tick();
        let begin = Instant::now();
        let key = PlanKey::new(&workload.graph, options);
        if let Some((made, state)) = self.1.find(key, &mut workload, begin) {
            return Ok(Compiled::renewed(made, state, (key, &self.1)));
        }
        let made = CompiledGraph::bake(&self.0, workload, options, key)?;
        let key = (self.1.keeps() && made.is_renewable()).then_some((key, &self.1));
        Compiled::with_key(made, None, key)
    }

    /// As [`Device::compile`], for a graph that comes after another one: persistent resources and histories of the same
    /// name and shape keep memory, contents and states, and frames of `previous` that are under way stay valid. What is
    /// declared in another size, format or depth of history starts again, and a note of the report says so.
    ///
    /// `previous` may run on until the new graph does: its first run goes on behind the last one of `previous`, which
    /// is refused from then on (RG-E403). The same happens if a further graph is compiled after this one before it ran.
    /// Of a graph that a [`Tuner`](crate::Tuner) runs, `previous` is [`Tuner::last`](crate::Tuner::last).
    ///
    /// # Errors
    /// As [`Device::compile`]; RG-E131 if `previous` is of another device.
    pub fn compile_next(&self, previous: &Compiled, workload: Workload, options: &Options) -> Result<Compiled, Error> {
        self.check_next(previous)?;
        Compiled::new(CompiledGraph::bake_after(&self.0, workload, options, previous.graph())?, Some(previous))
    }

    /// [`Device::compile_plan`] for a graph that comes after another one, as in [`Device::compile_next`].
    ///
    /// # Errors
    /// As these.
    pub fn compile_plan_next(
        &self,
        previous: &Compiled,
        plan: Arc<Plan>,
        workload: Workload,
    ) -> Result<Compiled, Error> {
        self.check_next(previous)?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        foreign::check(&workload.graph, &plan)?;
        let heritage = Some(Heritage::of_earlier(previous.graph()));
        Compiled::new(CompiledGraph::with_contents(&self.0, workload, plan, (0.0, None), heritage)?, Some(previous))
    }

    fn check_next(&self, previous: &Compiled) -> Result<(), Error> {
        self.0.check()?;
        if !previous.is_of(self) {
            let message = format!("\"{}\" was compiled for another device", previous.plan().graph);
            return Err(DeviceError::new(Code::Foreign, message, "compile both for one device").into());
        }
        previous.lock().check_heir(previous.graph())
    }

    /// Checks a plan against the workload's graph and makes it ready. The plan may come from a file or another device:
    /// queues that this device lacks are folded onto those that it has. [`Device::compile`] bakes itself and needs no
    /// check.
    ///
    /// # Errors
    /// `RG-E504` with the findings of [`rgraph_check::check`]; else as [`Device::compile`].
    pub fn compile_plan(&self, plan: Arc<Plan>, workload: Workload) -> Result<Compiled, Error> {
        self.0.check()?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        foreign::check(&workload.graph, &plan)?;
        Compiled::new(CompiledGraph::new(&self.0, workload, plan, 0.0)?, None)
    }

    /// As [`Device::compile_plan`], without the check.
    ///
    /// # Errors
    /// As [`Device::compile`]; and if a name of the graph or the plan is not in the other.
    ///
    /// # Safety
    /// [`bake`](rgraph_plan::bake::bake) made the plan of exactly `workload.graph`, for any profile, and nothing
    /// changed it; or [`rgraph_check::check`] has no finding for the two. Barriers, layouts, places and waits reach the
    /// driver as the plan has them: a wrong one is undefined behaviour of the device.
    pub unsafe fn compile_plan_unchecked(&self, plan: Arc<Plan>, workload: Workload) -> Result<Compiled, Error> {
        self.0.check()?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        Compiled::new(CompiledGraph::new(&self.0, workload, plan, 0.0)?, None)
    }
}

impl Compiled {
    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.graph().shared, &device.0)
    }
}
