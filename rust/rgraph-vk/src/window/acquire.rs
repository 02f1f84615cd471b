//! A window: which swapchain it has at the moment, the next image of it, and handing images to the screen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ash::{khr, vk};
use rgraph_plan::error::{GraphError, Mistake};

use super::chain::{self, Chain, Wish};
use super::surface::{Handle, Surface};
use super::{Color, Shown, WindowInfo, WindowOptions, closed, lost};
use crate::device::queue::{DeviceQueueId, Point};
use crate::device::{Device, Shared};
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::command_pools::OneTime;

/// How long an image is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a frame is waited for that the screen may never show.
const ON_SCREEN: Duration = Duration::from_millis(100);
/// How often a swapchain that is out of date is made again for one frame.
const ATTEMPTS: usize = 4;

/// A window in which frames are shown. Clones are the same one. Dropping the last one closes it.
///
/// It is used by one thread at a time; others wait. Closing it waits for the frames that are shown, and destroys
/// swapchain and surface: the native window may go afterwards.
#[derive(Clone, Debug)]
pub struct Window(pub(super) Arc<Inner>);

/// See [`Window`].
pub(super) struct Inner {
    pub shared: Arc<Shared>,
    pub options: WindowOptions,
    functions: khr::swapchain::Device,
    waits: Option<khr::present_wait::Device>,
    /// The device's queue that shows images.
    queue: DeviceQueueId,
    state: Mutex<WindowState>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What changes from frame to frame.
pub(super) struct WindowState {
    pub chain: Option<Chain>,
    /// `None`: closed.
    surface: Option<Handle>,
    size: [u32; 2],
    color: Color,
    stale: bool,
    generation: u64,
    pub slots: Vec<Slot>,
    next: usize,
    /// Frames that may not be on the screen yet: swapchain, number, and when the device is done with them.
    under_way: VecDeque<(u64, u64, Vec<Point>)>,
}

/// What one frame under way has of its own.
#[derive(Default)]
pub(super) struct Slot {
    pub acquired: vk::Semaphore,
    pub once: OneTime,
    points: Vec<Point>,
}

/// An image that was acquired.
#[derive(Clone, Copy)]
pub(super) struct Acquired {
    pub slot: usize,
    pub image: usize,
}

impl Window {
    /// Opens a window on a surface.
    ///
    /// # Errors
    /// RG-E107 if no queue of the device shows images on the surface; RG-E122 if the surface is lost; RG-E213 if
    /// `latency` is not 1 to 8; else what the driver says.
    pub fn new(surface: Surface, options: &WindowOptions) -> Result<Self, Error> {
        let surface = surface.0;
        let shared = surface.shared.clone();
        shared.check()?;
        if !(1..=8).contains(&options.latency) {
            let message = format!("a window has {} frames under way", options.latency);
            let help = "one to three are usual, and 1 to 8 possible";
            return Err(GraphError::one(Mistake::new(Code::BadNumber, message, help)).into());
        }
        let mut queue = None;
        for (at, of) in shared.queues.iter_ids() {
            // SAFETY: family and surface are of the device and its instance.
            let shows = unsafe {
                surface.functions.get_physical_device_surface_support(shared.physical, of.family, surface.raw)
            };
            let shows = match shows {
                Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => {
                    return Err(lost("vkGetPhysicalDeviceSurfaceSupportKHR", error));
                }
                other => shared.noted(other.called("vkGetPhysicalDeviceSurfaceSupportKHR"))?,
            };
            if shows {
                queue = Some(at);
                break;
            }
        }
        let Some(queue) = queue else {
            let message = format!("{} cannot show images on this surface", shared.info.name);
            return Err(DeviceError::new(Code::NoWindow, message, "choose another device").into());
        };
        let functions = khr::swapchain::Device::new(shared.context.raw(), &shared.raw);
        let waits = shared.enabled.present_wait;
        let waits = waits.then(|| khr::present_wait::Device::new(shared.context.raw(), &shared.raw));
        let color = if options.color == Color::Automatic { Color::Encoded } else { options.color };
        let state = WindowState {
            chain: None,
            surface: Some(surface),
            size: options.size,
            color,
            stale: false,
            generation: 0,
            slots: Vec::new(),
            next: 0,
            under_way: VecDeque::new(),
        };
        let inner = Inner { shared, options: *options, functions, waits, queue, state: Mutex::new(state) };
        let window = Self(Arc::new(inner));
        let mut state = window.0.lock();
        for _ in 0..=options.latency {
            let acquired = window.0.semaphore()?;
            state.slots.push(Slot { acquired, ..Slot::default() });
        }
        window.0.renew(&mut state)?;
        drop(state);
        Ok(window)
    }

    /// Tells the size in texels after an event of the windowing system; zeros: it is minimised. Surfaces of X11 and
    /// Windows have a size of their own, which counts. The next frame has it.
    pub fn resize(&self, size: [u32; 2]) {
        let mut state = self.0.lock();
        let has = state.chain.as_ref().map_or([0, 0], |chain| chain.size);
        state.size = size;
        state.stale |= size != has;
    }

    /// What it is at the moment; `None` while it is minimised.
    ///
    /// # Errors
    /// RG-E122 if it is closed or the surface is lost; else what the driver says.
    pub fn info(&self) -> Result<Option<WindowInfo>, Error> {
        let mut state = self.0.lock();
        self.0.current(&mut state)?;
        let WindowState { chain, generation, .. } = &*state;
        Ok(chain.as_ref().map(|chain| WindowInfo {
            size: chain.size,
            images: chain.images.len() as u32,
            mode: chain.mode,
            color: chain.color,
            format: chain.format,
            generation: *generation,
            present_wait: self.0.waits.is_some(),
        }))
    }

    /// Waits until fewer than `latency` frames are under way. Showing does so too; called before input is read, it
    /// shortens the time from input to screen. `false`: the device was not done within a second.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn pace(&self) -> Result<bool, Error> {
        self.0.pace(&mut self.0.lock())
    }

    /// Closes it: waits for what is shown, and destroys swapchain and surface. A second call does nothing.
    ///
    /// # Errors
    /// What the driver says; it is closed then, too.
    pub fn close(&self) -> Result<(), Error> {
        self.0.close(&mut self.0.lock())
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.lock().surface.is_none()
    }

    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.shared, &device.0)
    }
}

impl Inner {
    pub(super) fn lock(&self) -> MutexGuard<'_, WindowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn semaphore(&self) -> Result<vk::Semaphore, Error> {
        // SAFETY: the device lives.
        let raw =
            unsafe { self.shared.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), self.shared.raw.host()) };
        self.shared.noted(raw.called("vkCreateSemaphore"))
    }

    /// Makes the swapchain again, if there is reason to; a window without texels then has none.
    pub(super) fn current(&self, state: &mut WindowState) -> Result<(), Error> {
        self.shared.check()?;
        if state.surface.is_none() {
            return Err(closed());
        }
        if state.stale || state.chain.is_none() { self.renew(state) } else { Ok(()) }
    }

    fn renew(&self, state: &mut WindowState) -> Result<(), Error> {
        let Some(surface) = &state.surface else { return Err(closed()) };
        let WindowOptions { mode, latency, .. } = self.options;
        let wish = Wish { size: state.size, mode, color: state.color, latency };
        let old = state.chain.take();
        let made = {
            let _shared = crate::device::driver::shared();
            let raw = old.as_ref().map_or(vk::SwapchainKHR::null(), |chain| chain.raw);
            chain::make(&self.functions, surface, raw, wish)
        };
        // Retired even where its successor cannot be made.
        let retired = self.retire(state, old);
        state.chain = made?;
        retired?;
        state.stale = false;
        state.generation += u64::from(state.chain.is_some());
        Ok(())
    }

    /// Destroys a swapchain when the device is done with it, with semaphores whose signal nobody waited for.
    ///
    /// Source: Vulkan 1.3 specification, "vkQueuePresentKHR": waits of a present are queue operations, so an idle queue
    /// has done them.
    fn retire(&self, state: &mut WindowState, chain: Option<Chain>) -> Result<(), Error> {
        let Some(chain) = chain else { return Ok(()) };
        let idle = self.wait_idle(state);
        state.under_way.clear();
        let _shared = crate::device::driver::shared();
        chain::destroy(&self.functions, &self.shared, chain);
        idle
    }

    /// Waits until no frame of the window is under way, and the queue that shows has handed all images over.
    fn wait_idle(&self, state: &WindowState) -> Result<(), Error> {
        if self.shared.is_lost() {
            return Ok(());
        }
        for slot in &state.slots {
            self.shared.wait(&slot.points, None)?;
        }
        let queue = &self.shared.queues[self.queue];
        // SAFETY: the queue's lock keeps other threads out.
        let idle = queue.alone(|| unsafe { self.shared.raw.queue_wait_idle(queue.raw) });
        self.shared.noted(idle.called("vkQueueWaitIdle"))
    }

    /// See [`Window::pace`].
    pub(super) fn pace(&self, state: &mut WindowState) -> Result<bool, Error> {
        while state.under_way.len() >= self.options.latency as usize {
            let (generation, number, points) = &state.under_way[0];
            if !self.shared.wait(points, Some(PATIENCE))? {
                return Ok(false);
            }
            if let (Some(waits), Some(chain)) = (&self.waits, &state.chain)
                && *generation == state.generation
            {
                let timeout = ON_SCREEN.as_nanos() as u64;
                // Other results than success (out of date, timeout) show when the next image is acquired.
                // SAFETY: the number was given to a present of the chain; the window's lock keeps other threads out.
                let _ = unsafe { waits.wait_for_present(chain.raw, *number, timeout) };
            }
            state.under_way.pop_front();
        }
        Ok(true)
    }

    /// The next image, of a swapchain with that colour if the window's is automatic.
    pub(super) fn acquire(
        &self,
        state: &mut WindowState,
        color: Option<Color>,
    ) -> Result<Result<Acquired, Shown>, Error> {
        self.shared.check()?;
        if let Some(color) = color.filter(|_| self.options.color == Color::Automatic)
            && color != state.color
        {
            state.color = color;
            state.stale = true;
        }
        if !self.pace(state)? {
            return Ok(Err(Shown::Late));
        }
        for _ in 0..ATTEMPTS {
            self.current(state)?;
            let Some(chain) = &state.chain else { return Ok(Err(Shown::Minimised)) };
            if state.slots.is_empty() {
                let acquired = self.semaphore()?;
                state.slots.push(Slot { acquired, ..Slot::default() });
            }
            let slot = state.next;
            if !self.shared.wait(&state.slots[slot].points, Some(PATIENCE))? {
                return Ok(Err(Shown::Late));
            }
            state.slots[slot].once.reset(&self.shared)?;
            let (semaphore, timeout) = (state.slots[slot].acquired, PATIENCE.as_nanos() as u64);
            // SAFETY: the slot's last frame is done, so its semaphore is unsignalled and nothing waits for it.
            let got = unsafe { self.functions.acquire_next_image(chain.raw, timeout, semaphore, vk::Fence::null()) };
            match got {
                Ok((image, suboptimal)) => {
                    state.stale |= suboptimal;
                    state.next = (slot + 1) % state.slots.len();
                    return Ok(Ok(Acquired { slot, image: image as usize }));
                }
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(Err(Shown::Late)),
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => state.stale = true,
                Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => return Err(lost("vkAcquireNextImageKHR", error)),
                Err(error) => return self.shared.noted(Err(error).called("vkAcquireNextImageKHR")),
            }
        }
        // It changes faster than frames can follow.
        Ok(Err(Shown::Late))
    }

    /// After a failure: the image is never shown, and nobody may have waited for the slot's semaphore.
    pub(super) fn abandon(&self, state: &mut WindowState, acquired: Acquired) {
        let old = state.chain.take();
        let _ = self.retire(state, old);
        state.stale = true;
        let slot = &mut state.slots[acquired.slot];
        slot.points.clear();
        let raw = std::mem::replace(&mut slot.acquired, vk::Semaphore::null());
        self.shared.defer_deletion([crate::memory::deferred_deletion::DeferredDeletion::Semaphore(raw)]);
        match self.semaphore() {
            Ok(fresh) => slot.acquired = fresh,
            // Without a semaphore the slot is of no use.
            Err(_) => {
                state.slots.remove(acquired.slot);
                state.next = 0;
            }
        }
    }

    /// Hands an image to the screen behind its frame.
    pub(super) fn present(
        &self,
        state: &mut WindowState,
        acquired: Acquired,
        points: Vec<Point>,
    ) -> Result<Shown, Error> {
        state.slots[acquired.slot].points.clone_from(&points);
        let generation = state.generation;
        let Some(chain) = &mut state.chain else { return Ok(Shown::Minimised) };
        chain.shown += 1;
        let (waits, chains) = ([chain.rendered[acquired.image]], [chain.raw]);
        let (images, numbers) = ([acquired.image as u32], [chain.shown]);
        let mut ids = vk::PresentIdKHR::default().present_ids(&numbers);
        let mut info = vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&chains).image_indices(&images);
        if self.waits.is_some() {
            info = info.push_next(&mut ids);
        }
        state.under_way.push_back((generation, chain.shown, points));
        let queue = &self.shared.queues[self.queue];
        // SAFETY: the image was acquired, its frame signals the semaphore; both locks keep other threads out.
        let shown = queue.alone(|| unsafe { self.functions.queue_present(queue.raw, &info) });
        match shown {
            Ok(suboptimal) => state.stale |= suboptimal,
            // The frame is gone, and its semaphore was waited for.
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => state.stale = true,
            Err(error @ vk::Result::ERROR_SURFACE_LOST_KHR) => return Err(lost("vkQueuePresentKHR", error)),
            Err(error) => return self.shared.noted(Err(error).called("vkQueuePresentKHR")).map(|()| Shown::Yes),
        }
        Ok(Shown::Yes)
    }

    fn close(&self, state: &mut WindowState) -> Result<(), Error> {
        let Some(surface) = state.surface.take() else { return Ok(()) };
        if !self.shared.is_ours() {
            // A fork's copy: all of it is the parent's.
            std::mem::forget((surface, state.chain.take(), std::mem::take(&mut state.slots)));
            return Ok(());
        }
        let chain = state.chain.take();
        let done = self.retire(state, chain);
        for slot in &mut state.slots {
            let semaphore = crate::memory::deferred_deletion::DeferredDeletion::Semaphore(slot.acquired);
            self.shared.defer_deletion(slot.once.take().chain([semaphore]));
        }
        state.slots.clear();
        drop(surface);
        match done {
            Err(error) if error.is_lost() => Ok(()),
            other => other,
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut state = std::mem::replace(
            self.state.get_mut().unwrap_or_else(PoisonError::into_inner),
            WindowState {
                chain: None,
                surface: None,
                size: [0, 0],
                color: Color::Encoded,
                stale: false,
                generation: 0,
                slots: Vec::new(),
                next: 0,
                under_way: VecDeque::new(),
            },
        );
        // Who wants to know of errors closes it.
        let _ = self.close(&mut state);
    }
}
