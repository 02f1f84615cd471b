//! Pipelines, their layouts and samplers that a device has: shared by every graph, kept until the device goes.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use rgraph_work::{Address, Border, Compare};

use crate::compile::cache::CacheFile;
use crate::compile::keys::{ProgramKey, RasterKey, RayKey};
use crate::device::functions::Functions;
use crate::error::{Called, Error};

/// Layouts of a program.
#[derive(Clone, Debug)]
pub(crate) struct Layouts {
    /// One a group, empty ones between.
    pub sets: Vec<vk::DescriptorSetLayout>,
    pub pipeline: vk::PipelineLayout,
    /// Stages of push data.
    pub push: vk::ShaderStageFlags,
}

/// A ray-tracing pipeline, and the handles of its groups one after the other.
#[derive(Clone)]
pub(crate) struct RayPipeline {
    pub raw: vk::Pipeline,
    pub(super) handles: Arc<[u8]>,
}

/// What was made so far.
#[derive(Default)]
pub(super) struct Made {
    pub(super) layouts: HashMap<ProgramKey, Arc<Layouts>>,
    pub(super) compute: HashMap<ProgramKey, vk::Pipeline>,
    pub(super) raster: HashMap<RasterKey, vk::Pipeline>,
    pub(super) rays: HashMap<RayKey, RayPipeline>,
    pub(super) samplers: HashMap<SamplerKey, vk::Sampler>,
    pub(super) made: usize,
}

/// What a sampler is known by.
pub(super) type SamplerKey = (bool, bool, bool, [Address; 3], u32, Option<Compare>, [u32; 2], Border);

/// Pipelines, their layouts and samplers of a device.
pub(crate) struct Pipelines {
    made: Mutex<Made>,
    pub(super) cache: vk::PipelineCache,
    file: Option<CacheFile>,
    /// Whether it is not the caller's.
    owned: bool,
}

impl Pipelines {
    pub(crate) fn new(
        device: &Functions,
        properties: &vk::PhysicalDeviceProperties,
        path: Option<PathBuf>,
        borrowed: Option<vk::PipelineCache>,
    ) -> Result<Self, Error> {
        if let Some(cache) = borrowed {
            return Ok(Self { made: Mutex::default(), cache, file: None, owned: false });
        }
        let file = path.map(|path| CacheFile::new(path, properties));
        let data = file.as_ref().map(CacheFile::read).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data is empty or was written by this device's driver, as the file's header and sum say.
        let cache = unsafe { device.create_pipeline_cache(&info, device.host()) }.called("vkCreatePipelineCache")?;
        Ok(Self { made: Mutex::default(), cache, file, owned: true })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the cache file if anything was made, and destroys everything.
    pub(crate) fn destroy(&self, device: &Functions) {
        let made = std::mem::take(&mut *self.lock());
        if let Some(file) = self.file.as_ref().filter(|_| made.made > 0) {
            // SAFETY: the cache is this device's.
            match unsafe { device.get_pipeline_cache_data(self.cache) } {
                Ok(data) => file.write(&data),
                Err(error) => log::warn!(target: "rgraph", "vkGetPipelineCacheData returned {error:?}"),
            }
        }
        let rays = made.rays.into_values().map(|made| made.raw);
        for pipeline in made.compute.into_values().chain(made.raster.into_values()).chain(rays) {
            // SAFETY: the device is idle and goes.
            unsafe { device.destroy_pipeline(pipeline, device.host()) };
        }
        for layouts in made.layouts.into_values() {
            // SAFETY: as above.
            unsafe { device.destroy_pipeline_layout(layouts.pipeline, device.host()) };
            for &set in &layouts.sets {
                // SAFETY: as above.
                unsafe { device.destroy_descriptor_set_layout(set, device.host()) };
            }
        }
        for sampler in made.samplers.into_values() {
            // SAFETY: as above.
            unsafe { device.destroy_sampler(sampler, device.host()) };
        }
        if self.owned {
            // SAFETY: as above.
            unsafe { device.destroy_pipeline_cache(self.cache, device.host()) };
        }
    }

    /// A ray-tracing pipeline that was made before.
    pub(crate) fn ray(&self, key: &RayKey) -> Option<RayPipeline> {
        self.lock().rays.get(key).cloned()
    }

    /// Keeps a ray-tracing pipeline unless another thread was faster, whose one is then taken.
    pub(crate) fn keep_ray(&self, device: &Functions, key: RayKey, made: RayPipeline) -> RayPipeline {
        let mut all = self.lock();
        all.made += 1;
        match all.rays.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => {
                // SAFETY: never used.
                unsafe { device.destroy_pipeline(made.raw, device.host()) };
                known.get().clone()
            }
            std::collections::hash_map::Entry::Vacant(place) => place.insert(made).clone(),
        }
    }

    /// The cache that pipelines are made with.
    pub(crate) fn cache(&self) -> vk::PipelineCache {
        self.cache
    }
}

/// The one pipeline that was asked for.
pub(crate) fn first_pipeline(
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
) -> Result<vk::Pipeline, vk::Result> {
    made.map(|made| made[0]).map_err(|(_, result)| result)
}

/// Keeps a pipeline unless another thread was faster, whose one is then taken.
pub(super) fn keep<K: Eq + Hash>(
    device: &Functions,
    entry: std::collections::hash_map::Entry<'_, K, vk::Pipeline>,
    made: vk::Pipeline,
) -> vk::Pipeline {
    match entry {
        std::collections::hash_map::Entry::Occupied(known) => {
            // SAFETY: never used.
            unsafe { device.destroy_pipeline(made, device.host()) };
            *known.get()
        }
        std::collections::hash_map::Entry::Vacant(place) => *place.insert(made),
    }
}
