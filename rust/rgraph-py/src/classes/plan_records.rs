//! Parts of a plan as records.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Barriers, Batch, Command, Plan, QueueId, Scope};
use rgraph_plan::words::{Positions, culled_sentence};

use crate::run::record::record;

fn queue(plan: &Plan, queue: Option<QueueId>) -> Option<&str> {
    queue.map(|queue| plan.queues[queue].name.as_str())
}

fn stages(py: Python<'_>, stages: Stages) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, stages.names().collect::<Vec<_>>())
}

fn access(py: Python<'_>, access: Accesses) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, access.names().collect::<Vec<_>>())
}

fn list<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// `Plan.queues`.
pub(crate) fn queues<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    list(py, plan.queues.iter().map(|queue| record!(py, "PlannedQueue", (&queue.name, queue.family))))
}

/// `Plan.passes`.
pub(crate) fn passes<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let pass = |id| {
        let pass = &plan.passes[id];
        let fields = (
            plan.pass_name(id),
            queue(plan, pass.queue),
            pass.declared,
            pass.physical_pass.map(Id::index),
            f64::from(pass.why.start_us),
            f64::from(pass.why.duration_us),
            pass.owner,
        );
        record!(py, "PlannedPass", fields)
    };
    list(py, plan.live().map(pass))
}

/// `Plan.culled`.
pub(crate) fn culled<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyDict>> {
    let positions = Positions::new(plan);
    let culled = PyDict::new(py);
    for (id, why) in plan.culled() {
        culled.set_item(plan.pass_name(id), culled_sentence(plan, &positions, why))?;
    }
    Ok(culled)
}

/// `Plan.batches`.
pub(crate) fn batches<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let batch = |batch: &Batch| {
        let waits = plan.waits[batch.waits.range()].iter().map(|wait| {
            record!(py, "Wait", (queue(plan, wait.queue), wait.value, stages(py, wait.stages)?, wait.previous_run))
        });
        let waits = PyTuple::new(py, waits.collect::<PyResult<Vec<_>>>()?)?;
        let commands = &plan.commands[batch.commands.range()];
        let passes = commands.iter().filter_map(|command| match command {
            Command::Pass { pass, .. } => Some(plan.pass_name(*pass)),
            _ => None,
        });
        let passes = PyTuple::new(py, passes.collect::<Vec<_>>())?;
        let barriers = commands.iter().filter(|command| dependency(command).is_some()).count();
        record!(py, "Batch", (queue(plan, batch.queue), waits, passes, barriers, batch.signal))
    };
    list(py, plan.batches.iter().map(batch))
}

fn dependency(command: &Command) -> Option<(&'static str, &Barriers)> {
    match command {
        Command::Barriers(barriers) => Some(("barriers", barriers)),
        Command::SetEvent(_, barriers) => Some(("set_event", barriers)),
        Command::WaitEvents(_, barriers) => Some(("wait_events", barriers)),
        Command::BeginRendering { .. } | Command::Pass { .. } | Command::EndRendering => None,
    }
}

/// Where a dependency stands: batch, call, operation, and the pass behind it.
type Call<'a> = (usize, usize, &'static str, Option<&'a str>);

/// `Plan.barriers`.
pub(crate) fn barriers<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    let mut calls = 0;
    for (id, batch) in plan.batches.iter_ids() {
        let commands = &plan.commands[batch.commands.range()];
        // From the last command to the first, so that the pass behind each is known.
        let mut behind = None;
        let mut found: Vec<(usize, Option<&str>)> = Vec::new();
        for (at, command) in commands.iter().enumerate().rev() {
            match command {
                Command::Pass { pass, .. } => behind = Some(plan.pass_name(*pass)),
                _ if dependency(command).is_some() => found.push((at, behind)),
                _ => {}
            }
        }
        for (at, behind) in found.into_iter().rev() {
            if let Some((op, barriers)) = dependency(&commands[at]) {
                dependencies(py, plan, barriers, (id.index(), calls, op, behind), &all)?;
                calls += 1;
            }
        }
    }
    Ok(all)
}

fn dependencies<'py>(
    py: Python<'py>,
    plan: &Plan,
    barriers: &Barriers,
    call: Call<'_>,
    all: &Bound<'py, PyList>,
) -> PyResult<()> {
    for barrier in &plan.memory_barriers[barriers.memory.range()] {
        all.append(one(py, call, None, &barrier.scope, None, None)?)?;
    }
    for barrier in &plan.buffer_barriers[barriers.buffers.range()] {
        let name = Some(plan.resource_name(barrier.resource));
        all.append(one(py, call, name, &barrier.scope, None, barrier.families)?)?;
    }
    for barrier in &plan.image_barriers[barriers.images.range()] {
        let name = Some(plan.resource_name(barrier.resource));
        let layouts = Some((barrier.old_layout, barrier.new_layout));
        all.append(one(py, call, name, &barrier.scope, layouts, barrier.families)?)?;
    }
    Ok(())
}

fn one<'py>(
    py: Python<'py>,
    (batch, call, op, before): Call<'_>,
    resource: Option<&str>,
    scope: &Scope,
    layouts: Option<(Layout, Layout)>,
    families: Option<[u32; 2]>,
) -> PyResult<Bound<'py, PyAny>> {
    let (old, new) = layouts.map(|(old, new)| (old.name(), new.name())).unzip();
    let fields = PyTuple::new(
        py,
        [
            batch.into_pyobject(py)?.into_any(),
            call.into_pyobject(py)?.into_any(),
            op.into_pyobject(py)?.into_any(),
            resource.into_pyobject(py)?,
            stages(py, scope.src_stages)?.into_any(),
            access(py, scope.src_access)?.into_any(),
            stages(py, scope.dst_stages)?.into_any(),
            access(py, scope.dst_access)?.into_any(),
            old.into_pyobject(py)?,
            new.into_pyobject(py)?,
            families.map(|[from, to]| (from, to)).into_pyobject(py)?,
            before.into_pyobject(py)?,
        ],
    )?;
    record!(py, "Barrier", fields)
}

/// `Plan.memory`.
pub(crate) fn memory<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyAny>> {
    let memory = &plan.memory;
    let placements = memory.placements.iter().map(|placement| {
        let name = plan.resource_name(placement.resource);
        record!(py, "Placement", (name, placement.heap.index(), placement.offset, placement.size))
    });
    let placements = PyTuple::new(py, placements.collect::<PyResult<Vec<_>>>()?)?;
    record!(py, "Memory", (memory.total, memory.without_aliasing, memory.lower_bound, placements))
}

/// `Plan.subgraphs`.
pub(crate) fn subgraphs<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let part = |part: &rgraph_plan::plan::Subgraph| {
        let passes = plan.subgraph_passes[part.passes.range()].iter().map(|pass| plan.pass_name(*pass));
        let roots = plan.subgraph_roots[part.roots.range()].iter().map(|root| plan.resource_name(*root));
        let passes = PyTuple::new(py, passes.collect::<Vec<_>>())?;
        record!(py, "Subgraph", (part.key, passes, PyTuple::new(py, roots.collect::<Vec<_>>())?))
    };
    list(py, plan.subgraphs.iter().map(part))
}

/// `Plan.sets`.
pub(crate) fn sets<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let set = |set: &rgraph_plan::plan::PassSet| {
        let passes = plan.set_passes[set.passes.range()].iter().map(|pass| plan.pass_name(*pass));
        record!(py, "PassSet", (if set.cpu { "cpu" } else { "gpu" }, PyTuple::new(py, passes.collect::<Vec<_>>())?))
    };
    list(py, plan.sets.iter().map(set))
}

/// `Plan.packets`.
pub(crate) fn packets<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let names = |group: &rgraph_plan::id::Span| {
        let passes = plan.packet_passes[group.range()].iter().map(|pass| plan.pass_name(*pass));
        Ok(PyTuple::new(py, passes.collect::<Vec<_>>())?.into_any())
    };
    list(py, plan.packets.iter().map(names))
}

/// `Plan.copies`.
pub(crate) fn copies<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
    let copy = |copy: &rgraph_plan::plan::PlanCopy| {
        let names = (plan.pass_name(copy.pass), plan.resource_name(copy.from), plan.resource_name(copy.to));
        record!(py, "PlanCopy", names)
    };
    list(py, plan.copies.iter().map(copy))
}
