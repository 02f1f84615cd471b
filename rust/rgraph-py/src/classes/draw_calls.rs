//! Further draws of a pass: `Pass.draw`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::Usage;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Kind;
use rgraph_vk::work::Step;
use rgraph_work::infer::{Needs, Used, Who};

use crate::arguments::bind::by_position;
use crate::arguments::raster_state;
use crate::arguments::shader;
use crate::arguments::source;
use crate::classes::draw::draw;
use crate::classes::pass::{Chained, PyPass};
use crate::classes::passes::{Arguments, Work, access, all};
use crate::run::error::one;
use crate::run::pending_work::{PendingWork, Todo};

#[pymethods]
impl PyPass {
    /// Add a draw to a pass that `raster` declared: to the same targets, after its draws so far.
    ///
    /// Each draw has its own shader, data and state, and declares the resources that it reads.
    ///
    /// Parameters
    /// ----------
    /// shader, vertices, instances, push, entry, constants, vertex_buffers, index, indirect, bindings, **variables
    ///     As in `Module.raster`, with the same further keyword arguments for blending, culling and tests; and
    ///     `first_vertex`, `first_instance`, `vertex_offset`, and `key`: draws of a pass are sorted by it.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     The pass again, so that calls can be chained.
    ///
    /// Raises
    /// ------
    /// ShaderError
    ///     If the shader does not compile (with its line), or data does not fit its layout.
    /// GraphError
    ///     If bindings or vertex buffers do not match the shader. The graph is left unchanged.
    #[pyo3(signature = (shader, *given, **arguments),
           text_signature = "($self, shader, *, vertices=3, instances=1, push=None, entry=None, constants=None, \
                             vertex_buffers=None, index=None, indirect=None, bindings=None, **variables)")]
    fn draw<'py>(
        slf: Bound<'py, Self>,
        shader: &Bound<'py, PyAny>,
        given: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        let py = shader.py();
        let (this, place) = (slf.get(), source::place(py));
        let (graph, full) = (this.graph.get(), this.full_name());
        let (draws, targets) = graph.read(|state| {
            let mut pending = state.pending.iter().filter(|pending| pending.pass == this.id);
            let draws = pending.any(|pending| match &pending.todo {
                Todo::Steps(steps) => steps.iter().any(|step| matches!(step, Step::Draw(_))),
                _ => false,
            });
            (draws, state.graph.as_ref().map_or(0, |graph| targets(graph, this)))
        });
        if !draws {
            return Err(PyTypeError::new_err(format!(
                "draw() is for passes that raster() declared, not for \"{full}\""
            )));
        }
        let who = Who { pass: &full, place: place.as_ref() };
        let (mut work, arguments) = (Work::default(), Arguments::new(arguments)?);
        if !given.is_empty() {
            return Err(by_position(("draw", "shader"), shader, (Kind::Raster, arguments), who, given));
        }
        let program = shader::program(shader, Kind::Raster, &arguments, who)?;
        let state = raster_state::state(&arguments, targets)?;
        let step = Step::Draw(draw(py, who, program, state, arguments, &mut work)?);
        let Work { table, needs: Needs { uses, checks, .. }, .. } = work;
        let declared = graph.change(|state| {
            let target = |given| state.target(graph.identity, &this.prefix, given);
            let table = table.given.iter().map(target).collect::<Result<Vec<_>, _>>()?;
            let known = |at: ResourceId| table[at.index()].known();
            let declaration = state.open()?;
            let checked = checks.iter().filter_map(|check| check.mistake(declaration, (who.pass, who.place), known));
            let mistakes: Vec<_> = checked.collect();
            if !mistakes.is_empty() {
                return Ok(Err(mistakes));
            }
            for used in &uses {
                let again = table[used.at.index()].known().is_some_and(|id| has(state.graph.as_ref(), this, id, used));
                if !again {
                    access(state, this.id, (&this.prefix, &place), &table, used)?;
                }
            }
            let open = checks.iter().any(|check| known(check.at).is_none());
            let todo = Todo::Steps(Arc::new([step]));
            let (prefix, place) = (this.prefix.clone(), place.clone());
            state.open |= open;
            state.pending.push(PendingWork {
                pass: this.id,
                prefix,
                place,
                table: (&*table).into(),
                todo,
                checks,
                open,
            });
            Ok(Ok(()))
        });
        declared.map_err(|mistake| one(py, mistake))?.map_err(|mistakes| all(py, mistakes))?;
        Ok(slf)
    }
}

/// Colour targets of a pass.
fn targets(graph: &Graph, pass: &PyPass) -> usize {
    let own = graph.accesses().iter().filter(|access| access.pass == pass.id);
    own.filter(|access| access.usage == Usage::ColorAttachment).count()
}

/// Whether the pass declares a use already, in these stages or more.
fn has(graph: Option<&Graph>, pass: &PyPass, resource: ResourceId, used: &Used) -> bool {
    let how = &used.how;
    graph.is_some_and(|graph| {
        graph.accesses().iter().any(|access| {
            (access.pass, access.resource, access.usage) == (pass.id, resource, how.usage)
                && access.stages.contains(how.stages)
                && graph.ranges_of(access) == how.ranges
                && (access.aspects == how.aspects || how.aspects.is_empty())
        })
    })
}
