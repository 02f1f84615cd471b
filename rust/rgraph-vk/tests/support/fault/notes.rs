//! What calls mean for the ledger.

use std::mem::transmute;
use std::sync::mpsc;
use std::time::Duration;

use ash::vk::{self, Handle};

use super::calls::{Call, Outcome, slot};
use super::ledger::{Name, name};
use super::state;

/// An argument of a call: if it is its `VkAllocationCallbacks`, the call counts as one with or without them.
pub fn allocator<T>(call: &'static str, argument: &T) {
    if std::any::type_name::<T>().contains("AllocationCallbacks") {
        // SAFETY: the type is a pointer, says its name.
        let callbacks = unsafe { std::mem::transmute_copy::<T, *const u8>(argument) };
        let mut state = state();
        let calls = if callbacks.is_null() { &mut state.without_callbacks } else { &mut state.with_callbacks };
        *calls.entry(call).or_default() += 1;
    }
}

/// An object was made.
pub unsafe fn made<T: Handle + Copy>(outcome: Outcome, object: *mut T) {
    if outcome.real && outcome.result.as_raw() >= 0 {
        // SAFETY: the real call succeeded and filled it.
        state().ledger.add(name(unsafe { *object }), 0, 0);
    }
}

/// Memory was allocated.
pub unsafe fn made_memory(outcome: Outcome, memory: *mut vk::DeviceMemory, bytes: u64) {
    if outcome.real && outcome.result.as_raw() >= 0 {
        // SAFETY: the real call succeeded and filled it.
        state().ledger.add(name(unsafe { *memory }), 0, bytes);
    }
}

/// Several objects were made, with null handles for those that were not.
pub unsafe fn made_each<P: Handle, T: Handle + Copy>(outcome: Outcome, pool: P, objects: *mut T, count: usize) {
    let pool = pool.as_raw();
    for i in 0..count {
        // SAFETY: the caller's array has `count` places.
        let place = unsafe { objects.add(i) };
        if !outcome.real {
            // SAFETY: as above; the specification wants nulls after an error.
            unsafe { place.write(T::from_raw(0)) };
            continue;
        }
        // SAFETY: as above; the real call filled it, with null where there is nothing.
        let object = unsafe { *place };
        if !object.is_null() {
            state().ledger.add(name(object), pool, 0);
        }
    }
}

/// Objects go back to their pool.
pub unsafe fn freed<T: Handle + Copy>(_: Outcome, objects: *const T, count: usize) {
    for i in 0..count {
        // SAFETY: the caller's array has `count` places.
        let object = unsafe { *objects.add(i) };
        if !object.is_null() {
            state().ledger.remove(name(object), "freeing");
        }
    }
}

/// All objects go back to a pool.
pub unsafe fn emptied<P: Handle>(_: Outcome, pool: P) {
    state().ledger.empty(pool.as_raw());
}

/// Notes the value of a timeline; one that stands still has the value that was read before.
pub unsafe fn counted_to(outcome: Outcome, semaphore: vk::Semaphore, value: *mut u64) {
    if outcome.result != vk::Result::SUCCESS {
        return;
    }
    let mut state = state();
    let still = state.still;
    let last = state.reached.entry(semaphore.as_raw()).or_default();
    // SAFETY: the out pointer is the caller's, filled by the real call.
    let value = unsafe { &mut *value };
    if still {
        *value = *last;
    } else {
        *last = *value;
    }
}

/// What a wait gives, after its time or a short one, while timelines stand still.
pub unsafe fn stands_still(nanoseconds: u64) -> Option<vk::Result> {
    if !state().still {
        return None;
    }
    std::thread::sleep(Duration::from_nanos(nanoseconds).min(Duration::from_millis(5)));
    Some(vk::Result::TIMEOUT)
}

/// Whether the small world has no room for so many bytes.
pub unsafe fn too_much(bytes: u64) -> Option<vk::Result> {
    let state = state();
    let (count, held) = state.ledger.memory();
    state.small.refuses(count, held, bytes)
}

/// Notes that an object is given back. Returns whether the real call is to be made.
pub fn given_back(call: &'static Call, owner: Name, object: Name) -> bool {
    if object.1 == 0 {
        return true;
    }
    let finished = owner.0 != vk::ObjectType::DEVICE.as_raw() || settled(owner.1);
    let mut state = state();
    let alive = state.ledger.remove(object, call.name());
    if object.0 == vk::ObjectType::DEVICE.as_raw() {
        state.ledger.forget_device(object.1);
    }
    alive && finished
}

/// Lets a lost device finish what it was doing, which a real one would have dropped: objects in use must not go.
/// Returns whether it did; one that waits for ever for a signal of the host does not.
pub fn settled(device: u64) -> bool {
    match state().ledger.settled(device) {
        None => return true,
        Some(Some(finished)) => return finished,
        Some(None) => {}
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // SAFETY: the loader gave this pointer for this name, whose type is this.
        let wait: vk::PFN_vkDeviceWaitIdle = unsafe { transmute(slot::vkDeviceWaitIdle.real()) };
        // SAFETY: the device is alive: its owner is about to give back an object of it.
        let _ = sender.send(unsafe { wait(vk::Device::from_raw(device)) });
    });
    let finished = receiver.recv_timeout(Duration::from_secs(5)).is_ok();
    state().ledger.settle(device, finished);
    finished
}
