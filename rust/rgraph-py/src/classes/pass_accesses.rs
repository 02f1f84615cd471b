//! `Pass.color`, `Pass.sampled` and the other methods that declare one usage each: one table.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::Usage;

use crate::arguments::details::Allowed;
use crate::classes::pass::{Chained, PyPass};

/// Writes one method per row: its documentation, name, resources, signature, usage and the details that it takes.
macro_rules! accesses {
    ($($(#[$doc:meta])* $name:ident(*$resources:ident) $signature:literal => $usage:ident: $($allowed:ident)|+;)+) => {
        #[pymethods]
        impl PyPass {
            $($(#[$doc])*
            #[pyo3(signature = (*$resources, **details), text_signature = $signature)]
            fn $name<'py>(
                slf: Bound<'py, Self>,
                $resources: &Bound<'py, PyTuple>,
                details: Option<&Bound<'py, PyDict>>,
            ) -> Chained<'py> {
                const ALLOWED: Allowed = Allowed::empty()$(.union(Allowed::$allowed))+;
                Self::declare(slf, $resources, Usage::$usage, details, ALLOWED)
            })+
        }
    };
}

accesses! {
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
    ///     If true, generate the mips after the written ones at the end of the pass.
    color(*images)
        "($self, *images, load=None, clear=None, mips=None, layers=None, generate_mips=False)"
        => ColorAttachment: LOAD | CLEAR | MIPS | LAYERS | GENERATE_MIPS;

    /// Test and write a depth and stencil attachment.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// load
    ///     See `color`.
    /// clear
    ///     Clear with depth, or (depth, stencil), 1 and 0 by default.
    /// stencil_load
    ///     Load operation of the stencil aspect.
    /// mips, layers
    ///     See `color`.
    /// aspects
    ///     `"color"`, `"depth"`, `"stencil"`, one or several; default all.
    depth(*images)
        "($self, *images, load=None, clear=None, stencil_load=None, mips=None, layers=None, aspects=None)"
        => DepthStencilAttachment: LOAD | CLEAR | STENCIL_LOAD | PART;

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
    depth_read(*images) "($self, *images, mips=None, layers=None, aspects=None)" => DepthStencilRead: PART;

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
    input_attachment(*images) "($self, *images, mips=None, layers=None, aspects=None)" => InputAttachment: PART;

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
    resolve(*images)
        "($self, *images, resolves=None, mode=None, mips=None, layers=None, aspects=None)"
        => ResolveAttachment: RESOLVES | MODE | PART;

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
    ///     If true, it commutes with the other `unordered` accesses of the resource.
    sampled(*resources)
        "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, unordered=False)"
        => Sampled: SHADER;

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
    storage_read(*resources)
        "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, unordered=False)"
        => StorageRead: SHADER;

    /// Write storage images or buffers in shaders; texels and bytes that are not written keep their contents, unless
    /// `load` discards them.
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
    storage_write(*resources)
        "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, load=None, \
         unordered=False, generate_mips=False)"
        => StorageWrite: SHADER_WRITE;

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
    storage_read_write(*resources)
        "($self, *resources, stages=None, mips=None, layers=None, aspects=None, range=None, unordered=False, \
         generate_mips=False)"
        => StorageReadWrite: STAGES | PART | RANGE | UNORDERED | GENERATE_MIPS;

    /// Read uniform buffers.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// stages, range
    ///     See `sampled`.
    uniform(*buffers) "($self, *buffers, stages=None, range=None)" => Uniform: BYTES;

    /// Read vertices.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    vertex(*buffers) "($self, *buffers, range=None)" => Vertex: RANGE;

    /// Read indices.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    index(*buffers) "($self, *buffers, range=None)" => Index: RANGE;

    /// Read the parameters of indirect draws or dispatches.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    indirect(*buffers) "($self, *buffers, range=None)" => Indirect: RANGE;

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
    transfer_src(*resources)
        "($self, *resources, transfer=None, mips=None, layers=None, aspects=None, range=None)"
        => TransferSrc: TRANSFER | PART | RANGE;

    /// Copy, blit, resolve, clear or fill to resources; the rest keeps its contents, unless `load` discards it.
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
    transfer_dst(*resources)
        "($self, *resources, transfer=None, load=None, clear=None, mips=None, layers=None, aspects=None, \
         range=None, generate_mips=False)"
        => TransferDst: TRANSFER | LOAD | CLEAR | PART | RANGE | GENERATE_MIPS;

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
    host_read(*resources)
        "($self, *resources, mips=None, layers=None, aspects=None, range=None)"
        => HostRead: PART | RANGE;

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
    host_write(*resources)
        "($self, *resources, mips=None, layers=None, aspects=None, range=None, load=None)"
        => HostWrite: PART | RANGE | LOAD;

    /// Present images on a surface.
    ///
    /// Parameters
    /// ----------
    /// *images
    ///     Images, or their names.
    /// layers
    ///     See `color`.
    present(*images) "($self, *images, layers=None)" => Present: LAYERS;

    /// Read vertices, indices or instances in an acceleration structure build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    acceleration_input(*buffers) "($self, *buffers, range=None)" => AccelerationInput: RANGE;

    /// Build acceleration structures, replacing their contents.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    acceleration_build(*buffers) "($self, *buffers, range=None)" => AccelerationBuild: RANGE;

    /// Update acceleration structures in place.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    acceleration_update(*buffers) "($self, *buffers, range=None)" => AccelerationUpdate: RANGE;

    /// Use buffers as scratch memory of a build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// range
    ///     See `sampled`.
    acceleration_scratch(*buffers) "($self, *buffers, range=None)" => AccelerationScratch: RANGE;

    /// Trace or query acceleration structures, or instance them in a build.
    ///
    /// Parameters
    /// ----------
    /// *buffers
    ///     Buffers, or their names.
    /// stages, range
    ///     See `sampled`.
    acceleration_read(*buffers) "($self, *buffers, stages=None, range=None)" => AccelerationRead: BYTES;
}
