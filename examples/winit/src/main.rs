//! A window of winit in which a graph runs: resized, minimised, closed, and several of them with `cargo run -- 3`.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use rgraph::plan::graph::PassId;
use rgraph::plan::prelude::*;
use rgraph::plan::resource::ResourceId;
use rgraph::shader::{Kind, Language, Program, Source};
use rgraph::vk::work::{Draw, DrawCount, RasterState, Step, Work, Workload};
use rgraph::vk::{Compiled, Device, DeviceOptions, Inputs, Shown, Surface, Window, WindowOptions};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window as Native, WindowId};

const WAVES: &str = "
struct Push { seconds: f32 }
var<immediate> push: Push;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let wave = sin(at.x * 0.02 + push.seconds) * cos(at.y * 0.02 - push.seconds);
    return vec4<f32>(0.5 + 0.5 * wave, 0.3, 0.5 - 0.5 * wave, 1.0);
}";

/// A window, and what is shown in it. The native one is kept by the other.
struct Open {
    native: Arc<Native>,
    window: Window,
}

/// What lasts from window to window.
struct Application {
    device: Device,
    compiled: Compiled,
    waves: PassId,
    picture: ResourceId,
    begin: Instant,
    wanted: usize,
    open: Vec<Open>,
}

impl Application {
    fn new(wanted: usize) -> Result<Self, Box<dyn Error>> {
        let device = Device::new(&DeviceOptions { windows: true, ..DeviceOptions::default() })?;
        let mut g = Graph::new("waves", [1280, 720]);
        let picture = g.image("picture", Format::Rgba8unorm);
        let waves = g.pass("waves", PassQueue::Graphics).color(picture).id();
        g.root(picture);
        let program = Program::new("waves", Kind::Raster, &[Source::Text(Language::Wgsl, WAVES)], None)?;
        let draw = Draw {
            program: Arc::new(program),
            state: Arc::new(RasterState::default()),
            bound: Arc::new([]),
            push: [0; 4].into(),
            vertex_buffers: Vec::new(),
            index: None,
            count: DrawCount::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0, vertex_offset: 0 },
            viewport: None,
            key: 0,
        };
        let mut workload = Workload::new(g);
        workload.works.insert(waves, Work::Steps(vec![Step::Draw(draw)]));
        let compiled = device.compile(workload, &Options::default())?;
        Ok(Self { device, compiled, waves, picture, begin: Instant::now(), wanted, open: Vec::new() })
    }

    fn draw(&self, id: WindowId) -> Result<(), Box<dyn Error>> {
        let Some(open) = self.open.iter().find(|open| open.native.id() == id) else { return Ok(()) };
        open.window.pace()?;
        let seconds = self.begin.elapsed().as_secs_f32();
        let push = vec![(self.waves, seconds.to_le_bytes().to_vec())];
        let frame = self.compiled.run(&Inputs { push, read: Some(Vec::new()), ..Inputs::default() })?;
        if frame.show(self.picture, &open.window)? == Shown::Yes {
            open.native.request_redraw();
        }
        Ok(())
    }

    fn on(&mut self, events: &ActiveEventLoop, id: WindowId, event: &WindowEvent) -> Result<(), Box<dyn Error>> {
        match event {
            WindowEvent::Resized(size) => {
                if let Some(open) = self.open.iter().find(|open| open.native.id() == id) {
                    open.window.resize([size.width, size.height]);
                    open.native.request_redraw();
                }
            }
            WindowEvent::RedrawRequested => self.draw(id)?,
            WindowEvent::CloseRequested => {
                self.open.retain(|open| open.native.id() != id);
                if self.open.is_empty() {
                    events.exit();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl ApplicationHandler for Application {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let open = || -> Result<Open, Box<dyn Error>> {
            let native = Arc::new(events.create_window(Native::default_attributes().with_title("rgraph"))?);
            let size = native.inner_size();
            let options = WindowOptions { size: [size.width, size.height], ..WindowOptions::default() };
            let window = Window::new(Surface::new(&self.device, native.clone())?, &options)?;
            native.request_redraw();
            Ok(Open { native, window })
        };
        let opened: Result<Vec<_>, _> = (self.open.len()..self.wanted).map(|_| open()).collect();
        match opened {
            Ok(opened) => self.open.extend(opened),
            Err(error) => fail(events, error.as_ref()),
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        if let Err(error) = self.on(events, id, &event) {
            fail(events, error.as_ref());
        }
    }
}

fn fail(events: &ActiveEventLoop, error: &dyn Error) {
    eprintln!("{error}");
    events.exit();
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let events = EventLoop::new()?;
    events.set_control_flow(ControlFlow::Wait);
    Ok(events.run_app(&mut Application::new(wanted)?)?)
}
