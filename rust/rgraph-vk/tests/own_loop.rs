//! An engine's own renderer, with its own swapchain, on a real X server without a screen.

#[path = "../../../examples/own_swapchain.rs"]
#[allow(dead_code, unused_attributes, reason = "the window is this test's")]
mod own_swapchain;

use std::time::{Duration, Instant};

use ash::{khr, vk};
use own_swapchain::Loop;
use rgraph_vk::{Device, DeviceOptions};

use crate::support::engine::{Engine, Wish};
use crate::support::xserver::Display;

/// Waits until a window shows the lit colours: red in the first 16 columns, green in the others.
fn demand_shown(display: &Display, id: u32, [width, height]: [u16; 2]) {
    let row = (0..width).map(|x| if x < 16 { [128, 0, 0] } else { [0, 128, 0] });
    let wanted: Vec<[u8; 3]> = (0..height).flat_map(|_| row.clone()).collect();
    let begin = Instant::now();
    loop {
        let found = display.screenshot(id);
        let near = |(found, wanted): (&[u8; 3], &[u8; 3])| found.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 1);
        if found.len() == wanted.len() && found.iter().zip(&wanted).all(near) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?} of {:?}", found.first(), wanted.first());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_renderer_with_its_own_pipelines_sets_and_swapchain_follows_its_window() {
    let display = match Display::open() {
        Ok(display) => display,
        Err(reason) => {
            let required = std::env::var_os("RGRAPH_REQUIRE_WINDOW").is_some_and(|value| value == "1");
            assert!(!required, "RGRAPH_REQUIRE_WINDOW is set: {reason}");
            eprintln!("skipped: there are no X windows: {reason}");
            return;
        }
    };
    let wish = Wish {
        extensions: &[khr::swapchain::NAME],
        instance_extensions: &[khr::surface::NAME, khr::xcb_surface::NAME],
        ..Wish::default()
    };
    let Some(engine) = Engine::new(wish) else { return };
    // SAFETY: the engine outlives the device.
    let device = unsafe { Device::borrow(&engine.lent(), &DeviceOptions::default()) }.expect("it can be used");
    let id = display.window([40, 24]);
    let connection = display.raw().expect("a connection");
    let xcb = khr::xcb_surface::Instance::new(engine.entry(), engine.instance());
    let surfaces = khr::surface::Instance::new(engine.entry(), engine.instance());
    let info = vk::XcbSurfaceCreateInfoKHR::default().connection(connection.as_ptr()).window(id);
    // SAFETY: the window is open, and the surface is destroyed before it.
    let surface = unsafe { xcb.create_xcb_surface(&info, None) }.expect("a surface");
    // SAFETY: as above; the device was made with swapchains.
    let mut frames = unsafe { Loop::new(&device, engine.entry(), surface) }.expect("a loop");
    for size in [[40, 24], [64, 32], [20, 60], [33, 17]] {
        display.resize(id, size);
        let mut shown = 0;
        let begin = Instant::now();
        while shown < 5 {
            shown += usize::from(frames.frame().expect("a frame"));
            assert!(begin.elapsed() < Duration::from_secs(10), "{shown} frames of {size:?}");
        }
        demand_shown(&display, id, size);
    }
    drop(frames);
    // SAFETY: its swapchain is gone.
    unsafe { surfaces.destroy_surface(surface, None) };
    display.destroy(id);
    device.close().expect("closes");
}
