//! Declaring in Rust, pass by pass, with the defaults of `docs/reference/formats.md`.
//!
//! A [`PassBuilder`] is a view of one pass of a graph; every method adds one access and returns the builder.

use crate::access::{Load, PassQueue, Usage};
use crate::format::Format;
use crate::graph::{Clear, Graph, Pass, PassId, Use};
use crate::resource::{Image, Imported, Life, Resource, ResourceId, Size};

impl Graph {
    /// Declares a transient image of the reference size.
    pub fn image(&mut self, name: &str, format: Format) -> ResourceId {
        let image = Image { format: Some(format), ..Image::default() };
        self.add_resource(name, Resource::image(image), None)
    }

    /// Declares a transient image of a size.
    pub fn sized_image(&mut self, name: &str, format: Format, size: Size) -> ResourceId {
        let image = Image { format: Some(format), size: Some(size), ..Image::default() };
        self.add_resource(name, Resource::image(image), None)
    }

    /// Declares a transient buffer of `size` bytes.
    pub fn buffer(&mut self, name: &str, size: u64) -> ResourceId {
        self.add_resource(name, Resource::buffer(size), None)
    }

    /// Declares an image of the caller's, with defined contents and in a state known at submit.
    pub fn import_image(&mut self, name: &str, format: Format, size: Size) -> ResourceId {
        let id = self.sized_image(name, format, size);
        self.resource_mut(id).life = Life::Imported(Imported::default());
        id
    }

    /// Declares a pass.
    pub fn pass(&mut self, name: &str, queue: PassQueue) -> PassBuilder<'_> {
        let pass = self.add_pass(name, Pass::new(queue), None);
        PassBuilder { graph: self, pass }
    }

    /// Declares a pass whose accesses `setup` declares; if it declares none, the pass opts out of the frame.
    pub fn pass_with(&mut self, name: &str, queue: PassQueue, setup: impl FnOnce(PassBuilder<'_>)) -> PassId {
        let pass = self.add_pass(name, Pass { setup: true, ..Pass::new(queue) }, None);
        setup(PassBuilder { graph: self, pass });
        pass
    }
}

/// A pass being declared.
#[derive(Debug)]
pub struct PassBuilder<'g> {
    graph: &'g mut Graph,
    pass: PassId,
}

/// Methods that add an access of one usage, with defaults for everything else.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident = $usage:ident;)+) => {$(
        $(#[$doc])*
        #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
        pub fn $name(self, resource: ResourceId) -> Self {
            self.uses(resource, &Use::new(Usage::$usage))
        }
    )+};
}

impl PassBuilder<'_> {
    /// The pass.
    pub fn id(&self) -> PassId {
        self.pass
    }

    /// Adds an access with every detail explicit.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn uses(self, resource: ResourceId, how: &Use) -> Self {
        self.graph.access(self.pass, resource, how, None);
        self
    }

    /// A colour attachment cleared to red, green, blue, alpha.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn color_cleared(self, image: ResourceId, clear: [f64; 4]) -> Self {
        let mut how = Use { load: Some(Load::Clear), ..Use::new(Usage::ColorAttachment) };
        how.details.clear = Some(Clear::Color(clear));
        self.uses(image, &how)
    }

    /// A depth attachment cleared to a depth.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn depth_cleared(self, image: ResourceId, depth: f64) -> Self {
        let mut how = Use { load: Some(Load::Clear), ..Use::new(Usage::DepthStencilAttachment) };
        how.details.clear = Some(Clear::Depth(depth, None));
        self.uses(image, &how)
    }

    plain! {
        /// A colour attachment.
        color = ColorAttachment;
        /// A depth and stencil attachment.
        depth = DepthStencilAttachment;
        /// A depth and stencil attachment that is only tested against.
        depth_read = DepthStencilRead;
        /// An input attachment.
        input_attachment = InputAttachment;
        /// A sampled image.
        sampled = Sampled;
        /// A storage resource, read.
        storage_read = StorageRead;
        /// A storage resource, written.
        storage_write = StorageWrite;
        /// A storage resource, read and written.
        storage_read_write = StorageReadWrite;
        /// A uniform buffer.
        uniform = Uniform;
        /// A vertex buffer.
        vertex = Vertex;
        /// An index buffer.
        index = Index;
        /// An indirect buffer.
        indirect = Indirect;
        /// The source of a copy.
        copy_from = TransferSrc;
        /// The destination of a copy.
        copy_to = TransferDst;
        /// A buffer read by the CPU.
        host_read = HostRead;
        /// A buffer written by the CPU.
        host_write = HostWrite;
    }

    /// Keeps the pass although nobody reads what it writes.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn side_effects(self) -> Self {
        self.graph.pass_mut(self.pass).side_effects = true;
        self
    }

    /// Promises that its draws commute with those of other passes that promise it too: the picture is the same in every
    /// order of them.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn unordered(self) -> Self {
        self.graph.pass_mut(self.pass).unordered = true;
        self
    }

    /// Says how long it takes, in microseconds.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn weight_us(self, us: f64) -> Self {
        self.graph.pass_mut(self.pass).weight_us = Some(us);
        self
    }
}
