//! Optional features of devices, by Vulkan's names: what shaders ask for, and what a device has.
//!
//! Source: Vulkan specification, "Features", and "Capabilities" (appendix "Vulkan Environment for SPIR-V").

use std::fmt;
use std::ops::{BitOr, BitOrAssign, Sub};

/// A feature that a device may lack.
#[derive(Clone, Copy, Debug)]
struct Feature {
    /// Vulkan's name.
    name: &'static str,
    /// The version or the extension of Vulkan that has it.
    since: &'static str,
    /// Capabilities of SPIR-V that need it.
    capabilities: &'static [u32],
}

const fn feature(name: &'static str, since: &'static str, capabilities: &'static [u32]) -> Feature {
    Feature { name, since, capabilities }
}

const V10: &str = "Vulkan 1.0";
const V11: &str = "Vulkan 1.1";
const V12: &str = "Vulkan 1.2";

/// All of them; a set has the bit of each one's position, so that new ones come last.
const ALL: [Feature; 53] = [
    feature("accelerationStructure", "VK_KHR_acceleration_structure", &[]),
    feature("rayTracingPipeline", "VK_KHR_ray_tracing_pipeline", &[4479]),
    feature("rayQuery", "VK_KHR_ray_query", &[4472]),
    feature("meshShader", "VK_EXT_mesh_shader", &[5283]),
    feature("geometryShader", V10, &[2]),
    feature("tessellationShader", V10, &[3]),
    feature("shaderTessellationAndGeometryPointSize", V10, &[23, 24]),
    feature("shaderFloat16", V12, &[9]),
    feature("shaderFloat64", V10, &[10]),
    feature("shaderInt64", V10, &[11]),
    feature("shaderInt16", V10, &[22]),
    feature("shaderInt8", V12, &[39]),
    feature("shaderBufferInt64Atomics", V12, &[12]),
    feature("shaderImageGatherExtended", V10, &[25]),
    feature("shaderStorageImageMultisample", V10, &[27, 48]),
    feature("shaderUniformBufferArrayDynamicIndexing", V10, &[28]),
    feature("shaderSampledImageArrayDynamicIndexing", V10, &[29]),
    feature("shaderStorageBufferArrayDynamicIndexing", V10, &[30]),
    feature("shaderStorageImageArrayDynamicIndexing", V10, &[31]),
    feature("shaderClipDistance", V10, &[32]),
    feature("shaderCullDistance", V10, &[33]),
    feature("imageCubeArray", V10, &[34, 45]),
    feature("sampleRateShading", V10, &[35, 52]),
    feature("shaderResourceResidency", V10, &[41]),
    feature("shaderResourceMinLod", V10, &[42]),
    feature("shaderStorageImageExtendedFormats", V10, &[49]),
    feature("shaderStorageImageReadWithoutFormat", V10, &[55]),
    feature("shaderStorageImageWriteWithoutFormat", V10, &[56]),
    feature("multiViewport", V10, &[57]),
    feature("fragmentStoresAndAtomics", V10, &[]),
    feature("vertexPipelineStoresAndAtomics", V10, &[]),
    feature("storageBuffer16BitAccess", V11, &[4433]),
    feature("uniformAndStorageBuffer16BitAccess", V11, &[4434]),
    feature("storagePushConstant16", V11, &[4435]),
    feature("storageInputOutput16", V11, &[4436]),
    feature("multiview", V11, &[4439]),
    feature("shaderDrawParameters", V11, &[4427]),
    feature("storageBuffer8BitAccess", V12, &[4448]),
    feature("uniformAndStorageBuffer8BitAccess", V12, &[4449]),
    feature("storagePushConstant8", V12, &[4450]),
    feature("descriptorIndexing", V12, &[5301]),
    feature("runtimeDescriptorArray", V12, &[5302]),
    feature("shaderInputAttachmentArrayDynamicIndexing", V12, &[5303]),
    feature("shaderUniformTexelBufferArrayDynamicIndexing", V12, &[5304]),
    feature("shaderStorageTexelBufferArrayDynamicIndexing", V12, &[5305]),
    feature("shaderUniformBufferArrayNonUniformIndexing", V12, &[5306]),
    feature("shaderSampledImageArrayNonUniformIndexing", V12, &[5307]),
    feature("shaderStorageBufferArrayNonUniformIndexing", V12, &[5308]),
    feature("shaderStorageImageArrayNonUniformIndexing", V12, &[5309]),
    feature("shaderInputAttachmentArrayNonUniformIndexing", V12, &[5310]),
    feature("shaderUniformTexelBufferArrayNonUniformIndexing", V12, &[5311]),
    feature("shaderStorageTexelBufferArrayNonUniformIndexing", V12, &[5312]),
    feature("vulkanMemoryModel", V12, &[5345]),
];

/// A set of optional features.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Features(u64);

macro_rules! one {
    ($($(#[$doc:meta])* $name:ident = $at:literal;)+) => {
        impl Features { $($(#[$doc])* pub const $name: Self = Self(1 << $at);)+ }
    };
}

one! {
    /// Acceleration structures, and the addresses of buffers that they need.
    ACCELERATION_STRUCTURE = 0;
    /// Pipelines that trace rays.
    RAY_TRACING_PIPELINE = 1;
    /// Ray queries in any shader.
    RAY_QUERY = 2;
    /// Mesh and task stages.
    MESH_SHADER = 3;
    /// The geometry stage.
    GEOMETRY_SHADER = 4;
    /// The tessellation stages.
    TESSELLATION_SHADER = 5;
    /// Stores in fragment shaders.
    FRAGMENT_STORES_AND_ATOMICS = 29;
    /// Stores in the stages before rasterisation.
    VERTEX_PIPELINE_STORES_AND_ATOMICS = 30;
}

impl Features {
    /// No feature.
    pub const fn empty() -> Self {
        Self(0)
    }

    /// Every feature of the table.
    pub const fn all() -> Self {
        Self((1 << ALL.len()) - 1)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set as a number: a bit per feature.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The feature of Vulkan's name.
    pub fn from_name(name: &str) -> Option<Self> {
        ALL.iter().position(|feature| feature.name == name).map(|at| Self(1 << at))
    }

    /// The feature that a capability of SPIR-V needs; empty: none, or none of the table.
    pub fn of_capability(capability: u32) -> Self {
        let found = ALL.iter().position(|feature| feature.capabilities.contains(&capability));
        found.map_or(Self(0), |at| Self(1 << at))
    }

    fn entries(self) -> impl Iterator<Item = &'static Feature> {
        ALL.iter().enumerate().filter(move |(at, _)| self.0 >> at & 1 == 1).map(|(_, feature)| feature)
    }

    /// Vulkan's names of the features of the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.entries().map(|feature| feature.name)
    }
}

/// `rayQuery (VK_KHR_ray_query) and shaderInt64 (Vulkan 1.0)`.
impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.count_ones() as usize;
        for (at, Feature { name, since, .. }) in self.entries().enumerate() {
            let between = match at {
                0 => "",
                _ if at + 1 == count => " and ",
                _ => ", ",
            };
            write!(f, "{between}{name} ({since})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl BitOr for Features {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Features {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The features of one set that another one lacks.
impl Sub for Features {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<Self> for Features {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        all.into_iter().fold(Self(0), BitOr::bitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_name_and_capabilities_of_its_own() {
        for (at, one) in ALL.iter().enumerate() {
            let bit = Features(1 << at);
            assert_eq!(Features::from_name(one.name), Some(bit));
            for capability in one.capabilities {
                assert_eq!(Features::of_capability(*capability), bit, "{}", one.name);
            }
        }
        assert_eq!(Features::all().names().count(), ALL.len());
    }

    #[test]
    fn features_that_code_names_are_those_of_the_table() {
        let named = [
            (Features::ACCELERATION_STRUCTURE, "accelerationStructure"),
            (Features::RAY_TRACING_PIPELINE, "rayTracingPipeline"),
            (Features::RAY_QUERY, "rayQuery"),
            (Features::MESH_SHADER, "meshShader"),
            (Features::GEOMETRY_SHADER, "geometryShader"),
            (Features::TESSELLATION_SHADER, "tessellationShader"),
            (Features::FRAGMENT_STORES_AND_ATOMICS, "fragmentStoresAndAtomics"),
            (Features::VERTEX_PIPELINE_STORES_AND_ATOMICS, "vertexPipelineStoresAndAtomics"),
        ];
        for (feature, name) in named {
            assert_eq!(feature.names().collect::<Vec<_>>(), [name]);
        }
    }

    #[test]
    fn a_set_says_what_it_holds_and_since_when() {
        let all = Features::RAY_QUERY | Features::GEOMETRY_SHADER | Features::MESH_SHADER;
        let listed = "rayQuery (VK_KHR_ray_query), meshShader (VK_EXT_mesh_shader) and geometryShader (Vulkan 1.0)";
        assert_eq!(all.to_string(), listed);
        assert_eq!((all - Features::MESH_SHADER).names().collect::<Vec<_>>(), ["rayQuery", "geometryShader"]);
        assert!(all.contains(Features::RAY_QUERY) && !Features::RAY_QUERY.contains(all));
    }
}
