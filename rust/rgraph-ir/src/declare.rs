//! Declaring in Rust, pass by pass, with the defaults of `docs/reference/formats.md`.
//!
//! A [`PassBuilder`] is a view of one pass of a graph, a [`ResourceBuilder`] of one resource; every method changes the
//! graph at once and returns the builder. They declare all that graph files declare.

mod resource_builder;

use std::sync::Arc;

use crate::access::{PassQueue, Usage};
use crate::feature::Features;
use crate::format::Format;
use crate::graph::{Clear, Graph, Pass, PassId, SlotId, Use};
use crate::resource::{Buffer, History, Image, Imported, Kind, Life, Resource, ResourceId, Size};

pub use resource_builder::ResourceBuilder;

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

    /// Declares a transient buffer of `size` bytes that holds an acceleration structure.
    pub fn acceleration_structure(&mut self, name: &str, size: u64) -> ResourceId {
        let kind = Kind::Buffer(Buffer { size: Some(size), acceleration_structure: true });
        self.add_resource(name, Resource::new(kind, Life::Transient), None)
    }

    /// Declares an image of the caller's, with defined contents and in a state known at submit; [`Graph::change`] says
    /// more of it.
    pub fn import_image(&mut self, name: &str, format: Format, size: Size) -> ResourceId {
        let image = Image { format: Some(format), size: Some(size), ..Image::default() };
        self.add_resource(name, Resource::new(Kind::Image(image), Life::Imported(Imported::default())), None)
    }

    /// Declares a buffer of the caller's, with defined contents and in a state known at submit.
    pub fn import_buffer(&mut self, name: &str, size: u64) -> ResourceId {
        let kind = Kind::Buffer(Buffer { size: Some(size), acceleration_structure: false });
        self.add_resource(name, Resource::new(kind, Life::Imported(Imported::default())), None)
    }

    /// Declares the contents that a resource had `frames` frames ago (at least 1): zeros in the first frames. Format
    /// and size are those of that resource.
    ///
    /// ```
    /// use rgraph_ir::access::PassQueue;
    /// use rgraph_ir::format::Format;
    /// use rgraph_ir::graph::Graph;
    ///
    /// let mut g = Graph::new("temporal", [1280, 720]);
    /// let (lit, steady) = (g.image("lit", Format::Rgba16float), g.image("steady", Format::Rgba16float));
    /// let before = g.history("steady before", steady, 1);
    /// g.pass("lighting", PassQueue::Graphics).color_cleared(lit, [0.0, 0.0, 0.0, 1.0]);
    /// g.pass("blend", PassQueue::Graphics).sampled(lit).sampled(before).color(steady);
    /// g.root(steady);
    /// assert!(g.resources()[before].as_image().is_some_and(|image| image.format.is_none()));
    /// ```
    pub fn history(&mut self, name: &str, of: ResourceId, frames: u32) -> ResourceId {
        let history = Life::History(History { of, frames, zero_first: true });
        self.alike(name, of, |resource| resource.life = history)
    }

    /// Declares a resource that starts with the contents of another, in that one's memory. Format and size are those of
    /// the other.
    pub fn modified(&mut self, name: &str, of: ResourceId) -> ResourceId {
        self.alike(name, of, |resource| resource.modifies = Some(of))
    }

    /// Of a resource of another graph the kind is unknown; bake refuses it.
    fn alike(&mut self, name: &str, of: ResourceId, change: impl FnOnce(&mut Resource)) -> ResourceId {
        let known = self.resources().get(of).map(Resource::alike);
        let mut resource = known.unwrap_or_else(|| Resource::image(Image::default()));
        change(&mut resource);
        self.add_resource(name, resource, None)
    }

    /// Changes a declared resource. Changes to a resource of another graph are lost, and bake reports them.
    pub fn change(&mut self, resource: ResourceId) -> ResourceBuilder<'_> {
        ResourceBuilder::new(self, resource)
    }

    /// Declares a pass.
    pub fn pass(&mut self, name: &str, queue: PassQueue) -> PassBuilder<'_> {
        let pass = self.add_pass(name, Pass::new(queue), None);
        PassBuilder { graph: self, pass }
    }

    /// Changes a declared pass: further accesses are added to those that it has. Changes to a pass of another graph are
    /// lost, and bake reports them.
    pub fn change_pass(&mut self, pass: PassId) -> PassBuilder<'_> {
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
///
/// ```
/// use rgraph_ir::access::{Load, PassQueue, Usage};
/// use rgraph_ir::format::Format;
/// use rgraph_ir::graph::{Graph, Use};
///
/// let mut g = Graph::new("frame", [640, 480]);
/// let [color, picture, bloom, out] =
///     ["color", "picture", "bloom", "out"].map(|name| g.image(name, Format::Rgba8unorm));
/// g.change(color).samples(4);
/// let draw = g.pass("draw", PassQueue::Graphics).color_cleared(color, [0.0; 4]).resolve(color, picture).id();
/// // While the flag is off, readers of "bloom" read "picture".
/// g.pass("bloom", PassQueue::Graphics)
///     .conditional("bloom")
///     .fallback(bloom, picture)
///     .sampled(picture)
///     .uses(bloom, &Use::new(Usage::ColorAttachment).load(Load::Discard));
/// g.pass("log", PassQueue::Cpu).after(draw).side_effects();
/// g.pass("tonemap", PassQueue::Graphics).unit("raster").weight_us(80.0).sampled(bloom).color(out);
/// g.root(out);
/// assert_eq!((g.fallbacks().len(), g.orderings().len(), g.flags().len()), (1, 1, 1));
/// ```
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
        self.uses(image, &Use::new(Usage::ColorAttachment).clear(Clear::Color(clear)))
    }

    /// A depth attachment cleared to a depth.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn depth_cleared(self, image: ResourceId, depth: f64) -> Self {
        self.uses(image, &Use::new(Usage::DepthStencilAttachment).clear(Clear::Depth(depth, None)))
    }

    /// A depth and stencil attachment cleared to a depth and a stencil value.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn depth_stencil_cleared(self, image: ResourceId, depth: f64, stencil: u32) -> Self {
        self.uses(image, &Use::new(Usage::DepthStencilAttachment).clear(Clear::Depth(depth, Some(stencil))))
    }

    /// Resolves the samples of an attachment of this pass into `image` at the end of the render pass: their mean, or
    /// the first sample of what has no mean.
    #[allow(clippy::return_self_not_must_use, reason = "the access is added at once")]
    pub fn resolve(self, attachment: ResourceId, image: ResourceId) -> Self {
        self.uses(image, &Use::new(Usage::ResolveAttachment).resolves(attachment))
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
        /// An image presented on a surface.
        present = Present;
        /// Vertices, indices or instances of a build.
        acceleration_input = AccelerationInput;
        /// An acceleration structure built from nothing.
        acceleration_build = AccelerationBuild;
        /// An acceleration structure updated in place.
        acceleration_update = AccelerationUpdate;
        /// Scratch memory of a build.
        acceleration_scratch = AccelerationScratch;
        /// An acceleration structure traced or queried, or instanced by a build.
        acceleration_read = AccelerationRead;
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

    /// Runs only while the flag of that name is on; the first use of a name declares the flag.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn conditional(self, flag: &str) -> Self {
        let flag = self.graph.flag(flag);
        self.graph.pass_mut(self.pass).conditional = Some(flag);
        self
    }

    /// While its flag is off, readers of `output` read `input`.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn fallback(self, output: ResourceId, input: ResourceId) -> Self {
        self.graph.fallback(self.pass, output, input);
        self
    }

    /// Runs after another pass, without a resource between them.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn after(self, earlier: PassId) -> Self {
        self.graph.order_after(self.pass, earlier);
        self
    }

    /// Its occupancy class: the planner avoids overlapping passes of one class.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn unit(self, name: &str) -> Self {
        let unit = self.graph.unit(name);
        self.graph.pass_mut(self.pass).unit = Some(unit);
        self
    }

    /// The GPU that it must run on, by its index.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn device(self, index: u32) -> Self {
        self.graph.pass_mut(self.pass).device = Some(index);
        self
    }

    /// Optional features that it needs: only a device that has them runs it. Those of shaders and accesses are added to
    /// them.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn needs(self, features: Features) -> Self {
        self.graph.pass_mut(self.pass).need(&Arc::from(""), features);
        self
    }

    /// Puts it into a module or at an extension point, at whose place in the order it stands.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn within(self, slot: SlotId) -> Self {
        self.graph.pass_mut(self.pass).slot = Some(slot);
        self
    }
}
