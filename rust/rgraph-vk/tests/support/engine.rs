//! An engine's own instance and device for tests, with a messenger that keeps what layers complain of.

use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, PoisonError};

use ash::{ext, vk};
use rgraph_vk::{BorrowedDevice, BorrowedQueue, EnabledFeatures, EntryTable};

use super::demand::demand;

/// An instance and a device, made as an engine makes them.
pub struct Engine {
    entry: ash::Entry,
    instance: ash::Instance,
    debug: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    messages: Box<Mutex<Vec<String>>>,
    pub physical: vk::PhysicalDevice,
    pub raw: ash::Device,
    pub family: u32,
    pub queue: vk::Queue,
    pub enabled: EnabledFeatures,
    extensions: Vec<CString>,
}

/// Features and extensions that an engine asks for beyond those that rgraph needs.
#[derive(Default)]
pub struct Wish<'a> {
    pub core: vk::PhysicalDeviceFeatures,
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Without synchronization2 and dynamicRendering.
    pub bare: bool,
    pub extensions: &'a [&'a CStr],
    pub instance_extensions: &'a [&'a CStr],
}

unsafe extern "system" fn keep(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer gives valid data, and the engine keeps its list until the messenger is gone.
    let (data, list) = unsafe { (&*data, &*user.cast::<Mutex<Vec<String>>>()) };
    // SAFETY: a text with an end, if there is one.
    let text = unsafe { data.message_as_c_str() }.map(|text| text.to_string_lossy().into_owned());
    list.lock().unwrap_or_else(PoisonError::into_inner).push(text.unwrap_or_default());
    vk::FALSE
}

impl Engine {
    /// The first device with graphics, if there is one.
    pub fn new(wish: Wish<'_>) -> Option<Self> {
        demand(Self::make(wish))
    }

    fn make(wish: Wish<'_>) -> Result<Self, String> {
        let Wish { core, v12, bare, extensions, instance_extensions } = wish;
        let as_text = |error: vk::Result| format!("{error:?}");
        // SAFETY: handles are used in the order in which they are made, and destroyed in `drop`.
        unsafe {
            let entry = ash::Entry::load().map_err(|error| error.to_string())?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let known = entry.enumerate_instance_extension_properties(None).map_err(as_text)?;
            let labels = known.iter().any(|one| one.extension_name_as_c_str() == Ok(ext::debug_utils::NAME));
            let names = labels.then_some(ext::debug_utils::NAME).into_iter().chain(instance_extensions.iter().copied());
            let owned: Vec<CString> = names.map(CStr::to_owned).collect();
            let names: Vec<_> = owned.iter().map(|name| name.as_ptr()).collect();
            let info = vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).map_err(as_text)?;
            let messages: Box<Mutex<Vec<String>>> = Box::default();
            let debug = labels.then(|| {
                use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
                let functions = ext::debug_utils::Instance::new(&entry, &instance);
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(Severity::WARNING | Severity::ERROR)
                    .message_type(Kind::VALIDATION)
                    .pfn_user_callback(Some(keep))
                    .user_data(std::ptr::from_ref(&*messages).cast_mut().cast());
                functions.create_debug_utils_messenger(&info, None).map(|made| (functions, made))
            });
            let debug = debug.transpose().map_err(as_text)?;
            let physical = *instance.enumerate_physical_devices().map_err(as_text)?.first().ok_or("no device")?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let can = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let family = families.iter().position(|one| one.queue_flags.contains(can)).ok_or("no graphics")? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let mut v12 = v12.timeline_semaphore(true);
            let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
                .synchronization2(!bare)
                .dynamic_rendering(!bare)
                .maintenance4(true)
                .shader_zero_initialize_workgroup_memory(true);
            let mut all = vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut v12).push_next(&mut v13);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut all);
            let raw = instance.create_device(physical, &info, None).map_err(as_text)?;
            let (queue, enabled) = (raw.get_device_queue(family, 0), EnabledFeatures::of(&info));
            let extensions = owned;
            Ok(Self { entry, instance, debug, messages, physical, raw, family, queue, enabled, extensions })
        }
    }

    /// The description that rgraph gets of it.
    pub fn lent(&self) -> BorrowedDevice {
        let (entry, queues) = (EntryTable(self.entry.clone()), vec![BorrowedQueue::new(self.family, self.queue)]);
        let mut out = BorrowedDevice::new(entry, self.instance.handle(), self.physical, self.raw.handle(), queues);
        out.enabled = self.enabled.clone();
        out.instance_extensions.clone_from(&self.extensions);
        out
    }

    /// The instance's functions.
    pub fn instance(&self) -> &ash::Instance {
        &self.instance
    }

    /// The loader's functions.
    pub fn entry(&self) -> &ash::Entry {
        &self.entry
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: all that borrowed the device is dropped.
        unsafe {
            let _ = self.raw.device_wait_idle();
            self.raw.destroy_device(None);
            if let Some((functions, messenger)) = self.debug.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
        let messages = std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner));
        if !std::thread::panicking() {
            assert_eq!(messages, Vec::<String>::new(), "the layers stay silent");
        }
    }
}
