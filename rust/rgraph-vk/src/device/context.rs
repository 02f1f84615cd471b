//! The loader, the instance, its messages, and the devices that it knows.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ash::{ext, vk};

use crate::device::lend::HostAllocator;
use crate::device::process::{Alive, Process};
use crate::error::{Called, Code, DeviceError, Error};
use crate::window;

/// Most messages kept; later ones still go to the log.
const MOST_MESSAGES: usize = 1000;

/// Most bytes of a path that Linux opens: `PATH_MAX` with its terminator.
const LONGEST_PATH: usize = 4095;

/// Name of the validation layer.
const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Warnings and errors so far.
#[derive(Default, Debug)]
pub(crate) struct Messages {
    received: Mutex<Vec<String>>,
    loader: Mutex<Vec<String>>,
}

impl Messages {
    /// Those of layers and drivers.
    pub(crate) fn all(&self) -> Vec<String> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those of the loader: drivers and layers that it looked at and could not use.
    pub(crate) fn of_loader(&self) -> Vec<String> {
        self.loader.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn push(to: &Mutex<Vec<String>>, message: String) {
    let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < MOST_MESSAGES {
        kept.push(message);
    }
}

/// A Vulkan function table of the caller's.
#[derive(Clone)]
pub struct EntryTable(pub ash::Entry);

impl EntryTable {
    /// That of the Vulkan loader at `path`, or of a driver itself; `None`: the system's loader.
    ///
    /// # Errors
    /// RG-E101 if it cannot be opened.
    pub fn load(path: Option<&Path>) -> Result<Self, Error> {
        load(path).map(Self)
    }
}

impl std::fmt::Debug for EntryTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EntryTable")
    }
}

/// How an instance is made.
#[derive(Clone, Default)]
pub(crate) struct ContextOptions {
    /// The Vulkan loader, or a driver itself; `None`: the system's.
    pub loader: Option<PathBuf>,
    /// A function table of the caller's instead of a loader.
    pub entry: Option<ash::Entry>,
    /// Whether the validation layer watches.
    pub validation: bool,
    /// Whether it prints what shaders print; it then watches, too.
    pub printf: bool,
    /// Whether surfaces of windows are made of the instance.
    pub windows: bool,
    /// Callbacks of an engine's that the instance and its objects are made with.
    pub host: Option<HostAllocator>,
}

impl std::fmt::Debug for ContextOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContextOptions")
            .field("loader", &self.loader)
            .field("entry", &self.entry.is_some())
            .field("validation", &self.validation)
            .field("printf", &self.printf)
            .field("windows", &self.windows)
            .field("host", &self.host)
            .finish()
    }
}

/// What the validation layer does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// It watches calls.
    pub validation: bool,
    /// It prints what shaders print.
    pub printf: bool,
}

/// An instance, its messages, and the library that it came from.
pub(crate) struct Context {
    /// Keeps the library loaded.
    entry: ManuallyDrop<ash::Entry>,
    raw: ash::Instance,
    debug: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    messages: Arc<Messages>,
    /// Whether debug names and labels can be given.
    pub labels: bool,
    /// Whether what shaders print is logged.
    pub printf: bool,
    /// Extensions for surfaces that the instance was made with.
    pub surfaces: Vec<&'static CStr>,
    owned: bool,
    /// Callbacks that objects are made with.
    host: Option<HostAllocator>,
    /// The process whose objects all of its objects are.
    pub process: Process,
    /// Of an instance of its own.
    _alive: Option<Alive>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context")
    }
}

impl Context {
    /// Makes an instance of Vulkan 1.3; for surfaces of windows only if they are asked for.
    ///
    /// # Errors
    /// RG-E101 if there is no loader or it refuses; RG-E105 in the fork of a process that had an instance; RG-E106 if
    /// validation is asked for and the layer is missing; RG-E107 if windows are, and there is no driver for them.
    pub(crate) fn new(options: &ContextOptions) -> Result<Arc<Self>, Error> {
        let entry = match &options.entry {
            Some(entry) => entry.clone(),
            None => load(options.loader.as_deref())?,
        };
        let ContextOptions { validation, printf, windows, .. } = *options;
        let watch = Watch { validation, printf };
        Self::of_entry(entry, watch, windows, Arc::default(), options.host).map_err(refused)
    }

    /// The same of a loader that is open; errors of calls as they are.
    ///
    /// # Errors
    /// As [`Context::new`], but of `vkCreateInstance` as it failed.
    pub(crate) fn of_entry(
        entry: ash::Entry,
        watch: Watch,
        windows: bool,
        messages: Arc<Messages>,
        host: Option<HostAllocator>,
    ) -> Result<Arc<Self>, Error> {
        let alive = Some(Alive::count()?);
        let Watch { validation, printf } = watch;
        let validation = validation || printf;
        // To answer what stands before an instance, loaders open drivers and close them again.
        let alone = crate::device::driver::alone();
        // SAFETY: the entry is loaded.
        let version = unsafe { entry.try_enumerate_instance_version() }.called("vkEnumerateInstanceVersion")?;
        if version.is_none_or(|version| version < vk::API_VERSION_1_1) {
            let error = DeviceError::new(
                Code::NoDriver,
                "the Vulkan loader is older than 1.1",
                "install a newer libvulkan1; `rgraph doctor` says which one is found",
            );
            return Err(error.into());
        }
        // SAFETY: no layer is named, so this asks the loader itself.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) };
        let extensions = extensions.called("vkEnumerateInstanceExtensionProperties")?;
        let labels = extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(ext::debug_utils::NAME));
        let mut layers: Vec<*const c_char> = Vec::new();
        if validation {
            // SAFETY: the entry is loaded.
            let known = unsafe { entry.enumerate_instance_layer_properties() };
            let known = known.called("vkEnumerateInstanceLayerProperties")?;
            if !known.iter().any(|one| one.layer_name_as_c_str() == Ok(LAYER)) {
                let help = "apt-get install -y --no-install-recommends vulkan-validationlayers";
                let message = "validation was asked for, but the layer VK_LAYER_KHRONOS_validation is not installed";
                return Err(DeviceError::new(Code::NoLayer, message, help).into());
            }
            layers.push(LAYER.as_ptr());
        }
        let surfaces = if windows { window::instance_extensions(&extensions)? } else { Vec::new() };
        let named = labels.then_some(ext::debug_utils::NAME).into_iter().chain(surfaces.iter().copied());
        let names: Vec<_> = named.map(CStr::as_ptr).collect();
        let application = vk::ApplicationInfo::default()
            .application_name(c"rgraph")
            .engine_name(c"rgraph")
            .api_version(vk::API_VERSION_1_3);
        let mut messenger = messenger_info(&messages, printf);
        let enabled =
            [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION, vk::ValidationFeatureEnableEXT::DEBUG_PRINTF];
        let enabled = if printf { &enabled[..] } else { &enabled[..1] };
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(enabled);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&names);
        if validation {
            info = info.push_next(&mut features);
        }
        if labels {
            info = info.push_next(&mut messenger);
        }
        // SAFETY: everything that the info points to lives until the call returns; `messages` outlives the instance.
        let made = unsafe { entry.create_instance(&info, host.as_ref().map(HostAllocator::raw)) };
        let raw = made.called("vkCreateInstance")?;
        drop(alone);
        let entry = ManuallyDrop::new(entry);
        let process = Process::current();
        let mut context = Self {
            entry,
            raw,
            debug: None,
            messages,
            labels,
            printf,
            surfaces,
            owned: true,
            host,
            process,
            _alive: alive,
        };
        if labels {
            let debug = ext::debug_utils::Instance::new(&context.entry, &context.raw);
            let info = messenger_info(&context.messages, printf);
            // SAFETY: the instance was created with the extension.
            let messenger = unsafe { debug.create_debug_utils_messenger(&info, context.host()) };
            context.debug = Some((debug, messenger.called("vkCreateDebugUtilsMessengerEXT")?));
        }
        Ok(Arc::new(context))
    }

    /// Borrows an instance of the caller's, made with some extensions.
    ///
    /// # Safety
    /// `instance` belongs to `entry`, was made for Vulkan 1.3, and outlives the context and everything made of it.
    pub(crate) unsafe fn borrow(
        entry: ash::Entry,
        instance: vk::Instance,
        extensions: &[CString],
        host: Option<HostAllocator>,
    ) -> Arc<Self> {
        // SAFETY: the caller says that the handle is valid and of this entry.
        let raw = unsafe { ash::Instance::load(entry.static_fn(), instance) };
        let (entry, process) = (ManuallyDrop::new(entry), Process::current());
        let has = |name: &CStr| extensions.iter().any(|one| **one == *name);
        Arc::new(Self {
            entry,
            raw,
            debug: None,
            messages: Arc::default(),
            labels: has(ext::debug_utils::NAME),
            printf: false,
            surfaces: window::surface_extensions().filter(|name| has(name)).collect(),
            owned: false,
            host,
            process,
            _alive: None,
        })
    }

    /// The loader's functions.
    pub(crate) fn entry(&self) -> &ash::Entry {
        &self.entry
    }

    /// The instance.
    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Callbacks that objects are made and destroyed with.
    pub(crate) fn host(&self) -> Option<&vk::AllocationCallbacks<'static>> {
        self.host.as_ref().map(HostAllocator::raw)
    }

    /// The same, to be kept.
    pub(crate) fn lent(&self) -> Option<HostAllocator> {
        self.host
    }

    /// Warnings and errors of layers and drivers so far.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.all()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // A fork's copy: the instance is the parent's, and the driver's threads are not here.
            return;
        }
        let _alone = crate::device::driver::alone();
        if let Some((debug, messenger)) = self.debug.take() {
            // SAFETY: made of this instance, which is still there.
            unsafe { debug.destroy_debug_utils_messenger(messenger, self.host()) };
        }
        if self.owned {
            // SAFETY: devices hold the context, so none is left.
            unsafe { self.raw.destroy_instance(self.host()) };
        }
        // SAFETY: dropped here only, and nothing of it is used any more.
        unsafe { ManuallyDrop::drop(&mut self.entry) };
    }
}

/// Opens the loader (or a driver itself).
///
/// # Errors
/// RG-E101 if it cannot be opened; RG-E105 in the fork of a process that had an instance.
pub(crate) fn load(path: Option<&Path>) -> Result<ash::Entry, Error> {
    // Before the dynamic linker, which has a lock of its own.
    drop(Alive::count()?);
    // The dynamic linker keeps the name on its stack.
    if let Some(path) = path.filter(|path| path.as_os_str().len() > LONGEST_PATH) {
        let message = format!("the loader's path has {} bytes", path.as_os_str().len());
        let help = format!("give a path of at most {LONGEST_PATH} bytes");
        return Err(DeviceError::new(Code::NoDriver, message, help).into());
    }
    let entry = match path {
        // SAFETY: loading a Vulkan loader runs its initialisers, as every Vulkan program does.
        Some(path) => unsafe { ash::Entry::load_from(path) },
        // SAFETY: as above.
        None => unsafe { ash::Entry::load() },
    };
    entry.map_err(|error| {
        let failed = match path {
            Some(path) => {
                DeviceError::new(Code::NoDriver, format!("\"{}\" is no Vulkan loader", path.display()), advice(path))
            }
            None => DeviceError::new(Code::NoDriver, "no Vulkan driver found (planning still works)", without_driver()),
        };
        let named = path.unwrap_or(Path::new("libvulkan.so.1")).display();
        failed.note(format!("loader: {named}: {error}")).into()
    })
}

/// The hint for a path of a loader that cannot be opened.
fn advice(path: &Path) -> String {
    if path.is_dir() {
        format!("name the library in it, such as {}", path.join("libvulkan.so.1").display())
    } else if path.extension().is_some_and(|suffix| suffix == "json") {
        format!("leave `loader` out and set VK_DRIVER_FILES={}: a manifest is for the loader to read", path.display())
    } else if path.components().count() > 1 && !path.exists() {
        "give the path of a file that exists, or leave `loader` out for the system's".to_owned()
    } else {
        "give the path of libvulkan.so.1 or of a driver's library, or leave `loader` out for the system's".to_owned()
    }
}

/// The line that gives a machine without a GPU a driver.
pub(crate) const INSTALL: &str = "apt-get install -y --no-install-recommends mesa-vulkan-drivers";

/// What to do where no driver answers.
pub(crate) fn without_driver() -> String {
    format!("`rgraph doctor` names what is missing; without a GPU: {INSTALL}")
}

fn refused(error: Error) -> Error {
    let Error::Device(failed) = error else { return error };
    match (failed.call, failed.result) {
        // What loaders of 1.3.239 and around make of a driver's manifest that is no JSON.
        (Some("vkEnumerateInstanceExtensionProperties"), Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY)) => DeviceError {
            code: Code::NoDriver,
            message: "the loader cannot list its drivers; the manifest of one may be damaged".to_owned(),
            help: "`rgraph doctor` names the damaged manifest".to_owned(),
            ..*failed
        }
        .into(),
        (
            Some("vkCreateInstance"),
            Some(result @ (vk::Result::ERROR_INCOMPATIBLE_DRIVER | vk::Result::ERROR_INITIALIZATION_FAILED)),
        ) => DeviceError::new(Code::NoDriver, "no Vulkan driver found (planning still works)", without_driver())
            .note(format!("loader: found; drivers: none that answers (vkCreateInstance: {result:?})"))
            .into(),
        _ => Error::Device(failed),
    }
}

fn messenger_info(messages: &Arc<Messages>, printf: bool) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR | if printf { Severity::INFO } else { Severity::empty() })
        .message_type(Kind::GENERAL | Kind::VALIDATION | Kind::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(messages).cast_mut().cast())
}

/// Hands a message to the log and keeps it.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    let text = |text: *const c_char| {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: Vulkan passes terminated strings.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    // SAFETY: Vulkan passes valid callback data.
    let Some(data) = (unsafe { data.as_ref() }) else { return vk::FALSE };
    let (id, message) = (text(data.p_message_id_name), text(data.p_message));
    if id == "Loader Message" || kind == vk::DebugUtilsMessageTypeFlagsEXT::GENERAL && id.is_empty() {
        log::debug!(target: "rgraph", "{message}");
        // SAFETY: the context keeps the messages while the instance and its messenger live.
        if let Some(messages) = unsafe { user.cast::<Messages>().as_ref() } {
            push(&messages.loader, message);
        }
        return vk::FALSE;
    }
    if id.ends_with("DEBUG-PRINTF") {
        log::info!(target: PRINTF, "{}", printed(&message));
        return vk::FALSE;
    }
    if severity == vk::DebugUtilsMessageSeverityFlagsEXT::INFO {
        return vk::FALSE;
    }
    let level = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        log::Level::Error
    } else {
        log::Level::Warn
    };
    log::log!(target: "rgraph", level, "{id}: {message}");
    // SAFETY: the context keeps the messages while the instance and its messenger live.
    if let Some(messages) = unsafe { user.cast::<Messages>().as_ref() } {
        push(&messages.received, format!("{id}: {message}"));
    }
    vk::FALSE
}

/// The target of what shaders print.
const PRINTF: &str = "rgraph.printf";

/// The text of a shader's print out of the layer's message. Layers up to 1.3.280 put it behind the objects and the
/// number of the message, later ones behind a title.
fn printed(message: &str) -> &str {
    let behind = message.split_once("| MessageID = ").and_then(|(_, rest)| rest.split_once(" | "));
    let text = behind.map_or(message, |(_, text)| text);
    text.strip_prefix("Debug Printf:").unwrap_or(text).trim()
}

/// A name for the driver; bytes after a NUL are dropped.
pub(crate) fn c_string(name: &str) -> CString {
    let end = name.find('\0').unwrap_or(name.len());
    CString::new(&name[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::printed;

    #[test]
    fn what_a_shader_prints_is_taken_out_of_the_message() {
        let old = "Validation Information: [ UNASSIGNED-DEBUG-PRINTF ] Object 0: handle = 0x55, type = VK_OBJECT_TYPE_DEVICE; \
                   | MessageID = 0x92394c89 | a | b = 3";
        assert_eq!(printed(old), "a | b = 3");
        assert_eq!(printed("Debug Printf:\na | b = 3\n"), "a | b = 3");
        assert_eq!(printed("plain"), "plain");
    }
}
