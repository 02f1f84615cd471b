//! Modules in modules, and extension points: where passes of others stand.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;

use crate::arguments::convert::Text;
use crate::arguments::keywords;
use crate::arguments::setup;
use crate::classes::module::PyGraphModule;
use crate::run::error::{bad, one, refusal};
use crate::run::unresolved::find_outwards;

#[pymethods]
impl PyGraphModule {
    /// Declare a module: a part of the graph with names of its own, whose passes take this place in the order.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Prefix of the names in it, followed by `/`.
    ///
    /// Returns
    /// -------
    /// Module
    ///     Declare in it, now or later: its passes keep the place where it was declared.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E219 if the name is empty.
    #[pyo3(signature = (name, **unknown), text_signature = "($self, name)")]
    fn module<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        keywords::refuse_of::<Self>("module", unknown)?;
        if name.0.is_empty() {
            return Err(bad(slf.py(), Code::BadName, "a module has an empty name", "give it a name"));
        }
        let full = slf.get().full(name);
        let graph = Self::graph(slf)?;
        let parent = slf.get().slot();
        let slot = graph.get().change(|state| {
            let known = if state.anew.replaces { state.open()?.find_slot(&full) } else { None };
            Ok(match known {
                Some(slot) => slot,
                None => state.open()?.add_slot(&full, parent),
            })
        });
        let slot = slot.map_err(|mistake| one(slf.py(), mistake))?;
        Self::inside(slf, format!("{full}/"), slot)
    }

    /// Declare an extension point here: a place in the order of passes where other modules append.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name, for `extend`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the name is taken or empty. The graph is left unchanged.
    fn extension_point(slf: &Bound<'_, Self>, name: Text<'_>) -> PyResult<()> {
        if name.0.is_empty() {
            return Err(bad(slf.py(), Code::BadName, "an extension point has an empty name", "give it a name"));
        }
        let full = slf.get().full(name);
        let parent = slf.get().slot();
        let graph = Self::graph(slf)?;
        let fine = setup::refuse_lasting(
            graph.get(),
            &format!("extension point \"{full}\" is declared"),
            "declare it before bake()",
        );
        fine.map_err(|mistake| one(slf.py(), mistake))?;
        let declared = graph.get().change(|state| match state.points.get(&*full) {
            Some((_, true)) if state.anew.replaces => Ok(()),
            Some((_, true)) => {
                let message = format!("two extension points are called \"{full}\"");
                Err(refusal(Code::DuplicateName, message, "rename one of them"))
            }
            Some((slot, false)) => {
                let slot = *slot;
                if !state.open()?.place_slot(slot, parent) {
                    let message = format!("extension point \"{full}\" would be inside itself");
                    return Err(refusal(Code::Cycle, message, "declare it outside of what extends it"));
                }
                state.points.insert(full.into(), (slot, true));
                Ok(())
            }
            None => {
                let slot = state.open()?.add_slot(&full, parent);
                state.points.insert(full.into(), (slot, true));
                Ok(())
            }
        });
        declared.map_err(|mistake| one(slf.py(), mistake))
    }

    /// A module whose passes are appended at an extension point.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Name of the extension point as seen from this module, or the full name of one that is declared before the
    ///     graph is baked.
    ///
    /// Returns
    /// -------
    /// Module
    ///     Names in it are those of this module; passes take the place of the extension point, in the order of their
    ///     declaration.
    fn extend<'py>(slf: &Bound<'py, Self>, name: Text<'_>) -> PyResult<Bound<'py, Self>> {
        let graph = Self::graph(slf)?;
        let slot = graph.get().change(|state| {
            let known = find_outwards(slf.get().prefix(), name.0, |full| state.points.get(full).map(|(slot, _)| *slot));
            if let Some(slot) = known {
                return Ok(slot);
            }
            let slot = state.open()?.add_slot(name.0, None);
            state.points.insert(name.0.into(), (slot, false));
            Ok(slot)
        });
        let slot = slot.map_err(|mistake| one(slf.py(), mistake))?;
        Self::inside(slf, slf.get().prefix().to_string(), slot)
    }
}
