//! A pass whose commands a function records, each time the frame is recorded.

use std::sync::Arc;

use rgraph_plan::access::{Transfer as Which, Usage};
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{CallbackError, Commands, RecordWork, Step, Transfer, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs};

/// Writes a word into each quarter of a buffer.
struct Quarters(ResourceId);

impl RecordWork for Quarters {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        commands.steps.extend((0..4).map(|quarter| {
            Step::Transfer(Transfer::Fill {
                buffer: self.0,
                offset: 16 * quarter,
                size: Some(16),
                word: 7 + quarter as u32,
            })
        }));
        Ok(())
    }
}

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("quarters", [64, 64]);
    let words = g.buffer("words", 64);
    let mut fill = Use::new(Usage::TransferDst);
    fill.transfer = Some(Which::Fill);
    let pass = g.pass("fill", PassQueue::Compute).uses(words, &fill).id();
    g.root(words);

    let mut workload = Workload::new(g);
    workload.works.insert(pass, Work::Record(Arc::new(Quarters(words))));
    let device = Device::new(&DeviceOptions::default())?;
    let compiled = device.compile(workload, &Options::default())?;
    for _ in 0..3 {
        let frame = compiled.run(&Inputs::default())?;
        let bytes = frame.read(words)?;
        assert_eq!((bytes.bytes()[0], bytes.bytes()[60]), (7, 10));
    }
    print!("{}", rgraph_report::listing(compiled.plan()));
    Ok(())
}
