//! Extensions that windows need.

use std::ffi::CStr;

use ash::{ext, khr, vk};

use crate::device::context::Context;
use crate::device::physical::{Physical, has_extension};
use crate::error::{Code, DeviceError, Error};

/// Platforms whose windows become surfaces, and colour spaces beyond sRGB.
const PLATFORMS: [&CStr; 9] = [
    khr::xlib_surface::NAME,
    khr::xcb_surface::NAME,
    khr::wayland_surface::NAME,
    khr::win32_surface::NAME,
    khr::android_surface::NAME,
    ext::metal_surface::NAME,
    ext::headless_surface::NAME,
    khr::get_surface_capabilities2::NAME,
    ext::swapchain_colorspace::NAME,
];

/// Instance extensions that surfaces are made with.
pub(crate) fn surface_extensions() -> impl Iterator<Item = &'static CStr> {
    std::iter::once(khr::surface::NAME).chain(PLATFORMS)
}

/// Instance extensions for windows, of those that there are.
///
/// # Errors
/// RG-E107 if there are no surfaces.
pub(crate) fn instance_extensions(known: &[vk::ExtensionProperties]) -> Result<Vec<&'static CStr>, Error> {
    if !has_extension(known, khr::surface::NAME) {
        let help = "open the device without windows, or install a driver that shows them";
        return Err(DeviceError::new(Code::NoWindow, "no Vulkan driver here shows windows", help).into());
    }
    let platforms = PLATFORMS.into_iter().filter(|name| has_extension(known, name));
    Ok(std::iter::once(khr::surface::NAME).chain(platforms).collect())
}

/// Device extensions for windows: swapchains, and waiting until an image is shown where the device can.
///
/// # Errors
/// RG-E107 if it has no swapchains.
pub(crate) fn device_extensions(
    context: &Context,
    device: &Physical,
    known: &[vk::ExtensionProperties],
) -> Result<Vec<&'static CStr>, Error> {
    if !has_extension(known, khr::swapchain::NAME) {
        let message = format!("{} shows no windows", device.info.name);
        let help = "open the device without windows, or choose another one";
        return Err(DeviceError::new(Code::NoWindow, message, help).into());
    }
    let mut names = vec![khr::swapchain::NAME];
    if has_extension(known, khr::present_id::NAME) && has_extension(known, khr::present_wait::NAME) {
        let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default();
        let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default();
        let mut has = vk::PhysicalDeviceFeatures2::default().push_next(&mut ids).push_next(&mut waits);
        // SAFETY: the device has the extensions of both structs.
        unsafe { context.raw().get_physical_device_features2(device.raw, &mut has) };
        if ids.present_id == vk::TRUE && waits.present_wait == vk::TRUE {
            names.extend([khr::present_id::NAME, khr::present_wait::NAME]);
        }
    }
    Ok(names)
}
