//! rgraph: a graph of transients, its memory planned.

use std::sync::Arc;

use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::Options;
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs};

use crate::{Library, Parts, as_text, timed};

pub struct Ours {
    device: Device,
    programs: [Arc<Program>; 2],
    names: Vec<(String, String)>,
}

impl Ours {
    pub fn new(programs: [&Arc<Program>; 2], most: usize, spare_graphs: u32) -> Result<Self, String> {
        let options = DeviceOptions {
            labels: Some(false),
            validation: Some(false),
            frames_in_flight: 2,
            spare_graphs,
            ..DeviceOptions::default()
        };
        let device = Device::new(&options).map_err(as_text)?;
        let names = (0..most).map(|at| (format!("p{at}"), format!("i{at}"))).collect();
        Ok(Self { device, programs: programs.map(Arc::clone), names })
    }

    fn declare(&self, passes: usize, push: u32) -> (Workload, ResourceId) {
        let mut workload = Workload::new(Graph::new("chain", [16, 16]));
        let mut before: Option<ResourceId> = None;
        for (pass_name, image_name) in &self.names[..passes] {
            let image = workload.graph.image(image_name, Format::R32uint);
            let mut pass = workload.graph.pass(pass_name, PassQueue::Compute);
            let (program, bound): (_, Arc<[Bound]>) = match before {
                None => (&self.programs[0], [Bound { binding: 0, element: 0, what: image.into() }].into()),
                Some(before) => {
                    pass = pass.storage_read(before);
                    let bound = [(0, before), (1, image)];
                    let bound = bound.map(|(binding, what)| Bound { binding, element: 0, what: what.into() });
                    (&self.programs[1], bound.into())
                }
            };
            let pass: PassId = pass.storage_write(image).id();
            let mut dispatch = Dispatch::new(program.clone(), bound, Groups::Fixed([16, 16, 1]));
            dispatch.push = push.to_le_bytes().into();
            workload.works.insert(pass, Work::Steps(vec![Step::Dispatch(dispatch)]));
            before = Some(image);
        }
        let last = before.expect("there is a pass");
        workload.graph.root(last);
        (workload, last)
    }
}

impl Library for Ours {
    fn frame(&mut self, passes: usize, push: u32) -> Result<Parts, String> {
        let (declare, (workload, _)) = timed(|| self.declare(passes, push));
        let (compile, compiled) = timed(|| self.device.compile(workload, &Options::default()));
        let compiled = compiled.map_err(as_text)?;
        let inputs = Inputs { read: Some(Vec::new()), ..Inputs::default() };
        let (run, frame) = timed(|| compiled.run(&inputs));
        let frame = frame.map_err(as_text)?;
        frame.wait(None).map_err(as_text)?;
        let (end, ()) = timed(|| drop((compiled, frame)));
        Ok(Parts { declare, compile, run, end })
    }
}
