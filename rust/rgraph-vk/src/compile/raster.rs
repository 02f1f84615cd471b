//! Raster pipelines.

use ash::vk;
use rgraph_plan::access::Aspects;
use rgraph_work::{Blend, BlendFactor, BlendOp, Compare, Cull, RasterState, StencilFace, StencilOp, Topology};

use crate::compile::keys::{Targets, VertexKey};
use crate::compile::pipelines::first_pipeline;
use crate::convert;
use crate::device::functions::Functions;
use crate::error::{Called, Code, DeviceError, Error};

/// What a pipeline is made of.
pub(crate) struct Request<'a> {
    pub stages: &'a [vk::PipelineShaderStageCreateInfo<'a>],
    pub layout: vk::PipelineLayout,
    pub state: &'a RasterState,
    pub targets: &'a Targets,
    pub vertex: &'a [VertexKey],
    pub features: &'a vk::PhysicalDeviceFeatures,
    /// Positions of the colour targets that the program writes.
    pub outputs: &'a [u32],
}

/// Makes a pipeline; viewport and scissor are dynamic.
pub(crate) fn create(
    device: &Functions,
    cache: vk::PipelineCache,
    request: Request<'_>,
) -> Result<vk::Pipeline, Error> {
    let Request { stages, layout, state, targets, vertex, features, outputs } = request;
    if !state.filled && features.fill_mode_non_solid != vk::TRUE {
        return Err(
            DeviceError::new(Code::Missing, "the device cannot draw unfilled primitives", "draw them filled").into()
        );
    }
    let (bindings, attributes) = vertex_input(vertex);
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let has = |stage: vk::ShaderStageFlags| stages.iter().any(|one| one.stage == stage);
    let patches = has(vk::ShaderStageFlags::TESSELLATION_CONTROL);
    let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(state.patch_vertices);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(match state.topology {
        _ if patches => vk::PrimitiveTopology::PATCH_LIST,
        Topology::Points => vk::PrimitiveTopology::POINT_LIST,
        Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
        Topology::LineStrip => vk::PrimitiveTopology::LINE_STRIP,
        Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::TriangleStrip => vk::PrimitiveTopology::TRIANGLE_STRIP,
    });
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let rasterization = rasterization(state);
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(convert::samples(targets.samples))
        .alpha_to_coverage_enable(state.alpha_to_coverage);
    let depth = depth_stencil(state, targets);
    let blends = blends(state, targets, outputs);
    if features.independent_blend != vk::TRUE && !blends.windows(2).all(|pair| is_alike(pair[0], pair[1])) {
        let message = "the device has no independentBlend, and targets of a draw blend or are written differently";
        let help = "blend and write all targets alike, or make \
                    the device with the feature";
        return Err(DeviceError::new(Code::Missing, message, help).into());
    }
    let blending = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let formats: Vec<_> =
        targets.colors.iter().map(|format| format.map_or(vk::Format::UNDEFINED, convert::format)).collect();
    let depth_format = targets.depth.map_or(vk::Format::UNDEFINED, convert::format);
    let of = |aspect| if targets.depth_aspects.contains(aspect) { depth_format } else { vk::Format::UNDEFINED };
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(of(Aspects::DEPTH))
        .stencil_attachment_format(of(Aspects::STENCIL));
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .stages(stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .tessellation_state(&tessellation)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blending)
        .dynamic_state(&dynamic)
        .layout(layout);
    info = match targets.subpass {
        Some((pass, subpass)) => info.render_pass(pass).subpass(subpass),
        None => info.push_next(&mut rendering),
    };
    // SAFETY: all that the info points to lives until the call returns; the cache is internally synchronised.
    let made = unsafe { device.create_graphics_pipelines(cache, &[info], device.host()) };
    first_pipeline(made).called("vkCreateGraphicsPipelines")
}

/// How vertex buffers are read: the buffers, and what lies in them.
fn vertex_input(
    vertex: &[VertexKey],
) -> (Vec<vk::VertexInputBindingDescription>, Vec<vk::VertexInputAttributeDescription>) {
    let bindings: Vec<_> = vertex
        .iter()
        .zip(0..)
        .map(|((stride, per_instance, _), binding)| vk::VertexInputBindingDescription {
            binding,
            stride: *stride,
            input_rate: if *per_instance { vk::VertexInputRate::INSTANCE } else { vk::VertexInputRate::VERTEX },
        })
        .collect();
    let attributes: Vec<_> = vertex
        .iter()
        .zip(0..)
        .flat_map(|((_, _, attributes), binding)| {
            attributes.iter().map(move |(location, format, offset)| vk::VertexInputAttributeDescription {
                location: *location,
                binding,
                format: convert::vertex_format(*format),
                offset: *offset,
            })
        })
        .collect();
    (bindings, attributes)
}

fn rasterization(state: &RasterState) -> vk::PipelineRasterizationStateCreateInfo<'static> {
    let [bias, slope] = state.depth_bias.unwrap_or_default().map(f32::from_bits);
    vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(if state.filled { vk::PolygonMode::FILL } else { vk::PolygonMode::LINE })
        .cull_mode(match state.cull {
            Cull::None => vk::CullModeFlags::NONE,
            Cull::Front => vk::CullModeFlags::FRONT,
            Cull::Back => vk::CullModeFlags::BACK,
        })
        .front_face(if state.clockwise { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE })
        .depth_bias_enable(state.depth_bias.is_some())
        .depth_bias_constant_factor(bias)
        .depth_bias_slope_factor(slope)
        .line_width(1.0)
}

/// Tests of depth and stencil. Aspects that the pass does not access are neither tested nor written.
fn depth_stencil(state: &RasterState, targets: &Targets) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let format_aspects = targets.depth_aspects;
    let (aspects, written) = (format_aspects & targets.depth_tests, format_aspects & targets.depth_writes);
    let compare_op = state.depth_compare.unwrap_or(Compare::LessEqual);
    let writes = state.depth_write && written.contains(Aspects::DEPTH);
    let stencil = state.stencil.filter(|_| aspects.contains(Aspects::STENCIL));
    let mut depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(aspects.contains(Aspects::DEPTH))
        .depth_write_enable(writes)
        .depth_compare_op(compare(compare_op))
        .stencil_test_enable(stencil.is_some());
    if let Some([front, back]) = stencil {
        let read_only = !written.contains(Aspects::STENCIL);
        depth = depth.front(face(front, read_only)).back(face(back, read_only));
    }
    depth
}

/// How each colour target is blended and written.
fn blends(state: &RasterState, targets: &Targets, outputs: &[u32]) -> Vec<vk::PipelineColorBlendAttachmentState> {
    targets
        .colors
        .iter()
        .enumerate()
        .map(|(at, format)| {
            // The pass's own outputs declare blending.
            let own = if targets.remap.is_empty() {
                Some(at)
            } else {
                targets.remap.iter().position(|to| *to as usize == at)
            };
            let own = own.filter(|_| outputs.contains(&(at as u32)) && format.is_some());
            let Some(own) = own else { return blend(None, 0) };
            let mask = state.write_mask.get(own).copied().unwrap_or(0xf);
            blend(state.blend.get(own).copied().flatten(), mask)
        })
        .collect()
}

/// Whether two targets blend in the same way.
fn is_alike(one: vk::PipelineColorBlendAttachmentState, other: vk::PipelineColorBlendAttachmentState) -> bool {
    let color = |of: vk::PipelineColorBlendAttachmentState| {
        (of.src_color_blend_factor, of.dst_color_blend_factor, of.color_blend_op)
    };
    let alpha = |of: vk::PipelineColorBlendAttachmentState| {
        (of.src_alpha_blend_factor, of.dst_alpha_blend_factor, of.alpha_blend_op)
    };
    let rest = |of: vk::PipelineColorBlendAttachmentState| (of.blend_enable, of.color_write_mask);
    color(one) == color(other) && alpha(one) == alpha(other) && rest(one) == rest(other)
}

fn blend(blend: Option<Blend>, mask: u8) -> vk::PipelineColorBlendAttachmentState {
    let state = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::from_raw(u32::from(mask & 0xf)));
    let Some(Blend { color, alpha }) = blend else { return state };
    state
        .blend_enable(true)
        .src_color_blend_factor(factor(color.0))
        .dst_color_blend_factor(factor(color.1))
        .color_blend_op(operation(color.2))
        .src_alpha_blend_factor(factor(alpha.0))
        .dst_alpha_blend_factor(factor(alpha.1))
        .alpha_blend_op(operation(alpha.2))
}

fn factor(factor: BlendFactor) -> vk::BlendFactor {
    match factor {
        BlendFactor::Zero => vk::BlendFactor::ZERO,
        BlendFactor::One => vk::BlendFactor::ONE,
        BlendFactor::SourceColor => vk::BlendFactor::SRC_COLOR,
        BlendFactor::OneMinusSourceColor => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        BlendFactor::DestinationColor => vk::BlendFactor::DST_COLOR,
        BlendFactor::OneMinusDestinationColor => vk::BlendFactor::ONE_MINUS_DST_COLOR,
        BlendFactor::SourceAlpha => vk::BlendFactor::SRC_ALPHA,
        BlendFactor::OneMinusSourceAlpha => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        BlendFactor::DestinationAlpha => vk::BlendFactor::DST_ALPHA,
        BlendFactor::OneMinusDestinationAlpha => vk::BlendFactor::ONE_MINUS_DST_ALPHA,
    }
}

fn operation(operation: BlendOp) -> vk::BlendOp {
    match operation {
        BlendOp::Add => vk::BlendOp::ADD,
        BlendOp::Subtract => vk::BlendOp::SUBTRACT,
        BlendOp::ReverseSubtract => vk::BlendOp::REVERSE_SUBTRACT,
        BlendOp::Min => vk::BlendOp::MIN,
        BlendOp::Max => vk::BlendOp::MAX,
    }
}

/// A comparison.
pub(crate) fn compare(compare: Compare) -> vk::CompareOp {
    match compare {
        Compare::Never => vk::CompareOp::NEVER,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
    }
}

fn face(face: StencilFace, read_only: bool) -> vk::StencilOpState {
    let operation = |operation| match operation {
        StencilOp::Keep => vk::StencilOp::KEEP,
        StencilOp::Zero => vk::StencilOp::ZERO,
        StencilOp::Replace => vk::StencilOp::REPLACE,
        StencilOp::Increment => vk::StencilOp::INCREMENT_AND_CLAMP,
        StencilOp::Decrement => vk::StencilOp::DECREMENT_AND_CLAMP,
        StencilOp::Invert => vk::StencilOp::INVERT,
    };
    vk::StencilOpState {
        fail_op: operation(face.fail),
        pass_op: operation(face.pass),
        depth_fail_op: operation(face.depth_fail),
        compare_op: compare(face.compare),
        compare_mask: face.read_mask,
        write_mask: if read_only { 0 } else { face.write_mask },
        reference: face.reference,
    }
}
