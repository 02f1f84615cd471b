//! One thread per device runs its steps in the order of the plan. A send hands the bytes of a memory over, a receive
//! takes them. Every wait is cut into slices, so a device that is lost or an error elsewhere ends all of them.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::devices::{DeviceCopyId, DeviceId, DevicePartId, DeviceStep};
use rgraph_plan::id::Id;

use super::compiled::{DevicesRunState, Shared};
use crate::bridge::{Ended, Filled, SLICE};
use crate::error::Error;
use crate::frame::copy::{Plane, packed_bytes};
use crate::frame::inputs::{Inputs, Upload};
use crate::memory::staged;
use crate::memory::staging::Block;
use crate::run::frame::Frame;

/// What a memory holds, on its way.
enum Contents {
    /// Nothing: the receiver only comes later.
    Nothing,
    /// All bytes of a memory of one plane, where the source left them.
    Whole(Arc<Block>, u64),
    /// The bytes of each plane.
    Planes(Vec<Vec<u8>>),
    /// A word for each piece that is in a slot.
    Pieces(Receiver<Filled>),
}

/// Both ends of a copy, each taken once.
struct Channel {
    send: Mutex<Option<Sender<Contents>>>,
    receive: Mutex<Option<Receiver<Contents>>>,
}

impl Channel {
    fn new() -> Self {
        let (send, receive) = channel();
        Self { send: Mutex::new(Some(send)), receive: Mutex::new(Some(receive)) }
    }
}

struct Run<'a> {
    shared: &'a Shared,
    state: &'a DevicesRunState,
    inputs: &'a Inputs<'a>,
    channels: Vec<Channel>,
    stop: AtomicBool,
    frames: Vec<Mutex<Option<Frame>>>,
}

/// Runs all steps of a frame; returns the frames of the parts, which are done.
pub(super) fn run(shared: &Shared, state: &DevicesRunState, inputs: &Inputs<'_>) -> Result<Vec<Frame>, Error> {
    let run = Run {
        shared,
        state,
        inputs,
        channels: shared.plan.copies.iter().map(|_| Channel::new()).collect(),
        stop: AtomicBool::new(false),
        frames: shared.parts.iter().map(|_| Mutex::new(None)).collect(),
    };
    let devices = (0..shared.devices.list().len()).map(DeviceId::new);
    let ended: Vec<Result<(), Ended>> = std::thread::scope(|scope| {
        let (done, come) = channel();
        let threads: Vec<_> = devices
            .map(|device| {
                let (run, done) = (&run, done.clone());
                scope.spawn(move || {
                    let ended = run.steps_of(device);
                    if ended.is_err() {
                        run.stop.store(true, Ordering::Relaxed);
                    }
                    // The caller's thread may be gone on by then.
                    let _ = done.send(());
                    ended
                })
            })
            .collect();
        drop(done);
        let polled = run.watch(&come);
        let mut ended: Vec<_> =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect();
        ended.extend(polled.err().map(|error| Err(Ended::Failed(error))));
        ended
    });
    // An error of the caller's comes last, and first of all; then the first device's.
    let failed = ended.into_iter().rev().filter_map(Result::err).find_map(|ended| match ended {
        Ended::Failed(error) => Some(error),
        Ended::Stopped => None,
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let frame = |frame: Mutex<Option<Frame>>| frame.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(run.frames.into_iter().map(|one| frame(one).expect("a part whose device has no error ran")).collect())
}

impl Run<'_> {
    /// Polls while threads run; an error stops them.
    fn watch(&self, come: &Receiver<()>) -> Result<(), Error> {
        let mut first = Ok(());
        loop {
            match come.recv_timeout(SLICE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return first,
                Err(RecvTimeoutError::Timeout) => {
                    if let (Ok(()), Some(poll)) = (&first, self.inputs.poll)
                        && let Err(error) = poll()
                    {
                        self.stop.store(true, Ordering::Relaxed);
                        first = Err(Error::Callback(error));
                    }
                }
            }
        }
    }

    fn go_on(&self) -> Result<(), Ended> {
        if self.stop.load(Ordering::Relaxed) { Err(Ended::Stopped) } else { Ok(()) }
    }

    fn steps_of(&self, device: DeviceId) -> Result<(), Ended> {
        let mut under_way: Vec<Frame> = Vec::new();
        for step in &self.shared.plan.steps {
            if self.shared.plan.device_of(*step) != device {
                continue;
            }
            self.go_on()?;
            match *step {
                DeviceStep::Run(part) => under_way.push(self.run_part(device, part)?),
                DeviceStep::Send(copy) => {
                    self.wait(&mut under_way)?;
                    self.send(device, copy)?;
                }
                DeviceStep::Receive(copy) => self.receive(device, copy)?,
            }
        }
        self.wait(&mut under_way)
    }

    /// Waits for the parts of the device that are under way.
    fn wait(&self, under_way: &mut Vec<Frame>) -> Result<(), Ended> {
        for frame in under_way.drain(..) {
            while !frame.wait(Some(SLICE))? {
                self.go_on()?;
            }
        }
        Ok(())
    }

    fn run_part(&self, device: DeviceId, part: DevicePartId) -> Result<Frame, Error> {
        let (graph, compiled) = &self.shared.parts[part.index()];
        let imports = self.shared.imports(self.state, part.index(), device);
        let own = |whole| graph.passes.iter_ids().find(|(_, pass)| **pass == whole).map(|(own, _)| own);
        let inputs = Inputs {
            uploads: imports.iter().map(|(resource, bound)| (*resource, Upload::Resource(bound))).collect(),
            data: (self.inputs.data.iter())
                .filter_map(|(pass, binding, bytes)| Some((own(*pass)?, *binding, bytes.clone())))
                .collect(),
            push: (self.inputs.push.iter()).filter_map(|(pass, bytes)| Some((own(*pass)?, bytes.clone()))).collect(),
            targets: (self.inputs.targets.iter()).filter_map(|(pass, change)| Some((own(*pass)?, *change))).collect(),
            flags: (self.inputs.flags.iter())
                .filter(|(name, _)| graph.graph.flags().iter().any(|flag| flag == name))
                .cloned()
                .collect(),
            read: self
                .inputs
                .read
                .as_ref()
                .map(|read| read.iter().copied().filter(|root| graph.graph.is_root(*root)).collect()),
            unread: self.inputs.unread.clone(),
            measure: self.inputs.measure,
            sample: self.inputs.sample,
            statistics: self.inputs.statistics,
            ..Inputs::default()
        };
        let frame = compiled.run(&inputs)?;
        *self.frames[part.index()].lock().unwrap_or_else(PoisonError::into_inner) = Some(frame.clone());
        Ok(frame)
    }

    fn send(&self, device: DeviceId, copy: DeviceCopyId) -> Result<(), Ended> {
        let memory = self.shared.plan.copies[copy].resource;
        let physical = memory.and_then(|memory| self.shared.physical(self.state, device, memory));
        if let (Some(physical), Some(bridge)) = (physical, self.shared.bridge(copy)) {
            let (there, come) = channel();
            self.hand_over(copy, Contents::Pieces(come))?;
            let mut there = |filled| there.send(filled).map_err(|_| Ended::Stopped);
            return bridge.send(physical, &|| self.go_on(), &mut there);
        }
        let contents = match physical.map(|physical| (physical, Plane::all(physical.kind))) {
            None => Contents::Nothing,
            // The receiver copies while its device takes what it copied before.
            Some((physical, planes)) if planes.len() == 1 => {
                Contents::Whole(staged::read(physical, None)?, packed_bytes(physical.kind))
            }
            Some((physical, planes)) => {
                let read = |plane| staged::read_plane(physical, plane);
                Contents::Planes(planes.into_iter().map(read).collect::<Result<_, _>>()?)
            }
        };
        self.hand_over(copy, contents)
    }

    fn hand_over(&self, copy: DeviceCopyId, contents: Contents) -> Result<(), Ended> {
        let send = self.channels[copy.index()].send.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A receiver that is gone has stopped.
        send.and_then(|send| send.send(contents).ok()).ok_or(Ended::Stopped)
    }

    /// What a channel has next.
    fn next<T>(&self, channel: &Receiver<T>) -> Result<T, Ended> {
        loop {
            match channel.recv_timeout(SLICE) {
                Ok(next) => return Ok(next),
                Err(RecvTimeoutError::Timeout) => self.go_on()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Ended::Stopped),
            }
        }
    }

    fn receive(&self, device: DeviceId, copy: DeviceCopyId) -> Result<(), Ended> {
        let channel = &self.channels[copy.index()];
        let receive = channel.receive.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(Ended::Stopped)?;
        let contents = self.next(&receive)?;
        let memory = self.shared.plan.copies[copy].resource;
        let Some(physical) = memory.and_then(|memory| self.shared.physical(self.state, device, memory)) else {
            return Ok(());
        };
        match contents {
            Contents::Nothing => {}
            Contents::Pieces(come) => {
                let Some(bridge) = self.shared.bridge(copy) else { return Ok(()) };
                bridge.receive(physical, &|| self.go_on(), &mut || self.next(&come))?;
            }
            Contents::Whole(block, length) => {
                // SAFETY: the block is mapped as long as it lives and that large; the source is done with it, made its
                // bytes visible, and nothing else borrows it.
                let bytes = unsafe { std::slice::from_raw_parts(block.start().as_ptr(), length as usize) };
                staged::write(physical, bytes, None)?;
            }
            Contents::Planes(planes) => {
                for (plane, bytes) in Plane::all(physical.kind).into_iter().zip(&planes) {
                    staged::write_plane(physical, plane, bytes)?;
                }
            }
        }
        Ok(())
    }
}
