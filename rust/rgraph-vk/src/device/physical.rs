//! The devices that an instance knows: what they are, what they lack, and which one is meant.

use ash::{ext, vk};
use rgraph_plan::profile::Capabilities;

use crate::device::context::{Context, INSTALL, without_driver};
use crate::error::{Called, Code, DeviceError, Error};

/// What kind of device it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// Something else.
    Other,
    Cpu,
}

impl DeviceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Cpu => "cpu",
        }
    }
}

/// Queues of one kind that a physical device offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct QueueFamily {
    /// How many queues it has.
    pub count: u32,
    /// What they can do.
    pub capabilities: Capabilities,
    /// Bits of its timestamps; 0: it has none.
    pub timestamp_bits: u32,
}

/// A memory heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HeapInfo {
    /// Bytes.
    pub size: u64,
    /// Whether it is the device's own.
    pub device_local: bool,
}

/// A device as it presents itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the list of devices: real GPUs before CPU ones.
    pub index: usize,
    pub name: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// Its UUID, equal to CUDA's on NVIDIA.
    pub uuid: [u8; 16],
    /// UUID of its driver: drivers with equal ones share memory and semaphores.
    pub driver_uuid: [u8; 16],
    /// Its place on the PCI bus, `0000:01:00.0`, where the driver tells.
    pub pci: Option<String>,
    /// Driver name and version.
    pub driver: String,
    /// Vulkan version.
    pub api: [u32; 3],
    /// Queue families by index.
    pub families: Vec<QueueFamily>,
    /// Memory heaps.
    pub heaps: Vec<HeapInfo>,
    /// What rgraph needs, and whether the device has it.
    pub needs: Vec<(&'static str, bool)>,
}

impl DeviceInfo {
    /// UUID as people write it.
    pub fn uuid_text(&self) -> String {
        uuid_text(&self.uuid)
    }

    /// UUID of its driver as people write it.
    pub fn driver_uuid_text(&self) -> String {
        uuid_text(&self.driver_uuid)
    }

    /// Whether rgraph can run on it.
    pub fn is_usable(&self) -> bool {
        self.needs.iter().all(|(_, has)| *has)
    }

    fn line(&self) -> String {
        let pci = self.pci.as_deref().unwrap_or("-");
        let needs: Vec<_> =
            self.needs.iter().map(|(name, has)| format!("{name} {}", if *has { '✓' } else { '✗' })).collect();
        let needs = if self.is_usable() { String::new() } else { format!("  refused: {}", needs.join(" ")) };
        let (kind, uuid) = (self.kind.name(), self.uuid_text());
        format!("{}: {} ({kind})  uuid:{uuid}  pci:{pci}{needs}", self.index, self.name)
    }
}

/// A device of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Physical {
    /// Its handle.
    pub raw: vk::PhysicalDevice,
    /// How it presents itself.
    pub info: DeviceInfo,
}

/// All devices: discrete, integrated, virtual, other, CPU; within a kind as the driver lists them.
///
/// # Errors
/// If the driver fails.
pub(crate) fn list(context: &Context) -> Result<Vec<Physical>, Error> {
    // SAFETY: the instance lives.
    let raws = unsafe { context.raw().enumerate_physical_devices() };
    let raws = match raws {
        Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Vec::new(),
        other => other.called("vkEnumeratePhysicalDevices")?,
    };
    let mut devices = raws
        .into_iter()
        .map(|raw| Ok(Physical { raw, info: describe(context, raw)? }))
        .collect::<Result<Vec<_>, Error>>()?;
    devices.sort_by_key(|device| device.info.kind);
    for (index, device) in devices.iter_mut().enumerate() {
        device.info.index = index;
    }
    Ok(devices)
}

/// The device that `selector` means (`uuid:…`, `pci:…`, `name:…` or an index), else the first usable one.
///
/// # Errors
/// RG-E101 if there is none at all, RG-E103 if none fits (listing what exists), RG-E102 if it lacks something.
pub(crate) fn choose(devices: Vec<Physical>, selector: Option<&str>) -> Result<Physical, Error> {
    if devices.is_empty() {
        let error = DeviceError::new(Code::NoDriver, "no Vulkan device found (planning still works)", without_driver());
        return Err(error.note("loader: found; devices: none").into());
    }
    let lines = |error: DeviceError| devices.iter().fold(error, |error, device| error.note(device.info.line()));
    let Some(selector) = selector.map(str::trim).filter(|selector| !selector.is_empty()) else {
        return devices.iter().find(|device| device.info.is_usable()).cloned().ok_or_else(|| {
            let help = "install a driver for Vulkan 1.3, or a software one: ".to_owned() + INSTALL;
            lines(DeviceError::new(Code::Missing, "no device has all that rgraph needs", help)).into()
        });
    };
    let wanted = selector.to_lowercase();
    let fits = |device: &Physical| match wanted.split_once(':') {
        Some(("uuid", uuid)) => {
            let plain = |text: &str| text.replace('-', "");
            !uuid.is_empty() && plain(&device.info.uuid_text()).starts_with(&plain(uuid.trim_start_matches("gpu-")))
        }
        Some(("pci", pci)) => {
            !pci.is_empty()
                && device.info.pci.as_deref().is_some_and(|has| has == pci || has.ends_with(&format!(":{pci}")))
        }
        Some(("name", name)) => !name.is_empty() && device.info.name.to_lowercase().contains(name),
        _ => wanted.parse() == Ok(device.info.index),
    };
    let Some(found) = devices.iter().find(|device| fits(device)) else {
        let message = format!("no device is \"{selector}\"");
        let help = "use uuid:…, pci:…, name:… (part of the name) or an index of this list";
        return Err(lines(DeviceError::new(Code::NoSuchDevice, message, help)).into());
    };
    if !found.info.is_usable() {
        let message = format!("{} was refused", found.info.name);
        let needs: Vec<_> =
            found.info.needs.iter().map(|(name, has)| format!("{name} {}", if *has { '✓' } else { '✗' })).collect();
        let error = DeviceError::new(Code::Missing, message, "use a newer driver, or another device");
        return Err(error.note(format!("needs {}", needs.join(" "))).into());
    }
    Ok(found.clone())
}

/// A UUID as people write it.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn text(chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a device offers an extension.
pub(crate) fn has_extension(extensions: &[vk::ExtensionProperties], name: &std::ffi::CStr) -> bool {
    extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(name))
}

fn describe(context: &Context, raw: vk::PhysicalDevice) -> Result<DeviceInfo, Error> {
    let instance = context.raw();
    // SAFETY: the handle was just enumerated.
    let extensions = unsafe { instance.enumerate_device_extension_properties(raw) };
    let extensions = extensions.called("vkEnumerateDeviceExtensionProperties")?;
    let with_pci = has_extension(&extensions, ext::pci_bus_info::NAME);
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut ids).push_next(&mut driver);
    if with_pci {
        properties = properties.push_next(&mut pci);
    }
    // SAFETY: every struct of the chain is one that the device knows.
    unsafe { instance.get_physical_device_properties2(raw, &mut properties) };
    let basic = properties.properties;
    let version = basic.api_version;
    let api = [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)];
    // SAFETY: the handle was just enumerated.
    let families = unsafe { instance.get_physical_device_queue_family_properties(raw) };
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(raw) };
    let families: Vec<_> = families
        .iter()
        .map(|family| QueueFamily {
            count: family.queue_count,
            capabilities: capabilities(family.queue_flags),
            timestamp_bits: family.timestamp_valid_bits,
        })
        .collect();
    let mut needs = vec![("Vulkan 1.3", version >= vk::API_VERSION_1_3)];
    if version >= vk::API_VERSION_1_3 {
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut features12).push_next(&mut features13);
        // SAFETY: a device of version 1.3 knows these structs.
        unsafe { instance.get_physical_device_features2(raw, &mut features) };
        needs.extend([
            ("timelineSemaphore", features12.timeline_semaphore == vk::TRUE),
            ("synchronization2", features13.synchronization2 == vk::TRUE),
            ("dynamicRendering", features13.dynamic_rendering == vk::TRUE),
            ("maintenance4", features13.maintenance4 == vk::TRUE),
            ("shaderZeroInitializeWorkgroupMemory", features13.shader_zero_initialize_workgroup_memory == vk::TRUE),
        ]);
    }
    let compute = families.iter().any(|family| family.capabilities.contains(Capabilities::COMPUTE));
    needs.push(("a queue with compute", compute));
    Ok(DeviceInfo {
        index: 0,
        name: text(&basic.device_name),
        kind: match basic.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
            vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
            _ => DeviceKind::Other,
        },
        uuid: ids.device_uuid,
        driver_uuid: ids.driver_uuid,
        pci: with_pci
            .then(|| format!("{:04x}:{:02x}:{:02x}.{}", pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function)),
        driver: format!("{} {}", text(&driver.driver_name), text(&driver.driver_info)).trim().to_owned(),
        api,
        families,
        heaps: memory.memory_heaps[..memory.memory_heap_count as usize]
            .iter()
            .map(|heap| HeapInfo {
                size: heap.size,
                device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
            })
            .collect(),
        needs,
    })
}

/// What a queue family can do; graphics and compute queues can copy whether they say so or not.
fn capabilities(flags: vk::QueueFlags) -> Capabilities {
    let mut out = Capabilities::empty();
    out.set(Capabilities::GRAPHICS, flags.contains(vk::QueueFlags::GRAPHICS));
    out.set(Capabilities::COMPUTE, flags.contains(vk::QueueFlags::COMPUTE));
    let copies = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    out.set(Capabilities::TRANSFER, flags.intersects(copies));
    out
}
