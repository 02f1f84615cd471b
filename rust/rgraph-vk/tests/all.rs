//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file. What asks for a process of
//! its own is a program of its own in `Cargo.toml`.

#[path = "../../rgraph-plan/tests/common/counting.rs"]
mod counting;
mod support;

mod borrow;
mod bytes;
mod changing_frames;
mod chaos;
mod compute;
mod conditions;
mod declared_anew;
mod devices;
mod devices_faults;
mod embed;
mod error_codes;
mod examples;
mod fault_table;
mod faults;
mod foreign;
mod given;
mod hash_frames;
mod host_memory;
mod jobs;
mod lend;
mod life;
mod measure;
mod memory_types;
mod next;
mod own_loop;
mod packets;
mod plan_mutants;
mod raster;
mod several_devices;
mod sound;
mod state;
mod tuner;
mod two_gpus;
mod validate;
mod walk;
mod window;
