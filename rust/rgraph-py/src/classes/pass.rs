//! `rgraph.Pass`: what one pass does with which resource.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::{Transfer, Usage};
use rgraph_plan::graph::{PassId, Use};
use rgraph_plan::id::Id;

use crate::arguments::convert::{Text, word};
use crate::arguments::declare::given;
use crate::arguments::details::Allowed;
use crate::classes::graph::PyGraph;

/// A pass of one graph: its methods declare what it does with resources.
///
/// Each method takes handles or names of resources and returns the pass, so that calls can be chained. What a method
/// does not say means what the usage implies.
#[pyclass(name = "Pass", module = "rgraph", frozen, weakref)]
pub struct PyPass {
    pub graph: Py<PyGraph>,
    pub id: PassId,
    pub prefix: Arc<str>,
}

/// The pass again, so that calls can be chained.
pub type Chained<'py> = PyResult<Bound<'py, PyPass>>;

impl PyPass {
    /// A handle of a pass whose names are looked for in module `prefix` first.
    pub fn handle<'py>(graph: &Bound<'py, PyGraph>, id: PassId, prefix: Arc<str>) -> PyResult<Bound<'py, Self>> {
        Bound::new(graph.py(), Self { graph: graph.clone().unbind(), id, prefix })
    }

    /// Its name with those of the modules around it.
    pub fn full_name(&self) -> String {
        self.graph.get().look(|graph| graph.pass_name(self.id).to_owned())
    }
}

#[pymethods]
impl PyPass {
    /// Full name, with the names of the modules around it.
    #[getter]
    fn name(&self) -> String {
        self.full_name()
    }

    /// Where it was declared to run.
    #[getter]
    fn queue(&self) -> &'static str {
        self.graph.get().look(|graph| graph.passes()[self.id].queue.name())
    }

    /// The function kept for the runtime, or None.
    #[getter]
    fn execute(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let kept = self.graph.get().change(|state| Ok(state.executes.get(&self.id).map(|kept| kept.clone_ref(py))));
        kept.ok().flatten()
    }

    /// Render to colour attachments.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// load
    ///     Load operation: `"clear"`, `"load"` (kept) or `"discard"`.
    /// clear
    ///     Clear with (red, green, blue, alpha).
    /// mips
    ///     Mip levels, half-open `(first, end)`, or one level.
    /// layers
    ///     Array layers, half-open `(first, end)`, or one layer.
    /// generate_mips
    ///     Fill the mips after the written ones at the end of the pass.
    #[pyo3(signature = (*images, **details),
           text_signature = "($self, *images, load=None, clear=None, mips=None, layers=None, generate_mips=False)")]
    fn color<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            images,
            Usage::ColorAttachment,
            details,
            Allowed::LOAD
                .union(Allowed::CLEAR)
                .union(Allowed::MIPS)
                .union(Allowed::LAYERS)
                .union(Allowed::GENERATE_MIPS),
        )
    }

    /// Test and write a depth and stencil attachment.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// load
    ///     See `color`.
    /// clear
    ///     Clear with depth, or (depth, stencil).
    /// stencil_load
    ///     The same for stencil.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     `"color"`, `"depth"`, `"stencil"`, one or several; default all.
    #[pyo3(signature = (*images, **details),
           text_signature = "($self, *images, load=None, clear=None, stencil_load=None, mips=None, layers=None, \
                             aspects=None)")]
    fn depth<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            images,
            Usage::DepthStencilAttachment,
            details,
            Allowed::LOAD.union(Allowed::CLEAR).union(Allowed::STENCIL_LOAD).union(Allowed::PART),
        )
    }

    /// Test a depth and stencil attachment without writing it.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    #[pyo3(signature = (*images, **details), text_signature = "($self, *images, mips=None, layers=None, aspects=None)")]
    fn depth_read<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, images, Usage::DepthStencilRead, details, Allowed::PART)
    }

    /// Read the texel under the fragment from attachments.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    #[pyo3(signature = (*images, **details), text_signature = "($self, *images, mips=None, layers=None, aspects=None)")]
    fn input_attachment<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, images, Usage::InputAttachment, details, Allowed::PART)
    }

    /// Resolve a multisampled attachment at the end of the render pass.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// resolves
    ///     The attachment whose samples are resolved, or its name.
    /// mode
    ///     How samples become one: `"average"` (default), `"sample_zero"`, `"min"` or `"max"`.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    #[pyo3(signature = (*images, **details),
           text_signature = "($self, *images, resolves=None, mode=None, mips=None, layers=None, aspects=None)")]
    fn resolve<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            images,
            Usage::ResolveAttachment,
            details,
            Allowed::RESOLVES.union(Allowed::MODE).union(Allowed::PART),
        )
    }

    /// Sample images, or read uniform texel buffers.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// stages
    ///     Shader stages, one name or several; default: what the queue implies (graphics: `fragment`).
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     Bytes of a buffer, half-open `(offset, end)`; default all.
    /// unordered
    ///     Commute with the other accesses of the resource that say so.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, \
                             unordered=False)")]
    fn sampled<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, resources, Usage::Sampled, details, Allowed::SHADER)
    }

    /// Read storage images or buffers in shaders.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// stages
    ///     See `sampled`.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range, unordered
    ///     See `sampled`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, \
                             unordered=False)")]
    fn storage_read<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, resources, Usage::StorageRead, details, Allowed::SHADER)
    }

    /// Write storage images or buffers in shaders; texels and bytes that are not written stay, unless `load` discards them.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// stages
    ///     See `sampled`.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     See `sampled`.
    /// load
    ///     See `color`.
    /// unordered
    ///     See `sampled`.
    /// generate_mips
    ///     See `color`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, \
                             load=None, unordered=False, generate_mips=False)")]
    fn storage_write<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, resources, Usage::StorageWrite, details, Allowed::SHADER_WRITE)
    }

    /// Read and write storage images or buffers in shaders.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// stages
    ///     See `sampled`.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range, unordered
    ///     See `sampled`.
    /// generate_mips
    ///     See `color`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, \
                             unordered=False, generate_mips=False)")]
    fn storage_read_write<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            resources,
            Usage::StorageReadWrite,
            details,
            Allowed::STAGES
                .union(Allowed::PART)
                .union(Allowed::RANGE)
                .union(Allowed::UNORDERED)
                .union(Allowed::GENERATE_MIPS),
        )
    }

    /// Read uniform buffers.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// stages, range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, stages=None, range=None)")]
    fn uniform<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::Uniform, details, Allowed::BYTES)
    }

    /// Read vertices.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn vertex<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::Vertex, details, Allowed::RANGE)
    }

    /// Read indices.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn index<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::Index, details, Allowed::RANGE)
    }

    /// Read the parameters of indirect draws or dispatches.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn indirect<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::Indirect, details, Allowed::RANGE)
    }

    /// Copy, blit or resolve from resources.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// transfer
    ///     `"copy"` (default), `"blit"` or `"resolve"`.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, transfer=None, mips=None, layers=None, aspects=None, range=None)")]
    fn transfer_src<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            resources,
            Usage::TransferSrc,
            details,
            Allowed::TRANSFER.union(Allowed::PART).union(Allowed::RANGE),
        )
    }

    /// Copy, blit, resolve, clear or fill to resources; the rest stays, unless `load` discards it.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// transfer
    ///     `"copy"` (default), `"blit"`, `"clear"`, `"fill"` or `"resolve"`.
    /// load
    ///     See `color`.
    /// clear
    ///     The value that `transfer="clear"` writes.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     See `sampled`.
    /// generate_mips
    ///     See `color`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, transfer=None, load=None, clear=None, mips=None, layers=None, \
                             aspects=None, range=None, generate_mips=False)")]
    fn transfer_dst<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            resources,
            Usage::TransferDst,
            details,
            Allowed::TRANSFER
                .union(Allowed::LOAD)
                .union(Allowed::CLEAR)
                .union(Allowed::PART)
                .union(Allowed::RANGE)
                .union(Allowed::GENERATE_MIPS),
        )
    }

    /// Read on the CPU.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, mips=None, layers=None, aspects=None, range=None)")]
    fn host_read<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, resources, Usage::HostRead, details, Allowed::PART.union(Allowed::RANGE))
    }

    /// Write on the CPU.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     See `depth`.
    /// range
    ///     See `sampled`.
    /// load
    ///     See `color`.
    #[pyo3(signature = (*resources, **details),
           text_signature = "($self, *resources, mips=None, layers=None, aspects=None, range=None, load=None)")]
    fn host_write<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(
            slf,
            resources,
            Usage::HostWrite,
            details,
            Allowed::PART.union(Allowed::RANGE).union(Allowed::LOAD),
        )
    }

    /// Present images on a surface.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// layers
    ///     See `color`.
    #[pyo3(signature = (*images, **details), text_signature = "($self, *images, layers=None)")]
    fn present<'py>(
        slf: Bound<'py, Self>,
        images: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, images, Usage::Present, details, Allowed::LAYERS)
    }

    /// Read vertices, indices or instances in an acceleration structure build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn acceleration_input<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::AccelerationInput, details, Allowed::RANGE)
    }

    /// Build acceleration structures from nothing.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn acceleration_build<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::AccelerationBuild, details, Allowed::RANGE)
    }

    /// Update acceleration structures in place.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn acceleration_update<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::AccelerationUpdate, details, Allowed::RANGE)
    }

    /// Use buffers as scratch memory of a build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, range=None)")]
    fn acceleration_scratch<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::AccelerationScratch, details, Allowed::RANGE)
    }

    /// Trace or query acceleration structures, or instance them in a build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// stages, range
    ///     See `sampled`.
    #[pyo3(signature = (*buffers, **details), text_signature = "($self, *buffers, stages=None, range=None)")]
    fn acceleration_read<'py>(
        slf: Bound<'py, Self>,
        buffers: &Bound<'py, PyTuple>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        Self::declare(slf, buffers, Usage::AccelerationRead, details, Allowed::BYTES)
    }

    /// Copy from one resource to another.
    ///
    /// Parameters
    /// ----------
    /// source
    ///     Image or buffer, or its name.
    /// target
    ///     Image or buffer, or its name.
    #[pyo3(text_signature = "($self, source, target)")]
    fn copy<'py>(slf: Bound<'py, Self>, source: Bound<'py, PyAny>, target: Bound<'py, PyAny>) -> Chained<'py> {
        // Both are read before either is declared.
        given(&source)?;
        given(&target)?;
        let py = slf.py();
        let half = |usage| Use { transfer: Some(Transfer::Copy), ..Use::new(usage) };
        let slf = Self::add(slf, &PyTuple::new(py, [source])?, &half(Usage::TransferSrc), None)?;
        Self::add(slf, &PyTuple::new(py, [target])?, &half(Usage::TransferDst), None)
    }

    /// Use a resource in any way.
    ///
    /// Parameters
    /// ----------
    /// resource
    ///     Image or buffer, or its name.
    /// usage
    ///     A usage's name in graph files, such as `"sampled"`.
    /// **details
    ///     `stages`, `mips`, `layers`, `aspects`, `range`, `load`, `stencil_load`, `clear`, `generate_mips`, `transfer`,
    ///     `unordered`, `resolves` and `mode`, as in the other methods.
    #[pyo3(signature = (resource, usage, **details), text_signature = "($self, resource, usage, **details)")]
    fn uses<'py>(
        slf: Bound<'py, Self>,
        resource: Bound<'py, PyAny>,
        usage: Text<'_>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        let py = slf.py();
        let known = Usage::ALL.iter().map(|usage| usage.name());
        let usage = word(py, "usage", usage.0, Usage::from_name, known)?;
        Self::declare(slf, &PyTuple::new(py, [resource])?, usage, details, Allowed::all())
    }

    fn __repr__(&self) -> String {
        format!("<Pass \"{}\">", self.full_name())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().graph.is(&self.graph) && other.get().id == self.id)
    }

    fn __hash__(&self) -> u64 {
        self.graph.get().identity.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ !(self.id.index() as u64)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }
}
