//! One swapchain of a window: what it is made of, and its images as resources.

use std::sync::Arc;

use ash::{khr, vk};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::plan::PlanKind;

use super::surface::Handle;
use super::{Color, PresentMode, lost};
use crate::convert;
use crate::device::Shared;
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::physical_resource::{PhysicalResource, Raw};

/// A swapchain and its images.
pub(super) struct Chain {
    pub raw: vk::SwapchainKHR,
    pub images: Vec<Arc<PhysicalResource>>,
    /// For each image: signalled when it may be shown.
    pub rendered: Vec<vk::Semaphore>,
    pub size: [u32; 2],
    pub format: Format,
    pub color: Color,
    pub mode: PresentMode,
    /// The number of the last image that was shown.
    pub shown: u64,
}

/// What a chain is asked to be.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// Where the surface has no size of its own.
    pub size: [u32; 2],
    pub mode: PresentMode,
    /// Never automatic.
    pub color: Color,
    /// Most frames under way.
    pub latency: u32,
}

/// Makes a swapchain in place of another one, which is retired; `None`: the window has no texels.
pub(super) fn make(
    functions: &khr::swapchain::Device,
    surface: &Handle,
    old: vk::SwapchainKHR,
    wish: Wish,
) -> Result<Option<Chain>, Error> {
    let shared = &surface.shared;
    let capabilities = capabilities(surface)?;
    let size = extent(&capabilities, wish.size);
    if size.contains(&0) {
        return Ok(None);
    }
    let (raw_format, format, color) = choose_format(surface, wish.color)?;
    let (raw_mode, mode) = choose_mode(surface, wish.mode)?;
    let most = if capabilities.max_image_count == 0 { u32::MAX } else { capabilities.max_image_count };
    let images = (capabilities.min_image_count + wish.latency.min(2)).max(3).min(most);
    let families = shared.families();
    let alpha = [
        vk::CompositeAlphaFlagsKHR::OPAQUE,
        vk::CompositeAlphaFlagsKHR::INHERIT,
        vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED,
        vk::CompositeAlphaFlagsKHR::POST_MULTIPLIED,
    ]
    .into_iter()
    .find(|mode| capabilities.supported_composite_alpha.contains(*mode));
    let mut info = vk::SwapchainCreateInfoKHR::default()
        .surface(surface.raw)
        .min_image_count(images)
        .image_format(raw_format.format)
        .image_color_space(raw_format.color_space)
        .image_extent(vk::Extent2D { width: size[0], height: size[1] })
        .image_array_layers(1)
        .image_usage(usages(shared, raw_format.format, capabilities.supported_usage_flags))
        .pre_transform(capabilities.current_transform)
        .composite_alpha(alpha.unwrap_or(vk::CompositeAlphaFlagsKHR::OPAQUE))
        .present_mode(raw_mode)
        .clipped(true)
        .old_swapchain(old);
    let concurrent = families.len() > 1;
    if concurrent {
        info = info.image_sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&families);
    }
    // SAFETY: everything is as the surface offers it; the window's lock keeps other threads from surface and old chain.
    let raw = unsafe { functions.create_swapchain(&info, shared.raw.host()) };
    let raw = match raw {
        Err(error @ (vk::Result::ERROR_SURFACE_LOST_KHR | vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR)) => {
            return Err(lost("vkCreateSwapchainKHR", error));
        }
        other => shared.noted(other.called("vkCreateSwapchainKHR"))?,
    };
    let (shown, rendered) = (0, Vec::new());
    let mut chain = Chain { raw, images: Vec::new(), rendered, size, format, color, mode, shown };
    match fill(functions, shared, &mut chain, concurrent) {
        Ok(()) => Ok(Some(chain)),
        Err(error) => {
            destroy(functions, shared, chain);
            Err(error)
        }
    }
}

/// Images and semaphores of a chain that was just made.
fn fill(
    functions: &khr::swapchain::Device,
    shared: &Arc<Shared>,
    chain: &mut Chain,
    concurrent: bool,
) -> Result<(), Error> {
    // SAFETY: the chain is new.
    let raws = unsafe { functions.get_swapchain_images(chain.raw) };
    let raws = shared.noted(raws.called("vkGetSwapchainImagesKHR"))?;
    let [width, height] = chain.size;
    let kind = PlanKind::Image {
        format: chain.format,
        size: [width, height, 1],
        mips: 1,
        layers: 1,
        samples: 1,
        volume: false,
        cube: false,
    };
    for raw in raws {
        chain.images.push(PhysicalResource::borrowed(shared, "window", kind, Raw::Image(raw), concurrent));
        // SAFETY: the device lives.
        let semaphore = unsafe { shared.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), shared.raw.host()) };
        chain.rendered.push(shared.noted(semaphore.called("vkCreateSemaphore"))?);
    }
    Ok(())
}

/// Destroys a chain that neither the device nor the screen uses any more.
pub(super) fn destroy(functions: &khr::swapchain::Device, shared: &Arc<Shared>, chain: Chain) {
    // SAFETY: the queue that showed its images is idle.
    unsafe { functions.destroy_swapchain(chain.raw, shared.raw.host()) };
    for semaphore in chain.rendered {
        // SAFETY: as above; nothing waits for it without the chain.
        unsafe { shared.raw.destroy_semaphore(semaphore, shared.raw.host()) };
    }
}

fn capabilities(surface: &Handle) -> Result<vk::SurfaceCapabilitiesKHR, Error> {
    let shared = &surface.shared;
    // SAFETY: both are of one instance.
    let found = unsafe { surface.functions.get_physical_device_surface_capabilities(shared.physical, surface.raw) };
    match found {
        Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => {
            Err(lost("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", error))
        }
        other => shared.noted(other.called("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")),
    }
}

/// The surface's size; where it takes any, the wished one within its limits.
fn extent(capabilities: &vk::SurfaceCapabilitiesKHR, wished: [u32; 2]) -> [u32; 2] {
    let vk::Extent2D { width, height } = capabilities.current_extent;
    let (least, most) = (capabilities.min_image_extent, capabilities.max_image_extent);
    if wished.contains(&0) || most.width == 0 || most.height == 0 {
        return [0, 0];
    }
    if width != u32::MAX {
        return [width, height];
    }
    [wished[0].clamp(least.width, most.width), wished[1].clamp(least.height, most.height)]
}

/// Usages of the images: to be drawn to, copied and scaled into, and read back, as far as there are.
fn usages(shared: &Shared, format: vk::Format, offered: vk::ImageUsageFlags) -> vk::ImageUsageFlags {
    // SAFETY: the physical device is of this instance.
    let properties = unsafe { shared.context.raw().get_physical_device_format_properties(shared.physical, format) };
    let mut wanted =
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    if properties.optimal_tiling_features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
        wanted |= vk::ImageUsageFlags::STORAGE;
    }
    wanted & offered
}

/// What a root's values are when their meaning is automatic.
pub(super) fn automatic(format: Format) -> Color {
    let linear = format.numbers() == Numbers::Float || format.name().ends_with("-srgb");
    if linear { Color::Linear } else { Color::Encoded }
}

fn of_vulkan(raw: vk::Format) -> Option<Format> {
    Format::all().find(|format| convert::format(*format) == raw)
}

/// The surface's format for a colour: the wished one, else the nearest that it has.
fn choose_format(surface: &Handle, color: Color) -> Result<(vk::SurfaceFormatKHR, Format, Color), Error> {
    let shared = &surface.shared;
    // SAFETY: both are of one instance.
    let offered = unsafe { surface.functions.get_physical_device_surface_formats(shared.physical, surface.raw) };
    let offered = match offered {
        Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => {
            return Err(lost("vkGetPhysicalDeviceSurfaceFormatsKHR", error));
        }
        other => shared.noted(other.called("vkGetPhysicalDeviceSurfaceFormatsKHR"))?,
    };
    let known: Vec<_> = offered.into_iter().filter_map(|one| Some((one, of_vulkan(one.format)?))).collect();
    let of = |color: Color| {
        let (space, formats): (vk::ColorSpaceKHR, &[Format]) = match color {
            Color::Hdr10 => (vk::ColorSpaceKHR::HDR10_ST2084_EXT, &[Format::Rgb10a2unorm]),
            Color::ScRgb => (vk::ColorSpaceKHR::EXTENDED_SRGB_LINEAR_EXT, &[Format::Rgba16float]),
            Color::Linear => (vk::ColorSpaceKHR::SRGB_NONLINEAR, &[Format::Bgra8unormSrgb, Format::Rgba8unormSrgb]),
            _ => (vk::ColorSpaceKHR::SRGB_NONLINEAR, &[Format::Bgra8unorm, Format::Rgba8unorm, Format::Rgb10a2unorm]),
        };
        let fits = |format: &Format| known.iter().find(|(raw, one)| one == format && raw.color_space == space);
        formats.iter().find_map(fits).map(|(raw, format)| (*raw, *format, color))
    };
    let any = || known.first().map(|(raw, format)| (*raw, *format, automatic(*format)));
    let chosen = of(color).or_else(|| of(Color::Linear)).or_else(|| of(Color::Encoded)).or_else(any);
    chosen.ok_or_else(|| {
        let help = "choose another device";
        DeviceError::new(Code::NoWindow, "the window has no texel format that rgraph knows", help).into()
    })
}

fn choose_mode(surface: &Handle, wished: PresentMode) -> Result<(vk::PresentModeKHR, PresentMode), Error> {
    let shared = &surface.shared;
    // SAFETY: both are of one instance.
    let offered = unsafe { surface.functions.get_physical_device_surface_present_modes(shared.physical, surface.raw) };
    let offered = match offered {
        Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => {
            return Err(lost("vkGetPhysicalDeviceSurfacePresentModesKHR", error));
        }
        other => shared.noted(other.called("vkGetPhysicalDeviceSurfacePresentModesKHR"))?,
    };
    let raw = match wished {
        PresentMode::Fifo => vk::PresentModeKHR::FIFO,
        PresentMode::FifoRelaxed => vk::PresentModeKHR::FIFO_RELAXED,
        PresentMode::Mailbox => vk::PresentModeKHR::MAILBOX,
        PresentMode::Immediate => vk::PresentModeKHR::IMMEDIATE,
    };
    Ok(if offered.contains(&raw) { (raw, wished) } else { (vk::PresentModeKHR::FIFO, PresentMode::Fifo) })
}
