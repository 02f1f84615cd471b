//! Frames of hashes over several devices: passes are scattered at random, and every word is compared as on one device.

use rgraph_check::generate::Limits;
use rgraph_check::random::Random;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_vk::{Devices, Error, Inputs, Upload};

use super::case::Case;
use super::shader::Library;
use super::{limits, work};

/// What was run.
#[derive(Default, Debug)]
pub struct Scattered {
    pub graphs: u64,
    /// Graphs of more than one part.
    pub split: u64,
    /// Graphs with passes on two devices that have to stay together.
    pub refused: u64,
    pub copies: u64,
    pub words: u64,
    /// In words, one per case.
    pub failures: Vec<String>,
}

/// Runs seeds, each `runs` times, with three of four passes on a random device.
pub fn scatter(devices: &Devices, seeds: std::ops::Range<u64>, runs: usize) -> Scattered {
    let library = Library::default();
    let mut out = Scattered::default();
    let swift = devices.list().iter().any(|device| device.info().name.contains("SwiftShader"));
    for seed in seeds {
        // Without flags there is no fallback, which keeps all passes on one device.
        let most_flags = if seed.is_multiple_of(3) { limits(false).most_flags } else { 0 };
        let mut case = Case::new(seed, Limits { most_flags, ..limits(false) }, runs, swift);
        let mut random = Random::new(seed ^ 0xde11);
        for id in case.adapted.graph.passes().ids() {
            let device = random.below(devices.list().len() as u64) as u32;
            case.adapted.graph.pass_mut(id).device = random.chance(3, 4).then_some(device);
        }
        out.graphs += 1;
        match one(devices, &case, &library, &mut out) {
            Ok(()) => {}
            Err(text) if text.contains("not supported over several devices") || text.contains("be copied") => {
                out.refused += 1;
            }
            Err(text) => {
                eprintln!("seed {seed}: {text}");
                out.failures.push(format!("seed {seed}: {text}"));
            }
        }
    }
    out
}

fn one(devices: &Devices, case: &Case, library: &Library, out: &mut Scattered) -> Result<(), String> {
    let words = |error: Error| error.to_string();
    let plan = devices.plan(&case.adapted.graph, &case.options).map_err(words)?;
    let compiled = devices.compile_plan(plan, work::workload(case, library), &case.options).map_err(words)?;
    out.split += u64::from(compiled.plan().parts.len() > 1);
    out.copies += compiled.plan().copies.len() as u64;
    let pattern = work::pattern_bytes();
    for (number, run) in case.runs.iter().enumerate() {
        let bytes: Vec<_> = run.uploads.iter().map(|(id, version)| (*id, case.upload(*id, *version))).collect();
        let mut uploads: Vec<_> = bytes.iter().map(|(id, bytes)| (*id, Upload::Bytes(bytes))).collect();
        if number == 0 {
            uploads.extend(case.adapted.pattern.map(|id| (id, Upload::Bytes(&pattern))));
        }
        let arguments = work::passes_with_arguments(case);
        let arguments = arguments.map(|pass: PassId| (pass, 0, work::argument_bytes(&run.arguments[&pass.index()])));
        let flags = case.adapted.graph.flags().iter().cloned().zip(run.flags.iter().copied());
        let (data, flags, targets) = (arguments.collect(), flags.collect(), run.targets());
        let inputs = Inputs { uploads, data, flags, targets, ..Inputs::default() };
        let frame = compiled.run(&inputs).map_err(|error| format!("run {number} fails: {error}"))?;
        for (root, (resource, _)) in run.roots.iter().enumerate() {
            let read = frame.read(*resource).map_err(|error| format!("run {number} cannot be read: {error}"))?;
            let (words, wrong) = case.compare(number, root, read.bytes());
            out.words += words;
            if let Some(wrong) = wrong {
                let listing = rgraph_report::devices_listing(&case.adapted.graph, compiled.plan());
                return Err(format!("run {number}: \"{}\" holds at {}\n{listing}", wrong.resource, wrong.what));
            }
        }
    }
    Ok(())
}
