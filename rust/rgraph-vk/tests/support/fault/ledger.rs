//! Which objects are alive, who made them, and which devices are lost.

use std::collections::BTreeMap;

use ash::vk::{self, Handle};

/// An object: its type and handle.
pub type Name = (i32, u64);

/// The name of a handle.
pub fn name<T: Handle>(handle: T) -> Name {
    (T::TYPE.as_raw(), handle.as_raw())
}

/// Which objects are alive.
#[derive(Default)]
pub struct Ledger {
    /// By name; drivers may give equal handles to equal objects.
    objects: BTreeMap<Name, Vec<Object>>,
    /// Queues and the devices that they are of.
    pub queues: BTreeMap<u64, u64>,
    /// Lost devices, and whether the real one has finished its work (`None`: not asked yet).
    lost: BTreeMap<u64, Option<bool>>,
    /// What was given back twice, or never was there, or could not be given back.
    pub misuse: Vec<String>,
}

/// A living object.
struct Object {
    /// The pool that it goes with; null: none.
    pool: u64,
    /// Bytes, of memory.
    bytes: u64,
}

impl Ledger {
    /// An object was made.
    pub fn add(&mut self, object: Name, pool: u64, bytes: u64) {
        self.objects.entry(object).or_default().push(Object { pool, bytes });
    }

    /// An object is given back by `call`. Returns whether it is one.
    pub fn remove(&mut self, object: Name, call: &str) -> bool {
        let Some(living) = self.objects.get_mut(&object) else {
            self.misuse.push(format!(
                "{call} of {:?} {:#x}, which is not alive",
                vk::ObjectType::from_raw(object.0),
                object.1
            ));
            return false;
        };
        living.pop();
        if living.is_empty() {
            self.objects.remove(&object);
        }
        if matches!(vk::ObjectType::from_raw(object.0), vk::ObjectType::COMMAND_POOL | vk::ObjectType::DESCRIPTOR_POOL)
        {
            self.empty(object.1);
        }
        true
    }

    /// All that came from a pool goes.
    pub fn empty(&mut self, pool: u64) {
        self.objects.retain(|_, living| {
            living.retain(|object| object.pool != pool);
            !living.is_empty()
        });
    }

    /// Living objects by type.
    pub fn living(&self) -> BTreeMap<String, usize> {
        let mut count = BTreeMap::new();
        for (object, living) in &self.objects {
            *count.entry(format!("{:?}", vk::ObjectType::from_raw(object.0))).or_default() += living.len();
        }
        count
    }

    /// Number of living memory allocations, and their bytes.
    pub fn memory(&self) -> (usize, u64) {
        let memory = (vk::ObjectType::DEVICE_MEMORY.as_raw(), 0)..=(vk::ObjectType::DEVICE_MEMORY.as_raw(), u64::MAX);
        let living = || self.objects.range(memory.clone()).flat_map(|(_, living)| living);
        (living().count(), living().map(|object| object.bytes).sum())
    }

    /// Any living instance.
    pub fn instance(&self) -> vk::Instance {
        let first = (vk::ObjectType::INSTANCE.as_raw(), 0);
        let found = self.objects.range(first..).next().filter(|(name, _)| name.0 == first.0);
        found.map_or(vk::Instance::null(), |(name, _)| vk::Instance::from_raw(name.1))
    }

    /// The device that a call's first argument is of, if it is a device or a queue.
    fn device_of(&self, of: Name) -> Option<u64> {
        match vk::ObjectType::from_raw(of.0) {
            vk::ObjectType::DEVICE => Some(of.1),
            vk::ObjectType::QUEUE => self.queues.get(&of.1).copied(),
            _ => None,
        }
    }

    /// Whether a device or the device of a queue is lost.
    pub fn is_lost(&self, of: Name) -> bool {
        self.device_of(of).is_some_and(|device| self.lost.contains_key(&device))
    }

    /// A device is lost.
    pub fn lose(&mut self, of: Name) {
        if let Some(device) = self.device_of(of) {
            self.lost.insert(device, None);
        }
    }

    /// What is known of a lost device; outer `None`: it is not lost.
    pub fn settled(&self, device: u64) -> Option<Option<bool>> {
        self.lost.get(&device).copied()
    }

    /// Notes whether a lost device has finished its work.
    pub fn settle(&mut self, device: u64, finished: bool) {
        self.lost.insert(device, Some(finished));
        if !finished {
            self.misuse
                .push("after the device was lost its objects went while it waited for a signal that never came".into());
        }
    }

    /// A device is gone: its handle may come again.
    pub fn forget_device(&mut self, device: u64) {
        self.lost.remove(&device);
        self.queues.retain(|_, of| *of != device);
    }
}
