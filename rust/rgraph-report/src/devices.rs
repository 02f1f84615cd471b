//! A plan for several devices as text.

use std::fmt::Write as _;

use rgraph_ir::devices::{DeviceStep, DevicesPlan};
use rgraph_ir::graph::Graph;
use rgraph_ir::id::Id;
use rgraph_ir::words::bytes_phrase;

/// Prints a plan for several devices of that graph: one line per step, and the modelled frame compared with that of the
/// first device alone.
pub fn devices_listing(graph: &Graph, plan: &DevicesPlan) -> String {
    let flat = graph.flattened();
    let graph = flat.as_ref().unwrap_or(graph);
    let mut text = format!("{}: {} devices, {} parts", plan.graph, plan.profiles.len(), plan.parts.len());
    let _ = writeln!(text, ", {} copies of {}", plan.copies.len(), bytes_phrase(plan.copied_bytes()));
    let (frame, alone) = (plan.report.frame_us, plan.report.one_device_us);
    let _ = write!(text, "modelled frame {frame:.0} µs, {alone:.0} µs on device 0 alone");
    let _ = if frame > 0.0 { writeln!(text, " ({:.2} × as fast)", alone / frame) } else { writeln!(text) };
    for note in &plan.report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for (device, profile) in plan.profiles.iter().enumerate() {
        let _ = writeln!(text, "device {device}: {profile}");
        for step in plan.steps.iter().filter(|step| plan.device_of(**step).index() == device) {
            let _ = match *step {
                DeviceStep::Run(part) => {
                    let names = plan.parts[part].passes.iter().map(|pass| graph.pass_name(*pass));
                    writeln!(text, "  part {}: {}", part.index(), names.collect::<Vec<_>>().join(", "))
                }
                DeviceStep::Send(copy) | DeviceStep::Receive(copy) => {
                    let what = &plan.copies[copy];
                    let (word, at) = match step {
                        DeviceStep::Send(_) => ("send", format!("to device {}", what.to.index())),
                        _ => ("receive", format!("from device {}", what.from.index())),
                    };
                    let name = what.resource.map(|id| graph.resource_name(id));
                    let name = name.map_or("nothing".to_owned(), |name| format!("\"{name}\""));
                    writeln!(text, "  {word} {name} {at} ({}, copy {})", bytes_phrase(what.bytes), copy.index())
                }
            };
        }
    }
    let places =
        plan.results.iter().map(|at| format!("\"{}\" on {}", graph.resource_name(at.resource), at.device.index()));
    let _ = writeln!(text, "results: {}", places.collect::<Vec<_>>().join(", "));
    text
}
