//! The exit of a process waits for the devices that its threads destroy.

#[path = "support/demand.rs"]
mod demand;
#[path = "support/host_memory.rs"]
mod host_memory;

use std::sync::mpsc::channel;
use std::time::Duration;

use demand::demand;
use host_memory::HostMemory;
use rgraph_vk::{Device, DeviceOptions, prepare_exit};

#[test]
fn a_device_that_another_thread_destroys_is_destroyed_before_the_process_may_exit() {
    let memory = HostMemory::new();
    let options = DeviceOptions { host: Some(memory.lent()), ..DeviceOptions::default() };
    let Some(device) = demand(Device::new(&options).map_err(|error| error.to_string())) else { return };
    let (before, held) = (memory.frees(), memory.hold());
    let destroys = std::thread::spawn(move || drop(device));
    while memory.frees() == before {
        std::thread::yield_now();
    }
    // The driver is in the middle of it now.
    let (sends, prepared) = channel();
    std::thread::spawn(move || {
        prepare_exit(Duration::from_secs(60));
        sends.send(()).unwrap();
    });
    assert!(prepared.recv_timeout(Duration::from_millis(300)).is_err(), "it waits for the driver");
    drop(held);
    destroys.join().unwrap();
    assert_eq!(memory.counts().held, 0);
    prepared.recv_timeout(Duration::from_secs(60)).expect("nothing is left to wait for");
}
