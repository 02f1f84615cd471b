//! What there is of Vulkan on a machine, looked at without needing any of it: for `rgraph doctor`.

use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

use ash::{ext, vk};
use rgraph_plan::profile::Profile;

use crate::device::DeviceOptions;
use crate::device::context::{Context, Messages, Watch, load};
use crate::device::create::{features, profile};
use crate::device::physical::{self, DeviceInfo, Physical};
use crate::error::{Called, Error};
use crate::frame::clock;

/// What there is of Vulkan on a machine.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// The loader's file: the one that is in the process, else the one that was looked for.
    pub loader: String,
    /// Its version; `None`: it could not be opened, or does not say.
    pub version: Option<[u32; 3]>,
    /// Why it could not be opened or asked.
    pub loader_error: Option<String>,
    /// Why no instance could be made of it, or its devices not listed: the call and its result.
    pub instance_error: Option<String>,
    /// Instance extensions of the loader and the drivers.
    pub extensions: Vec<String>,
    /// Layers that could be switched on.
    pub layers: Vec<Layer>,
    /// Messages of the loader about drivers and layers that it could not use, and of drivers about themselves.
    pub messages: Vec<String>,
    /// Devices, usable or not, in the order of [`crate::devices`].
    pub devices: Vec<DeviceDiagnosis>,
}

/// A layer that the loader finds.
#[derive(Clone, Debug)]
pub struct Layer {
    pub name: String,
    /// Version of Vulkan that it was written for.
    pub version: [u32; 3],
    /// Its own version.
    pub revision: u32,
    /// What it says of itself.
    pub description: String,
}

/// Something that a device may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feature {
    /// Vulkan's name of the feature or extension, or a few words.
    pub name: &'static str,
    /// Whether the device has it.
    pub has: bool,
    /// What wants it.
    pub wanted_by: &'static str,
}

/// A device, and what rgraph makes of it.
#[derive(Clone, Debug)]
pub struct DeviceDiagnosis {
    /// How it presents itself.
    pub info: DeviceInfo,
    /// Bytes in use and bytes to stay below of each heap, where the driver tells.
    pub budget: Option<Vec<[u64; 2]>>,
    /// What rgraph cannot do without.
    pub needs: Vec<Feature>,
    /// What some passes want.
    pub offers: Vec<Feature>,
    /// Why rgraph refuses it.
    pub refused: Option<String>,
    /// The device as the planner sees it, if it is not refused.
    pub profile: Option<Profile>,
}

/// Looks at loader, layers and devices. Whatever is missing or fails is part of the result, not an error.
pub fn diagnose(options: &DeviceOptions) -> Diagnosis {
    let named =
        options.loader.as_deref().map_or_else(|| "libvulkan.so.1".to_owned(), |path| path.display().to_string());
    let mut found = Diagnosis { loader: named, ..Diagnosis::default() };
    let entry =
        match options.entry.as_ref().map_or_else(|| load(options.loader.as_deref()), |table| Ok(table.0.clone())) {
            Ok(entry) => entry,
            Err(error) => {
                found.loader_error = Some(text_of(&error));
                return found;
            }
        };
    found.loader = in_process(&found.loader).unwrap_or(found.loader);
    // SAFETY: the entry is loaded.
    match unsafe { entry.try_enumerate_instance_version() } {
        Ok(version) => found.version = Some(numbers(version.unwrap_or(vk::API_VERSION_1_0))),
        Err(result) => found.loader_error = Some(format!("vkEnumerateInstanceVersion: {result:?}")),
    }
    // SAFETY: no layer is named, so this asks the loader itself.
    if let Ok(extensions) = unsafe { entry.enumerate_instance_extension_properties(None) } {
        found.extensions = extensions.iter().filter_map(|one| text(one.extension_name_as_c_str())).collect();
    }
    // SAFETY: the entry is loaded.
    if let Ok(layers) = unsafe { entry.enumerate_instance_layer_properties() } {
        found.layers = layers.iter().filter_map(layer).collect();
    }
    let messages = Arc::new(Messages::default());
    match Context::of_entry(entry, Watch::default(), false, messages.clone(), None)
        .and_then(|context| devices(&context))
    {
        Ok(devices) => found.devices = devices,
        Err(error) => found.instance_error = Some(text_of(&error)),
    }
    found.messages = messages.of_loader();
    found.messages.extend(messages.all());
    found
}

fn devices(context: &Context) -> Result<Vec<DeviceDiagnosis>, Error> {
    physical::list(context)?.into_iter().map(|device| look(context, device)).collect()
}

fn look(context: &Context, device: Physical) -> Result<DeviceDiagnosis, Error> {
    let instance = context.raw();
    // SAFETY: the physical device is of this instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device.raw) };
    let extensions = extensions.called("vkEnumerateDeviceExtensionProperties")?;
    let budget = physical::has_extension(&extensions, ext::memory_budget::NAME).then(|| {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the device knows the struct.
        unsafe { instance.get_physical_device_memory_properties2(device.raw, &mut properties) };
        let heaps = properties.memory_properties.memory_heap_count as usize;
        (0..heaps).map(|heap| [budget.heap_usage[heap], budget.heap_budget[heap]]).collect()
    });
    let needs: Vec<_> =
        device.info.needs.iter().map(|&(name, has)| Feature { name, has, wanted_by: needed_by(name) }).collect();
    let lacks: Vec<_> = needs.iter().filter(|need| !need.has).map(|need| need.name).collect();
    let refused = (!lacks.is_empty()).then(|| format!("it has no {}", lacks.join(", no ")));
    let profile = refused
        .is_none()
        .then(|| Profile { features: Some(features(context, &device, &extensions)), ..profile(context, &device, 1) });
    let offers = offers(context, &device, &extensions);
    Ok(DeviceDiagnosis { info: device.info, budget, needs, offers, refused, profile })
}

fn needed_by(name: &str) -> &'static str {
    match name {
        "Vulkan 1.3" => "everything: the runtime calls its functions",
        "timelineSemaphore" => "every graph: orders queues, frames and passes on the CPU",
        "synchronization2" => "every graph: barriers are written with it",
        "dynamicRendering" => "raster passes: they have no render-pass objects",
        "maintenance4" => "every graph: sizes of resources are known before they are made, so that they share memory",
        "shaderZeroInitializeWorkgroupMemory" => "shaders with workgroup variables: they begin with zeros",
        _ => "every graph",
    }
}

fn offers(context: &Context, device: &Physical, extensions: &[vk::ExtensionProperties]) -> Vec<Feature> {
    let mut has12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut has13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut has11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut has = vk::PhysicalDeviceFeatures2::default();
    let [major, minor, _] = device.info.api;
    if (major, minor) >= (1, 3) {
        has = has.push_next(&mut has11).push_next(&mut has12).push_next(&mut has13);
    }
    // SAFETY: a device of version 1.3 knows the structs of the chain; an older one gets none.
    unsafe { context.raw().get_physical_device_features2(device.raw, &mut has) };
    let core = has.features;
    let yes = |bit: vk::Bool32| bit == vk::TRUE;
    let families = &device.info.families;
    let extension = |name: &CStr| physical::has_extension(extensions, name);
    let clock = clock::extension(context, device.raw, extension).is_some();
    [
        ("samplerAnisotropy", yes(core.sampler_anisotropy), "Sampler(anisotropy=…); without it: ignored"),
        ("fillModeNonSolid", yes(core.fill_mode_non_solid), "raster(wireframe=True)"),
        ("multiDrawIndirect", yes(core.multi_draw_indirect), "raster(indirect=…, draws=…) above one"),
        ("drawIndirectFirstInstance", yes(core.draw_indirect_first_instance), "indirect draws with a first instance"),
        ("independentBlend", yes(core.independent_blend), "raster(blend=[…]) that differs from target to target"),
        ("imageCubeArray", yes(core.image_cube_array), "shaders that read arrays of cubes"),
        ("sampleRateShading", yes(core.sample_rate_shading), "fragment shaders that run once a sample"),
        ("shaderImageGatherExtended", yes(core.shader_image_gather_extended), "textureGather with offsets"),
        (
            "shaderStorageImageExtendedFormats",
            yes(core.shader_storage_image_extended_formats),
            "storage images of one or two channels, or of 10 and 11 bits",
        ),
        (
            "shaderStorageImageReadWithoutFormat",
            yes(core.shader_storage_image_read_without_format),
            "GLSL and SPIR-V that read storage images of no format",
        ),
        (
            "shaderStorageImageWriteWithoutFormat",
            yes(core.shader_storage_image_write_without_format),
            "GLSL and SPIR-V that write storage images of no format",
        ),
        ("shaderInt16", yes(core.shader_int16), "shaders with 16-bit integers"),
        ("shaderInt64", yes(core.shader_int64), "shaders with 64-bit integers"),
        ("shaderFloat64", yes(core.shader_float64), "shaders with 64-bit floats"),
        ("shaderFloat16", yes(has12.shader_float16), "shaders with 16-bit floats (WGSL: enable f16)"),
        ("shaderInt8", yes(has12.shader_int8), "GLSL and SPIR-V with 8-bit integers"),
        ("storageBuffer8BitAccess", yes(has12.storage_buffer8_bit_access), "8-bit values in storage buffers"),
        ("robustBufferAccess", yes(core.robust_buffer_access), "GLSL and SPIR-V whose indices leave a buffer"),
        ("robustImageAccess", yes(has13.robust_image_access), "GLSL and SPIR-V whose texels leave an image"),
        ("storageBuffer16BitAccess", yes(has11.storage_buffer16_bit_access), "16-bit values in storage buffers"),
        ("multiview", yes(has11.multiview), "GLSL and SPIR-V that draw several views at once"),
        (
            "geometryShader",
            yes(core.geometry_shader),
            "GLSL and SPIR-V that read the primitive's number or write the layer",
        ),
        ("shaderClipDistance", yes(core.shader_clip_distance), "vertex shaders that clip with distances"),
        ("pipelineStatisticsQuery", yes(core.pipeline_statistics_query), "run(statistics=True)"),
        ("hostQueryReset", yes(has12.host_query_reset), "times of passes in reports"),
        ("timestamps", families.iter().any(|family| family.timestamp_bits > 0), "times of passes in reports"),
        ("VK_KHR_calibrated_timestamps", clock, "the host's times on the passes' clock in reports"),
        ("VK_EXT_memory_budget", extension(ext::memory_budget::NAME), "budget and use of memory heaps in reports"),
        ("VK_EXT_debug_utils", context.labels, "names of passes and resources in debuggers and messages"),
    ]
    .into_iter()
    .map(|(name, has, wanted_by)| Feature { name, has, wanted_by })
    .collect()
}

fn text_of(error: &Error) -> String {
    let Error::Device(error) = error else { return error.to_string() };
    match (error.call, error.result) {
        (Some(call), Some(result)) => format!("{call}: {result:?}"),
        _ if error.notes.is_empty() => error.message.clone(),
        _ => error.notes.join("; "),
    }
}

fn numbers(version: u32) -> [u32; 3] {
    [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)]
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> Option<String> {
    name.ok().map(|name| name.to_string_lossy().into_owned())
}

fn layer(found: &vk::LayerProperties) -> Option<Layer> {
    Some(Layer {
        name: text(found.layer_name_as_c_str())?,
        version: numbers(found.spec_version),
        revision: found.implementation_version,
        description: text(found.description_as_c_str())?,
    })
}

/// The whole path of a library of this process, where the system lists them.
fn in_process(name: &str) -> Option<String> {
    let file = Path::new(name).file_name()?.to_str()?.to_owned();
    let stem = file.split(".so").next()?.to_owned() + ".so";
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let fits = |path: &&str| Path::new(path).file_name().is_some_and(|of| of.to_string_lossy().starts_with(&stem));
    paths.into_iter().find(fits).map(str::to_owned)
}
