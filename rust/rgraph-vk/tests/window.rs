//! Windows: on a real X server without a screen (Xvfb), where the driver shows X windows, and on headless surfaces.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use raw_window_handle::{RawDisplayHandle, RawWindowHandle, XcbDisplayHandle, XcbWindowHandle};
use rgraph_plan::access::{Layout, Load, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::resource::{Imported, Leave, Life, Resource as Declared, ResourceId, Size};
use rgraph_vk::{
    Code, Color, Compiled, Device, DeviceOptions, Error, Fit, Frame, Inputs, PresentMode, Shown, Surface, Window,
    WindowOptions,
};

use crate::support::bench::{Bench, Silent, using};
use crate::support::demand::demand;
use crate::support::host_memory::HostMemory;
use crate::support::xserver::Display;

/// Left half red, right half green, the lowest row blue.
const FLAG: &str = "
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    if at.y > 3.0 { return vec4<f32>(0.0, 0.0, 0.5, 1.0); }
    return select(vec4<f32>(1.0, 0.0, 0.0, 1.0), vec4<f32>(0.0, 1.0, 0.0, 1.0), at.x > 4.0);
}";

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 128];
const BLACK: [u8; 3] = [0, 0, 0];

/// A device that shows windows.
fn device() -> Option<Silent> {
    let made = Device::new(&DeviceOptions { windows: true, ..DeviceOptions::default() });
    demand(made.map(Silent).map_err(|error| error.to_string()))
}

/// A device and an X server, where there are both; else the reason is printed.
fn on_x() -> Option<(Silent, Display)> {
    let device = device()?;
    let display = Display::open().and_then(|display| {
        let id = display.window([8, 8]);
        let shows = surface(&device.0, &display, id).and_then(|surface| Window::new(surface, &small()).map(drop));
        display.destroy(id);
        shows.map(|()| display).map_err(|error| error.to_string())
    });
    let required = std::env::var_os("RGRAPH_REQUIRE_WINDOW").is_some_and(|value| value != "0" && !value.is_empty());
    match display {
        Ok(display) => Some((device, display)),
        Err(reason) if required => panic!("RGRAPH_REQUIRE_WINDOW is set, and there are no X windows: {reason}"),
        Err(reason) => {
            eprintln!("skipped: there are no X windows: {reason}");
            None
        }
    }
}

fn surface(device: &Device, display: &Display, id: u32) -> Result<Surface, Error> {
    let connection = RawDisplayHandle::Xcb(XcbDisplayHandle::new(display.raw(), 0));
    let window = RawWindowHandle::Xcb(XcbWindowHandle::new(NonZeroU32::new(id).expect("an id")));
    // SAFETY: tests close their windows before the connection, and never use one that they destroyed but to be refused.
    unsafe { Surface::from_handles(device, connection, window, None) }
}

fn small() -> WindowOptions {
    WindowOptions { smooth: false, fit: Fit::Stretch, mode: PresentMode::Immediate, ..WindowOptions::default() }
}

fn open(device: &Device, display: &Display, size: [u16; 2], options: &WindowOptions) -> (u32, Window) {
    let id = display.window(size);
    let surface = surface(device, display, id).expect("a surface");
    (id, Window::new(surface, options).expect("a window"))
}

/// A graph that draws the flag into a root of 8 × 4 texels.
fn flag(device: &Device, format: Format) -> (Compiled, ResourceId) {
    let mut b = Bench::new([8, 4]);
    let image = b.graph().image("flag", format);
    b.graph().root(image);
    b.raster("draw", FLAG, &[(image, color())], &[]);
    (b.compile(device), image)
}

fn color() -> Use {
    Use { load: Some(Load::Discard), ..using(Usage::ColorAttachment) }
}

fn run(compiled: &Compiled) -> Frame {
    compiled.run(&Inputs { read: Some(Vec::new()), ..Inputs::default() }).expect("runs")
}

/// Shows a frame, patiently.
fn show(frame: &Frame, root: ResourceId, window: &Window) {
    for _ in 0..20 {
        match frame.show(root, window).expect("it is shown") {
            Shown::Yes => return,
            Shown::Late => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("no image in twenty seconds");
}

/// The flag, scaled to a size: each texel is the nearest one.
fn scaled([width, height]: [u16; 2]) -> Vec<[u8; 3]> {
    let nearest = |at: u32, of: u16, texels: u32| (2 * at + 1) * texels / (2 * u32::from(of));
    let texel = |at: u32| {
        let (x, y) = (at % u32::from(width), at / u32::from(width));
        match (nearest(x, width, 8), nearest(y, height, 4)) {
            (_, 3) => BLUE,
            (0..4, _) => RED,
            _ => GREEN,
        }
    };
    (0..u32::from(width) * u32::from(height)).map(texel).collect()
}

/// Waits until a window shows what it must; encoded values may be one off.
fn demand_shown(display: &Display, id: u32, wanted: &[[u8; 3]]) {
    let begin = Instant::now();
    loop {
        let found = display.screenshot(id);
        let near = |(found, wanted): (&[u8; 3], &[u8; 3])| found.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 1);
        if found.len() == wanted.len() && found.iter().zip(wanted).all(near) {
            return;
        }
        if begin.elapsed() > Duration::from_secs(10) {
            let differs = found.iter().zip(wanted).position(|pair| !near(pair));
            panic!(
                "texel {differs:?} of {}: {:?}, wanted {:?}",
                found.len(),
                differs.map(|at| found[at]),
                differs.map(|at| wanted[at])
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> Code {
    match result {
        Err(Error::Device(error)) => {
            assert!(!error.help.is_empty());
            error.code
        }
        Err(Error::Graph(error)) => error.mistakes()[0].code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_root_is_scaled_into_a_window() {
    let Some((device, display)) = on_x() else { return };
    let (id, window) = open(&device.0, &display, [64, 32], &small());
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    for _ in 0..4 {
        show(&run(&compiled), root, &window);
    }
    demand_shown(&display, id, &scaled([64, 32]));
    let info = window.info().expect("it is open").expect("it has texels");
    assert_eq!((info.size, info.color, info.generation), ([64, 32], Color::Encoded, 1));
}

#[test]
fn a_root_that_is_read_back_too_is_shown_and_computed_again() {
    let Some((device, display)) = on_x() else { return };
    let (one, first) = open(&device.0, &display, [16, 8], &small());
    let (two, second) = open(&device.0, &display, [32, 16], &small());
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    for _ in 0..3 {
        let frame = compiled.run(&Inputs::default()).expect("runs");
        show(&frame, root, &first);
        show(&frame, root, &second);
        let texels = frame.read(root).expect("read");
        assert_eq!(texels.bytes()[..4], [255, 0, 0, 255]);
        assert_eq!(texels.bytes()[28..32], [0, 255, 0, 255]);
    }
    demand_shown(&display, one, &scaled([16, 8]));
    demand_shown(&display, two, &scaled([32, 16]));
}

#[test]
fn values_of_float_and_srgb_formats_are_shown_as_they_are_saved() {
    let Some((device, display)) = on_x() else { return };
    let (id, window) = open(&device.0, &display, [16, 8], &small());
    let mut wanted = scaled([16, 8]);
    // Half of full light is encoded as 188 of 255.
    wanted.iter_mut().filter(|texel| **texel == BLUE).for_each(|texel| *texel = [0, 0, 188]);
    for format in [Format::Rgba8unormSrgb, Format::Rgba16float] {
        let (compiled, root) = flag(&device.0, format);
        show(&run(&compiled), root, &window);
        demand_shown(&display, id, &wanted);
        assert_eq!(window.info().expect("open").expect("texels").color, Color::Linear);
    }
}

/// A screen without high dynamic range gets the nearest colour, and the window says which; a screen with it gets the
/// format that goes with it. Where the device tells when an image is on the screen, pacing waits for that.
#[test]
fn a_window_says_which_colour_and_pace_it_got() {
    let Some((device, display)) = on_x() else { return };
    let (compiled, root) = flag(&device.0, Format::Rgba16float);
    for (color, format) in [(Color::Hdr10, Format::Rgb10a2unorm), (Color::ScRgb, Format::Rgba16float)] {
        let (id, window) = open(&device.0, &display, [16, 8], &WindowOptions { color, latency: 1, ..small() });
        let info = window.info().expect("open").expect("texels");
        println!("asked for {color:?}: {:?} as {}, present_wait {}", info.color, info.format, info.present_wait);
        let fallback = [Format::Bgra8unormSrgb, Format::Rgba8unormSrgb, Format::Bgra8unorm, Format::Rgba8unorm];
        match info.color {
            got if got == color => assert_eq!(info.format, format),
            Color::Linear | Color::Encoded => assert!(fallback.contains(&info.format), "{:?}", info.format),
            other => panic!("{other:?} in place of {color:?}"),
        }
        for _ in 0..3 {
            show(&run(&compiled), root, &window);
            assert!(window.pace().expect("paces"));
        }
        window.close().expect("closes");
        display.destroy(id);
    }
}

#[test]
fn another_shape_lies_between_black_bars() {
    let Some((device, display)) = on_x() else { return };
    let options = WindowOptions { fit: Fit::Contain, ..small() };
    let (id, window) = open(&device.0, &display, [16, 16], &options);
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    show(&run(&compiled), root, &window);
    let bar = [BLACK; 64];
    demand_shown(&display, id, &[&bar[..], &scaled([16, 8]), &bar[..]].concat());
}

/// A graph that draws the flag into a window's own image.
fn direct(device: &Device, window: &Window, leave: Option<Layout>) -> (Compiled, ResourceId) {
    let info = window.info().expect("open").expect("texels");
    let mut b = Bench::new(info.size);
    let [width, height] = info.size;
    let image = b.graph().import_image("back", info.format, Size::absolute(width, height));
    let declared = Declared {
        life: Life::Imported(Imported { defined: false, ..Imported::default() }),
        leave: leave.map(|layout| Leave { layout: Some(layout), ..Leave::default() }),
        ..b.graph().resources()[image].clone()
    };
    let mut b = Bench::new(info.size);
    let image = b.graph().add_resource("back", declared, None);
    b.graph().root(image);
    b.raster("draw", FLAG, &[(image, color())], &[]);
    (b.compile(device), image)
}

#[test]
fn a_graph_writes_the_image_of_the_window_itself() {
    let Some((device, display)) = on_x() else { return };
    let (id, window) = open(&device.0, &display, [8, 4], &small());
    for leave in [Some(Layout::PresentSrc), None] {
        let (compiled, target) = direct(&device.0, &window, leave);
        let mut submits = 0;
        for _ in 0..6 {
            let nothing = || Inputs { read: Some(Vec::new()), ..Inputs::default() };
            let (shown, frame) = window.run(&compiled, target, nothing()).expect("runs");
            assert_eq!(shown, Shown::Yes);
            submits = frame.expect("it ran").report().expect("reports").submits;
        }
        assert_eq!(submits, 1, "one submit draws, and waits for the window itself");
        let (shown, frame) = window.run(&compiled, target, Inputs::default()).expect("runs");
        let read = frame.expect("it ran").read(target).expect("it is read back, too");
        assert_eq!((shown, &read.bytes()[..4]), (Shown::Yes, &[0, 0, 255, 255][..]), "blue, green, red");
        demand_shown(&display, id, &scaled([8, 4]));
    }
    let (compiled, target) = direct(&device.0, &window, None);
    display.resize(id, [16, 8]);
    window.resize([16, 8]);
    let (shown, frame) = window.run(&compiled, target, Inputs::default()).expect("no error");
    assert!(shown == Shown::Resized && frame.is_none());
    let (compiled, target) = direct(&device.0, &window, None);
    assert_eq!(window.run(&compiled, target, Inputs::default()).expect("runs").0, Shown::Yes);
}

#[test]
fn a_window_follows_hundreds_of_sizes() {
    let Some((device, display)) = on_x() else { return };
    let rounds = std::env::var("RGRAPH_RESIZES").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let (id, window) = open(&device.0, &display, [64, 32], &small());
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    let mut size = [64, 32];
    for round in 0..rounds {
        // Even by odd: no texel lies half-way between two of the flag's, where drivers differ.
        size = [2 + 2 * (round * 37 % 95) as u16, 1 + 2 * (round * 53 % 55) as u16];
        display.resize(id, size);
        window.resize(size.map(u32::from));
        show(&run(&compiled), root, &window);
        if round % 50 == 0 {
            demand_shown(&display, id, &scaled(size));
        }
    }
    let last = [64, 32];
    display.resize(id, last);
    window.resize(last.map(u32::from));
    show(&run(&compiled), root, &window);
    demand_shown(&display, id, &scaled(last));
    assert!(window.info().expect("open").expect("texels").generation > rounds as u64 / 2, "last {size:?}");
    println!("{rounds} sizes of a window");
}

#[test]
fn a_minimised_window_shows_nothing_until_it_is_back() {
    let Some((device, display)) = on_x() else { return };
    let (id, window) = open(&device.0, &display, [64, 32], &small());
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    let (itself, target) = direct(&device.0, &window, None);
    let (timeline, fence) = (device.0.semaphore(0).expect("a semaphore"), device.0.fence().expect("a fence"));
    show(&run(&compiled), root, &window);
    window.resize([0, 0]);
    for _ in 0..3 {
        assert_eq!(run(&compiled).show(root, &window).expect("no error"), Shown::Minimised);
        // Nothing runs, so what it was given is free each time.
        let signals = vec![timeline.promised(1).expect("no run has the value")];
        let fence = Some(fence.promised().expect("no run has the fence"));
        let ran = window.run(&itself, target, Inputs { signals, fence, ..Inputs::default() }).expect("no error");
        assert!(matches!(ran, (Shown::Minimised, None)));
    }
    assert_eq!(window.info().expect("it is open"), None);
    window.resize([64, 32]);
    show(&run(&compiled), root, &window);
    demand_shown(&display, id, &scaled([64, 32]));
}

#[test]
fn windows_close_at_every_moment() {
    let Some((device, display)) = on_x() else { return };
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    let (kept_id, kept) = open(&device.0, &display, [16, 8], &small());
    for moment in 0..6 {
        let (id, window) = open(&device.0, &display, [16, 8], &small());
        if moment > 0 {
            show(&run(&compiled), root, &window);
        }
        match moment {
            // Before and behind a frame, with a frame under way, and by the native window's end.
            0 | 1 => drop(window),
            2 => {
                let frame = run(&compiled);
                window.close().expect("closes");
                window.close().expect("a second close does nothing");
                assert_eq!(code(frame.show(root, &window)), Code::WindowLost);
                assert_eq!(code(window.info()), Code::WindowLost);
            }
            3 => {
                let (direct, target) = direct(&device.0, &window, None);
                window.run(&direct, target, Inputs::default()).expect("runs");
                drop(window);
                assert_eq!(direct.workload().graph.resource_name(target), "back");
            }
            _ => {
                display.destroy(id);
                window.resize([8, 8]);
                let (frame, mut lost) = (run(&compiled), None);
                for _ in 0..10 {
                    if let Err(error) = frame.show(root, &window) {
                        lost = Some(error);
                        break;
                    }
                }
                let lost = lost.expect("the window is gone");
                assert!(lost.to_string().starts_with("RG-E122 vk"), "{lost}");
                assert!(lost.to_string().ends_with("close this one, and make another of a window that is open"));
                assert_eq!(code::<()>(Err(lost)), Code::WindowLost);
                window.close().expect("closes");
                continue;
            }
        }
        display.destroy(id);
    }
    show(&run(&compiled), root, &kept);
    demand_shown(&display, kept_id, &scaled([16, 8]));
    device.0.close().expect("closes");
    assert_eq!(code(kept.info()), Code::Closed);
    kept.close().expect("a window closes behind its device");
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let Some((device, display)) = on_x() else { return };
    let (_, window) = open(&device.0, &display, [16, 8], &small());
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    let early = run(&compiled);
    run(&compiled);
    assert_eq!(code(early.show(root, &window)), Code::BadInput);
    let mut b = Bench::new([8, 4]);
    let words = b.graph().buffer("words", 64);
    let depth = b.graph().image("depth", Format::Depth32float);
    b.graph().root(words);
    b.graph().root(depth);
    b.pass(
        "fill",
        rgraph_plan::access::PassQueue::Graphics,
        &[(words, using(Usage::TransferDst)), (depth, using(Usage::TransferDst))],
    );
    let other = b.compile(&device.0);
    for root in [words, depth] {
        assert_eq!(code(run(&other).show(root, &window)), Code::BadInput);
    }
    // Nothing of this spoils the window.
    show(&run(&compiled), root, &window);
    let id = display.window([8, 8]);
    let of = surface(&device.0, &display, id).expect("a surface");
    assert_eq!(code(Window::new(of, &WindowOptions { latency: 9, ..small() })), Code::BadNumber);
    let blind = Device::new(&DeviceOptions::default()).expect("opens");
    let Err(error) = surface(&blind, &display, id) else { panic!("no windows were asked for") };
    assert!(error.to_string().starts_with("RG-E107 the device was opened without windows"), "{error}");
    let second = Silent(Device::new(&DeviceOptions { windows: true, ..DeviceOptions::default() }).expect("opens"));
    let (foreign, root) = flag(&second.0, Format::Rgba8unorm);
    assert_eq!(code(run(&foreign).show(root, &window)), Code::Foreign);
}

#[test]
fn callbacks_of_an_engine_get_back_what_windows_took() {
    let Some((_, display)) = on_x() else { return };
    let memory = HostMemory::new();
    let options = DeviceOptions { windows: true, host: Some(memory.lent()), ..DeviceOptions::default() };
    let device = Silent(Device::new(&options).expect("opens"));
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    let (id, window) = open(&device.0, &display, [40, 20], &small());
    for size in [[40, 20], [64, 32], [8, 4]] {
        display.resize(id, size);
        show(&run(&compiled), root, &window);
    }
    demand_shown(&display, id, &scaled([8, 4]));
    let before = memory.counts();
    assert!(before.held > 0, "{before:?}");
    drop((compiled, window, device));
    assert_eq!((memory.counts().held, memory.counts().bytes), (0, 0));
}

#[test]
fn a_headless_surface_shows_frames_of_every_size() {
    let Some(device) = device() else { return };
    let surface = match Surface::headless(&device.0) {
        Ok(surface) => surface,
        Err(error) => {
            eprintln!("skipped: {error}");
            return;
        }
    };
    let window = match Window::new(surface, &WindowOptions { size: [64, 32], ..small() }) {
        Ok(window) => window,
        Err(error) => {
            eprintln!("skipped: {error}");
            return;
        }
    };
    let own = window.info().expect("open").expect("texels").size;
    let (compiled, root) = flag(&device.0, Format::Rgba8unorm);
    for round in 0..40_u32 {
        show(&run(&compiled), root, &window);
        let (direct, target) = direct(&device.0, &window, Some(Layout::PresentSrc));
        assert_eq!(window.run(&direct, target, Inputs::default()).expect("runs").0, Shown::Yes);
        let size = [1 + round * 7 % 90, 1 + round * 11 % 70];
        window.resize(size);
        // SwiftShader's has one size of its own.
        let wanted = if own == [64, 32] { size } else { own };
        assert_eq!(window.info().expect("open").expect("texels").size, wanted);
    }
    window.resize([0, 9]);
    assert_eq!(run(&compiled).show(root, &window).expect("no error"), Shown::Minimised);
}
