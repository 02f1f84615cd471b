//! Frames into windows: a root that is scaled into an image of the window, or a graph that writes the image itself.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::graph::Ranges;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::ResourceId;

use super::acquire::{Acquired, Inner, Window, WindowState};
use super::{Fit, Shown, chain, closed};
use crate::compile::compiled_graph::{CompiledGraph, Root};
use crate::convert;
use crate::device::external::{SemaphoreSignal, SemaphoreWait};
use crate::device::queue::{DeviceQueueId, Point, Submit, WaitFor};
use crate::error::{Code, DeviceError, Error};
use crate::frame::initial_barriers::{InitialBarriers, Target};
use crate::frame::inputs::{Inputs, Upload};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::DeviceResource;
use crate::memory::state::{Region, ResourceState};
use crate::run::compiled::Compiled;
use crate::run::frame::Frame;

/// The device's queue for what the runtime adds.
const OWN_QUEUE: DeviceQueueId = DeviceQueueId::FIRST;

impl Frame {
    /// Scales a root of this frame into the next image of a window, and hands that to the screen. The image is acquired
    /// here, behind the submitted graph, so no pass waits for the window. Mip 0 of layer 0 is shown.
    ///
    /// # Errors
    /// RG-E225 if it is no root, not an image that can be scaled (integers, depth, several samples, 3D), or a later run
    /// of the graph has begun; RG-E122 if the window is closed or its surface lost; else what the driver says.
    pub fn show(&self, root: ResourceId, window: &Window) -> Result<Shown, Error> {
        let made = self.graph();
        let shared = &made.shared;
        shared.check()?;
        shared.outside()?;
        let inner = &window.0;
        check_device(inner, shared)?;
        let Some(root) = made.roots.iter().find(|known| known.declared == root) else {
            let graph = &made.workload.graph;
            let name = if graph.resources().get(root).is_some() { graph.resource_name(root) } else { "?" };
            let message = format!("\"{name}\" is not a root, so it cannot be shown");
            return Err(Error::input(name, message, "make it a root"));
        };
        let name = made.plan.resource_name(root.resource);
        let kind = made.plan.resources[root.resource].kind;
        let (format, size) = showable(made, name, kind)?;
        let mut state = inner.lock();
        let acquired = match inner.acquire(&mut state, Some(chain::automatic(format)))? {
            Ok(acquired) => acquired,
            Err(shown) => return Ok(shown),
        };
        match self.scale(root, &mut state, inner, acquired, (format, size)) {
            Ok(point) => inner.present(&mut state, acquired, vec![point]),
            Err(error) => {
                inner.abandon(&mut state, acquired);
                Err(error)
            }
        }
    }

    /// Submits the blit.
    fn scale(
        &self,
        root: &Root,
        state: &mut WindowState,
        inner: &Inner,
        acquired: Acquired,
        (format, size): (Format, [u32; 2]),
    ) -> Result<Point, Error> {
        let made = self.graph();
        let (shared, run) = (&made.shared, self.0.submitted.figures.run);
        let name = made.plan.resource_name(root.resource);
        let mut runs = self.0.compiled.lock();
        if runs.run != run + 1 {
            let message = format!("\"{name}\" is shown of run {run}, and run {} has begun", runs.run - 1);
            return Err(Error::input(name, message, "show a frame before the graph runs again"));
        }
        let Some(physical) = made.physical(root.resource, run, &runs.imports).cloned() else {
            return Err(Error::input(name, format!("\"{name}\" has no memory in this frame"), "have a pass write it"));
        };
        let _turn = shared.turn_with(std::slice::from_ref(&physical), None)?;
        let mut initial = InitialBarriers::default();
        let (region, found) = self.enter_shown(root, &physical, &mut initial);
        for point in self.points().iter().filter(|point| point.queue != OWN_QUEUE) {
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            initial.wait(shared.queues[point.queue].semaphore, point.value, all);
        }
        let Some(chain) = &state.chain else { return Err(closed()) };
        let blit = Blit {
            source: physical.image(),
            size,
            found,
            target: chain.images[acquired.image].image(),
            window: chain.size,
            place: place(inner.options.fit, size, chain.size),
            filter: filter(made, format, inner.options.smooth && size != chain.size),
        };
        let rendered = chain.rendered[acquired.image];
        let queue = &shared.queues[OWN_QUEUE];
        let slot = &mut state.slots[acquired.slot];
        let commands = slot.once.record(shared, queue.family, |commands| {
            if !initial.is_empty() {
                initial.record(&shared.raw, commands);
            }
            blit.record(&shared.raw, commands);
        })?;
        let mut waits = initial.waits;
        let stages = vk::PipelineStageFlags2::ALL_TRANSFER;
        waits.push(WaitFor { semaphore: slot.acquired, value: 0, stages });
        let submit = Submit { waits, commands: vec![commands], signals: vec![(rendered, 0)], ..Submit::default() };
        let value = shared.noted(queue.submit(&shared.raw, &[submit]))?;
        let point = Point { queue: OWN_QUEUE, value };
        if root.states.is_some() {
            // The next run takes the root's memory again: its queues wait for the blit.
            runs.after = Some(point);
        } else {
            let left = ResourceState {
                queue: Some(OWN_QUEUE),
                family: Some(queue.family),
                stages: Stages::BLIT,
                access: Accesses::TRANSFER_READ,
                layout: Layout::TransferSrc,
                points: vec![point],
                released: false,
                user: (0, 0),
            };
            physical.tracked().set(region, &left);
        }
        Ok(point)
    }

    /// Brings the root into the layout that it is scaled from. Returns its part, and the layout that it goes back to.
    fn enter_shown(
        &self,
        root: &Root,
        physical: &Arc<PhysicalResource>,
        initial: &mut InitialBarriers,
    ) -> (Region, Layout) {
        let shared = &self.graph().shared;
        let region = Region { mips: [0, 1], layers: [0, 1], ..Region::whole(physical.kind) };
        let Some(states) = &root.states else {
            let target = Target {
                queue: OWN_QUEUE,
                stages: Stages::BLIT,
                access: Accesses::TRANSFER_READ,
                layout: Layout::TransferSrc,
                discard: false,
                previous: (0, 0),
            };
            initial.acquire(shared, physical, region, target);
            return (region, Layout::TransferSrc);
        };
        let first = |ranges: &Ranges| {
            ranges.mips.is_none_or(|mips| mips[0] == 0) && ranges.layers.is_none_or(|layers| layers[0] == 0)
        };
        let read = self.0.submitted.reads.iter().any(|(of, part, _)| *of == root.declared && first(part));
        let mut found = Layout::TransferSrc;
        if !read {
            states.visit(region, |_, state| found = state.layout);
        }
        initial.images.push(
            vk::ImageMemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::BLIT)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
                .old_layout(convert::layout(found))
                .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(physical.image())
                .subresource_range(region.subresources()),
        );
        (region, found)
    }
}

impl Window {
    /// Runs a graph that writes the window's next image itself: it is bound to the imported `target`, only passes that
    /// use that wait for it, and it is handed to the screen behind the run. The import has the size and format that
    /// [`Window::info`] tells; its contents are undefined at first. Declared to be left in `present_src`, it needs no
    /// further submit. Captures leave such runs out.
    ///
    /// Without a frame nothing ran, and semaphores and fence are as before: [`Shown::Minimised`], [`Shown::Late`], or
    /// [`Shown::Resized`] for a window of another size or format than the import, for which the graph is declared
    /// again.
    ///
    /// # Errors
    /// RG-E225 if `target` is not an imported image; RG-E122 if the window is closed or its surface lost; else as
    /// [`Compiled::run`].
    pub fn run(
        &self,
        compiled: &Compiled,
        target: ResourceId,
        inputs: Inputs<'_>,
    ) -> Result<(Shown, Option<Frame>), Error> {
        let (waits, signals, fence) = (inputs.waits.clone(), inputs.signals.clone(), inputs.fence);
        let ran = self.run_next(compiled, target, inputs);
        if !matches!(ran, Ok((_, Some(_)))) {
            let given = Inputs { waits, signals, fence, ..Inputs::default() };
            compiled.graph().shared.withdraw_promises(&given);
        }
        ran
    }

    fn run_next(
        &self,
        compiled: &Compiled,
        target: ResourceId,
        inputs: Inputs<'_>,
    ) -> Result<(Shown, Option<Frame>), Error> {
        let (inner, made) = (&self.0, compiled.graph());
        let shared = &made.shared;
        shared.check()?;
        shared.outside()?;
        check_device(inner, shared)?;
        let Some(resource) = made.known(target) else {
            return Err(Error::input("?", "the target is a resource of another graph", "use this graph's handles"));
        };
        let kind = made.plan.resources[resource].kind;
        let mut state = inner.lock();
        let acquired = match inner.acquire(&mut state, None)? {
            Ok(acquired) => acquired,
            Err(shown) => return Ok((shown, None)),
        };
        let Some(chain) = &state.chain else { return Err(closed()) };
        let (image, rendered) = (chain.images[acquired.image].clone(), chain.rendered[acquired.image]);
        if image.kind != kind {
            inner.abandon(&mut state, acquired);
            return Ok((Shown::Resized, None));
        }
        let whole = image.tracked().whole();
        image.tracked().set(whole, &ResourceState::default());
        let memory = made.plan.memory_of(resource);
        let mut edges = made.plan.edges.iter().filter(|edge| made.plan.memory_of(edge.resource) == memory);
        let leaves = edges.clone().count() > 0 && edges.all(|edge| edge.exit.layout == Layout::PresentSrc);
        // A read-back follows the graph, and leaves another layout.
        let leaves = leaves && !reads(made, &inputs, memory);
        let bound = DeviceResource::of(image.clone());
        let mut inputs = inputs;
        inputs.uploads.push((target, Upload::Resource(&bound)));
        let slot = &state.slots[acquired.slot];
        // SAFETY: acquiring signals it, and nothing else waits for it; it lives until the slot's frame is done.
        inputs.waits.push(unsafe { SemaphoreWait::new(slot.acquired, None) }.before(target));
        if leaves {
            // SAFETY: the present of the image's last frame waited for it, since the image was acquired again.
            inputs.signals.push(unsafe { SemaphoreSignal::new(rendered, None) });
        }
        let ran = compiled.holding(&inputs, || compiled.run_lending(&inputs, Some(memory)));
        let done = ran.and_then(|frame| {
            let points = match leaves {
                true => frame.points().to_vec(),
                false => vec![leave(made, &mut state, acquired, &frame, &image)?],
            };
            Ok((frame, points))
        });
        match done {
            Ok((frame, points)) => {
                let shown = inner.present(&mut state, acquired, points)?;
                Ok((shown, Some(frame)))
            }
            Err(error) => {
                inner.abandon(&mut state, acquired);
                Err(error)
            }
        }
    }
}

/// Whether a run reads a memory back.
fn reads(made: &CompiledGraph, inputs: &Inputs<'_>, memory: ResourceId) -> bool {
    let is = |declared: &ResourceId| {
        let resource = made.known(*declared);
        resource.is_some_and(|resource| made.plan.memory_of(resource) == memory)
    };
    let parts = inputs.parts.iter().any(|(declared, _)| is(declared));
    parts
        || match &inputs.read {
            None => made.roots.iter().any(|root| is(&root.declared)),
            Some(read) => read.iter().any(is),
        }
}

/// Brings an image that a graph left in another layout into that of the screen, behind the frame.
fn leave(
    made: &CompiledGraph,
    state: &mut WindowState,
    acquired: Acquired,
    frame: &Frame,
    image: &Arc<PhysicalResource>,
) -> Result<Point, Error> {
    let shared = &made.shared;
    let Some(chain) = &state.chain else { return Err(closed()) };
    let rendered = chain.rendered[acquired.image];
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let others = frame.points().iter().filter(|point| point.queue != OWN_QUEUE);
    let waits = others.map(|point| WaitFor {
        semaphore: shared.queues[point.queue].semaphore,
        value: point.value,
        stages: all,
    });
    let waits: Vec<_> = waits.collect();
    let left = image.tracked().first().layout;
    let barrier = barrier(image.image(), (left, vk::ImageLayout::PRESENT_SRC_KHR))
        .src_stage_mask(all)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(all);
    let queue = &shared.queues[OWN_QUEUE];
    let _turn = shared.turn();
    let commands = state.slots[acquired.slot].once.record(shared, queue.family, |commands| {
        let images = [barrier];
        // SAFETY: the image is in that layout when the frame is done.
        unsafe {
            shared.raw.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().image_memory_barriers(&images))
        };
    })?;
    let submit = Submit { waits, commands: vec![commands], signals: vec![(rendered, 0)], ..Submit::default() };
    let value = shared.noted(queue.submit(&shared.raw, &[submit]))?;
    Ok(Point { queue: OWN_QUEUE, value })
}

/// Everything that is known when a blit is recorded.
struct Blit {
    source: vk::Image,
    size: [u32; 2],
    /// The layout that the source goes back to.
    found: Layout,
    target: vk::Image,
    window: [u32; 2],
    /// Corners of the source's place in the window.
    place: [[i32; 2]; 2],
    filter: vk::Filter,
}

impl Blit {
    fn record(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let (transfer, write) = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        let run = |barriers: &[vk::ImageMemoryBarrier2<'_>]| {
            let info = vk::DependencyInfo::default().image_memory_barriers(barriers);
            // SAFETY: layouts are those that the images are in here; both live until the blit is done.
            unsafe { device.cmd_pipeline_barrier2(commands, &info) };
        };
        run(&[barrier(self.target, (Layout::Undefined, vk::ImageLayout::TRANSFER_DST_OPTIMAL))
            .src_stage_mask(transfer)
            .dst_stage_mask(transfer)
            .dst_access_mask(write)]);
        let whole = [[0, 0], self.window.map(|texels| texels as i32)];
        if self.place != whole {
            let black = vk::ClearColorValue { float32: [0.0, 0.0, 0.0, 1.0] };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the image is in that layout; formats of windows have colours of floats.
            unsafe { device.cmd_clear_color_image(commands, self.target, layout, &black, &[COLOR]) };
            run(&[barrier(self.target, (Layout::TransferDst, vk::ImageLayout::TRANSFER_DST_OPTIMAL))
                .src_stage_mask(transfer)
                .src_access_mask(write)
                .dst_stage_mask(transfer)
                .dst_access_mask(write)]);
        }
        let corner = |[x, y]: [i32; 2], z| vk::Offset3D { x, y, z };
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        };
        let regions = [vk::ImageBlit2::default()
            .src_subresource(layers)
            .src_offsets([corner([0, 0], 0), corner(self.size.map(|texels| texels as i32), 1)])
            .dst_subresource(layers)
            .dst_offsets([corner(self.place[0], 0), corner(self.place[1], 1)])];
        let info = vk::BlitImageInfo2::default()
            .src_image(self.source)
            .src_image_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .dst_image(self.target)
            .dst_image_layout(vk::ImageLayout::TRANSFER_DST_OPTIMAL)
            .regions(&regions)
            .filter(self.filter);
        // SAFETY: both are in these layouts, the regions lie in them, and the formats can be scaled from and into.
        unsafe { device.cmd_blit_image2(commands, &info) };
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let mut after = vec![
            barrier(self.target, (Layout::TransferDst, vk::ImageLayout::PRESENT_SRC_KHR))
                .src_stage_mask(transfer)
                .src_access_mask(write)
                .dst_stage_mask(all),
        ];
        if !matches!(self.found, Layout::TransferSrc | Layout::Undefined) {
            after.push(
                barrier(self.source, (Layout::TransferSrc, convert::layout(self.found)))
                    .src_stage_mask(transfer)
                    .dst_stage_mask(all),
            );
        }
        run(&after);
    }
}

const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

fn barrier(image: vk::Image, (from, to): (Layout, vk::ImageLayout)) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .old_layout(convert::layout(from))
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(COLOR)
}

/// Where an image lies in a window: two corners.
fn place(fit: Fit, [width, height]: [u32; 2], window: [u32; 2]) -> [[i32; 2]; 2] {
    let [wide, high] = window.map(u64::from);
    let (width, height) = (u64::from(width), u64::from(height));
    let [x, y] = match fit {
        Fit::Stretch => [wide, high],
        Fit::Contain if wide * height > high * width => [((high * width + height / 2) / height).max(1), high],
        Fit::Contain => [wide, ((wide * height + width / 2) / width).max(1)],
    };
    let (left, top) = ((wide - x) / 2, (high - y) / 2);
    [[left as i32, top as i32], [(left + x) as i32, (top + y) as i32]]
}

/// Format and size of an image that can be scaled into a window.
fn showable(made: &CompiledGraph, name: &str, kind: PlanKind) -> Result<(Format, [u32; 2]), Error> {
    let refuse =
        |what: &str, help: &str| Err(Error::input(name, format!("\"{name}\" {what}, so no window shows it"), help));
    let PlanKind::Image { format, size, samples, volume, .. } = kind else {
        return refuse("is a buffer", "show an image");
    };
    if samples > 1 {
        return refuse("is multisampled", "resolve it, and show that");
    }
    if volume {
        return refuse("is a 3D image", "have a pass draw a slice of it, and show that");
    }
    if matches!(format.numbers(), Numbers::Uint | Numbers::Sint | Numbers::Depth) {
        return refuse(&format!("has texels of {format}"), "have a pass turn them into colours, and show those");
    }
    if !features(made, format).contains(vk::FormatFeatureFlags::BLIT_SRC) {
        return refuse(
            &format!("has texels of {format}, which the device cannot scale"),
            "use rgba8unorm or rgba16float",
        );
    }
    Ok((format, [size[0], size[1]]))
}

fn features(made: &CompiledGraph, format: Format) -> vk::FormatFeatureFlags {
    let (shared, raw) = (&made.shared, convert::format(format));
    // SAFETY: the physical device is of this instance.
    let properties = unsafe { shared.context.raw().get_physical_device_format_properties(shared.physical, raw) };
    properties.optimal_tiling_features
}

fn filter(made: &CompiledGraph, format: Format, smooth: bool) -> vk::Filter {
    let linear = features(made, format).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    if smooth && linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST }
}

fn check_device(inner: &Inner, shared: &Arc<crate::device::Shared>) -> Result<(), Error> {
    if Arc::ptr_eq(&inner.shared, shared) {
        return Ok(());
    }
    let help = "open it on the device that runs the graph";
    Err(DeviceError::new(Code::Foreign, "the window belongs to another device", help).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_seen_whole_between_bars_or_stretched() {
        assert_eq!(place(Fit::Stretch, [10, 20], [300, 100]), [[0, 0], [300, 100]]);
        assert_eq!(place(Fit::Contain, [10, 20], [300, 100]), [[125, 0], [175, 100]]);
        assert_eq!(place(Fit::Contain, [20, 10], [100, 100]), [[0, 25], [100, 75]]);
        assert_eq!(place(Fit::Contain, [16, 9], [1920, 1080]), [[0, 0], [1920, 1080]]);
        assert_eq!(place(Fit::Contain, [16384, 1], [100, 100]), [[0, 49], [100, 50]]);
    }
}
