//! What stands behind a shader's bindings: resources compared with what the pass declares, with the shader's types and
//! with the device's limits.

use rgraph_plan::access::{Aspects, Layout, Stages, Usage};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Binding, BindingKind, Dimension, Program, SampleKind};
use rgraph_work::{Sampler, View, What};

use crate::compile::bind::Binder;
use crate::compile::packet::{Descriptor, Packets};
use crate::compile::pass_table::PassAccess;
use crate::error::Error;
use crate::memory::physical_resource::{ViewKey, view_type};
use crate::memory::state::{Region, within};

impl Binder<'_> {
    pub(crate) fn descriptor(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        what: &What,
        out: &mut Packets,
    ) -> Result<Descriptor, Error> {
        let mismatch = |given: &str| {
            let says = format!("binds {given} to \"{}\" of shader \"{}\"", binding.name, program.name);
            self.refuse(pass, says, &format!("the shader wants {}", wanted(binding.kind)))
        };
        match (what, binding.kind) {
            (What::Sampler(sampler), BindingKind::Sampler { comparison }) => {
                if comparison != sampler.compare.is_some() {
                    return mismatch(if comparison {
                        "a sampler that does not compare"
                    } else {
                        "a comparing sampler"
                    });
                }
                Ok(Descriptor::Sampler(self.shared.sampler(sampler)?))
            }
            (What::Data(bytes), BindingKind::Uniform) => {
                let size = binding.ty.as_ref().map_or(0, |ty| ty.size() as usize);
                if bytes.len() != size {
                    return mismatch(&format!("{} bytes", bytes.len()));
                }
                let align = self.shared.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
                let start = out.data.len().next_multiple_of(align);
                out.data.resize(start, 0);
                out.data.extend_from_slice(bytes);
                let range = [start as u64, out.data.len() as u64];
                let same = |one: &Binding| (one.group, one.binding) == (binding.group, binding.binding);
                if let Some(at) = program.interface.bindings.iter().position(same) {
                    out.blocks.push((pass, at as u32, range));
                }
                Ok(Descriptor::Data(range))
            }
            (What::Resource(view), BindingKind::Uniform | BindingKind::Storage) => {
                let (resource, range) = self.buffer_range(pass, program, binding, (view, None))?;
                Ok(Descriptor::Buffer(resource, range))
            }
            (What::Texels(view, format), BindingKind::Texels { format: named, .. }) => {
                if named.is_some_and(|named| named != *format) {
                    return mismatch(&format!("a buffer of {format}"));
                }
                self.shared.check_texels(*format, binding)?;
                let (resource, range) = self.buffer_range(pass, program, binding, (view, Some(*format)))?;
                Ok(Descriptor::Texels(resource, range, *format))
            }
            (
                What::Resource(view),
                BindingKind::Sampled { .. } | BindingKind::Image { .. } | BindingKind::InputAttachment { .. },
            ) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Image(resource, key, layout))
            }
            (What::Combined(view, sampler), BindingKind::Combined { .. }) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Combined(resource, key, layout, self.shared.sampler(sampler)?))
            }
            (What::Resource(view), BindingKind::Combined { .. }) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Combined(resource, key, layout, self.shared.sampler(&Sampler::default())?))
            }
            (What::Resource(view), BindingKind::AccelerationStructure) => {
                let resource = self.planned(pass, view.resource)?;
                self.bound_access(pass, program, binding, (resource, view))?;
                Ok(Descriptor::Structure(resource))
            }
            (What::Sampler(_), _) => mismatch("a sampler"),
            (What::Data(_), _) => mismatch("plain data"),
            (What::Resource(_) | What::Combined(..) | What::Texels(..), _) => mismatch("a resource"),
        }
    }

    /// The access behind a binding, with stages that cover the shader's.
    fn bound_access(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        (resource, view): (ResourceId, &View),
    ) -> Result<&PassAccess, Error> {
        let usage = binding.usage().unwrap_or(Usage::Sampled);
        let allowed: &[Usage] = match usage {
            Usage::StorageRead => &[Usage::StorageRead, Usage::StorageReadWrite],
            Usage::StorageWrite => &[Usage::StorageWrite, Usage::StorageReadWrite],
            Usage::StorageReadWrite => &[Usage::StorageReadWrite],
            Usage::Uniform => &[Usage::Uniform],
            Usage::InputAttachment => &[Usage::InputAttachment],
            Usage::AccelerationRead => &[Usage::AccelerationRead],
            _ => &[Usage::Sampled],
        };
        let access = self.access(
            pass,
            resource,
            allowed,
            |region| region.holds(view),
            format_args!(
                "binds to \"{}\" of shader \"{}\" as {} the resource",
                binding.name,
                program.name,
                usage.name()
            ),
        )?;
        let declared = self.stages(pass, access);
        if !declared.contains(binding.stages) && binding.kind != (BindingKind::InputAttachment { index: 0 }) {
            let names = |stages: Stages| stages.names().collect::<Vec<_>>().join(", ");
            let says = format!(
                "uses \"{}\" in stages {}, and declares {}",
                self.plan.resource_name(resource),
                names(binding.stages),
                names(declared)
            );
            return self.refuse(pass, says, "declare the stages in which the shader uses it");
        }
        Ok(access)
    }

    /// The buffer behind a binding, and which of its bytes; `format`: of a texel buffer.
    fn buffer_range(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        (view, format): (&View, Option<Format>),
    ) -> Result<(ResourceId, [u64; 2]), Error> {
        let resource = self.planned(pass, view.resource)?;
        let name = self.plan.resource_name(resource);
        let PlanKind::Buffer { .. } = self.plan.resources[resource].kind else {
            let says = format!("binds image \"{name}\" to \"{}\" of shader \"{}\"", binding.name, program.name);
            return self.refuse(pass, says, &format!("the shader wants {}", wanted(binding.kind)));
        };
        let access = self.bound_access(pass, program, binding, (resource, view))?;
        let declared = access.region.range;
        let [first, end] = view.range.unwrap_or(declared);
        let limits = &self.shared.limits;
        let texel = format.map_or(0, Format::block_bytes);
        let (align, most) = match binding.kind {
            BindingKind::Uniform => {
                (limits.min_uniform_buffer_offset_alignment, u64::from(limits.max_uniform_buffer_range))
            }
            BindingKind::Texels { .. } => (
                limits.min_texel_buffer_offset_alignment.max(texel),
                u64::from(limits.max_texel_buffer_elements) * texel,
            ),
            _ => (limits.min_storage_buffer_offset_alignment, u64::from(limits.max_storage_buffer_range)),
        };
        // An open-length array has at least one element: indices are clamped into it.
        let least =
            binding.ty.as_ref().map_or(texel, |ty| u64::from(ty.size()) + u64::from(ty.open_stride().unwrap_or(0)));
        if first < declared[0] || end > declared[1] || first >= end {
            let says =
                format!("binds bytes {first}..{end} of \"{name}\", and declares {}..{}", declared[0], declared[1]);
            return self.refuse(pass, says, "stay within the declared range");
        }
        if first % align.max(1) != 0 {
            let says = format!("binds \"{name}\" from byte {first} on, and the device wants multiples of {align}");
            return self.refuse(pass, says, "move the data");
        }
        if end - first > most {
            let says = format!("binds {} bytes of \"{name}\", and the device allows {most}", end - first);
            return self.refuse(pass, says, "bind a smaller range");
        }
        if end - first < least {
            let says = format!(
                "binds {} bytes of \"{name}\" to \"{}\" of shader \"{}\", which wants {least}",
                end - first,
                binding.name,
                program.name
            );
            return self.refuse(pass, says, "use a larger buffer");
        }
        // A view of texels has whole ones.
        let end = if texel > 0 { end - (end - first) % texel } else { end };
        Ok((resource, [first, end]))
    }

    fn image_view(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        view: &View,
    ) -> Result<(ResourceId, ViewKey, Layout), Error> {
        let resource = self.planned(pass, view.resource)?;
        let name = self.plan.resource_name(resource);
        let refuse = |says: String, help: &str| self.refuse(pass, says, help);
        let PlanKind::Image { format, layers: all_layers, samples, volume, cube, .. } =
            self.plan.resources[resource].kind
        else {
            let says = format!("binds buffer \"{name}\" to \"{}\" of shader \"{}\"", binding.name, program.name);
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        };
        let access = self.bound_access(pass, program, binding, (resource, view))?;
        let (dimension, arrayed, multisampled, sample, storage) = match binding.kind {
            BindingKind::Sampled { dimension, arrayed, multisampled, sample }
            | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
                (dimension, arrayed, multisampled, sample, false)
            }
            BindingKind::Image { dimension, arrayed, sample, format: named } => {
                if let Some(named) = named.filter(|named| *named != format) {
                    let says = format!(
                        "binds \"{name}\" ({format}) to \"{}\" of shader \"{}\", which is {named}",
                        binding.name, program.name
                    );
                    return refuse(says, "use one format in both places");
                }
                (dimension, arrayed, false, sample, true)
            }
            _ => (Dimension::D2, false, samples > 1, kind_of(format), false),
        };
        let mut mips = view.mips.unwrap_or(access.region.mips);
        if storage && view.mips.is_none() {
            mips[1] = mips[0] + 1;
        }
        let mut layers = view.layers.unwrap_or(access.region.layers);
        if !arrayed && dimension != Dimension::Cube && view.layers.is_none() {
            layers[1] = layers[0] + 1;
        }
        if !within(mips, access.region.mips) || !within(layers, access.region.layers) {
            let bound = Region { mips, layers, ..access.region };
            let says = format!("binds {} of \"{name}\", and declares {}", bound.text(), access.region.text());
            return refuse(says, "stay within the declared range");
        }
        if storage && mips[1] - mips[0] != 1 {
            let says = format!("binds {} mips of \"{name}\" as a storage image", mips[1] - mips[0]);
            return refuse(says, "bind one mip level");
        }
        let is_3d = dimension == Dimension::D3;
        let fits = is_3d == volume
            && (dimension != Dimension::Cube || cube && (layers[1] - layers[0]).is_multiple_of(6))
            && dimension != Dimension::D1
            && multisampled == (samples > 1)
            && (arrayed || dimension == Dimension::Cube || layers[1] - layers[0] == 1);
        if !fits {
            let shape = if volume { "3D image".to_owned() } else { format!("2D image of {all_layers} layers") };
            let says = format!(
                "binds \"{name}\", a {shape}{} with {samples} samples, to \"{}\" of shader \"{}\"",
                if cube { ", a cube," } else { "" },
                binding.name,
                program.name
            );
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        }
        let mut aspects = if view.aspects.is_empty() { access.region.aspects } else { view.aspects };
        if aspects == Aspects::DEPTH | Aspects::STENCIL {
            // A sampled view has one aspect; integers read stencil.
            aspects = if sample == SampleKind::Uint { Aspects::STENCIL } else { Aspects::DEPTH };
        }
        let kind = if aspects == Aspects::STENCIL { SampleKind::Uint } else { kind_of(format) };
        let reads_as = sample == kind || sample == SampleKind::Float && kind == SampleKind::Depth;
        if !reads_as {
            let says = format!(
                "binds \"{name}\" ({format}) to \"{}\" of shader \"{}\", which reads another kind of number",
                binding.name, program.name
            );
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        }
        let layout = self.layout(pass, resource, mips, layers, aspects);
        let key = ViewKey { kind: view_type(dimension, arrayed), format, aspects, mips, layers };
        Ok((resource, key, layout))
    }

    /// The layout in which a pass finds part of an image.
    pub(crate) fn layout(
        &self,
        pass: PlanPassId,
        resource: ResourceId,
        mips: [u32; 2],
        layers: [u32; 2],
        aspects: Aspects,
    ) -> Layout {
        let found = self.table.layout(self.plan, pass, resource, [mips[0], layers[0]], aspects);
        found.unwrap_or(Layout::General)
    }
}

/// What a texel of a format reads as.
pub(crate) fn kind_of(format: Format) -> SampleKind {
    match format.numbers() {
        Numbers::Uint => SampleKind::Uint,
        Numbers::Sint => SampleKind::Int,
        Numbers::Depth if format == Format::Stencil8 => SampleKind::Uint,
        Numbers::Depth => SampleKind::Depth,
        _ => SampleKind::Float,
    }
}

fn wanted(kind: BindingKind) -> String {
    let shape = |dimension, arrayed, multisampled| {
        let name = match dimension {
            Dimension::D1 => "1d",
            Dimension::D2 => "2d",
            Dimension::D3 => "3d",
            Dimension::Cube => "cube",
        };
        let (many, array) = (if multisampled { "multisampled_" } else { "" }, if arrayed { "_array" } else { "" });
        format!("{many}{name}{array}")
    };
    let number = |sample| match sample {
        SampleKind::Float => "f32",
        SampleKind::Int => "i32",
        SampleKind::Uint => "u32",
        SampleKind::Depth => "depth",
    };
    match kind {
        BindingKind::Uniform => "a uniform buffer or plain data".to_owned(),
        BindingKind::Storage => "a buffer".to_owned(),
        BindingKind::Texels { format, .. } => {
            format!("a buffer of {}", format.map_or("a format", Format::name))
        }
        BindingKind::Sampled { dimension, arrayed, multisampled, sample }
        | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
            format!("an image: texture_{}<{}>", shape(dimension, arrayed, multisampled), number(sample))
        }
        BindingKind::Image { dimension, arrayed, format, .. } => {
            let format = format.map_or("any", Format::name);
            format!("an image: texture_storage_{}<{format}>", shape(dimension, arrayed, false))
        }
        BindingKind::Sampler { comparison: true } => "a comparing sampler".to_owned(),
        BindingKind::Sampler { comparison: false } => "a sampler".to_owned(),
        BindingKind::AccelerationStructure => "an acceleration structure".to_owned(),
        BindingKind::InputAttachment { .. } => "an input attachment".to_owned(),
    }
}
