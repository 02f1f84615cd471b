//! Graphs that are copied deeply, pickled, and made again of what was pickled.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::file::Picture;

use crate::arguments::dtype::Dtype;
use crate::classes::array_layout::{Form, Kept, Seen};
use crate::classes::graph::PyGraph;
use crate::run::error::{bad, one, refusal};

/// Shape, dtype, whether they are bools, and bytes.
type Stored<'py> = (Vec<usize>, Bound<'py, PyAny>, bool, Bound<'py, PyBytes>);

fn stored<'py>(py: Python<'py>, form: &Form, bytes: &[u8]) -> PyResult<Stored<'py>> {
    Ok((form.shape.clone(), form.dtype.python(py)?, form.boolean, PyBytes::new(py, bytes)))
}

/// How an array is seen: (axis of layers, channels) of an image, (shape, dtype) of a buffer.
fn seen<'py>(py: Python<'py>, seen: &Seen) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match seen {
        Seen::Texels(batch, channels) => Some((*batch, *channels).into_pyobject(py)?.into_any()),
        Seen::Items(shape, dtype) => Some((shape.clone(), dtype.python(py)?).into_pyobject(py)?.into_any()),
        Seen::Shader(_) => None,
    })
}

#[pymethods]
impl PyGraph {
    /// A copy that shares no array with this graph; `copy.copy` shares them.
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let copy = slf.call_method0("clone")?.cast_into::<Self>()?;
        let deep = py.import("copy")?.getattr("deepcopy")?;
        let arrays: Vec<(ResourceId, Py<PyAny>)> =
            copy.get().read(|state| state.arrays.iter().map(|(id, array)| (*id, array.clone_ref(py))).collect());
        for (id, array) in arrays {
            let array = deep.call1((array, memo))?.unbind();
            let replaced = copy.get().change(|state| Ok(state.arrays.insert(id, array)));
            drop(replaced);
        }
        Ok(copy)
    }

    /// For pickle: the graph file as text, arrays, and how they are seen. Functions are refused; setup functions are
    /// called.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let options = PyDict::new(py);
        options.set_item("callbacks", "refuse")?;
        let text = slf.call_method("to_json", (), Some(&options))?;
        let (arrays, pictures, firsts, seens) = slf.get().read(|state| {
            let Some(graph) = &state.graph else { return Default::default() };
            let left = |id: &ResourceId| !state.anew.resources.contains(id);
            let name = |id: ResourceId| graph.resource_name(id).to_owned();
            let arrays: Vec<_> = state
                .arrays
                .iter()
                .filter(|(id, _)| left(id))
                .map(|(id, array)| (name(*id), array.clone_ref(py)))
                .collect();
            let pictures: Vec<_> = state
                .pictures
                .iter()
                .filter(|(id, _)| left(id))
                .map(|(id, one)| (name(*id), Arc::clone(one)))
                .collect();
            let firsts: Vec<_> =
                state.first.iter().filter(|(id, _)| left(id)).map(|(id, one)| (name(*id), one.clone())).collect();
            let seens: Vec<_> =
                state.seen.iter().filter(|(id, _)| left(id)).map(|(id, one)| (name(*id), one.clone())).collect();
            (arrays, pictures, firsts, seens)
        });
        let all = [PyDict::new(py), PyDict::new(py), PyDict::new(py), PyDict::new(py)];
        for (name, array) in arrays {
            all[0].set_item(name, array)?;
        }
        for (name, picture) in pictures {
            let dtype = Dtype::Number(picture.element);
            let form =
                Form { shape: picture.shape.clone().unwrap_or_default(), dtype, boolean: picture.shape.is_none() };
            let path = picture.path.to_string_lossy().into_owned();
            all[1].set_item(name, (path, picture.normalised, stored(py, &form, &picture.bytes)?))?;
        }
        for (name, first) in firsts {
            all[2].set_item(name, stored(py, &first.form, &first.bytes)?)?;
        }
        for (name, one) in seens {
            if let Some(one) = seen(py, &one)? {
                all[3].set_item(name, one)?;
            }
        }
        let [arrays, pictures, firsts, seens] = all;
        let made = py.get_type::<Self>().getattr("_of_pickle")?;
        Ok((made, (text, arrays, pictures, firsts, seens).into_pyobject(py)?))
    }

    /// The graph of what `__reduce__` gave.
    #[staticmethod]
    fn _of_pickle<'py>(
        text: &Bound<'py, PyString>,
        arrays: &Bound<'py, PyDict>,
        pictures: &Bound<'py, PyDict>,
        firsts: &Bound<'py, PyDict>,
        seens: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = text.py();
        let graph = py.get_type::<Self>().call_method1("from_json", (text,))?.cast_into::<Self>()?;
        let find = |name: &Bound<'py, PyAny>| {
            let name = name.extract::<String>()?;
            let found = graph.get().read(|state| state.graph.as_ref().and_then(|graph| graph.find_resource(&name)));
            found.ok_or_else(|| {
                bad(py, Code::UnknownName, format!("nothing declares \"{name}\""), "pickle the graph again")
            })
        };
        let form = |(shape, dtype, boolean, bytes): Stored<'py>| {
            Ok::<_, PyErr>((Form { shape, dtype: Dtype::read(&dtype)?, boolean }, bytes))
        };
        let (mut filled, mut begun, mut shown, mut read) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (name, array) in arrays {
            filled.push((find(&name)?, array.unbind()));
        }
        for (name, picture) in pictures {
            let (path, normalised, one): (String, bool, Stored<'py>) = picture.extract()?;
            let (form, bytes) = form(one)?;
            let element = form
                .dtype
                .number()
                .ok_or_else(|| bad(py, Code::BadArray, "a picture of records", "pickle the graph again"))?;
            let shape = (!form.boolean).then_some(form.shape);
            let bytes = bytes.as_bytes().to_vec();
            read.push((find(&name)?, Arc::new(Picture { path: path.into(), shape, element, normalised, bytes })));
        }
        for (name, first) in firsts {
            let (form, bytes) = form(first.extract()?)?;
            begun.push((find(&name)?, Kept { form, bytes: bytes.as_bytes().into(), file: None }));
        }
        for (name, one) in seens {
            let (first, second): (Bound<'py, PyAny>, Bound<'py, PyAny>) = one.extract()?;
            let seen = match first.extract::<bool>() {
                Ok(batch) => Seen::Texels(batch, second.extract()?),
                Err(_) => Seen::Items(first.extract()?, Dtype::read(&second)?),
            };
            shown.push((find(&name)?, seen));
        }
        let made = graph.get().change(|state| {
            if state.graph.is_none() {
                return Err(refusal(
                    Code::BadAccess,
                    "the graph is being baked",
                    "pickle it outside of setup functions",
                ));
            }
            state.arrays.extend(filled);
            state.pictures = read;
            state.first.extend(begun);
            state.seen.extend(shown);
            Ok(())
        });
        made.map_err(|mistake| one(py, mistake))?;
        Ok(graph)
    }

    /// A table of passes and resources, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("graph", (slf,))
    }
}
