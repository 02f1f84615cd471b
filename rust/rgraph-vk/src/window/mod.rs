//! Windows: a surface of the application's window, its swapchain, and frames that are shown in it.
//!
//! A frame gets into a window in two ways. [`Frame::show`](crate::Frame::show) scales a root of a frame that was
//! submitted into the next image: the image is acquired behind the whole graph, so only the blit waits for the window.
//! [`Window::run`] binds the next image to an import of the graph, so that its last pass writes the window itself: only
//! passes that use the import wait.
//!
//! A window whose size changed gets a new swapchain at its next frame; one without texels (minimised) shows nothing. No
//! extension for windows is asked for unless [`DeviceOptions::windows`](crate::DeviceOptions::windows) is set.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
//! # use rgraph_plan::resource::ResourceId;
//! # use rgraph_vk::{Compiled, Device, Inputs, PresentMode, Surface, Window, WindowOptions};
//! # fn frames<W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static>(device: &Device, native: W,
//! #     compiled: &Compiled, picture: ResourceId, next_size: impl Fn() -> Option<[u32; 2]>) -> Result<(), rgraph_vk::Error> {
//! let surface = Surface::new(&device, native)?;
//! let window = Window::new(surface, &WindowOptions { mode: PresentMode::Mailbox, ..WindowOptions::default() })?;
//! while let Some(size) = next_size() {
//!     window.resize(size);
//!     let frame = compiled.run(&Inputs { read: Some(Vec::new()), ..Inputs::default() })?;
//!     frame.show(picture, &window)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A graph that writes the window declares its image as an import:
//!
//! ```no_run
//! # use rgraph_plan::access::Layout;
//! # use rgraph_plan::prelude::*;
//! # use rgraph_plan::resource::{Imported, Leave, Size};
//! # use rgraph_vk::{Inputs, Window};
//! # use rgraph_vk::work::Workload;
//! # fn declare(window: &Window) -> Result<Graph, Box<dyn std::error::Error>> {
//! let info = window.info()?.ok_or("the window has no texels")?;
//! let mut g = Graph::new("frame", info.size);
//! let back = g.import_image("back", info.format, Size::absolute(info.size[0], info.size[1]));
//! g.change(back).imported(Imported::default().undefined()).leave(Leave::default().layout(Layout::PresentSrc));
//! # Ok(g)
//! # }
//! ```
//!
//! Each frame then is one submit:
//!
//! ```no_run
//! # use rgraph_plan::resource::ResourceId;
//! # use rgraph_vk::{Compiled, Inputs, Shown, Window};
//! # fn frame(window: &Window, compiled: &Compiled, back: ResourceId, mut declare_anew: impl FnMut()) -> Result<(), rgraph_vk::Error> {
//! let (shown, frame) = window.run(&compiled, back, Inputs { read: Some(Vec::new()), ..Inputs::default() })?;
//! match shown {
//!     Shown::Yes => window.pace().map(drop)?,
//!     Shown::Resized => declare_anew(),
//!     Shown::Minimised | Shown::Late => std::thread::sleep(std::time::Duration::from_millis(50)),
//! }
//! # drop(frame);
//! # Ok(())
//! # }
//! ```

mod acquire;
mod chain;
mod extensions;
mod show;
mod surface;

pub use acquire::Window;
pub(crate) use extensions::{device_extensions, instance_extensions, surface_extensions};
pub use surface::Surface;

use crate::error::{Code, DeviceError, Error};

/// How images reach the screen. Where a surface does not have the mode, it is [`PresentMode::Fifo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PresentMode {
    /// One image per refresh, in their order; frames wait for the screen. Every surface has it.
    #[default]
    Fifo,
    /// As `Fifo`, but an image that is late is shown at once.
    FifoRelaxed,
    /// The newest image at each refresh; frames do not wait.
    Mailbox,
    /// Each image at once, torn where the screen is at that moment.
    Immediate,
}

/// How texel values become light. Where a surface does not have it, it is [`Color::Automatic`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    /// As pictures are saved: values of float and sRGB formats are linear and get encoded, others are shown as they
    /// are.
    #[default]
    Automatic,
    /// Values are encoded for the screen already.
    Encoded,
    /// Values are linear; they are encoded as sRGB when they are written to the window.
    Linear,
    /// High dynamic range: values are encoded by the PQ curve, with primaries of Rec. 2020 (HDR10).
    Hdr10,
    /// High dynamic range: values are linear with primaries of sRGB, and 1 is 80 cd/m² (scRGB).
    ScRgb,
}

/// Where an image of another shape than the window lies in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fit {
    /// As large as it can be seen whole, between black bars.
    #[default]
    Contain,
    /// Over the whole window, stretched.
    Stretch,
}

/// How a window shows frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowOptions {
    /// Size in texels, where the surface has none of its own (Wayland, headless).
    pub size: [u32; 2],
    /// When images are shown.
    pub mode: PresentMode,
    /// Frames under way before the next one waits, 1 to 8: what lies between input and screen.
    pub latency: u32,
    /// What values mean.
    pub color: Color,
    /// Where an image of another shape lies.
    pub fit: Fit,
    /// Whether scaled images are filtered, where the format can be.
    pub smooth: bool,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            mode: PresentMode::default(),
            latency: 2,
            color: Color::default(),
            fit: Fit::default(),
            smooth: true,
        }
    }
}

/// Whether a frame was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It was handed to the screen.
    Yes,
    /// The window has no texels.
    Minimised,
    /// The graph's image has another size or format than the window: declare it again.
    Resized,
    /// The screen gave no image within a second: a window that nobody sees. Try again later.
    Late,
}

/// What a window is at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WindowInfo {
    /// Size in texels.
    pub size: [u32; 2],
    /// Images of the swapchain.
    pub images: u32,
    /// When they are shown.
    pub mode: PresentMode,
    /// What values mean; never [`Color::Automatic`].
    pub color: Color,
    /// Texel format.
    pub format: rgraph_plan::format::Format,
    /// How often a swapchain was made.
    pub generation: u64,
    /// Whether the device tells when an image is on the screen, by which `latency` is then counted.
    pub present_wait: bool,
}

/// The error of a surface that is gone.
fn lost(call: &'static str, result: ash::vk::Result) -> Error {
    DeviceError {
        code: Code::WindowLost,
        message: "the surface of the window is lost".to_owned(),
        help: "close this one, and make another of a window that is open".to_owned(),
        ..DeviceError::call(call, result)
    }
    .into()
}

/// The error of a window that was closed.
fn closed() -> Error {
    DeviceError::new(Code::WindowLost, "the window is closed", "make another one").into()
}
