//! Surfaces: what Vulkan knows of a window of the application's.

use std::any::Any;
use std::ffi::CStr;
use std::sync::Arc;

use ash::{ext, khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle};

use crate::device::{Device, Shared};
use crate::error::{Called, Code, DeviceError, Error};

/// A surface of a window. It is destroyed with the [`Window`](crate::Window) made of it.
#[derive(Debug)]
pub struct Surface(pub(super) Handle);

/// A surface, its functions, and the native window that must outlive it.
pub(super) struct Handle {
    pub shared: Arc<Shared>,
    pub functions: khr::surface::Instance,
    pub raw: vk::SurfaceKHR,
    owned: bool,
    /// Dropped behind the surface.
    _native: Option<Box<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Surface").field(&self.raw).finish()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.owned && self.shared.is_ours() {
            // SAFETY: made of this instance; its swapchains are gone, and the native window is still there.
            unsafe { self.functions.destroy_surface(self.raw, self.shared.context.host()) };
        }
    }
}

impl Surface {
    /// A surface of a window of winit, SDL, GLFW or another library with raw handles. The surface keeps the window
    /// alive: give an `Arc` of it.
    ///
    /// # Errors
    /// RG-E107 if the device was opened without [`DeviceOptions::windows`](crate::DeviceOptions::windows), or cannot
    /// show windows of that kind; RG-E122 if the window is gone.
    pub fn new<W>(device: &Device, window: W) -> Result<Self, Error>
    where
        W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static,
    {
        let gone = |error: raw_window_handle::HandleError| {
            let message = format!("the window has no handle: {error}");
            Error::from(DeviceError::new(Code::WindowLost, message, "give a window that is open"))
        };
        let display = window.display_handle().map_err(gone)?.as_raw();
        let native = window.window_handle().map_err(gone)?.as_raw();
        // SAFETY: the handles are valid as long as the window, which the surface keeps.
        unsafe { Self::from_handles(device, display, native, Some(Box::new(window))) }
    }

    /// A surface of raw handles. `native` is dropped behind the surface.
    ///
    /// # Safety
    /// The handles are valid until the surface is dropped, or as long as `native` lives.
    ///
    /// # Errors
    /// As [`Surface::new`].
    pub unsafe fn from_handles(
        device: &Device,
        display: RawDisplayHandle,
        window: RawWindowHandle,
        native: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Self, Error> {
        use {RawDisplayHandle as D, RawWindowHandle as W};
        let shared = &device.0;
        let (entry, instance) = (shared.context.entry(), shared.context.raw());
        let made = match (display, window) {
            (D::Xlib(display), W::Xlib(window)) => {
                demand(shared, khr::xlib_surface::NAME)?;
                let display = display.display.ok_or_else(|| no_display("Xlib"))?;
                let info = vk::XlibSurfaceCreateInfoKHR::default().dpy(display.as_ptr().cast()).window(window.window);
                let functions = khr::xlib_surface::Instance::new(entry, instance);
                // SAFETY: the caller says that the handles are valid.
                unsafe { functions.create_xlib_surface(&info, shared.context.host()) }.called("vkCreateXlibSurfaceKHR")
            }
            (D::Xcb(display), W::Xcb(window)) => {
                demand(shared, khr::xcb_surface::NAME)?;
                let connection = display.connection.ok_or_else(|| no_display("XCB"))?;
                let info =
                    vk::XcbSurfaceCreateInfoKHR::default().connection(connection.as_ptr()).window(window.window.get());
                let functions = khr::xcb_surface::Instance::new(entry, instance);
                // SAFETY: as above.
                unsafe { functions.create_xcb_surface(&info, shared.context.host()) }.called("vkCreateXcbSurfaceKHR")
            }
            (D::Wayland(display), W::Wayland(window)) => {
                demand(shared, khr::wayland_surface::NAME)?;
                let info = vk::WaylandSurfaceCreateInfoKHR::default()
                    .display(display.display.as_ptr())
                    .surface(window.surface.as_ptr());
                let functions = khr::wayland_surface::Instance::new(entry, instance);
                // SAFETY: as above.
                unsafe { functions.create_wayland_surface(&info, shared.context.host()) }
                    .called("vkCreateWaylandSurfaceKHR")
            }
            (_, W::Win32(window)) => {
                demand(shared, khr::win32_surface::NAME)?;
                let module = window.hinstance.map_or(0, std::num::NonZero::get);
                let info = vk::Win32SurfaceCreateInfoKHR::default().hinstance(module).hwnd(window.hwnd.get());
                let functions = khr::win32_surface::Instance::new(entry, instance);
                // SAFETY: as above.
                unsafe { functions.create_win32_surface(&info, shared.context.host()) }
                    .called("vkCreateWin32SurfaceKHR")
            }
            (_, W::AndroidNdk(window)) => {
                demand(shared, khr::android_surface::NAME)?;
                let info = vk::AndroidSurfaceCreateInfoKHR::default().window(window.a_native_window.as_ptr());
                let functions = khr::android_surface::Instance::new(entry, instance);
                // SAFETY: as above.
                unsafe { functions.create_android_surface(&info, shared.context.host()) }
                    .called("vkCreateAndroidSurfaceKHR")
            }
            (_, other) => {
                let message = format!("no surface can be made of this window: {other:?}");
                let help = "make the VkSurfaceKHR yourself, and give it to Surface::from_raw";
                return Err(DeviceError::new(Code::NoWindow, message, help).into());
            }
        };
        let functions = khr::surface::Instance::new(entry, instance);
        Ok(Self(Handle { shared: shared.clone(), functions, raw: shared.noted(made)?, owned: true, _native: native }))
    }

    /// A surface of the caller's, of whatever platform; with `owned` it is destroyed with the window.
    ///
    /// # Safety
    /// The surface is of the device's instance, is used by nothing else, and lives until the window is closed. The
    /// device has `VK_KHR_swapchain`: [`DeviceOptions::windows`](crate::DeviceOptions::windows), or a borrowed one's
    /// own choice.
    pub unsafe fn from_raw(device: &Device, raw: vk::SurfaceKHR, owned: bool) -> Self {
        let shared = device.0.clone();
        let functions = khr::surface::Instance::new(shared.context.entry(), shared.context.raw());
        Self(Handle { shared, functions, raw, owned, _native: None })
    }

    /// A surface that nobody sees, for tests.
    ///
    /// # Errors
    /// RG-E107 if there is no driver with `VK_EXT_headless_surface`, or windows were not asked for.
    pub fn headless(device: &Device) -> Result<Self, Error> {
        let shared = &device.0;
        demand(shared, ext::headless_surface::NAME)?;
        let functions = ext::headless_surface::Instance::new(shared.context.entry(), shared.context.raw());
        let info = vk::HeadlessSurfaceCreateInfoEXT::default();
        // SAFETY: the instance has the extension.
        let raw = unsafe { functions.create_headless_surface(&info, shared.context.host()) };
        let raw = shared.noted(raw.called("vkCreateHeadlessSurfaceEXT"))?;
        // SAFETY: just made of this instance; the device has swapchains, since windows were asked for.
        Ok(unsafe { Self::from_raw(device, raw, true) })
    }
}

/// Refuses a platform that the instance was not made for.
fn demand(shared: &Shared, name: &'static CStr) -> Result<(), Error> {
    shared.check()?;
    if shared.context.surfaces.contains(&name) && shared.enabled.swapchains {
        return Ok(());
    }
    let (message, help) = match shared.enabled.swapchains {
        true => (
            format!("the driver makes no surfaces of this kind: it lacks {}", name.to_string_lossy()),
            "use another windowing system or another driver",
        ),
        false => (
            "the device was opened without windows".to_owned(),
            "open it with windows: Device(windows=True), or DeviceOptions { windows: true, .. }",
        ),
    };
    Err(DeviceError::new(Code::NoWindow, message, help).into())
}

fn no_display(platform: &str) -> Error {
    let message = format!("the window gives no {platform} display");
    DeviceError::new(Code::WindowLost, message, "give the display that the window was opened on").into()
}
