//! Graph files of `rgraph.Graph`: text, plain values and files, written and read.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_shader::Given;
use rgraph_vk::file::{self, Arrays, Callbacks, Loaded, Typed};
use rgraph_work::texel::Element;

use crate::arguments::convert::{FileText, Text, word};
use crate::arguments::dtype::Dtype;
use crate::arguments::file_path::FilePath;
use crate::arguments::files;
use crate::arguments::keywords;
use crate::arguments::sidecar::Sidecar;
use crate::classes::array_layout::{Form, Kept, Seen};
use crate::classes::graph::PyGraph;
use crate::run::error::bad;
use crate::run::pending_work::PendingWork;
use crate::run::state::GraphState;

impl PyGraph {
    /// The Python object of a graph that was read, with what its passes do.
    fn loaded(py: Python<'_>, loaded: Loaded) -> PyResult<Bound<'_, Self>> {
        let Loaded { load, pictures, typed, files } = loaded;
        let mut state = GraphState::new(load.graph.clone());
        for (id, picture) in &pictures {
            let buffer = load.graph.resources()[*id].as_buffer().is_some();
            if let (true, Some(shape)) = (buffer, &picture.shape) {
                state.seen.insert(*id, Seen::Items(shape.clone(), Dtype::Number(picture.element)));
            }
        }
        for (id, Typed { shape, dtype }) in typed {
            if let Some(element) = Element::from_name(dtype.name()) {
                let shape = shape.iter().map(|axis| *axis as usize).collect();
                state.seen.insert(id, Seen::Items(shape, Dtype::Number(element)));
            }
        }
        let begins =
            |(id, _): &(ResourceId, _)| matches!(load.graph.resources()[*id].life, Life::Persistent | Life::History(_));
        let (firsts, pictures) = pictures.into_iter().partition::<Vec<_>, _>(begins);
        for (id, picture) in firsts {
            let shape = picture.shape.clone().unwrap_or_else(|| vec![picture.bytes.len()]);
            let form = Form { shape, dtype: Dtype::Number(picture.element), boolean: false };
            let file = Some(picture.path.as_path().into());
            state.first.insert(id, Kept { form, bytes: picture.bytes.as_slice().into(), file });
        }
        (state.pictures, state.files) = (pictures, files);
        state.pending = PendingWork::of_work(load);
        Self::of_state(py, state)
    }

    /// The text of its file, to be written to `path`, and the sidecar files that fill its resources.
    fn text(slf: &Bound<'_, Self>, path: Option<&Path>, callbacks: Text<'_>) -> PyResult<(String, Vec<Sidecar>)> {
        let py = slf.py();
        let words = [("refuse", Callbacks::Refuse), ("skip", Callbacks::Skip)];
        let find = |name: &str| words.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let callbacks = word(py, "way with callbacks", callbacks.0, find, words.iter().map(|(name, _)| *name))?;
        let whole = Arc::new(Self::resolved(slf)?);
        let (load, _) = Self::workload(slf, whole, &Arc::from([]));
        let folder = path.map(files::folder);
        let mut sidecars = Vec::new();
        if let (Callbacks::Refuse, Some(name)) = (callbacks, slf.get().per_run_of()) {
            let message = format!("graph files hold no functions, and pass \"{name}\" has one for its runs");
            let help = "save it with callbacks=\"skip\", and give values per run: params={(pass, \"clear\"): …}";
            return Err(bad(py, Code::BadFile, message, help));
        }
        if let Some(path) = path {
            let (arrays, pictures, firsts) = slf.get().read(|state| {
                let Some(graph) = &state.graph else { return Default::default() };
                let here = |id| load.graph.find_resource(graph.resource_name(id));
                let arrays: Vec<_> =
                    state.arrays.iter().filter_map(|(id, array)| Some((here(*id)?, array.clone_ref(py)))).collect();
                let pictures: Vec<_> =
                    state.pictures.iter().filter_map(|(id, one)| Some((here(*id)?, Arc::clone(one)))).collect();
                let firsts: Vec<_> =
                    state.first.iter().filter_map(|(id, first)| Some((here(*id)?, first.clone()))).collect();
                (arrays, pictures, firsts)
            });
            for (id, array) in arrays {
                sidecars.push(Sidecar::of_array(path, &load.graph, id, array.bind(py))?);
            }
            for (id, first) in firsts {
                sidecars.push(Sidecar::of_first(py, path, &load.graph, id, &first)?);
            }
            let known = |id| sidecars.iter().any(|one: &Sidecar| one.id == id);
            let pictures: Vec<_> = pictures.into_iter().filter(|(id, _)| !known(*id)).collect();
            sidecars
                .extend(pictures.into_iter().map(|(id, picture)| Sidecar::of_picture(path, &load.graph, id, &picture)));
            sidecars.sort_by_key(|one| one.id);
        }
        let contents: Vec<_> = sidecars.iter().map(|one| (one.id, one.name.clone())).collect();
        let typed = slf.get().typed(&load.graph, &sidecars);
        let arrays = Arrays { contents: &contents, typed: &typed };
        Ok((files::graph_text(py, &load, arrays, folder, callbacks)?, sidecars))
    }

    /// By id in `whole`: the buffers whose shape and kind of numbers no sidecar file has.
    fn typed(&self, whole: &Graph, sidecars: &[Sidecar]) -> Vec<(ResourceId, Typed)> {
        let typed = |id: ResourceId, seen: &Seen| match seen {
            Seen::Items(shape, dtype) => {
                let element = dtype.number()?;
                let names_it = |one: &Sidecar| {
                    one.id == id && one.says.as_ref().is_some_and(|(axes, kind)| axes == shape && *kind == element)
                };
                let dtype = file::Dtype::from_name(element.name()).filter(|_| !sidecars.iter().any(names_it))?;
                Some(Typed { shape: shape.iter().map(|axis| *axis as u64).collect(), dtype })
            }
            Seen::Texels(..) | Seen::Shader(_) => None,
        };
        self.read(|state| {
            let Some(graph) = &state.graph else { return Vec::new() };
            let ids = graph.resources().ids().filter(|id| !state.anew.resources.contains(id));
            ids.filter_map(|id| {
                let here = whole.find_resource(graph.resource_name(id))?;
                Some((here, typed(here, state.seen.get(&id)?)?))
            })
            .collect()
        })
    }

    /// The name of a pass with functions that are called at each run.
    fn per_run_of(&self) -> Option<String> {
        self.read(|state| {
            let pass = state.per_run.first()?.pass;
            state.graph.as_ref().map(|graph| graph.pass_name(pass).to_owned())
        })
    }
}

#[pymethods]
impl PyGraph {
    /// The graph file as text, with the text of shaders and without arrays, which `save` writes to sidecar files. Setup
    /// functions are called.
    ///
    /// Parameters
    /// ----------
    /// callbacks
    ///     Passes that are functions: `"skip"` leaves out their work, `"refuse"` refuses the graph.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a name in the declaration is unknown.
    #[pyo3(signature = (*, callbacks = Text("skip"), **unknown), text_signature = "($self, *, callbacks='skip')")]
    fn to_json(slf: &Bound<'_, Self>, callbacks: Text<'_>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
        keywords::refuse_of::<Self>("to_json", unknown)?;
        Self::text(slf, None, callbacks).map(|(text, _)| text)
    }

    /// The graph file as plain values.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        files::loads(slf.py(), &Self::to_json(slf, Text("skip"), None)?)
    }

    /// Write the graph file, with shaders and the work of its passes: to a temporary file that is then renamed, so that
    /// readers never see a part of it.
    ///
    /// Shaders and pictures that were read from files below its folder are referred to by name. Other shaders are
    /// written into it; arrays, initial values of states included, are written to `NAME.RESOURCE.npy` in its folder,
    /// the initial value of a buffer of records to `NAME.RESOURCE.bin` as bytes.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     Where to write; by convention `NAME.rgraph.json`.
    /// callbacks
    ///     Passes that are functions: `"refuse"` refuses the graph, `"skip"` leaves out their work.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a pass is a function, or a name in the declaration is unknown.
    #[pyo3(signature = (path, *, callbacks = Text("refuse"), **unknown), text_signature = "($self, path, *, callbacks='refuse')")]
    fn save(
        slf: &Bound<'_, Self>,
        path: FilePath,
        callbacks: Text<'_>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("save", unknown)?;
        let (text, sidecars) = Self::text(slf, Some(&path), callbacks)?;
        for Sidecar { name, bytes, .. } in sidecars {
            if let Some(bytes) = bytes {
                files::write(slf.py(), &files::folder(&path).join(name), bytes)?;
            }
        }
        files::write(slf.py(), &path, text.into_bytes())
    }

    /// Read a graph file.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file. Shaders, pictures and files that it includes are found below its folder.
    /// options
    ///     Values of the options that it declares: {name: bool, number or text}.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the file breaks the file format; the message names path and line.
    /// ShaderError
    ///     If a shader does not compile.
    /// OSError
    ///     If it cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path, *, options = None, **unknown), text_signature = "(path, *, options=None)")]
    fn load<'py>(
        py: Python<'py>,
        path: FilePath,
        options: Option<&Bound<'py, PyDict>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        keywords::refuse_of::<Self>("load", unknown)?;
        Self::loaded(py, files::load_graph(py, &path, &files::settings(options)?)?)
    }

    /// Absolute paths of the files that the graph was read from: its own, those that it includes, shaders, pictures.
    /// For a graph declared in Python: its shaders, and the files that these include.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.read(|state| {
            let sources = state.pending.iter().flat_map(PendingWork::sources).flat_map(Given::files);
            let mut seen = HashSet::new();
            let files = state.files.iter().cloned().chain(sources).filter(|path| seen.insert(path.clone()));
            files.map(|path| path.to_string_lossy().into_owned()).collect()
        })
    }

    /// Read the text of a graph file.
    ///
    /// Parameters
    /// ----------
    /// text
    ///     JSON, as `to_json` writes it. It comes from no folder, so it can name no files.
    /// options
    ///     See `load`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the text breaks the file format.
    #[staticmethod]
    #[pyo3(signature = (text, *, options = None, **unknown), text_signature = "(text, *, options=None)")]
    fn from_json<'py>(
        py: Python<'py>,
        text: FileText<'_>,
        options: Option<&Bound<'py, PyDict>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        keywords::refuse_of::<Self>("from_json", unknown)?;
        Self::loaded(py, files::graph(py, text.0, None, &files::settings(options)?)?)
    }

    /// Read a graph file's plain values.
    ///
    /// Parameters
    /// ----------
    /// values
    ///     As `to_dict` gives them.
    /// options
    ///     See `load`.
    #[staticmethod]
    #[pyo3(signature = (values, *, options = None, **unknown), text_signature = "(values, *, options=None)")]
    fn from_dict<'py>(
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        keywords::refuse_of::<Self>("from_dict", unknown)?;
        let text = files::dumps(values)?;
        Self::loaded(py, files::graph(py, text.as_bytes(), None, &files::settings(options)?)?)
    }
}
