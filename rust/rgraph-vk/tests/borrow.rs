//! Devices of an engine's own: rgraph uses exactly what they were made with, their locks and their pipeline cache.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ash::{khr, vk};
use rgraph_plan::access::PassQueue;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{Dispatch, Groups, Step, Work};
use rgraph_vk::{Code, Device, DeviceOptions, DeviceQueueId, Error, Inputs, Measure, QueueLock, Surface};

use crate::support::bench::{self, Bench, whole, words};
use crate::support::engine::{Engine, Wish};
use crate::support::host_memory::HostMemory;

const COUNT: &str = "
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < 64u { dst[id.x] = id.x; } }";

fn borrow(engine: &Engine) -> Device {
    // SAFETY: the engine outlives the device.
    unsafe { Device::borrow(&engine.lent(), &DeviceOptions::default()) }.expect("it can be used")
}

/// A graph that counts into a root.
fn counting() -> (Bench, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    b.compute("count", PassQueue::Compute, COUNT, Groups::Fixed([1, 1, 1]), &[("dst", whole(dst))]);
    (b, dst)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> (Code, String) {
    match result {
        Err(Error::Device(error)) => (error.code, error.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_device_was_made_without_is_refused_and_what_it_was_made_with_is_used() {
    // A program with 64-bit integers, on a device with and without them.
    const WIDE: &str = "#version 450
layout(local_size_x = 64) in;
#extension GL_ARB_gpu_shader_int64 : require
layout(set = 0, binding = 0) buffer Dst { uint dst[]; };
void main() { uint64_t x = uint64_t(gl_GlobalInvocationID.x) << 32; dst[gl_GlobalInvocationID.x] = uint(x >> 30); }";
    for has in [false, true] {
        let core = vk::PhysicalDeviceFeatures::default().shader_int64(has);
        let v12 = vk::PhysicalDeviceVulkan12Features::default().host_query_reset(has);
        let Some(engine) = Engine::new(Wish { core, v12, ..Wish::default() }) else { return };
        let device = borrow(&engine);
        let (mut b, dst) = counting();
        let text = [Source::Text(Language::Glsl, WIDE)];
        let wide = Arc::new(Program::new("wide", Kind::Compute, &text, None).expect("a program"));
        let bound = bench::bound(&wide, &[("Dst", whole(dst))]);
        let step = Step::Dispatch(Dispatch {
            program: wide,
            bound,
            push: Default::default(),
            groups: Groups::Fixed([1, 1, 1]),
            key: 0,
        });
        let pass = b.workload.graph.passes().ids().next().expect("the pass");
        b.workload.works.insert(pass, Work::Steps(vec![step]));
        let compiled = match device.compile(b.workload, &Default::default()) {
            Ok(compiled) => {
                assert!(has, "64 bits were not asked for");
                compiled
            }
            error => {
                let (code, message) = refused(error);
                assert_eq!((code, message.contains("no shaderInt64")), (Code::Missing, true), "{message}");
                assert!(!has, "64 bits were asked for");
                device.compile(counting().0.workload, &Default::default()).expect("32 bits")
            }
        };
        let dst = compiled.workload().graph.roots()[0];
        let inputs = Inputs { measure: Measure::Passes, ..Inputs::default() };
        let frame = compiled.run(&inputs).expect("runs");
        let factor = if has { 4 } else { 1 };
        assert_eq!(words(frame.read(dst).unwrap().bytes()), (0..64).map(|at| at * factor).collect::<Vec<_>>());
        // Queries that the host may reset give times.
        assert_eq!(frame.report().expect("a report").gpu_us.is_some(), has);
        drop(frame);
        device.close().expect("closes");
    }
}

#[test]
fn a_device_without_what_rgraph_needs_is_refused_by_name() {
    let Some(engine) = Engine::new(Wish { bare: true, ..Wish::default() }) else { return };
    let borrow = |lent| {
        // SAFETY: the engine outlives the device.
        unsafe { Device::borrow(&lent, &DeviceOptions::default()) }
    };
    let (code, message) = refused(borrow(engine.lent()));
    assert_eq!((code, &*message), (Code::Missing, "the device was made without synchronization2, dynamicRendering"));
    let mut old = engine.lent();
    old.api_version = vk::API_VERSION_1_2;
    let (code, message) = refused(borrow(old));
    assert_eq!((code, &*message), (Code::Missing, "the instance was made for Vulkan 1.2, and rgraph uses 1.3"));
    let mut idle = engine.lent();
    idle.enabled = rgraph_vk::EnabledFeatures::required();
    idle.queues.clear();
    assert_eq!(refused(borrow(idle)).0, Code::Missing);
    let mut wrong = engine.lent();
    wrong.enabled = rgraph_vk::EnabledFeatures::required();
    wrong.queues[0].family = 99;
    assert_eq!(refused(borrow(wrong)).0, Code::NoSuchDevice);
}

#[test]
fn features_are_known_by_the_names_of_the_specification() {
    let enabled = rgraph_vk::EnabledFeatures::required();
    let enabled = enabled.feature("shaderInt64").and_then(|some| some.feature("textureCompressionASTC_LDR"));
    assert!(enabled.expect("both are known").extension(khr::swapchain::NAME).has_extension(khr::swapchain::NAME));
    let unknown = rgraph_vk::EnabledFeatures::required().feature("shaderInt65").expect_err("no such feature");
    assert!(unknown.to_string().contains("shaderInt65"), "{unknown}");
}

#[test]
fn a_borrowed_device_shows_windows_if_it_was_made_for_them() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    let device = borrow(&engine);
    assert_eq!(refused(Surface::headless(&device)).1, "the device was opened without windows");
    device.close().expect("closes");
    drop((device, engine));
    let wish =
        Wish { extensions: &[khr::swapchain::NAME], instance_extensions: &[khr::surface::NAME], ..Wish::default() };
    let Some(engine) = Engine::new(wish) else { return };
    let device = borrow(&engine);
    // It has swapchains; only surfaces of that kind are missing.
    assert!(refused(Surface::headless(&device)).1.contains("VK_EXT_headless_surface"));
    device.close().expect("closes");
}

/// A lock that counts, and notices concurrent callers.
#[derive(Default)]
struct Counting {
    held: AtomicBool,
    times: AtomicUsize,
    mutex: Mutex<()>,
}

impl QueueLock for Counting {
    fn alone(&self, function: &mut dyn FnMut()) {
        self.mutex.alone(&mut || {
            assert!(!self.held.swap(true, Ordering::SeqCst), "one at a time");
            self.times.fetch_add(1, Ordering::SeqCst);
            function();
            self.held.store(false, Ordering::SeqCst);
        });
    }
}

#[test]
fn every_use_of_a_queue_holds_the_lock_of_the_engine() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    let lock = Arc::new(Counting::default());
    let mut lent = engine.lent();
    lent.queues[0].lock = Some(lock.clone());
    // SAFETY: the engine outlives the device.
    let device = unsafe { Device::borrow(&lent, &DeviceOptions::default()) }.expect("it can be used");
    let (b, dst) = counting();
    let compiled = device.compile(b.workload, &Default::default()).expect("compiles");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The engine's own submits, with its own lock.
            while !ended.load(Ordering::SeqCst) {
                lock.alone(&mut || {
                    // SAFETY: nobody else has the queue meanwhile.
                    unsafe { engine.raw.queue_submit2(engine.queue, &[], vk::Fence::null()) }.expect("submits");
                });
                std::thread::yield_now();
            }
        });
        for _ in 0..50 {
            let before = lock.times.load(Ordering::SeqCst);
            let frame = compiled.run(&Inputs::default()).expect("runs");
            assert!(lock.times.load(Ordering::SeqCst) > before);
            assert_eq!(words(frame.read(dst).unwrap().bytes())[63], 63);
        }
        let held = device.with_queue(DeviceQueueId::FIRST, |queue, family| {
            assert!(lock.held.load(Ordering::SeqCst));
            (queue, family) == (engine.queue, engine.family)
        });
        assert_eq!(held, Some(true));
        ended.store(true, Ordering::SeqCst);
    });
    device.close().expect("closes");
}

#[test]
fn pipelines_are_made_with_the_cache_of_the_engine_and_it_stays() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    // SAFETY: of the engine's device, destroyed at the end.
    let cache =
        unsafe { engine.raw.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }.expect("made");
    let mut lent = engine.lent();
    lent.pipeline_cache = cache;
    // SAFETY: engine and cache outlive the device.
    let device = unsafe { Device::borrow(&lent, &DeviceOptions::default()) }.expect("it can be used");
    assert_eq!(device.pipeline_cache(), cache);
    let (b, dst) = counting();
    let frame = device.compile(b.workload, &Default::default()).expect("compiles").run(&Inputs::default());
    assert_eq!(words(frame.expect("runs").read(dst).unwrap().bytes())[5], 5);
    device.close().expect("closes");
    drop(device);
    // SAFETY: rgraph left it alone, so it is there once more, for the engine to destroy.
    unsafe {
        assert!(engine.raw.get_pipeline_cache_data(cache).is_ok());
        engine.raw.destroy_pipeline_cache(cache, None);
    }
}

#[test]
fn objects_on_a_lent_device_are_made_with_callbacks_that_the_engine_lends_and_its_own_objects_are_not() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    let memory = HostMemory::new();
    let options = DeviceOptions { host: Some(memory.lent()), ..DeviceOptions::default() };
    // SAFETY: the engine outlives the device.
    let device = unsafe { Device::borrow(&engine.lent(), &options) }.expect("it can be used");
    let (b, dst) = counting();
    let compiled = b.compile(&device);
    let frame = compiled.run(&Inputs::default()).expect("runs");
    assert_eq!(words(frame.read(dst).expect("is read").bytes()), (0..64).collect::<Vec<u32>>());
    assert!(memory.counts().held > 0, "{:?}", memory.counts());
    drop((frame, compiled, device));
    assert_eq!((memory.counts().held, memory.counts().bytes), (0, 0), "before the engine's device goes");
}
