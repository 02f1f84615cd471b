//! Two GPUs against one: a copy between them, a frame in two halves, and chains that are independent. Prints numbers
//! and compares results, word for word; ignored, since its times mean something on real GPUs only.
//!
//! `cargo test -p rgraph-vk --test all two_gpus:: -- --ignored --nocapture`

use std::time::{Duration, Instant};

use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::Options;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{Groups, Workload};
use rgraph_vk::{Device, DeviceOptions, Devices, DevicesFrame, Inputs};

use crate::support::bench::{self, Bench, whole};

/// Words that depend on all rounds of an integer recurrence.
fn work(rounds: u32) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {{
            let at = id.x + id.y * n.x * 64u;
            if at >= arrayLength(&dst) {{ return; }}
            var x = at * 747796405u + 2891336453u;
            for (var i = 0u; i < {rounds}u; i++) {{ x = (x ^ (x >> 16u)) * 2654435769u + i; }}
            dst[at] = x;
        }}"
    )
}

const SUM: &str = "
@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<storage, read> right: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
    let at = id.x + id.y * n.x * 64u;
    if at < arrayLength(&dst) { dst[at] = left[at] + 3u * right[at]; }
}";

fn groups(words: u64) -> Groups {
    let all = words.div_ceil(64) as u32;
    Groups::Fixed([all.min(32768), all.div_ceil(32768), 1])
}

/// Two halves of `bytes` bytes and their sum; or two independent chains. The second half is on device `second`.
fn frame(bytes: u64, rounds: u32, joined: bool, second: u32) -> (Workload, Vec<ResourceId>) {
    let mut b = Bench::new([8, 8]);
    let [left, right] = ["left", "right"].map(|name| b.graph().buffer(name, bytes));
    let text = work(rounds);
    let mut pin: Vec<(PassId, u32)> = Vec::new();
    pin.push((b.compute("left", PassQueue::Compute, &text, groups(bytes / 4), &[("dst", whole(left))]), 0));
    pin.push((b.compute("right", PassQueue::Compute, &text, groups(bytes / 4), &[("dst", whole(right))]), second));
    let roots = if joined {
        let out = b.graph().buffer("joined", bytes);
        let binds = [("left", whole(left)), ("right", whole(right)), ("dst", whole(out))];
        pin.push((b.compute("sum", PassQueue::Compute, SUM, groups(bytes / 4), &binds), 0));
        vec![out]
    } else {
        vec![left, right]
    };
    let mut workload = b.workload;
    for root in &roots {
        workload.graph.root(*root);
    }
    for (pass, device) in pin {
        workload.graph.pass_mut(pass).device = Some(device);
    }
    (workload, roots)
}

fn open() -> Option<Devices> {
    let at = |index: &str| Device::new(&DeviceOptions { device: Some(index.to_owned()), ..DeviceOptions::default() });
    let first = bench::demand::demand(at("0").map_err(|error| error.to_string()))?;
    let second = at("1").or_else(|_| at("0")).expect("it opens twice");
    println!("{} and {}", first.info().name, second.info().name);
    Some(Devices::new(vec![first, second]).expect("two devices"))
}

/// The median of some runs without results, and the results of the last.
fn measured(devices: &Devices, case: &(Workload, Vec<ResourceId>), what: &str) -> (Duration, DevicesFrame) {
    let compiled = devices.compile(case.0.clone(), &Options::default()).expect("it compiles");
    let nothing = || Inputs { read: Some(Vec::new()), ..Inputs::default() };
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let begin = Instant::now();
            let frame = compiled.run(&nothing()).expect("it runs");
            frame.parts().iter().for_each(|(_, part)| assert!(part.wait(None).expect("it ends")));
            begin.elapsed()
        })
        .collect();
    times.sort();
    let plan = compiled.plan();
    println!(
        "{what}: {:?}, {} parts, {} copies of {} bytes",
        times[4],
        plan.parts.len(),
        plan.copies.len(),
        plan.copied_bytes()
    );
    (times[4], compiled.run(&Inputs::default()).expect("it runs"))
}

#[test]
#[ignore = "its times mean something on real GPUs only"]
fn two_gpus_against_one() {
    let Some(devices) = open() else { return };
    let large = std::env::var("RGRAPH_TWO_GPUS_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(256_u64);
    // Hardly any work: what is above one device is the copy.
    for mib in [1, 16, large] {
        let bytes = mib << 20;
        let (one, _) = measured(&devices, &frame(bytes, 1, true, 0), &format!("{mib} MiB on one"));
        let (two, _) = measured(&devices, &frame(bytes, 1, true, 1), &format!("{mib} MiB copied"));
        let seconds = two.saturating_sub(one).as_secs_f64().max(1e-9);
        println!("a copy of {mib} MiB: {:.2} ms, {:.1} GB/s", seconds * 1e3, bytes as f64 / seconds / 1e9);
    }
    let rounds = std::env::var("RGRAPH_TWO_GPUS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000_u32);
    for (joined, what) in [(true, "a frame in halves"), (false, "independent chains")] {
        let bytes = 16 << 20;
        let one = measured(&devices, &frame(bytes, rounds, joined, 0), &format!("{what} on one"));
        let two = measured(&devices, &frame(bytes, rounds, joined, 1), &format!("{what} on two"));
        for root in frame(bytes, rounds, joined, 0).1 {
            let [one, two] = [&one.1, &two.1].map(|frame| frame.read(root).expect("it is a root"));
            assert!(one.bytes() == two.bytes(), "{what}: resource {} differs", root.index());
        }
        println!("{what}: {:.2} times as fast, equal word for word", one.0.as_secs_f64() / two.0.as_secs_f64());
    }
}
