//! Several devices run one graph: each part of the plan is compiled for its device, and contents go from device to
//! device between parts. Decides nothing: which pass runs where, and what is copied, is the plan's.

mod compiled;
mod frame;
mod meet;
mod price;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rgraph_plan::bake::{Options, Scratch};
use rgraph_plan::devices::{DevicesPlan, part_graphs, plan_devices};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::profile::Profile;

pub use compiled::CompiledDevices;
pub use frame::DevicesFrame;
pub use price::CopyPrice;

use crate::bridge::{Bridge, Cuda, Wish, direct, why_not};
use crate::compile::foreign;
use crate::device::Device;
use crate::error::{DeviceError, Error};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::usages::Usages;
use crate::work::{Work, Workload};

/// What was made, or nothing where only a lost device is an error.
fn or_slots<T>(made: Result<T, Error>) -> Result<Option<T>, Error> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(error) if error.is_lost() => Err(error),
        Err(error) => {
            log::debug!("copies between devices need slots: {}", why_not(&error));
            Ok(None)
        }
    }
}

/// Devices that run graphs together, numbered from 0. Clones are the same devices.
#[derive(Clone, Debug)]
pub struct Devices(Arc<Together>);

#[derive(Debug)]
struct Together {
    list: Box<[Device]>,
    /// What the planner is given: the devices' own profiles, until copies were measured.
    profiles: RwLock<Arc<[Profile]>>,
    /// CUDA, once it was looked for; `None`: it is not wanted.
    cuda: OnceLock<Option<Result<Cuda, Box<DeviceError>>>>,
}

impl Devices {
    /// Takes open devices; the first one has the passes that gain nothing elsewhere. Two of them may be of one GPU.
    ///
    /// # Errors
    /// If there is none, one is closed, or one comes twice.
    pub fn new(devices: Vec<Device>) -> Result<Self, Error> {
        if devices.is_empty() {
            return Err(DeviceError::new(Code::NoSuchDevice, "no device is given", "open at least one").into());
        }
        for (at, device) in devices.iter().enumerate() {
            device.check()?;
            if let Some(first) = devices[..at].iter().position(|other| other.is(device)) {
                let message = format!("devices {first} and {at} are one device");
                let help = "open the GPU twice, or name another one";
                return Err(DeviceError::new(Code::Foreign, message, help).into());
            }
        }
        let profiles = RwLock::new(devices.iter().map(|device| device.profile().clone()).collect());
        Ok(Self(Arc::new(Together { list: devices.into(), profiles, cuda: OnceLock::new() })))
    }

    /// Slots between two devices for copies of these kinds: CUDA's, or else the host's, and then why.
    ///
    /// # Errors
    /// If a device is lost.
    fn bridge(
        &self,
        from: &Device,
        to: &Device,
        kinds: &[PlanKind],
    ) -> Result<(Option<Bridge>, Option<String>), Error> {
        let by_cuda = match self.cuda() {
            None => return Ok((Bridge::by_host(from, to, kinds, false)?, None)),
            Some(Ok(cuda)) => Bridge::by_cuda(*cuda, from, to, kinds),
            Some(Err(missing)) => Err(missing.clone().into()),
        };
        match by_cuda {
            Ok(bridge) => Ok((Some(bridge), None)),
            Err(error) if error.is_lost() => Err(error),
            Err(error) => Ok((Bridge::by_host(from, to, kinds, false)?, Some(why_not(&error)))),
        }
    }

    /// CUDA, if it is wanted.
    fn cuda(&self) -> Option<&Result<Cuda, Box<DeviceError>>> {
        self.0.cuda.get_or_init(|| Cuda::open(&Wish::of_environment())).as_ref()
    }

    /// A buffer that CUDA copies between a device and others without a slot; `None`: slots are needed.
    ///
    /// # Errors
    /// If a device is lost.
    fn peer_buffer(
        &self,
        device: &Device,
        others: &[&Device],
        name: &str,
        (bytes, usages): (u64, Usages),
    ) -> Result<Option<Arc<PhysicalResource>>, Error> {
        let Some(Ok(cuda)) = self.cuda() else { return Ok(None) };
        or_slots(direct::buffer(*cuda, device, others, name, (bytes, usages)))
    }

    /// A bridge between such buffers; `None`: slots are needed.
    ///
    /// # Errors
    /// If a device is lost.
    fn direct_bridge(&self, from: &Device, to: &Device) -> Result<Option<Bridge>, Error> {
        let Some(Ok(cuda)) = self.cuda() else { return Ok(None) };
        or_slots(Bridge::direct(*cuda, from, to))
    }

    /// The devices in order.
    pub fn list(&self) -> &[Device] {
        &self.0.list
    }

    /// The profiles that graphs are planned with.
    pub fn profiles(&self) -> Arc<[Profile]> {
        Arc::clone(&self.0.profiles.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Measures the way that copies between the devices take, and enters it into the profiles: from now on, graphs are
    /// planned with it. Of several pairs the slowest one counts. Takes a few copies of 64 MiB per pair, of 256 by CUDA.
    ///
    /// # Errors
    /// If a device fails, or has no memory for the copies.
    pub fn measure_copies(&self) -> Result<CopyPrice, Error> {
        let price = price::measure(self)?;
        let mut profiles = self.profiles().to_vec();
        for profile in &mut profiles {
            (profile.copy_us, profile.copy_gb_s) = (price.us, price.gb_s);
        }
        *self.0.profiles.write().unwrap_or_else(PoisonError::into_inner) = profiles.into();
        Ok(price)
    }

    /// Plans a graph for these devices, by their profiles.
    ///
    /// # Errors
    /// As [`plan_devices`].
    pub fn plan(&self, graph: &Graph, options: &Options) -> Result<DevicesPlan, Error> {
        Ok(plan_devices(graph, &self.profiles(), options, &mut Scratch::default())?)
    }

    /// Plans a workload and compiles each part for its device.
    ///
    /// # Errors
    /// As [`Devices::plan`], and as [`Device::compile`].
    pub fn compile(&self, workload: Workload, options: &Options) -> Result<CompiledDevices, Error> {
        let plan = self.plan(&workload.graph, options)?;
        self.compile_checked(plan, workload, options)
    }

    /// Compiles a plan of others, once the checker has no finding for it.
    ///
    /// # Errors
    /// `RG-E504` with the findings of [`rgraph_check::check_devices`]; a plan for another number of devices; else as
    /// [`Device::compile`].
    pub fn compile_plan(
        &self,
        plan: DevicesPlan,
        workload: Workload,
        options: &Options,
    ) -> Result<CompiledDevices, Error> {
        self.check(&plan, &workload.graph)?;
        self.compile_checked(plan, workload, options)
    }

    /// Checks a plan of others.
    fn check(&self, plan: &DevicesPlan, graph: &Graph) -> Result<(), Error> {
        if plan.profiles.len() != self.list().len() {
            let count = self.list().len();
            let message = format!("the plan is for {} devices, and there are {count}", plan.profiles.len());
            return Err(DeviceError::new(Code::NoSuchDevice, message, "open as many, or plan it again").into());
        }
        // Graphs of parts are made of well-formed plans only.
        if !rgraph_check::is_well_formed_for_devices(graph, plan) {
            return foreign::refused(graph, &rgraph_check::check_devices(graph, plan, &[]));
        }
        let parts: Vec<Graph> = part_graphs(graph, plan).iter().map(|part| part.graph.clone()).collect();
        let findings = rgraph_check::check_devices(graph, plan, &parts);
        foreign::refused(graph, &findings)
    }

    fn compile_checked(
        &self,
        plan: DevicesPlan,
        workload: Workload,
        options: &Options,
    ) -> Result<CompiledDevices, Error> {
        if let Some((pass, _)) = workload.works.iter().find(|(_, work)| matches!(work, Work::Raw(_)))
            && plan.parts.len() > 1
        {
            let name = workload.graph.pass_name(*pass);
            let message = format!("pass \"{name}\" records Vulkan itself, which is not supported over several devices");
            return Err(Error::work(name, message, "run the graph on one device"));
        }
        let mut parts = Vec::with_capacity(plan.parts.len());
        for (id, part) in part_graphs(&workload.graph, &plan).iter_ids() {
            let works = part.passes.iter_ids();
            let works = works.filter_map(|(own, whole)| Some((own, workload.works.get(whole)?.clone()))).collect();
            let own = Workload { graph: part.graph.clone(), works };
            let device = &self.list()[plan.parts[id].device.index()];
            parts.push((part.clone(), device.compile(own, options)?));
        }
        CompiledDevices::new(self.clone(), plan, workload.graph, parts)
    }
}
