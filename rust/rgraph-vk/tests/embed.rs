//! What an embedding engine needs: passes that record Vulkan commands themselves, semaphores and fences of its own, the
//! queues of the device between runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ash::vk;
use rgraph_plan::access::{Accesses, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Use};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_vk::work::{CallbackError, Groups, HostViews, HostWork, View, Work};
use rgraph_vk::{
    BorrowedHandle, DeviceQueueId, Error, Inputs, RawContext, RawRendering, RawWork, ResourceLeft, ResourceState,
    RunFence, SemaphoreSignal, SemaphoreWait, Upload,
};

use crate::support::bench::{self, Bench, Silent, device, using, whole, words};

/// A function as a pass.
struct Raw<F> {
    function: F,
    is_static: bool,
}

// SAFETY: the functions of these tests keep to what their passes declare.
unsafe impl<F: Fn(&RawContext<'_>) -> Result<(), CallbackError> + Send + Sync> RawWork for Raw<F> {
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError> {
        (self.function)(context)
    }

    fn is_static(&self) -> bool {
        self.is_static
    }
}

fn raw(function: impl Fn(&RawContext<'_>) -> Result<(), CallbackError> + Send + Sync + 'static) -> Work {
    Work::Raw(Arc::new(Raw { function, is_static: false }))
}

fn filled(to: ResourceId) -> (ResourceId, Use) {
    (to, Use { transfer: Some(Transfer::Fill), ..using(Usage::TransferDst) })
}

/// Fills a buffer that its pass declares.
fn fill(context: &RawContext<'_>, buffer: ResourceId, word: u32) -> Result<(), CallbackError> {
    let to = context.buffer(buffer)?;
    // SAFETY: outside of a render pass; the pass declares the fill.
    unsafe { context.device().cmd_fill_buffer(context.commands(), to.buffer, to.offset, to.size, word) };
    Ok(())
}

const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < 64u { dst[id.x] = src[id.x] + id.x; } }";

#[test]
fn a_pass_records_commands_and_the_plan_synchronizes_them() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [src, unused, dst] = ["src", "unused", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let pass = b.pass("own", PassQueue::Graphics, &[filled(src)]);
    b.workload.works.insert(
        pass,
        raw(move |context| {
            assert_eq!((context.pass_name(), context.rendering()), ("own", None));
            assert_eq!(context.context_index() as u64, context.run() % 2);
            fill(context, src, 100 + counted.fetch_add(1, Ordering::Relaxed))
        }),
    );
    let culled = b.pass("culled", PassQueue::Graphics, &[filled(unused)]);
    b.workload.works.insert(culled, raw(|_| panic!("nothing needs it")));
    b.compute("add", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &[("src", whole(src)), ("dst", whole(dst))]);
    let compiled = b.compile(&device.0);
    for run in 0..4 {
        let frame = compiled.run(&Inputs::default()).unwrap();
        let found = words(frame.read(dst).unwrap().bytes());
        assert_eq!(found, (100 + run..164 + run).collect::<Vec<_>>(), "run {run}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 4, "once in each run");
}

#[test]
fn static_commands_are_recorded_once_for_each_frame_under_way() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let pass = b.pass("own", PassQueue::Graphics, &[filled(out)]);
    let function = move |context: &RawContext<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        fill(context, out, 7)
    };
    b.workload.works.insert(pass, Work::Raw(Arc::new(Raw { function, is_static: true })));
    let compiled = b.compile(&device.0);
    for _ in 0..6 {
        assert_eq!(words(compiled.run(&Inputs::default()).unwrap().read(out).unwrap().bytes()), [7; 64]);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2, "two frames may be under way");
}

const GREEN: &str = "
@fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    if at.x < 4.0 { discard; }
    return vec4<f32>(0.0, 1.0, 0.0, 1.0);
}";

#[test]
fn a_pass_draws_itself_within_a_render_pass_that_others_share() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([16, 8]);
    let target = b.graph().image("target", Format::Rgba8unorm);
    b.graph().root(target);
    let mut first = Use { load: Some(Load::Clear), ..using(Usage::ColorAttachment) };
    first.details.clear = Some(Clear::Color([0.0; 4]));
    let pass = b.pass("own", PassQueue::Graphics, &[(target, first)]);
    b.workload.works.insert(
        pass,
        raw(move |context| {
            let RawRendering { colors, depth, samples, area, layers, locations, .. } = context.rendering().unwrap();
            assert_eq!((colors, depth, locations), (vec![vk::Format::R8G8B8A8_UNORM], vk::Format::UNDEFINED, vec![0]));
            assert_eq!((samples, area.width, area.height, layers), (vk::SampleCountFlags::TYPE_1, 16, 8, 1));
            let view = context.view(View::whole(target))?;
            assert_eq!(view.layout, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
            let image = context.image(target)?;
            assert_eq!((image.format, image.extent.width, image.mips), (vk::Format::R8G8B8A8_UNORM, 16, 1));
            let value = vk::ClearValue { color: vk::ClearColorValue { float32: [1.0, 0.0, 0.0, 1.0] } };
            let clear = vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR).clear_value(value);
            let rect = vk::ClearRect {
                rect: vk::Rect2D { offset: vk::Offset2D::default(), extent: area },
                base_array_layer: 0,
                layer_count: 1,
            };
            // A viewport of the function's own does not reach the passes behind it.
            let small = vk::Viewport { x: 0.0, y: 0.0, width: 1.0, height: 1.0, min_depth: 0.0, max_depth: 1.0 };
            // SAFETY: inside of the render pass that has this attachment.
            unsafe { context.device().cmd_set_viewport(context.commands(), 0, &[small]) };
            // SAFETY: as above.
            unsafe { context.device().cmd_clear_attachments(context.commands(), &[clear], &[rect]) };
            Ok(())
        }),
    );
    b.raster("draw", GREEN, &[(target, using(Usage::ColorAttachment))], &[]);
    let compiled = b.compile(&device.0);
    let begins = compiled.plan().commands.iter();
    let begins = begins.filter(|command| matches!(command, rgraph_plan::plan::Command::BeginRendering { .. })).count();
    assert_eq!(begins, 1, "both passes are one render pass");
    for _ in 0..2 {
        let frame = compiled.run(&Inputs::default()).unwrap();
        for (at, texel) in frame.read(target).unwrap().bytes().chunks(4).enumerate() {
            let expected = if at % 16 < 4 { [255, 0, 0, 255] } else { [0, 255, 0, 255] };
            assert_eq!(texel, expected, "texel {at}");
        }
    }
}

#[test]
fn a_pass_gets_what_it_declares_only() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [out, other] = ["out", "other"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(out);
    let pass = b.pass("own", PassQueue::Graphics, &[filled(out)]);
    let fails = Arc::new(AtomicU32::new(1));
    let failing = fails.clone();
    b.workload.works.insert(
        pass,
        raw(move |context| fill(context, if failing.load(Ordering::Relaxed) == 1 { other } else { out }, 3)),
    );
    let compiled = b.compile(&device.0);
    let error = compiled.run(&Inputs::default()).unwrap_err().to_string();
    assert!(error.contains("RG-E224") && error.contains("\"own\"") && error.contains("\"other\""), "{error}");
    fails.store(0, Ordering::Relaxed);
    assert_eq!(words(compiled.run(&Inputs::default()).unwrap().read(out).unwrap().bytes()), [3; 64]);
}

#[test]
fn what_a_recording_function_returns_arrives_and_it_cannot_wait_for_its_own_run() {
    let Some(device) = device(2) else { return };
    let other = {
        let mut b = Bench::new([8, 8]);
        let out = b.graph().buffer("out", 256);
        b.graph().root(out);
        let pass = b.pass("own", PassQueue::Graphics, &[filled(out)]);
        b.workload.works.insert(pass, raw(move |context| fill(context, out, 1)));
        b.compile(&device.0)
    };
    let mut b = Bench::new([8, 8]);
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let pass = b.pass("own", PassQueue::Graphics, &[filled(out)]);
    b.workload.works.insert(
        pass,
        raw(move |_| {
            let refused = other.run(&Inputs::default()).unwrap_err().to_string();
            assert!(refused.contains("RG-E402"), "{refused}");
            Err("no commands today".into())
        }),
    );
    let error = b.compile(&device.0).run(&Inputs::default()).unwrap_err();
    assert!(matches!(&error, Error::Callback(own) if own.to_string() == "no commands today"), "{error}");
}

#[test]
fn a_host_pass_records_no_commands() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let pass = b.pass("own", PassQueue::Cpu, &[(out, using(Usage::HostWrite))]);
    b.workload.works.insert(pass, raw(|_| Ok(())));
    let error = device.0.compile(b.workload.clone(), &Default::default()).unwrap_err().to_string();
    assert!(error.contains("records Vulkan commands") && error.contains("\"own\""), "{error}");
}

/// Semaphores, a fence and commands of the application's own.
struct Own<'a> {
    device: &'a Silent,
    timeline: vk::Semaphore,
    binary: [vk::Semaphore; 2],
    fence: vk::Fence,
    pool: vk::CommandPool,
}

impl<'a> Own<'a> {
    fn new(device: &'a Silent) -> Self {
        let raw = device.0.raw();
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let of_timeline = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let family = device.0.with_queue(DeviceQueueId::FIRST, |_, family| family).unwrap();
        let of_pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: made of this device, destroyed before it.
        unsafe {
            Self {
                timeline: raw.create_semaphore(&of_timeline, None).unwrap(),
                binary: [(); 2].map(|()| raw.create_semaphore(&Default::default(), None).unwrap()),
                fence: raw.create_fence(&Default::default(), None).unwrap(),
                pool: raw.create_command_pool(&of_pool, None).unwrap(),
                device,
            }
        }
    }

    /// Fills a buffer on queue 0, waiting for and signalling binary semaphores.
    fn fill(&self, buffer: vk::Buffer, word: u32, wait: Option<vk::Semaphore>, signal: Option<vk::Semaphore>) {
        let raw = self.device.0.raw();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        let semaphore = |one: vk::Semaphore| {
            vk::SemaphoreSubmitInfo::default().semaphore(one).stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        };
        let (waits, signals) = (wait.map(semaphore), signal.map(semaphore));
        // SAFETY: the queue is used alone; semaphores are signalled before they are waited for.
        unsafe {
            let commands = raw.allocate_command_buffers(&info).unwrap()[0];
            raw.begin_command_buffer(commands, &Default::default()).unwrap();
            raw.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, word);
            raw.end_command_buffer(commands).unwrap();
            let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
            let submit = vk::SubmitInfo2::default()
                .wait_semaphore_infos(waits.as_slice())
                .command_buffer_infos(&commands)
                .signal_semaphore_infos(signals.as_slice());
            self.device
                .0
                .with_queue(DeviceQueueId::FIRST, |queue, _| raw.queue_submit2(queue, &[submit], vk::Fence::null()))
                .unwrap()
                .unwrap();
        }
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        let raw = self.device.0.raw();
        // SAFETY: made of this device, which is idle.
        unsafe {
            raw.device_wait_idle().unwrap();
            raw.destroy_semaphore(self.timeline, None);
            self.binary.iter().for_each(|one| raw.destroy_semaphore(*one, None));
            raw.destroy_fence(self.fence, None);
            raw.destroy_command_pool(self.pool, None);
        }
    }
}

/// A graph that adds to what it is given.
fn adding(device: &Silent) -> (rgraph_vk::Compiled, ResourceId, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 256);
    if let Life::Imported(imported) = &mut b.graph().resource_mut(src).life {
        imported.defined = true;
    }
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    b.compute("add", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &[("src", whole(src)), ("dst", whole(dst))]);
    (b.compile(&device.0), src, dst)
}

#[test]
fn a_run_waits_for_a_timeline_and_signals_one() {
    let Some(device) = device(2) else { return };
    let own = Own::new(&device);
    let (compiled, src, dst) = adding(&device);
    let raw = device.0.raw();
    let source = device.0.buffer("source", 256).unwrap();
    source.write(&bench::bytes(&[5; 64])).unwrap();
    for (value, before) in [(1, None), (3, Some(src))] {
        // SAFETY: a timeline of this device, which is signalled below.
        let wait = unsafe { SemaphoreWait::new(own.timeline, Some(value)) };
        let inputs = Inputs {
            uploads: vec![(src, Upload::Resource(&source))],
            waits: vec![before.map_or(wait, |resource| wait.before(resource))],
            // SAFETY: as above; only this signals it so.
            signals: vec![unsafe { SemaphoreSignal::new(own.timeline, Some(value + 1)) }],
            // SAFETY: unsignalled, and given once before it is reset.
            fence: Some(unsafe { RunFence::new(own.fence) }),
            ..Inputs::default()
        };
        let frame = compiled.run(&inputs).unwrap();
        assert!(!frame.wait(Some(Duration::from_millis(50))).unwrap(), "nothing has signalled it");
        // SAFETY: its value is less.
        unsafe { raw.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(own.timeline).value(value)) }
            .unwrap();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), (5..69).collect::<Vec<_>>());
        // SAFETY: the fence and the semaphore live.
        unsafe {
            raw.wait_for_fences(&[own.fence], true, u64::MAX).unwrap();
            raw.reset_fences(&[own.fence]).unwrap();
            assert_eq!(raw.get_semaphore_counter_value(own.timeline).unwrap(), value + 1);
        }
        let point = frame.points()[0];
        // SAFETY: the device's semaphore lives.
        let reached = unsafe { raw.get_semaphore_counter_value(device.0.timeline(point.queue).unwrap()) }.unwrap();
        assert!(reached >= point.value);
    }
}

#[test]
fn binary_semaphores_hand_a_buffer_to_a_run_and_back() {
    let Some(device) = device(2) else { return };
    let own = Own::new(&device);
    let (compiled, src, dst) = adding(&device);
    let source = device.0.buffer("source", 256).unwrap();
    let BorrowedHandle::Buffer(handle) = source.handle() else { panic!("a buffer") };
    for (run, word) in [10, 20, 30, 40].into_iter().enumerate() {
        own.fill(handle, word, (run > 0).then_some(own.binary[1]), Some(own.binary[0]));
        // SAFETY: what signals it was submitted; only this waits for it.
        let wait = unsafe { SemaphoreWait::new(own.binary[0], None) };
        let inputs = Inputs {
            uploads: vec![(src, Upload::Resource(&source))],
            waits: vec![if run % 2 == 0 { wait } else { wait.before(src) }],
            // SAFETY: the next fill, or the last one below, waits for it.
            signals: vec![unsafe { SemaphoreSignal::new(own.binary[1], None) }],
            ..Inputs::default()
        };
        let frame = compiled.run(&inputs).unwrap();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), (word..word + 64).collect::<Vec<_>>(), "run {run}");
    }
    own.fill(handle, 0, Some(own.binary[1]), None);
    device.0.wait_idle().unwrap();
}

/// A graph that adds up twenty imports, on the device or on the CPU.
fn adding_many(device: &Silent, host: bool) -> (rgraph_vk::Compiled, Vec<ResourceId>, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let sum = b.graph().buffer("sum", 256);
    b.graph().root(sum);
    b.pass("none", PassQueue::Graphics, &[filled(sum)]);
    let imports: Vec<_> = (0..20)
        .map(|at| {
            let src = b.import_buffer(&format!("src{at}"), 256);
            if let Life::Imported(imported) = &mut b.graph().resource_mut(src).life {
                imported.defined = true;
            }
            let read = if host && at == 0 { Usage::HostRead } else { Usage::TransferSrc };
            let queue = if host && at == 0 { PassQueue::Cpu } else { PassQueue::Graphics };
            if queue == PassQueue::Cpu {
                let seen = b.graph().buffer("seen", 256);
                let pass = b.pass("see", queue, &[(src, using(read)), (seen, using(Usage::HostWrite))]);
                b.workload.works.insert(pass, Work::Host(Arc::new(See)));
                b.graph().root(seen);
            } else {
                let part = b.pass(&format!("copy{at}"), queue, &[(src, using(read)), (sum, using(Usage::TransferDst))]);
                let word = [4 * at, 4 * at + 4];
                b.workload.works.insert(
                    part,
                    raw(move |context| {
                        let (from, to) = (context.buffer(src)?, context.buffer(sum)?);
                        let region =
                            vk::BufferCopy { src_offset: from.offset, dst_offset: to.offset + word[0], size: 4 };
                        // SAFETY: outside of a render pass; the pass declares the copy.
                        unsafe {
                            context.device().cmd_copy_buffer(context.commands(), from.buffer, to.buffer, &[region])
                        };
                        Ok(())
                    }),
                );
            }
            src
        })
        .collect();
    (b.compile(&device.0), imports, sum)
}

/// Copies what it reads.
struct See;

impl HostWork for See {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        let [from, to] = &mut *views.views else { return Err("two views".into()) };
        to.bytes.writable().ok_or("a writable view")?.copy_from_slice(&from.bytes);
        Ok(())
    }
}

#[test]
fn states_go_with_the_run_and_many_take_one_submit() {
    let Some(device) = device(2) else { return };
    let own = Own::new(&device);
    let sources: Vec<_> = (0..20).map(|at| device.0.buffer(&format!("own{at}"), 256).unwrap()).collect();
    let state = ResourceState {
        queue: Some(DeviceQueueId::FIRST),
        stages: Stages::CLEAR,
        access: Accesses::TRANSFER_WRITE,
        ..ResourceState::default()
    };
    let submitted = || {
        device.0.wait_idle().unwrap();
        // SAFETY: the device's semaphore lives.
        unsafe { device.0.raw().get_semaphore_counter_value(device.0.timeline(DeviceQueueId::FIRST).unwrap()) }.unwrap()
    };
    for host in [false, true] {
        let (compiled, imports, sum) = adding_many(&device, host);
        let mut counts = Vec::new();
        for way in 0..4 {
            for (source, at) in sources.iter().zip(0..) {
                let BorrowedHandle::Buffer(handle) = source.handle() else { panic!("a buffer") };
                own.fill(handle, 1000 * way + at, None, None);
            }
            let before = submitted();
            let mut inputs = Inputs {
                uploads: imports.iter().zip(&sources).map(|(id, of)| (*id, Upload::Resource(of))).collect(),
                ..Inputs::default()
            };
            // SAFETY: the fills above were submitted to queue 0, and nothing else uses the buffers.
            unsafe {
                match way {
                    0 => sources.iter().try_for_each(|source| source.set_state(&state)).unwrap(),
                    1 => {
                        let all: Vec<_> = sources.iter().map(|source| (source, state.clone())).collect();
                        device.0.set_states(&all).unwrap();
                    }
                    _ => inputs.left = imports.iter().map(|id| (*id, ResourceLeft::new(state.clone()))).collect(),
                }
            }
            let frame = compiled.run(&inputs).unwrap();
            let found = words(frame.read(sum).unwrap().bytes());
            let first = usize::from(host);
            assert_eq!(found[first..20], (first as u32..20).map(|at| 1000 * way + at).collect::<Vec<_>>());
            if host {
                let seen = compiled.workload().graph.roots()[1];
                assert_eq!(words(frame.read(seen).unwrap().bytes()), [1000 * way; 64]);
            }
            counts.push(submitted() - before);
        }
        // One submit for each, one for all, and none, where the device comes next.
        let least = counts[1] - 1;
        assert_eq!(counts, [least + 20, least + 1, least + u64::from(host), least + u64::from(host)]);
    }
}

#[test]
fn a_state_that_cannot_be_is_refused_with_the_run() {
    let Some(device) = device(2) else { return };
    let (compiled, src, _) = adding(&device);
    let source = device.0.buffer("source", 256).unwrap();
    let left = |queue| {
        // SAFETY: it is refused.
        unsafe { ResourceLeft::new(ResourceState { queue: Some(queue), ..ResourceState::default() }) }
    };
    let uploads = vec![(src, Upload::Resource(&source))];
    let inputs = Inputs { uploads, left: vec![(src, left(DeviceQueueId::new(9)))], ..Inputs::default() };
    let refused = compiled.run(&inputs).expect_err("no such queue");
    assert!(refused.to_string().contains("was left on queue 9"), "{refused}");
    let dst = compiled.workload().graph.roots()[0];
    let inputs = Inputs { left: vec![(dst, left(DeviceQueueId::FIRST))], ..inputs };
    let refused = compiled.run(&inputs).expect_err("no import");
    assert!(refused.to_string().contains("nothing bound"), "{refused}");
    let uploads = vec![(src, Upload::Resource(&source))];
    let inputs = Inputs { uploads, left: vec![(src, left(DeviceQueueId::FIRST))], ..Inputs::default() };
    assert!(compiled.run(&inputs).is_ok());
}

#[test]
fn a_wait_before_what_is_not_imported_is_refused() {
    let Some(device) = device(2) else { return };
    let own = Own::new(&device);
    let (compiled, src, dst) = adding(&device);
    let source = device.0.buffer("source", 256).unwrap();
    source.write(&[0; 256]).unwrap();
    // SAFETY: refused before anything waits.
    let wait = unsafe { SemaphoreWait::new(own.timeline, Some(1)) };
    let uploads = vec![(src, Upload::Resource(&source))];
    let mut inputs = Inputs { uploads, waits: vec![wait.before(dst)], ..Inputs::default() };
    let error = compiled.run(&inputs).unwrap_err().to_string();
    assert!(error.contains("\"dst\", which is not imported"), "{error}");
    inputs.waits.clear();
    assert!(compiled.run(&inputs).is_ok(), "the next run works");
}
