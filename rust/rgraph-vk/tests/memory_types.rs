//! Rows G2 to G5 behind a function table that pretends other memory types: which memory is allocated for what, and
//! what is flushed and invalidated.

use std::sync::{Arc, Mutex};

use ash::vk;
use rgraph_plan::access::{self, MemoryDomain, PassQueue, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Graph, Pass, Use};
use rgraph_plan::resource::{Imported, Life, Resource};
use rgraph_vk::work::{CallbackError, HostViews, HostWork, Step, Transfer, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, EntryTable, Inputs, Upload};

use crate::support::demand::demand;
use crate::support::example::{example, photo};
use crate::support::fault::{Faults, Pretended};

const LOCAL: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
const VISIBLE: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::HOST_VISIBLE;
const COHERENT: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::HOST_COHERENT;
const CACHED: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::HOST_CACHED;
const LAZY: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;

/// A device behind the table, where there is one at all.
fn device(pretended: Pretended) -> Option<(Faults, Device)> {
    demand(Faults::new().and_then(|faults| {
        faults.pretend(pretended);
        let options = DeviceOptions { entry: Some(EntryTable(faults.entry())), ..DeviceOptions::default() };
        Device::new(&options).map(|device| (faults, device)).map_err(|error| error.to_string())
    }))
}

fn discrete() -> Pretended {
    let types = vec![LOCAL, VISIBLE | COHERENT, VISIBLE | CACHED, LOCAL | LAZY];
    Pretended { types, ..Pretended::default() }
}

/// Bytes of a buffer that is larger than everything else in these tests.
const KEPT: u64 = 3 << 20;

/// A persistent buffer in chosen memory, which a pass fills.
fn kept(domain: MemoryDomain) -> Workload {
    let mut graph = Graph::new("kept", [64, 64]);
    let resource = Resource { life: Life::Persistent, memory_domain: Some(domain), ..Resource::buffer(KEPT) };
    let kept = graph.add_resource("kept", resource, None);
    graph.pass("write", PassQueue::Compute).storage_write(kept);
    graph.root(kept);
    Workload::new(graph)
}

/// Depth of its own in addition to a root: the depth lives within one render pass.
fn drawn() -> Workload {
    let mut graph = Graph::new("drawn", [64, 64]);
    let out = graph.image("out", Format::Rgba8unorm);
    let depth = graph.image("depth", Format::Depth32float);
    graph.pass("draw", PassQueue::Graphics).color(out).depth(depth);
    graph.root(out);
    Workload::new(graph)
}

#[test]
fn g03_persistent_resources_lie_in_the_memory_that_the_caller_chooses() {
    let bar = LOCAL | VISIBLE | COHERENT;
    let types = vec![LOCAL, VISIBLE | COHERENT, VISIBLE | CACHED, bar];
    let Some((faults, device)) = device(Pretended { types, ..Pretended::default() }) else { return };
    for (domain, words) in MemoryDomain::ALL.iter().zip(["device", "host", "cached host", "device-local host"]) {
        let live = || {
            let domains = device.memory().domains;
            domains.iter().find(|one| one.domain == words).map_or(0, |one| one.live)
        };
        let before = live();
        let compiled = device.compile(kept(*domain), &Options::default()).expect("it compiles");
        assert!(live() >= before + KEPT, "{domain}: {}", device.memory());
        compiled.run(&Inputs::default()).expect("it runs").wait(None).expect("it ends");
    }
    // What the CPU sees is written in place, without a submit.
    for (domain, submits) in [(MemoryDomain::DeviceLocalHost, false), (MemoryDomain::Device, true)] {
        let words = device.buffer_in(domain, "words", 1024).expect("a buffer");
        faults.take_names();
        words.write(&[7; 1024]).expect("written");
        assert_eq!(faults.take_names().contains(&"vkQueueSubmit2"), submits, "{domain}");
        assert_eq!(words.read().expect("read").bytes(), &[7; 1024]);
    }
}

/// A pass on the host that keeps the bytes it reads.
struct Reads(Mutex<Vec<u8>>);

impl HostWork for Reads {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        *self.0.lock().unwrap() = views.views[0].bytes.to_vec();
        views.views[1].bytes.writable().ok_or("a writable view")?.fill(0);
        Ok(())
    }
}

#[test]
fn g03_the_host_sees_the_fallback_of_what_it_reads() {
    let Some((_faults, device)) = device(discrete()) else { return };
    for life in [Life::Transient, Life::Persistent, Life::Imported(Imported::default())] {
        let mut graph = Graph::new("fallback", [64, 64]);
        let plain = graph.add_resource("plain", Resource { life, ..Resource::buffer(256) }, None);
        let [middle, better, out] = ["middle", "better", "out"].map(|name| graph.buffer(name, 256));
        let filled = Use { transfer: Some(access::Transfer::Fill), ..Use::new(Usage::TransferDst) };
        let [plainly, half, whole] = [("plainly", plain), ("half", middle), ("whole", better)]
            .map(|(name, to)| graph.pass(name, PassQueue::Transfer).uses(to, &filled).id());
        for (pass, flag, output, input) in [(half, "half", middle, plain), (whole, "whole", better, middle)] {
            graph.pass_mut(pass).conditional = Some(graph.flag(flag));
            graph.fallback(pass, output, input);
        }
        let look = graph.add_pass("look", Pass::new(PassQueue::Cpu), None);
        graph.access(look, better, &Use::new(Usage::HostRead), None);
        graph.access(look, out, &Use::new(Usage::HostWrite), None);
        graph.root(out);
        let mut workload = Workload::new(graph);
        for (pass, buffer, byte) in [(plainly, plain, 1), (half, middle, 2), (whole, better, 3)] {
            let fill = Transfer::Fill { buffer, offset: 0, size: None, word: byte * 0x0101_0101 };
            workload.works.insert(pass, Work::Steps(vec![Step::Transfer(fill)]));
        }
        let reads = Arc::new(Reads(Mutex::default()));
        workload.works.insert(look, Work::Host(reads.clone()));
        let compiled = device.compile(workload, &Options::default()).expect("it compiles");
        for (flags, byte) in [([true, true], 3), ([true, false], 2), ([false, false], 1), ([false, true], 3)] {
            let flags = ["half", "whole"].iter().zip(flags).map(|(name, on)| ((*name).to_owned(), on)).collect();
            let zeros = [0; 256];
            let uploads = match life {
                Life::Imported(_) => vec![(plain, Upload::Bytes(&zeros[..]))],
                _ => Vec::new(),
            };
            let frame = compiled.run(&Inputs { flags, uploads, ..Inputs::default() }).expect("it runs");
            frame.wait(None).expect("it ends");
            assert_eq!(*reads.0.lock().unwrap(), [byte; 256], "{life:?}");
        }
    }
}

#[test]
fn g03_memory_that_the_device_has_not_is_an_error_that_lists_what_it_has() {
    let types = vec![LOCAL, VISIBLE | COHERENT];
    let Some((_faults, device)) = device(Pretended { types, ..Pretended::default() }) else { return };
    let error = device.compile(kept(MemoryDomain::DeviceLocalHost), &Options::default()).expect_err("there is none");
    let text = error.to_string();
    assert!(text.contains("RG-E102 \"kept\" is to lie in device_local_host memory"), "{text}");
    assert!(text.contains("use \"device\" or \"host\", or leave memory_domain out"), "{text}");
    assert!(device.image_in(MemoryDomain::CachedHost, "image", Format::Rgba8unorm, [4, 4], 1, 1).is_err());
}

#[test]
fn g04_cached_memory_that_is_not_coherent_is_flushed_and_invalidated() {
    let Some((faults, device)) = device(discrete()) else { return };
    // SAFETY: the instance and the device live.
    let properties = unsafe { device.raw_instance().get_physical_device_properties(device.raw_physical_device()) };
    let atom = properties.limits.non_coherent_atom_size.max(1);
    let example = example();
    let compiled = device.compile(example.workload.clone(), &Options::default()).expect("the example compiles");
    faults.take_names();
    faults.take_asked();
    for color in [[1, 2, 3, 4], [9, 8, 7, 6]] {
        let texels = photo(color);
        let uploads = vec![(example.photo, Upload::Bytes(&texels))];
        let frame = compiled.run(&Inputs { uploads, ..Inputs::default() }).expect("it runs");
        let out = frame.read(example.out).expect("it is read");
        assert_eq!(out.bytes(), &texels[..]);
        let pixels = frame.read(example.pixels).expect("it is read");
        assert_eq!(pixels.bytes()[..texels.len()], texels);
        assert_eq!(frame.read(example.tally).expect("it is read").bytes().len(), 256);
        let names = faults.take_names();
        let position = |wanted: &str| names.iter().position(|name| *name == wanted);
        let flush = position("vkFlushMappedMemoryRanges").expect("what the CPU wrote is flushed");
        let submit = position("vkQueueSubmit2").expect("it submits");
        let seen = position("vkInvalidateMappedMemoryRanges").expect("what the device wrote is invalidated");
        assert!(flush < submit && submit < seen, "{names:?}");
    }
    let asked = faults.take_asked();
    assert!(asked.allocated.iter().any(|one| one.index == 2), "staging is cached: {:?}", asked.allocated);
    assert!(!asked.ranges.is_empty() && asked.ranges.iter().flatten().all(|at| at % atom == 0), "{:?}", asked.ranges);
    let report = device.memory();
    let held = |domain: &str| report.domains.iter().any(|one| one.domain == domain && one.held > 0);
    assert!(held("device") && held("cached host"), "{report}");
    let word = device.buffer("words", 1024).expect("a buffer");
    word.write(&[7; 1024]).expect("written");
    assert_eq!(word.read().expect("read").bytes(), &[7; 1024]);
}

#[test]
fn g04_coherent_memory_is_neither_flushed_nor_invalidated() {
    let types = vec![LOCAL, VISIBLE | COHERENT | CACHED];
    let Some((faults, device)) = device(Pretended { types, ..Pretended::default() }) else { return };
    let words = device.buffer("words", 1024).expect("a buffer");
    words.write(&[7; 1024]).expect("written");
    assert_eq!(words.read().expect("read").bytes(), &[7; 1024]);
    assert!(faults.take_asked().ranges.is_empty());
}

#[test]
fn g05_a_depth_of_one_render_pass_is_lazily_allocated() {
    for lazy in [true, false] {
        let types = if lazy { discrete().types } else { discrete().types[..3].to_vec() };
        let Some((faults, device)) = device(Pretended { types, ..Pretended::default() }) else { return };
        faults.take_asked();
        let compiled = device.compile(drawn(), &Options::default()).expect("it compiles");
        let asked = faults.take_asked();
        let transient = vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        let depth: Vec<_> = asked.images.iter().filter(|usage| usage.contains(transient)).collect();
        assert_eq!(depth, [&(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | transient)]);
        assert_eq!(asked.allocated.iter().any(|one| one.index == 3), lazy, "{:?}", asked.allocated);
        let of = |name: &str| {
            let plan = compiled.plan();
            let id = plan.resources.ids().find(|id| plan.resource_name(*id) == name).expect("it is in the plan");
            plan.resources[id].transient_attachment
        };
        assert!(of("depth") && !of("out"));
        compiled.run(&Inputs::default()).expect("it runs").wait(None).expect("it ends");
    }
}

#[test]
fn g02_images_of_a_graph_are_allocated_as_the_driver_wants() {
    for (prefers, requires) in [(false, false), (true, false), (false, true)] {
        let wanted =
            Pretended { prefers_dedicated: Some(prefers), requires_dedicated: requires, ..Pretended::default() };
        let Some((faults, device)) = device(wanted) else { return };
        faults.take_asked();
        let example = example();
        let compiled = device.compile(example.workload.clone(), &Options::default()).expect("it compiles");
        let dedicated = faults.take_asked().allocated.iter().filter(|one| one.dedicated).count();
        let plan = compiled.plan();
        let images = plan.memory.placements.iter().map(|place| &plan.resources[place.resource]);
        let images = images.filter(|one| matches!(one.kind, rgraph_plan::plan::PlanKind::Image { .. }));
        let alone = images.clone().filter(|one| one.aliases.is_empty()).count();
        let lasting = 2; // Both images of the ring that "before" remembers.
        let expected = match (prefers, requires) {
            (_, true) => images.count() + lasting,
            (true, false) => alone + lasting,
            _ => 0,
        };
        assert_eq!(dedicated, expected, "prefers {prefers}, requires {requires}");
    }
}
