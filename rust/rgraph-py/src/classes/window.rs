//! `Window`: a native window in which frames are shown.

use std::num::{NonZeroIsize, NonZeroU32};
use std::ptr::NonNull;

use ash::vk::{self, Handle};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::PyTuple;
use raw_window_handle::{
    RawDisplayHandle, RawWindowHandle, WaylandDisplayHandle, WaylandWindowHandle, Win32WindowHandle,
    WindowsDisplayHandle, XcbDisplayHandle, XcbWindowHandle, XlibDisplayHandle, XlibWindowHandle,
};
use rgraph_plan::error::Code;
use rgraph_vk::{Color, Fit, PresentMode, Shown, Surface, Window, WindowInfo, WindowOptions};

use crate::arguments::convert::{Bytes, Count, Text, word};
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::classes::frame::PyFrame;
use crate::run::detached::{Detached, Plain, call};
use crate::run::error::bad;

impl Plain for Shown {}
impl Plain for Option<WindowInfo> {}

/// A native window in which frames of a device are shown: a swapchain on a surface.
///
/// Made by `Device.window`. Close it before the native window goes.
#[pyclass(name = "Window", module = "rgraph", frozen, weakref)]
pub(crate) struct PyWindow {
    window: Detached<Window>,
    device: Py<PyDevice>,
}

const PLATFORMS: [&str; 6] = ["x11", "xcb", "wayland", "windows", "surface", "headless"];
const MODES: [(&str, PresentMode); 4] = [
    ("fifo", PresentMode::Fifo),
    ("fifo_relaxed", PresentMode::FifoRelaxed),
    ("mailbox", PresentMode::Mailbox),
    ("immediate", PresentMode::Immediate),
];
const COLORS: [(&str, Color); 5] = [
    ("automatic", Color::Automatic),
    ("encoded", Color::Encoded),
    ("linear", Color::Linear),
    ("hdr10", Color::Hdr10),
    ("scrgb", Color::ScRgb),
];
const FITS: [(&str, Fit); 2] = [("contain", Fit::Contain), ("stretch", Fit::Stretch)];

/// The value that a word of a table means.
fn of<T: Copy>(py: Python<'_>, what: &str, name: &str, table: &[(&'static str, T)]) -> PyResult<T> {
    let find = |name: &str| table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    word(py, what, name, find, table.iter().map(|(known, _)| *known))
}

/// The word of a table for a value.
fn name_of<T: PartialEq>(value: &T, table: &[(&'static str, T)]) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// What a window is made of.
#[derive(Clone, Copy)]
enum Native {
    Handles(RawDisplayHandle, RawWindowHandle),
    Surface(vk::SurfaceKHR),
    Headless,
}

// SAFETY: the handles are numbers here; only the driver follows them.
unsafe impl Send for Native {}

fn native(py: Python<'_>, platform: &str, window: u64, display: u64) -> PyResult<Native> {
    let platform = word(
        py,
        "platform",
        platform,
        |name| PLATFORMS.iter().copied().find(|known| *known == name),
        PLATFORMS.into_iter(),
    )?;
    let missing = |what: &str| {
        let help = "give the number of a native window, or open one with rgraph.show(graph); platform=\"headless\" needs \
                    none";
        bad(py, Code::BadNumber, format!("platform \"{platform}\" needs {what}, and the number given is 0"), help)
    };
    let pointer = |value: u64| NonNull::new(std::ptr::with_exposed_provenance_mut(value as usize));
    if platform != "headless" && window == 0 {
        return Err(missing("a window"));
    }
    Ok(match platform {
        "x11" => {
            let display = pointer(display).ok_or_else(|| missing("a display"))?;
            Native::Handles(
                RawDisplayHandle::Xlib(XlibDisplayHandle::new(Some(display), 0)),
                RawWindowHandle::Xlib(XlibWindowHandle::new(window)),
            )
        }
        "xcb" => {
            let connection = pointer(display).ok_or_else(|| missing("a display"))?;
            let id = u32::try_from(window).ok().and_then(NonZeroU32::new).ok_or_else(|| {
                let message = format!("window {window} is no window of XCB");
                bad(py, Code::BadNumber, message, "give its number, which has 32 bits")
            })?;
            Native::Handles(
                RawDisplayHandle::Xcb(XcbDisplayHandle::new(Some(connection), 0)),
                RawWindowHandle::Xcb(XcbWindowHandle::new(id)),
            )
        }
        "wayland" => {
            let display = pointer(display).ok_or_else(|| missing("a display"))?;
            let surface = pointer(window).ok_or_else(|| missing("a window"))?;
            Native::Handles(
                RawDisplayHandle::Wayland(WaylandDisplayHandle::new(display)),
                RawWindowHandle::Wayland(WaylandWindowHandle::new(surface)),
            )
        }
        "windows" => {
            let id = NonZeroIsize::new(window as isize).ok_or_else(|| missing("a window"))?;
            Native::Handles(
                RawDisplayHandle::Windows(WindowsDisplayHandle::new()),
                RawWindowHandle::Win32(Win32WindowHandle::new(id)),
            )
        }
        "surface" => Native::Surface(vk::SurfaceKHR::from_raw(window)),
        _ => Native::Headless,
    })
}

#[pymethods]
impl PyDevice {
    /// Open a native window of another library, to show frames in it. The device must be one of `Device(windows=True)`.
    ///
    /// Parameters
    /// ----------
    /// window
    ///     The window: an X11 id, a `wl_surface`, an `HWND` or a `VkSurfaceKHR`, as a number.
    /// display
    ///     What it was opened on: a `Display` of Xlib, an `xcb_connection_t` or a `wl_display`, as a number.
    /// platform
    ///     `"x11"`, `"xcb"`, `"wayland"`, `"windows"`, `"surface"`, or `"headless"`, which is not visible.
    /// size
    ///     Width and height in texels, where the window has none of its own (Wayland, headless).
    /// mode
    ///     Present mode: `"fifo"` waits for the screen; `"fifo_relaxed"`, `"mailbox"` and `"immediate"` if the surface
    ///     supports them.
    /// latency
    ///     Frames under way before the next one waits, 1 to 8.
    /// color
    ///     Colour space of the values: `"automatic"` (as for saved pictures), `"encoded"`, `"linear"`; `"hdr10"` and
    ///     `"scrgb"` if the surface supports them.
    /// fit
    ///     `"contain"` shows an image whole, between black bars; `"stretch"` fills the window.
    /// smooth
    ///     Whether scaled images are filtered.
    ///
    /// Returns
    /// -------
    /// Window
    ///     Close it before the native window goes.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E107 if the device cannot show it, or was opened without `windows=True`; RG-E122 if the window is gone.
    #[pyo3(signature = (window = Bytes(0), *, display = Bytes(0), platform = Text("x11"), size = (Count(1280), Count(720)),
                        mode = Text("fifo"), latency = Count(2), color = Text("automatic"), fit = Text("contain"),
                        smooth = true, **unknown),
           text_signature = "($self, window=0, *, display=0, platform='x11', size=(1280, 720), mode='fifo', latency=2, \
                             color='automatic', fit='contain', smooth=True)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn window(
        slf: &Bound<'_, Self>,
        window: Bytes,
        display: Bytes,
        platform: Text<'_>,
        size: (Count, Count),
        mode: Text<'_>,
        latency: Count,
        color: Text<'_>,
        fit: Text<'_>,
        smooth: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyWindow> {
        keywords::refuse_of::<Self>("window", unknown)?;
        let py = slf.py();
        let options = WindowOptions {
            size: [size.0.0, size.1.0],
            mode: of(py, "present mode", mode.0, &MODES)?,
            latency: latency.0,
            color: of(py, "colour", color.0, &COLORS)?,
            fit: of(py, "fit", fit.0, &FITS)?,
            smooth,
        };
        let native = native(py, platform.0, window.0, display.0)?;
        let window = slf.get().device.make(py, move |device, _| {
            let native = native;
            let surface = match native {
                // SAFETY: the caller's handles, which outlive the window, as those of borrowed devices outlive them.
                Native::Handles(display, window) => unsafe { Surface::from_handles(device, display, window, None) }?,
                // SAFETY: as above.
                Native::Surface(raw) => unsafe { Surface::from_raw(device, raw, false) },
                Native::Headless => Surface::headless(device)?,
            };
            Window::new(surface, &options)
        })?;
        Ok(PyWindow { window, device: slf.clone().unbind() })
    }
}

impl PyWindow {
    fn info(&self, py: Python<'_>) -> PyResult<Option<WindowInfo>> {
        call(py, |free| self.window.get(free)?.info())
    }
}

#[pymethods]
impl PyWindow {
    /// Show a root of the latest frame of a graph: it is scaled into the window's next image.
    ///
    /// Parameters
    /// ----------
    /// frame
    ///     The frame of a run; no later run of its graph may have begun.
    /// name
    ///     The root, its name or handle: a 2D image of one sample per texel, neither of integers nor of depth.
    ///
    /// Returns
    /// -------
    /// str
    ///     `"shown"`; `"minimised"` for a window without texels; `"late"` if the screen gave no image within a second.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if it cannot be shown.
    /// DeviceError
    ///     RG-E122 if the window is closed or its surface is lost.
    fn show(&self, py: Python<'_>, frame: &PyFrame, name: &Bound<'_, PyAny>) -> PyResult<&'static str> {
        let id = frame.find(name)?;
        let Some(of_device) = frame.of_device() else {
            let help = "run the graph on the device of the window";
            return Err(bad(py, Code::BadInput, "a frame of several devices cannot be shown in a window", help));
        };
        let shown = call(py, |free| of_device.get(free)?.show(id, self.window.get(free)?))?;
        Ok(match shown {
            Shown::Yes => "shown",
            Shown::Minimised | Shown::Resized => "minimised",
            Shown::Late => "late",
        })
    }

    /// Report the new size after a resize event; zeros: it is minimised. For windows of X11 the size that the surface
    /// reports counts.
    ///
    /// Parameters
    /// ----------
    /// width, height
    ///     In texels.
    fn resize(&self, py: Python<'_>, width: Count, height: Count) -> PyResult<()> {
        call(py, |free| {
            self.window.get(free)?.resize([width.0, height.0]);
            Ok(())
        })
    }

    /// Wait until fewer than `latency` frames are under way: called before input is read, it shortens the time from
    /// input to screen.
    ///
    /// Returns
    /// -------
    /// bool
    ///     False if the device was not done within a second.
    fn pace(&self, py: Python<'_>) -> PyResult<bool> {
        call(py, |free| self.window.get(free)?.pace())
    }

    /// Width and height in texels; `None` while it is minimised.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<Option<(u32, u32)>> {
        Ok(self.info(py)?.map(|info| (info.size[0], info.size[1])))
    }

    /// Texel format; `None` while it is minimised.
    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        Ok(self.info(py)?.map(|info| info.format.name()))
    }

    /// What values mean: `"encoded"`, `"linear"`, `"hdr10"` or `"scrgb"`; `None` while it is minimised.
    #[getter]
    fn color(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        Ok(self.info(py)?.map(|info| name_of(&info.color, &COLORS)))
    }

    /// Present mode, which may be `"fifo"` instead of the requested one; `None` while it is minimised.
    #[getter]
    fn mode(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        Ok(self.info(py)?.map(|info| name_of(&info.mode, &MODES)))
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        call(py, |free| Ok(self.window.get(free)?.is_closed()))
    }

    /// Close it: wait for pending presents and release the native window. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        call(py, |free| self.window.get(free)?.close())
    }

    /// The device.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<PyDevice> {
        self.device.clone_ref(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.info(py) {
            Ok(Some(WindowInfo { size: [width, height], format, .. })) => format!("<Window {width}x{height} {format}>"),
            Ok(None) => "<Window minimised>".to_owned(),
            Err(_) => "<Window closed>".to_owned(),
        }
    }
}
