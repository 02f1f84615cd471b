//! What an engine lends besides its queues: memory objects, of which rgraph takes parts, and threads that help.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk;
use rgraph_plan::access::{PassQueue, Transfer, Usage};
use rgraph_plan::graph::Use;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{CallbackError, Groups, Work};
use rgraph_vk::{
    Code, Device, DeviceOptions, Error, Inputs, JobThreads, LentMemory, MemoryRequest, MemorySource, RawContext,
    RawWork, Upload,
};

use crate::support::bench::{Bench, using, whole, words};
use crate::support::engine::{Engine, Wish};

const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < 64u { dst[id.x] = src[id.x] + id.x; } }";

/// An engine's allocator: each request is behind bytes of its own in a memory object.
struct Allocator {
    raw: ash::Device,
    held: Mutex<HashSet<vk::DeviceMemory>>,
    calls: AtomicUsize,
    /// What is wrong with what it gives.
    fault: AtomicI32,
}

const GOOD: i32 = 0;
const UNMAPPED: i32 = 1;
const ODD: i32 = 2;
const NONE_LEFT: i32 = 3;

impl std::fmt::Debug for Allocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Allocator")
    }
}

// SAFETY: unless a test makes it fail, memory is as requested; rgraph refuses wrong memory.
unsafe impl MemorySource for Allocator {
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result> {
        let fault = self.fault.load(Ordering::Relaxed);
        if fault == NONE_LEFT {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        let dedicated = request.image.is_some() || request.buffer.is_some();
        let before = if dedicated { 0 } else { request.alignment.max(1 << 16) };
        let mut only = vk::MemoryDedicatedAllocateInfo::default()
            .image(request.image.unwrap_or_default())
            .buffer(request.buffer.unwrap_or_default());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(before + request.size)
            .memory_type_index(request.memory_type);
        let info = if dedicated { info.push_next(&mut only) } else { info };
        // SAFETY: the device lives, and the type is one of it.
        let memory = unsafe { self.raw.allocate_memory(&info, None) }?;
        let map = request.host_visible && fault != UNMAPPED;
        let mapped = map.then(|| {
            // SAFETY: host-visible, and mapped once.
            let start = unsafe { self.raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
            // SAFETY: within the memory object.
            std::ptr::NonNull::new(unsafe { start.expect("maps").cast::<u8>().add(before as usize) }.cast())
        });
        self.held.lock().unwrap().insert(memory);
        Ok(LentMemory { memory, offset: before + u64::from(fault == ODD), mapped: mapped.flatten() })
    }

    fn free(&self, lent: LentMemory) {
        assert!(self.held.lock().unwrap().remove(&lent.memory), "given back once");
        // SAFETY: the device is done with it.
        unsafe { self.raw.free_memory(lent.memory, None) };
    }
}

/// An engine's threads, counted.
#[derive(Debug, Default)]
struct Counted(AtomicUsize);

impl JobThreads for Counted {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::thread::Builder::new().name("engine job".to_owned()).spawn(job).expect("a thread");
    }

    fn count(&self) -> usize {
        3
    }
}

fn source(engine: &Engine) -> Arc<Allocator> {
    let (held, calls, fault) = (Mutex::default(), AtomicUsize::new(0), AtomicI32::new(GOOD));
    Arc::new(Allocator { raw: engine.raw.clone(), held, calls, fault })
}

fn borrow(engine: &Engine, options: &DeviceOptions) -> Device {
    // SAFETY: the engine outlives the device.
    unsafe { Device::borrow(&engine.lent(), options) }.expect("it can be used")
}

/// A chain of transients of some size behind an upload, with a root.
fn chain(words: u64) -> (Bench, ResourceId, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 256);
    let mid = b.graph().buffer("mid", words * 4);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    b.compute("one", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &[("src", whole(src)), ("dst", whole(mid))]);
    b.compute("two", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &[("src", whole(mid)), ("dst", whole(dst))]);
    (b, src, dst)
}

#[test]
fn memory_comes_from_the_engine_and_goes_back() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    let lent = source(&engine);
    let device = borrow(&engine, &DeviceOptions { memory: Some(lent.clone()), ..DeviceOptions::default() });
    // One that fits a chunk, and one that needs an object of its own.
    for (size, least) in [(64, 2), ((80 << 20) / 4, 1)] {
        let before = lent.calls.load(Ordering::Relaxed);
        let (b, src, dst) = chain(size);
        let compiled = b.compile(&device);
        for run in 0..4u32 {
            let given: Vec<u8> = (0..64).flat_map(|_| run.to_le_bytes()).collect();
            let inputs = Inputs { uploads: vec![(src, Upload::Bytes(&given))], ..Inputs::default() };
            let frame = compiled.run(&inputs).expect("runs");
            let found = words(frame.read(dst).expect("is read").bytes());
            assert_eq!(found, (0..64).map(|at| run + 2 * at).collect::<Vec<_>>());
        }
        assert!(lent.calls.load(Ordering::Relaxed) >= before + least);
        assert!(device.memory().held() > 0);
    }
    device.wait_idle().expect("is idle");
    device.close().expect("closes");
    drop(device);
    assert_eq!(lent.held.lock().unwrap().len(), 0, "all of it was given back");
}

#[test]
fn memory_that_is_not_as_promised_is_refused_and_the_next_compile_works() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    for (fault, code, text) in [
        (ODD, Code::NoMemory, "which is no multiple of"),
        (UNMAPPED, Code::NoMemory, "host-visible memory that is not mapped"),
        (NONE_LEFT, Code::NoMemory, "Out of memory"),
    ] {
        let lent = source(&engine);
        let device = borrow(&engine, &DeviceOptions { memory: Some(lent.clone()), ..DeviceOptions::default() });
        lent.fault.store(fault, Ordering::Relaxed);
        let (b, src, _) = chain(64);
        let given = [0; 256];
        let inputs = || Inputs { uploads: vec![(src, Upload::Bytes(&given))], ..Inputs::default() };
        let failed =
            device.compile(b.workload.clone(), &Default::default()).and_then(|one| one.run(&inputs()).map(drop));
        match failed {
            Err(Error::Device(error)) => {
                assert_eq!(error.code, code, "{error}");
                assert!(error.to_string().to_lowercase().contains(&text.to_lowercase()), "{error}");
            }
            other => panic!("{fault}: {other:?}"),
        }
        lent.fault.store(GOOD, Ordering::Relaxed);
        let compiled = b.compile(&device);
        compiled.run(&inputs()).expect("runs");
        drop(compiled);
        device.close().expect("closes");
        drop(device);
        assert_eq!(lent.held.lock().unwrap().len(), 0, "nothing was lost");
    }
}

struct Fill(ResourceId);

// SAFETY: it fills what its pass declares.
unsafe impl RawWork for Fill {
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError> {
        let to = context.buffer(self.0)?;
        // SAFETY: outside of a render pass.
        unsafe { context.device().cmd_fill_buffer(context.commands(), to.buffer, to.offset, to.size, 5) };
        Ok(())
    }
}

#[test]
fn an_engines_threads_record() {
    let Some(engine) = Engine::new(Wish::default()) else { return };
    let threads = Arc::new(Counted::default());
    let device = borrow(&engine, &DeviceOptions { threads: Some(threads.clone()), ..DeviceOptions::default() });
    let mut b = Bench::new([8, 8]);
    let outs: Vec<_> = (0..8).map(|at| b.graph().buffer(&format!("out {at}"), 256)).collect();
    for (at, &out) in outs.iter().enumerate() {
        b.graph().root(out);
        let fill = Use { transfer: Some(Transfer::Fill), ..using(Usage::TransferDst) };
        let pass = b.pass(&format!("fill {at}"), PassQueue::Graphics, &[(out, fill)]);
        b.workload.works.insert(pass, Work::Raw(Arc::new(Fill(out))));
    }
    let compiled = b.compile(&device);
    for _ in 0..3 {
        let frame = compiled.run(&Inputs::default()).expect("runs");
        for &out in &outs {
            assert_eq!(words(frame.read(out).expect("is read").bytes()), [5; 64]);
        }
    }
    assert!(threads.0.load(Ordering::Relaxed) > 0, "the engine's threads were asked");
    device.close().expect("closes");
}
