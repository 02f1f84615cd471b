//! Packets: what the steps of passes come to, ready to be recorded into command buffers.

use ash::vk;
use rgraph_plan::access::Layout;
use rgraph_plan::format::Format;
use rgraph_plan::id::{IdVec, Span};
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::resource::ResourceId;

use crate::compile::ray::ReadyTrace;
use crate::compile::transfer;
use crate::memory::physical_resource::ViewKey;
use rgraph_work::{Build, DrawCount, IndexBuffer, Instances};

/// A step, ready to be recorded.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Packet {
    pub pipeline: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub push_stages: vk::ShaderStageFlags,
    /// In [`Packets::sets`].
    pub sets: Span,
    /// In [`Packets::push`].
    pub push: Span,
    /// Draws and dispatches are sorted by it.
    pub key: u64,
    pub what: Action,
}

/// What a packet does once everything is bound.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    Dispatch([u32; 3]),
    DispatchIndirect(ResourceId, u64),
    /// In [`Packets::draws`].
    Draw(u32),
    /// In [`Packets::transfers`].
    Transfer(u32),
    /// In [`Packets::builds`].
    Build(u32),
    /// In [`Packets::instances`].
    Instances(u32),
    /// In [`Packets::traces`].
    Trace(u32),
}

/// What a draw draws.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Drawn {
    pub count: DrawCount,
    /// In [`Packets::vertex`].
    pub vertex: Span,
    pub index: Option<IndexBuffer>,
    pub viewport: Option<[f32; 4]>,
    /// Whether workgroups of a mesh stage are drawn.
    pub is_mesh: bool,
}

/// A descriptor set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Set {
    pub layout: vk::DescriptorSetLayout,
    /// In [`Packets::writes`].
    pub writes: Span,
}

/// A descriptor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Write {
    pub pass: PlanPassId,
    pub binding: u32,
    pub element: u32,
    pub kind: vk::DescriptorType,
    pub what: Descriptor,
}

/// What a descriptor holds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Descriptor {
    Buffer(ResourceId, [u64; 2]),
    Image(ResourceId, ViewKey, Layout),
    Combined(ResourceId, ViewKey, Layout, vk::Sampler),
    /// Bytes of a buffer as texels of a format.
    Texels(ResourceId, [u64; 2], Format),
    Sampler(vk::Sampler),
    /// An acceleration structure.
    Structure(ResourceId),
    /// Bytes in [`Packets::data`].
    Data([u64; 2]),
}

/// All packets of a graph.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    pub packets: Vec<Packet>,
    /// Packets of each pass.
    pub of_pass: IdVec<PlanPassId, Span>,
    pub sets: Vec<Set>,
    pub writes: Vec<Write>,
    pub push: Vec<u8>,
    /// Contents of uniform blocks that have no buffer of the graph.
    pub data: Vec<u8>,
    /// Pass, position in the program's bindings and bytes of each uniform block.
    pub blocks: Vec<(PlanPassId, u32, [u64; 2])>,
    pub draws: Vec<Drawn>,
    /// Vertex buffers and first bytes in them.
    pub vertex: Vec<(ResourceId, u64)>,
    pub transfers: Vec<transfer::Ready>,
    /// Builds and instances of acceleration structures; resources are the plan's.
    pub builds: Vec<Build>,
    pub instances: Vec<Instances>,
    pub traces: Vec<ReadyTrace>,
}

impl Packets {
    /// Forgets all packets, for a plan of so many passes, and keeps the memory.
    pub(crate) fn clear(&mut self, passes: usize) {
        let Self {
            packets,
            of_pass,
            sets,
            writes,
            push,
            data,
            blocks,
            draws,
            vertex,
            transfers,
            builds,
            instances,
            traces,
        } = self;
        packets.clear();
        of_pass.refill(Span::default(), passes);
        sets.clear();
        writes.clear();
        push.clear();
        data.clear();
        blocks.clear();
        draws.clear();
        vertex.clear();
        transfers.clear();
        builds.clear();
        instances.clear();
        traces.clear();
    }

    /// Adds a packet that binds nothing.
    pub(crate) fn plain(&mut self, what: Action) {
        self.packets.push(Packet {
            pipeline: vk::Pipeline::null(),
            layout: vk::PipelineLayout::null(),
            push_stages: vk::ShaderStageFlags::empty(),
            sets: Span::default(),
            push: Span::default(),
            key: 0,
            what,
        });
    }
}
