//! Changes of one resource of a graph. What only images or only buffers have is refused for the other kind: as a
//! mistake of the graph, which the bake reports with all others.

use crate::access::{MemoryDomain, Sharing};
use crate::error::{Code, Mistake};
use crate::graph::Graph;
use crate::resource::{Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Size};

/// A resource being changed: each method changes one property at once and returns the builder.
///
/// ```
/// use rgraph_ir::access::Layout;
/// use rgraph_ir::format::Format;
/// use rgraph_ir::graph::Graph;
/// use rgraph_ir::resource::{Imported, Leave, Life, Mips, Size};
///
/// let mut g = Graph::new("frame", [640, 480]);
/// let sky = g.image("sky", Format::Rgba16float);
/// g.change(sky).size(Size::absolute(256, 256)).cube().mips(Mips::Full).persistent();
/// assert_eq!(g.resources()[sky].life, Life::Persistent);
///
/// let back = g.import_image("back", Format::Bgra8unorm, Size::absolute(640, 480));
/// g.change(back).imported(Imported::default().undefined()).leave(Leave::default().layout(Layout::PresentSrc));
///
/// let bytes = g.buffer("bytes", 64);
/// g.change(bytes).cube();
/// assert_eq!(g.mistakes()[0].message, "\"bytes\" is a buffer, which cannot be viewed as a cube");
/// ```
#[derive(Debug)]
pub struct ResourceBuilder<'g> {
    graph: &'g mut Graph,
    resource: ResourceId,
}

/// Methods that change one property of an image.
macro_rules! of_images {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) = $field:ident: $value:expr, $lacks:literal;)+) => {$(
        $(#[$doc])*
        #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
        pub fn $name(self $(, $argument: $type)?) -> Self {
            self.image($lacks, |image| image.$field = $value)
        }
    )+};
}

impl<'g> ResourceBuilder<'g> {
    pub(super) fn new(graph: &'g mut Graph, resource: ResourceId) -> Self {
        Self { graph, resource }
    }

    /// The resource.
    pub fn id(&self) -> ResourceId {
        self.resource
    }

    of_images! {
        /// Its size in texels.
        size(size: Size) = size: Some(size), "has a size in bytes";
        /// So many array layers.
        layers(layers: u32) = layers: Some(layers), "has no layers";
        /// So many mip levels, or all.
        mips(mips: Mips) = mips: Some(mips), "has no mip levels";
        /// So many samples per texel.
        samples(samples: u32) = samples: Some(samples), "has no samples";
        /// Viewed as a cube: layers are a multiple of six (6 unless explicit), width equals height.
        cube() = cube: true, "cannot be viewed as a cube";
    }

    /// Holds an acceleration structure.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn acceleration_structure(self) -> Self {
        match &mut self.graph.resource_mut(self.resource).kind {
            Kind::Buffer(buffer) => {
                buffer.acceleration_structure = true;
                self
            }
            Kind::Image(_) => self.refused("is an image, which holds no acceleration structure", "declare a buffer"),
        }
    }

    /// Keeps its contents from frame to frame, in memory of its own.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn persistent(self) -> Self {
        self.with(|resource| resource.life = Life::Persistent)
    }

    /// Transient, in memory that no other frame in flight has: nothing orders its first use after the frame before.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn fresh(self) -> Self {
        self.with(|resource| resource.life = Life::Fresh)
    }

    /// Supplied by the caller, in that state.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn imported(self, state: Imported) -> Self {
        self.with(|resource| resource.life = Life::Imported(state))
    }

    /// Of a history: its contents in the first frames are undefined, not zeros.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn undefined_first(self) -> Self {
        match &mut self.graph.resource_mut(self.resource).life {
            Life::History(history) => {
                history.zero_first = false;
                self
            }
            _ => self.refused("remembers no earlier frame", "declare it with Graph::history"),
        }
    }

    /// Starts with the contents of another resource, in that resource's memory.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn modifies(self, other: ResourceId) -> Self {
        self.with(|resource| resource.modifies = Some(other))
    }

    /// The state in which the plan leaves it at the end of the frame.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn leave(self, state: Leave) -> Self {
        self.with(|resource| resource.leave = Some(state))
    }

    /// Which queue families may use it without a transfer of ownership; the planner chooses unless this is explicit.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn sharing(self, sharing: Sharing) -> Self {
        self.with(|resource| resource.sharing = Some(sharing))
    }

    /// The memory that a persistent or imported resource lies in; the runtime chooses unless this is explicit.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn memory_domain(self, domain: MemoryDomain) -> Self {
        self.with(|resource| resource.memory_domain = Some(domain))
    }

    /// Kept for the caller: the passes that contribute to it run.
    #[allow(clippy::return_self_not_must_use, reason = "the graph is changed at once")]
    pub fn root(self) -> Self {
        self.graph.root(self.resource);
        self
    }

    fn with(self, change: impl FnOnce(&mut Resource)) -> Self {
        change(self.graph.resource_mut(self.resource));
        self
    }

    fn image(self, lacks: &str, change: impl FnOnce(&mut Image)) -> Self {
        match &mut self.graph.resource_mut(self.resource).kind {
            Kind::Image(image) => {
                change(image);
                self
            }
            Kind::Buffer(_) => self.refused(&format!("is a buffer, which {lacks}"), "declare an image"),
        }
    }

    /// A resource of another graph is a mistake already.
    fn refused(self, says: &str, help: &str) -> Self {
        if self.graph.resources().get(self.resource).is_some() {
            let name = self.graph.resource_name(self.resource).to_owned();
            let mistake = Mistake::new(Code::BadUsage, format!("\"{name}\" {says}"), help).resource(&name);
            self.graph.add_mistake(mistake);
        }
        self
    }
}
