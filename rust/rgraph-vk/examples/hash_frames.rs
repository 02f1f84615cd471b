//! Generated graphs whose passes write a hash of all they read, run on this machine's GPU and compared with the same
//! computed serially: `hash_frames --graphs 2000 --seed 1 --runs 6`. Needs a Vulkan driver and nothing else.

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/support/hash/mod.rs"]
mod hash;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match hash::run(hash::Settings::read(200, &arguments)) {
        Ok(report) => {
            println!("{report}");
            let missing = report.coverage.missing(&hash::coverage::REQUIRED);
            if !missing.is_empty() {
                println!("not reached: {}", missing.join(", "));
            }
            if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
