//! Plans that drive an engine's own recorder, under the validation layer.

#[path = "../../../examples/own_recorder.rs"]
#[allow(dead_code, unused_attributes, reason = "the engine is this test's")]
mod own_recorder;

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk::{self, Handle};
use own_recorder::Gpu;
use rgraph_check::generate::{Limits, generate};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Plan, QueueId};
use rgraph_plan::prelude::*;
use rgraph_vk::walk::{Recorder, Slot, Walk, WalkBatch, WalkBlit, WalkMemory, WalkPass, WalkRendering};
use rgraph_vk::{Code, Error};

use crate::support::engine::{Engine, Wish};

#[test]
fn the_recorder_of_an_engine_draws_what_a_plan_says() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    own_recorder::run().unwrap();
    // SAFETY: the physical device is of the instance.
    let memory = unsafe { engine.instance().get_physical_device_memory_properties(engine.physical) };
    let gpu = Gpu { device: engine.raw.clone(), family: engine.family, queue: engine.queue, memory };
    for queues in 1..=3 {
        // SAFETY: the engine lives, and nothing else uses its queue.
        unsafe { own_recorder::draw(&gpu, queues) }.unwrap();
    }
}

/// A recorder without a device: it keeps the layout of each level of each image, and who signals what.
#[derive(Default)]
struct Dry {
    slots: HashMap<u64, Slot>,
    layouts: HashMap<(Slot, u32, u32, vk::ImageAspectFlags), vk::ImageLayout>,
    signalled: HashMap<Option<QueueId>, u64>,
    family: Option<u32>,
    /// Render passes, passes, blits, barriers, waits.
    counts: [usize; 5],
    rendering: bool,
}

const ASPECTS: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];

impl Dry {
    fn layout(&self, at: (Slot, u32, u32, vk::ImageAspectFlags)) -> vk::ImageLayout {
        self.layouts.get(&at).copied().unwrap_or(vk::ImageLayout::UNDEFINED)
    }

    fn handle(&mut self, slot: Slot) -> u64 {
        let handle = (slot.memory.index() as u64) << 8 | slot.index as u64 | 1 << 40;
        self.slots.insert(handle, slot);
        handle
    }

    /// Whether a part is as a pass or an attachment names it; layouts of one aspect and of both may name the same.
    fn demand(&self, view: (Slot, u32, u32), layout: vk::ImageLayout, who: &str) {
        let (slot, mip, layer) = view;
        let known = ASPECTS.map(|aspect| self.layout((slot, mip, layer, aspect)));
        assert!(known.contains(&layout), "{who}: {layout:?} is not among {known:?} of {view:?}");
    }
}

impl Recorder for Dry {
    type Error = Error;

    fn image(&mut self, slot: Slot) -> vk::Image {
        vk::Image::from_raw(self.handle(slot))
    }

    fn buffer(&mut self, slot: Slot) -> (vk::Buffer, u64) {
        (vk::Buffer::from_raw(self.handle(slot)), 256)
    }

    fn begin_batch(&mut self, batch: &WalkBatch) -> Result<(), Error> {
        for wait in &batch.waits {
            let reached = self.signalled.get(&wait.queue).copied().unwrap_or(0);
            assert!(reached >= wait.value, "{wait:?} is not signalled before: {reached}");
            self.counts[4] += 1;
        }
        self.family = batch.family;
        Ok(())
    }

    fn barriers(&mut self, dependency: &vk::DependencyInfo<'_>) -> Result<(), Error> {
        assert!(!self.rendering, "no barrier within a render pass");
        self.counts[3] += 1;
        // SAFETY: the arrays of the info live until this call returns.
        let images = unsafe {
            std::slice::from_raw_parts(
                if dependency.image_memory_barrier_count == 0 {
                    std::ptr::NonNull::dangling().as_ptr()
                } else {
                    dependency.p_image_memory_barriers
                },
                dependency.image_memory_barrier_count as usize,
            )
        };
        for barrier in images {
            let slot = self.slots[&barrier.image.as_raw()];
            let moves = barrier.src_queue_family_index != barrier.dst_queue_family_index;
            if moves && self.family == Some(barrier.src_queue_family_index) {
                // Its acquire names the same layouts.
                continue;
            }
            let range = barrier.subresource_range;
            for mip in range.base_mip_level..range.base_mip_level + range.level_count {
                for layer in range.base_array_layer..range.base_array_layer + range.layer_count {
                    for aspect in ASPECTS.into_iter().filter(|aspect| range.aspect_mask.contains(*aspect)) {
                        let known = self.layout((slot, mip, layer, aspect));
                        let old = barrier.old_layout;
                        assert!(
                            old == vk::ImageLayout::UNDEFINED || old == known,
                            "{slot:?} is {known:?}, not {old:?}"
                        );
                        self.layouts.insert((slot, mip, layer, aspect), barrier.new_layout);
                    }
                }
            }
        }
        Ok(())
    }

    fn begin_rendering(&mut self, rendering: &WalkRendering) -> Result<(), Error> {
        self.counts[0] += 1;
        self.rendering = true;
        for target in rendering.colors.iter().chain(&rendering.depth).chain(&rendering.stencil) {
            let (_, mip, [first, end]) = target.view.range;
            (first..end).for_each(|layer| self.demand((target.view.slot, mip, layer), target.layout, "an attachment"));
        }
        Ok(())
    }

    fn pass(&mut self, pass: &WalkPass<'_>) -> Result<(), Error> {
        self.counts[1] += 1;
        if self.family.is_none() {
            return Ok(());
        }
        for (resource, mip, layer) in pass.images() {
            let layout = pass.layout(resource, mip, layer).expect("it is declared");
            self.demand((pass.slot(resource), mip, layer), layout, pass.name());
        }
        Ok(())
    }

    fn blit(&mut self, blit: &WalkBlit) -> Result<(), Error> {
        self.counts[2] += 1;
        let (from, to) = (blit.region.src_subresource, blit.region.dst_subresource);
        self.demand((blit.from.0, from.mip_level, from.base_array_layer), blit.from.1, "the source of a blit");
        self.demand((blit.to.0, to.mip_level, to.base_array_layer), blit.to.1, "the target of a blit");
        Ok(())
    }

    fn end_rendering(&mut self) -> Result<(), Error> {
        assert!(std::mem::take(&mut self.rendering));
        Ok(())
    }

    fn end_batch(&mut self, batch: &WalkBatch) -> Result<(), Error> {
        if let Some(value) = batch.signal {
            let before = self.signalled.insert(batch.queue, value);
            assert!(before.is_none_or(|before| before < value), "values of a queue go up");
        }
        Ok(())
    }
}

#[test]
fn random_plans_keep_layouts_and_waits_in_order_over_several_runs() {
    let (mut counts, mut refused) = ([0; 5], 0);
    for seed in 0..400 {
        let (graph, profile) = generate(seed, Limits::default());
        let needs = |memory: &WalkMemory| {
            assert!(memory.count > 0);
            vk::MemoryRequirements { size: 1 << 16, alignment: 1 << 16, memory_type_bits: 1 }
        };
        let mut walk = match Walk::bake(&graph, &profile, &Options::default(), 2, &needs) {
            Ok(walk) => walk,
            Err(Error::Device(error)) if error.code == Code::Missing => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{seed}: {error}"),
        };
        let mut dry = Dry::default();
        for run in 0..5 {
            let off: Vec<&str> = graph.flags().iter().filter(|_| run % 2 == 1).map(|flag| &**flag).collect();
            walk.record(&off, &mut dry).unwrap();
        }
        counts.iter_mut().zip(dry.counts).for_each(|(all, one)| *all += one);
    }
    println!("{counts:?}, {refused} refused");
    assert!(refused < 300 && counts.iter().all(|count| *count > 200), "{counts:?}, {refused} refused");
}

#[test]
fn what_no_recorder_can_do_is_refused() {
    let (graph, _) = generate(1, Limits::default());
    let plan = Arc::new(Plan::default());
    assert!(matches!(Walk::new(&graph, plan, 2), Err(Error::Plan(error)) if error.code == Code::Unsound));
    let mut graph = Graph::new("flags", [8, 8]);
    let image = graph.image("image", Format::Rgba8unorm);
    graph.pass("draw", PassQueue::Graphics).color_cleared(image, [0.0; 4]);
    graph.root(image);
    let needs = |_: &WalkMemory| vk::MemoryRequirements { size: 1 << 16, alignment: 256, memory_type_bits: 1 };
    let mut walk = Walk::bake(&graph, &Profile::single_queue(), &Options::default(), 2, &needs).unwrap();
    let unknown = walk.record(&["fog"], &mut Dry::default()).expect_err("no such flag");
    assert!(unknown.to_string().contains("fog"), "{unknown}");
    assert_eq!(walk.run(), 0, "the run does not count");
}
