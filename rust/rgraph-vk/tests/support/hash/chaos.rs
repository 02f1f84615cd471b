//! Chaos runs of generated graphs: what they compute is defined by the declaration, so nothing may make a difference.

use rgraph_plan::resource::Resource;
use rgraph_vk::{ChaosOptions, Device, Inputs, Switch, Upload};

use super::case::Case;
use super::shader::Library;
use super::{Report, Settings, limits, work};

/// More frames than the trials of a graph have.
const CALLS: usize = 1000;

/// Whether a message is a hazard of the plan's own commands on a transient, or, as the newer layer says it, on any
/// resource. Such are known false alarms: where bytes are passed on through an image, and where one barrier makes a
/// write visible to a stage and a second one goes on from that stage to the next use. Each plan alone runs in the tests
/// of frames, which look closer. Clears and fills of poison are ordered with everything, so no hazard of theirs is
/// false.
fn is_hand_over(message: &str, case: &Case) -> bool {
    let graph = &case.adapted.graph;
    let named = |(id, resource): (_, &Resource)| {
        let name = graph.resource_name(id);
        let old = message.contains(&format!("name = {name},")) && resource.life.is_of_frame();
        // Memory in several copies has their number behind its name.
        old || message.contains(&format!("[{name}]")) || message.contains(&format!("[{name}["))
    };
    let ours = message.contains("vkCmdClear");
    message.contains("Validation Performance Warning")
        || message.contains("SYNC-HAZARD") && !ours && graph.resources().iter_ids().any(named)
}

/// Runs each graph whose results the declaration defines; where it leaves parts of a root or an import undefined,
/// poison may show.
pub fn chaos(device: &Device, settings: Settings) -> Report {
    let library = Library::default();
    let mut report = Report::default();
    for seed in settings.seed..settings.seed + settings.graphs {
        let mut case = Case::new(seed, limits(false), 1, false);
        // Functions on the host look up their calls: all of them are the same.
        case.runs = vec![case.runs[0].clone(); CALLS];
        let run = &case.runs[0];
        let defined = run.imports_defined && run.roots.iter().all(|(_, cells)| cells.iter().all(Option::is_some));
        let workload = work::workload(&case, &library);
        let bytes: Vec<_> = run.uploads.iter().map(|(id, version)| (*id, case.upload(*id, *version))).collect();
        let pattern = work::pattern_bytes();
        let mut uploads: Vec<_> = bytes.iter().map(|(id, bytes)| (*id, Upload::Bytes(bytes))).collect();
        uploads.extend(case.adapted.pattern.map(|id| (id, Upload::Bytes(&pattern))));
        let arguments = work::passes_with_arguments(&case);
        let arguments =
            arguments.map(|pass| (pass, 0, work::argument_bytes(&run.arguments[&rgraph_plan::id::Id::index(pass)])));
        let flags = case.adapted.graph.flags().iter().cloned().zip(run.flags.iter().copied());
        let (data, flags, targets) = (arguments.collect(), flags.collect(), run.targets());
        let inputs = Inputs { uploads, data, flags, targets, ..Inputs::default() };
        let options = ChaosOptions { seed, seeds: 2, options: case.options, ..ChaosOptions::default() };
        let before = device.messages().len();
        let result = device.chaos(&workload, &inputs, &options);
        for message in &device.messages()[before..] {
            if is_hand_over(message, &case) {
                report.false_alarms += 1;
            } else {
                report.failures.push(format!("seed {seed}: {message}"));
            }
        }
        match result {
            Ok(found) => {
                report.graphs += u64::from(defined);
                report.runs += found.runs;
                let wrong = found.findings.iter().filter(|one| defined || one.switch != Switch::Poison);
                report.failures.extend(wrong.map(|one| format!("seed {seed}: {}", one.mistake)));
            }
            Err(error) => report.failures.push(format!("seed {seed} cannot run: {error}")),
        }
    }
    report
}
