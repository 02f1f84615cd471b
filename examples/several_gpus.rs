//! A frame in two halves, each drawn by a GPU of its own, and joined by the first; on a machine with one GPU both
//! devices are that one.
//!
//! `cargo run --example several_gpus` prints the plan: parts, copies, and the modelled frame and that of one GPU.

use std::sync::Arc;

use rgraph_plan::graph::PassId;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_report::devices_listing;
use rgraph_shader::{Kind, Language, Program, ShaderError, Source};
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Devices, Inputs, devices};

const HALF: &str = "
@group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<u32>(id.x + 1000u * id.y));
}";

const JOIN: &str = "
@group(0) @binding(0) var left: texture_2d<u32>;
@group(0) @binding(1) var right: texture_2d<u32>;
@group(0) @binding(2) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < 32u {
        textureStore(dst, id.xy, textureLoad(left, id.xy, 0));
    } else {
        textureStore(dst, id.xy, textureLoad(right, id.xy - vec2<u32>(32u, 0u), 0) + 7u);
    }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run()
}

/// The whole program.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("halves", [64, 64]);
    let [left, right] = ["left", "right"].map(|name| g.sized_image(name, Format::R32uint, Size::absolute(32, 64)));
    let out = g.image("out", Format::R32uint);
    let draw_left = g.pass("draw left", PassQueue::Compute).storage_write(left).id();
    let draw_right = g.pass("draw right", PassQueue::Compute).storage_write(right).id();
    let join = g.pass("join", PassQueue::Compute).sampled(left).sampled(right).storage_write(out).id();
    g.root(out);

    // Passes that name no device go where they gain most.
    g.change_pass(draw_left).device(0);
    g.change_pass(draw_right).device(1);

    let mut workload = Workload::new(g);
    let mut works = |pass: PassId, text: &str, resources: &[ResourceId]| -> Result<(), ShaderError> {
        let program = Arc::new(Program::new("halves", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None)?);
        let bound = |(&resource, binding)| Bound { binding, element: 0, what: What::Resource(View::whole(resource)) };
        let bound = resources.iter().zip(0..).map(bound).collect();
        let groups = Groups::Cover(resources[resources.len() - 1], 0);
        let dispatch = Dispatch { program, bound, push: Default::default(), groups, key: 0 };
        workload.works.insert(pass, Work::Steps(vec![Step::Dispatch(dispatch)]));
        Ok(())
    };
    works(draw_left, HALF, &[left])?;
    works(draw_right, HALF, &[right])?;
    works(join, JOIN, &[left, right, out])?;

    let second = if devices(&DeviceOptions::default())?.len() > 1 { "1" } else { "0" };
    let open = |index: &str| Device::new(&DeviceOptions { device: Some(index.to_owned()), ..DeviceOptions::default() });
    let gpus = Devices::new(vec![open("0")?, open(second)?])?;
    let compiled = gpus.compile(workload, &Options::default())?;
    print!("{}", devices_listing(compiled.graph(), compiled.plan()));
    for _ in 0..3 {
        let frame = compiled.run(&Inputs::default())?;
        let pixels = frame.read(out)?;
        for (at, texel) in (0..64 * 64_u32).zip(pixels.bytes().chunks(4)) {
            let (x, y) = (at % 64, at / 64);
            let wanted = if x < 32 { x + 1000 * y } else { x - 32 + 1000 * y + 7 };
            assert_eq!(texel, wanted.to_le_bytes());
        }
    }
    Ok(())
}
