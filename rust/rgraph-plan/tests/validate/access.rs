//! Mistakes of one access by itself.

use rgraph_plan::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Details, Ranges, Use};
use rgraph_plan::id::Id;
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Buffer, Image, Kind, Mips, Resource, ResourceId, Size};

use super::{bytes, cases, layers, mips, multisampled, of_format};

fn clear(usage: Usage, clear: Clear) -> Use {
    let details = Details { clear: Some(clear), ..Details::default() };
    Use { load: Some(Load::Clear), details, ..Use::new(usage) }
}

fn transfer(usage: Usage, transfer: Transfer) -> Use {
    Use { transfer: Some(transfer), ..Use::new(usage) }
}

fn at(usage: Usage, stages: Stages) -> Use {
    Use { stages, ..Use::new(usage) }
}

fn loaded(usage: Usage, load: Load) -> Use {
    Use { load: Some(load), ..Use::new(usage) }
}

cases! {
    a_buffer_cannot_be_an_attachment: |film| {
        let (buffer, draw) = (film.buffer("lights", 64), film.draw());
        film.uses(draw, buffer, Usage::ColorAttachment);
    } => [
        "RG-E218 pass \"draw\" uses \"lights\" as color_attachment, but it is a buffer",
        "  draw    film.py:5  color_attachment",
        "  lights  film.py:3  buffer of 64 bytes",
        "  help: use an image, or storage_write, storage_read_write or transfer_dst",
    ];
    an_image_cannot_be_a_vertex_buffer: |film| {
        let (image, draw) = (film.image("noise", Format::R8unorm), film.draw());
        film.uses(draw, image, Usage::Vertex);
    } => [
        "RG-E218 pass \"draw\" uses \"noise\" as vertex, but it is an image",
        "  draw   film.py:5  vertex",
        "  noise  film.py:3  r8unorm, 64×64",
        "  help: use a buffer, or depth_stencil_read, input_attachment, sampled, storage_read or transfer_src",
    ];
    the_cpu_cannot_write_an_image: |film| {
        let image = film.image("noise", Format::R8unorm);
        let fill = film.pass("fill", PassQueue::Cpu);
        film.uses(fill, image, Usage::HostWrite);
    } => [
        "RG-E218 pass \"fill\" uses \"noise\" as host_write, but it is an image",
        "  fill   film.py:5  host_write",
        "  noise  film.py:3  r8unorm, 64×64",
        "  help: write a buffer and copy it to the image: the CPU cannot know how an image lies in memory",
    ];
    an_acceleration_structure_cannot_be_read_as_vertices: |film| {
        let buffer = Buffer { size: Some(64), acceleration_structure: true };
        let scene = film.resource("scene", Resource { kind: Kind::Buffer(buffer), ..Resource::buffer(64) });
        let draw = film.draw();
        film.uses(draw, scene, Usage::Vertex);
        film.access(draw, scene, at(Usage::AccelerationRead, Stages::FRAGMENT_SHADER));
    } => [
        "RG-E218 pass \"draw\" uses \"scene\" as vertex, but it is an acceleration structure",
        "  draw   film.py:5  vertex",
        "  scene  film.py:3  buffer of 64 bytes",
        "  help: use acceleration_read, or a buffer that is no acceleration structure",
    ];
    depth_cannot_be_a_colour_attachment: |film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.uses(draw, depth, Usage::ColorAttachment);
    } => [
        "RG-E207 pass \"draw\" uses \"depth\" as color_attachment, but depth32float is depth or stencil",
        "  draw   film.py:5  color_attachment",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: use depth_stencil_attachment, or declare it with a colour format",
    ];
    a_colour_cannot_be_a_depth_attachment: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.uses(draw, color, Usage::DepthStencilAttachment);
    } => [
        "RG-E207 pass \"draw\" uses \"color\" as depth_stencil_attachment, but rgba8unorm is a colour",
        "  draw   film.py:5  depth_stencil_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use color_attachment, or declare it with a depth format",
    ];
    a_block_compressed_image_cannot_be_an_attachment: |film| {
        let (block, draw) = (film.image("bark", Format::Bc1RgbaUnorm), film.draw());
        film.uses(draw, block, Usage::ColorAttachment);
    } => [
        "RG-E207 pass \"draw\" uses \"bark\" as color_attachment, but bc1-rgba-unorm is block-compressed",
        "  draw  film.py:5  color_attachment",
        "  bark  film.py:3  bc1-rgba-unorm, 64×64",
        "  help: declare it with a format that is not compressed",
    ];
    storage_of_srgb_depth_and_blocks_is_refused: |film| {
        let srgb = film.image("photo", Format::Rgba8unormSrgb);
        let depth = film.image("depth", Format::Depth32float);
        let block = film.image("bark", Format::Bc1RgbaUnorm);
        let paint = film.pass("paint", PassQueue::Compute);
        film.uses(paint, srgb, Usage::StorageWrite);
        film.uses(paint, depth, Usage::StorageWrite);
        film.uses(paint, block, Usage::StorageRead);
    } => [
        "RG-E207 pass \"paint\" uses \"photo\" as storage_write, but rgba8unorm-srgb is sRGB",
        "  paint  film.py:7  storage_write",
        "  photo  film.py:3  rgba8unorm-srgb, 64×64",
        "  help: declare it without -srgb and encode in the shader",
        "RG-E207 pass \"paint\" uses \"depth\" as storage_write, but depth32float is depth or stencil",
        "  paint  film.py:8  storage_write",
        "  depth  film.py:4  depth32float, 64×64",
        "  help: write it as depth_stencil_attachment, or copy it",
        "RG-E207 pass \"paint\" uses \"bark\" as storage_read, but bc1-rgba-unorm is block-compressed",
        "  paint  film.py:9  storage_read",
        "  bark   film.py:5  bc1-rgba-unorm, 64×64",
        "  help: declare it with a format that is not compressed",
    ];
    storage_of_several_samples_is_refused: |film| {
        let image = film.resource("color", multisampled(Format::Rgba8unorm));
        let paint = film.pass("paint", PassQueue::Compute);
        film.uses(paint, image, Usage::StorageReadWrite);
    } => [
        "RG-E208 pass \"paint\" uses \"color\" as storage_read_write, but it is multisampled",
        "  paint  film.py:5  storage_read_write",
        "  color  film.py:3  rgba8unorm, 64×64, 4 samples",
        "  help: resolve it first, or read it as sampled",
    ];
    depth_volumes_and_several_samples_cannot_be_presented: |film| {
        let depth = film.image("depth", Format::Depth32float);
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let volume = Image { size: Some(Size::volume(4, 4, 4)), ..of_format(Format::Rgba8unorm) };
        let volume = film.resource("volume", Resource::image(volume));
        let show = film.pass("show", PassQueue::Graphics);
        film.uses(show, volume, Usage::Present);
        film.uses(show, depth, Usage::Present);
        film.uses(show, many, Usage::Present);
    } => [
        "RG-E218 pass \"show\" uses \"volume\" as present, but it has three dimensions",
        "  show    film.py:7  present",
        "  volume  film.py:5  rgba8unorm, 4×4×4",
        "  help: present a 2D image",
        "RG-E207 pass \"show\" uses \"depth\" as present, but depth32float is no colour that a surface can show",
        "  show   film.py:8  present",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: present a colour image",
        "RG-E208 pass \"show\" uses \"many\" as present, but it is multisampled",
        "  show  film.py:9  present",
        "  many  film.py:4  rgba8unorm, 64×64, 4 samples",
        "  help: resolve it first and present the result",
    ];
    a_transfer_queue_cannot_draw: |film| {
        let image = film.image("color", Format::Rgba8unorm);
        let copy = film.pass("copy", PassQueue::Transfer);
        film.uses(copy, image, Usage::ColorAttachment);
    } => [
        "RG-E211 pass \"copy\" uses \"color\" as color_attachment, which needs graphics, but queue transfer is \"transfer\" and can transfer",
        "  copy   film.py:5  color_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: run the pass on queue graphics or compute",
    ];
    blits_and_clears_of_depth_need_graphics: |film| {
        let (color, depth) = (film.image("color", Format::Rgba8unorm), film.image("depth", Format::Depth32float));
        let work = film.pass("work", PassQueue::AsyncCompute);
        film.access(work, color, transfer(Usage::TransferDst, Transfer::Blit));
        film.access(work, depth, transfer(Usage::TransferDst, Transfer::Clear));
    } => [
        "RG-E211 pass \"work\" uses \"color\" as transfer_dst of a blit, which needs graphics, but queue async_compute is \"compute\" and can compute and transfer",
        "  work   film.py:6  transfer_dst",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: run the pass on queue graphics or compute",
        "RG-E211 pass \"work\" uses \"depth\" as transfer_dst of a clear, which needs graphics, but queue async_compute is \"compute\" and can compute and transfer",
        "  work   film.py:7  transfer_dst",
        "  depth  film.py:4  depth32float, 64×64",
        "  help: run the pass on queue graphics or compute",
    ];
    a_compute_queue_has_no_fragment_stage: |film| {
        let image = film.image("color", Format::Rgba8unorm);
        let work = film.pass("work", PassQueue::AsyncCompute);
        film.access(work, image, at(Usage::Sampled, Stages::FRAGMENT_SHADER));
    } => [
        "RG-E211 pass \"work\" uses \"color\" as sampled at fragment, which needs graphics, but queue async_compute is \"compute\" and can compute and transfer",
        "  work   film.py:5  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: run the pass on queue graphics or compute",
    ];
    a_profile_without_any_capable_queue_is_named: |film| {
        film.profile.queues.remove(0);
        film.profile.queues.remove(0);
        let image = film.image("color", Format::Rgba8unorm);
        let copy = film.pass("copy", PassQueue::Transfer);
        film.uses(copy, image, Usage::Sampled);
    } => [
        "RG-E211 pass \"copy\" uses \"color\" as sampled, which needs graphics or compute, but queue transfer is \"transfer\" and can transfer",
        "  copy   film.py:5  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: profile \"discrete\" has no queue that can; plan for another device",
    ];
    the_cpu_cannot_sample_and_a_queue_cannot_read_as_the_host: |film| {
        let (image, buffer) = (film.image("color", Format::Rgba8unorm), film.buffer("lights", 64));
        let log = film.pass("log", PassQueue::Cpu);
        film.uses(log, image, Usage::Sampled);
        let any = film.pass("any", PassQueue::Any);
        film.uses(any, buffer, Usage::HostRead);
        let copy = film.pass("copy", PassQueue::Transfer);
        film.uses(copy, buffer, Usage::HostWrite);
    } => [
        "RG-E211 pass \"log\" uses \"color\" as sampled, which needs a queue, but the pass runs on the CPU",
        "  log    film.py:6  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use host_read or host_write, or give the pass another queue",
        "RG-E211 pass \"any\" uses \"lights\" as host_read, which needs the CPU, but the pass runs on queue any",
        "  any     film.py:8  host_read",
        "  lights  film.py:4  buffer of 64 bytes",
        "  help: use it in a pass on queue cpu",
        "RG-E211 pass \"copy\" uses \"lights\" as host_write, which needs the CPU, but queue transfer is \"transfer\" and can transfer",
        "  copy    film.py:10  host_write",
        "  lights  film.py:4  buffer of 64 bytes",
        "  help: use it in a pass on queue cpu",
    ];
    a_pass_on_any_queue_needs_one_that_can_do_all_it_asks: |film| {
        film.profile.queues.remove(0);
        let (a, b) = (film.image("a", Format::Rgba8unorm), film.image("b", Format::Rgba8unorm));
        let mix = film.pass("mix", PassQueue::Any);
        film.uses(mix, a, Usage::ColorAttachment);
        film.access(mix, b, at(Usage::StorageWrite, Stages::COMPUTE_SHADER));
    } => [
        "RG-E211 pass \"mix\" needs graphics and compute, and no queue of profile \"discrete\" can",
        "  mix  film.py:5  declared here, on queue any",
        "  a    film.py:6  as color_attachment needs graphics",
        "  b    film.py:7  as storage_write needs compute",
        "  help: split the pass, or plan for another device: this one has \"compute\" (compute and transfer) and \"transfer\" (transfer)",
    ];
    a_queue_that_the_profile_does_not_have_is_named: |film| {
        film.profile.queues.remove(0);
        film.draw();
    } => [
        "RG-E211 pass \"draw\" runs on queue graphics, which profile \"discrete\" does not have",
        "  draw  film.py:3  declared here, on queue graphics",
        "  help: choose another queue: it has \"compute\" (compute and transfer) and \"transfer\" (transfer)",
    ];
    usages_happen_at_their_own_stages_only: |film| {
        let (vertices, color) = (film.buffer("vertices", 64), film.image("color", Format::Rgba8unorm));
        let draw = film.draw();
        film.access(draw, vertices, at(Usage::Vertex, Stages::FRAGMENT_SHADER));
        film.access(draw, color, at(Usage::Present, Stages::COLOR_ATTACHMENT_OUTPUT));
    } => [
        "RG-E218 pass \"draw\" uses \"vertices\" as vertex at fragment, where that cannot happen",
        "  draw      film.py:6  vertex",
        "  vertices  film.py:3  buffer of 64 bytes",
        "  help: leave stages out, or use vertex_attribute_input",
        "RG-E218 pass \"draw\" uses \"color\" as present at color_attachment_output, where that cannot happen",
        "  draw   film.py:7  present",
        "  color  film.py:4  rgba8unorm, 64×64",
        "  help: leave stages out: presentation is no stage",
    ];
    a_transfer_has_its_own_stage: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.access(draw, color, Use { stages: Stages::COPY, ..transfer(Usage::TransferDst, Transfer::Blit) });
    } => [
        "RG-E218 pass \"draw\" uses \"color\" in a blit at copy",
        "  draw   film.py:5  transfer_dst",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: leave stages out: the transfer has its own",
    ];
    only_transfers_say_which_transfer_they_are: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.access(draw, color, transfer(Usage::Sampled, Transfer::Copy));
    } => [
        "RG-E218 pass \"draw\" uses \"color\" as sampled and declares transfer: copy",
        "  draw   film.py:5  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: leave transfer out, or use transfer_src or transfer_dst",
    ];
    clears_and_fills_go_with_images_and_buffers_and_only_write: |film| {
        let (image, buffer, draw) = (film.image("color", Format::Rgba8unorm), film.buffer("lights", 64), film.draw());
        film.access(draw, image, transfer(Usage::TransferDst, Transfer::Fill));
        film.access(draw, buffer, transfer(Usage::TransferDst, Transfer::Clear));
        let copy = film.pass("copy", PassQueue::Graphics);
        film.access(copy, buffer, transfer(Usage::TransferSrc, Transfer::Fill));
        let blit = film.pass("blit", PassQueue::Graphics);
        film.access(blit, buffer, transfer(Usage::TransferSrc, Transfer::Blit));
    } => [
        "RG-E218 pass \"draw\" fills \"color\", but it is an image",
        "  draw   film.py:6  transfer_dst",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use transfer: clear",
        "RG-E218 pass \"draw\" clears \"lights\", but it is a buffer",
        "  draw    film.py:7  transfer_dst",
        "  lights  film.py:4  buffer of 64 bytes",
        "  help: use transfer: fill",
        "RG-E218 pass \"copy\" reads \"lights\" in a fill, which only writes",
        "  copy    film.py:9  transfer_src",
        "  lights  film.py:4  buffer of 64 bytes",
        "  help: use transfer_dst",
        "RG-E218 pass \"blit\" uses \"lights\" in a blit, but it is a buffer",
        "  blit    film.py:11  transfer_src",
        "  lights  film.py:4  buffer of 64 bytes",
        "  help: use a copy",
    ];
    blits_need_one_sample_and_a_format_that_can_be_written: |film| {
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let block = film.image("bark", Format::Bc1RgbaUnorm);
        let draw = film.draw();
        film.access(draw, many, transfer(Usage::TransferSrc, Transfer::Blit));
        film.access(draw, block, transfer(Usage::TransferDst, Transfer::Blit));
    } => [
        "RG-E208 pass \"draw\" uses \"many\" as transfer_src of a blit, but it is multisampled",
        "  draw  film.py:6  transfer_src",
        "  many  film.py:3  rgba8unorm, 64×64, 4 samples",
        "  help: resolve it first, or use transfer: resolve",
        "RG-E207 pass \"draw\" uses \"bark\" as transfer_dst of a blit, but its format is block-compressed",
        "  draw  film.py:7  transfer_dst",
        "  bark  film.py:4  bc1-rgba-unorm, 64×64",
        "  help: blit to a format that is not compressed",
    ];
    resolve_commands_take_several_colour_samples_to_one: |film| {
        let one = film.image("one", Format::Rgba8unorm);
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let depth = film.resource("depth", multisampled(Format::Depth32float));
        let draw = film.draw();
        film.access(draw, one, transfer(Usage::TransferSrc, Transfer::Resolve));
        film.access(draw, many, transfer(Usage::TransferDst, Transfer::Resolve));
        film.access(draw, depth, transfer(Usage::TransferSrc, Transfer::Resolve));
    } => [
        "RG-E208 pass \"draw\" uses \"one\" as transfer_src of a resolve, but it has one sample per texel",
        "  draw  film.py:7  transfer_src",
        "  one   film.py:3  rgba8unorm, 64×64",
        "  help: use a copy or a blit",
        "RG-E208 pass \"draw\" uses \"many\" as transfer_dst of a resolve, but it is multisampled",
        "  draw  film.py:8  transfer_dst",
        "  many  film.py:4  rgba8unorm, 64×64, 4 samples",
        "  help: resolve to an image of one sample",
        "RG-E207 pass \"draw\" uses \"depth\" as transfer_src of a resolve, but its format is depth or stencil",
        "  draw   film.py:9  transfer_src",
        "  depth  film.py:5  depth32float, 64×64, 4 samples",
        "  help: use resolve_attachment",
    ];
    integers_do_not_blit_to_floats: |film| {
        let (ids, color) = (film.image("ids", Format::R32uint), film.image("color", Format::R32float));
        let draw = film.draw();
        film.access(draw, ids, transfer(Usage::TransferSrc, Transfer::Blit));
        film.access(draw, color, transfer(Usage::TransferDst, Transfer::Blit));
    } => [
        "RG-E207 pass \"draw\" blits \"ids\" (r32uint) to \"color\" (r32float), which cannot be converted",
        "  draw   film.py:7  transfer_dst",
        "  color  film.py:4  r32float, 64×64",
        "  ids    film.py:3  r32uint, 64×64",
        "  help: use formats of one kind: both signed integers, both unsigned, both neither; depth only to the same",
    ];
    a_read_cannot_throw_contents_away: |film| {
        let (a, b) = (film.image("a", Format::Rgba8unorm), film.image("b", Format::Rgba8unorm));
        let draw = film.draw();
        film.access(draw, a, loaded(Usage::Sampled, Load::Discard));
        film.access(draw, b, loaded(Usage::StorageReadWrite, Load::Clear));
    } => [
        "RG-E217 pass \"draw\" uses \"a\" as sampled with load: discard, which drops the contents that it reads",
        "  draw  film.py:6  sampled",
        "  a     film.py:3  rgba8unorm, 64×64",
        "  help: leave load out",
        "RG-E217 pass \"draw\" uses \"b\" as storage_read_write with load: clear, which drops the contents that it reads",
        "  draw  film.py:7  storage_read_write",
        "  b     film.py:4  rgba8unorm, 64×64",
        "  help: leave load out",
    ];
    a_resolve_target_cannot_be_loaded: |film| {
        let (one, many) = (film.image("one", Format::Rgba8unorm), film.resource("many", multisampled(Format::Rgba8unorm)));
        let draw = film.draw();
        film.uses(draw, many, Usage::ColorAttachment);
        film.access(draw, one, loaded(Usage::ResolveAttachment, Load::Load));
    } => [
        "RG-E217 pass \"draw\" uses \"one\" as resolve_attachment with load: load, but it replaces all contents",
        "  draw  film.py:7  resolve_attachment",
        "  one   film.py:3  rgba8unorm, 64×64",
        "  help: leave load out",
    ];
    an_unordered_write_cannot_throw_away_what_the_others_wrote: |film| {
        let (bins, draw) = (film.buffer("bins", 64), film.draw());
        film.access(draw, bins, Use { unordered: true, ..loaded(Usage::StorageWrite, Load::Discard) });
    } => [
        "RG-E217 pass \"draw\" uses \"bins\" as storage_write unordered with load: discard, which drops what other unordered passes wrote",
        "  draw  film.py:5  storage_write",
        "  bins  film.py:3  buffer of 64 bytes",
        "  help: clear it in a pass before, or leave unordered out",
    ];
    stencil_loads_need_a_stencil: |film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.access(draw, depth, Use { stencil_load: Some(Load::Clear), ..Use::new(Usage::DepthStencilAttachment) });
    } => [
        "RG-E217 pass \"draw\" uses \"depth\" as depth_stencil_attachment with stencil_load, but it has no stencil",
        "  draw   film.py:5  depth_stencil_attachment",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: leave stencil_load out",
    ];
    clear_values_are_numbers_of_the_right_kind: |film| {
        let (color, depth) = (film.image("color", Format::Rgba8unorm), film.image("depth", Format::Depth24plusStencil8));
        for (name, image, usage, value) in [
            ("nan", color, Usage::ColorAttachment, Clear::Color([0.0, f64::NAN, 0.0, 1.0])),
            ("far", depth, Usage::DepthStencilAttachment, Clear::Depth(1.5, None)),
            ("stencil", depth, Usage::DepthStencilAttachment, Clear::Depth(1.0, Some(256))),
            ("swapped", color, Usage::ColorAttachment, Clear::Depth(1.0, None)),
            ("colored", depth, Usage::DepthStencilAttachment, Clear::Color([0.0; 4])),
        ] {
            let pass = film.pass(name, PassQueue::Graphics);
            film.access(pass, image, clear(usage, value));
        }
    } => [
        "RG-E213 pass \"nan\" clears \"color\" to NaN",
        "  nan    film.py:6  color_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: give it finite numbers",
        "RG-E213 pass \"far\" clears \"depth\" to 1.5",
        "  far    film.py:8  depth_stencil_attachment",
        "  depth  film.py:4  depth24plus-stencil8, 64×64",
        "  help: give it a depth from 0 to 1",
        "RG-E213 pass \"stencil\" clears the stencil of \"depth\" to 256",
        "  stencil  film.py:10  depth_stencil_attachment",
        "  depth    film.py:4  depth24plus-stencil8, 64×64",
        "  help: give it a stencil from 0 to 255",
        "RG-E217 pass \"swapped\" clears \"color\" to a depth",
        "  swapped  film.py:12  color_attachment",
        "  color    film.py:3  rgba8unorm, 64×64",
        "  help: give it four numbers",
        "RG-E217 pass \"colored\" clears \"depth\" to a colour",
        "  colored  film.py:14  depth_stencil_attachment",
        "  depth    film.py:4  depth24plus-stencil8, 64×64",
        "  help: give it a depth or [depth, stencil]",
    ];
    a_clear_value_needs_a_clear: |film| {
        let (color, read) = (film.image("color", Format::Rgba8unorm), film.image("read", Format::Rgba8unorm));
        let draw = film.draw();
        film.access(draw, color, Use { load: Some(Load::Load), ..clear(Usage::ColorAttachment, Clear::Color([0.0; 4])) });
        film.access(draw, read, Use { load: None, ..clear(Usage::Sampled, Clear::Color([0.0; 4])) });
    } => [
        "RG-E217 pass \"draw\" gives a clear value for \"color\", but does not clear it",
        "  draw   film.py:6  color_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use load: clear",
        "RG-E217 pass \"draw\" gives a clear value for \"read\", but does not clear it",
        "  draw  film.py:7  sampled",
        "  read  film.py:4  rgba8unorm, 64×64",
        "  help: leave the clear value out",
    ];
    mips_are_generated_where_they_are_written_and_can_be_filtered: |film| {
        let mipped = |format| Resource::image(Image { mips: Some(Mips::Full), ..of_format(format) });
        let color = film.resource("color", mipped(Format::Rgba8unorm));
        let ids = film.resource("ids", mipped(Format::R32uint));
        let buffer = film.buffer("bins", 64);
        let draw = film.draw();
        for (resource, usage) in [
            (color, Usage::Sampled),
            (ids, Usage::ColorAttachment),
            (buffer, Usage::StorageWrite),
        ] {
            film.access(draw, resource, Use { generate_mips: true, ..Use::new(usage) });
        }
    } => [
        "RG-E218 pass \"draw\" generates mips of \"color\", but only reads it",
        "  draw   film.py:7  sampled",
        "  color  film.py:3  rgba8unorm, 64×64, 7 mips",
        "  help: declare generate_mips where its first mip is written",
        "RG-E207 pass \"draw\" generates mips of \"ids\", but its format cannot be filtered",
        "  draw  film.py:8  color_attachment",
        "  ids   film.py:4  r32uint, 64×64, 7 mips",
        "  help: write the mips in passes of your own, or use a format that can be filtered",
        "RG-E218 pass \"draw\" generates mips of \"bins\", but it is a buffer",
        "  draw  film.py:9  storage_write",
        "  bins  film.py:5  buffer of 64 bytes",
        "  help: leave generate_mips out",
    ];
    generated_mips_need_a_graphics_queue: |film| {
        film.profile.queues.remove(0);
        let color = film.resource("color", Resource::image(Image { mips: Some(Mips::Full), ..of_format(Format::R8unorm) }));
        let paint = film.pass("paint", PassQueue::Compute);
        film.access(paint, color, Use { generate_mips: true, ..Use::new(Usage::StorageWrite) });
    } => [
        "RG-E211 pass \"paint\" generates mips of \"color\", but the profile has no graphics queue to blit on",
        "  paint  film.py:5  storage_write",
        "  color  film.py:3  r8unorm, 64×64, 7 mips",
        "  help: write the mips in passes of your own",
    ];
    ranges_lie_within_the_resource_and_forwards: |film| {
        let image = Image { mips: Some(Mips::Full), layers: Some(2), ..of_format(Format::Rgba8unorm) };
        let (bloom, bins) = (film.resource("bloom", Resource::image(image)), film.buffer("bins", 64));
        let draw = film.draw();
        film.access(draw, bloom, mips(Usage::Sampled, [3, 9]));
        film.access(draw, bloom, mips(Usage::Sampled, [3, 3]));
        film.access(draw, bloom, layers(Usage::Sampled, [2, 1]));
        film.access(draw, bins, bytes(Usage::StorageRead, [0, 65]));
    } => [
        "RG-E209 pass \"draw\" uses mips [3, 9) of \"bloom\", which has 7",
        "  draw   film.py:6  sampled",
        "  bloom  film.py:3  rgba8unorm, 64×64, 2 layers, 7 mips",
        "  help: use at most [0, 7)",
        "RG-E209 pass \"draw\" uses mips [3, 3) of \"bloom\", which is an empty range",
        "  draw   film.py:7  sampled",
        "  bloom  film.py:3  rgba8unorm, 64×64, 2 layers, 7 mips",
        "  help: ranges are [first, one past the last)",
        "RG-E209 pass \"draw\" uses layers [2, 1) of \"bloom\", which is a range that runs backwards",
        "  draw   film.py:8  sampled",
        "  bloom  film.py:3  rgba8unorm, 64×64, 2 layers, 7 mips",
        "  help: ranges are [first, one past the last)",
        "RG-E209 pass \"draw\" uses bytes [0, 65) of \"bins\", which has 64",
        "  draw  film.py:9  storage_read",
        "  bins  film.py:4  buffer of 64 bytes",
        "  help: use at most [0, 64)",
    ];
    an_attachment_is_one_mip: |film| {
        let bloom = film.resource("bloom", Resource::image(Image { mips: Some(Mips::Full), ..of_format(Format::R8unorm) }));
        let draw = film.draw();
        film.access(draw, bloom, mips(Usage::ColorAttachment, [1, 3]));
    } => [
        "RG-E209 pass \"draw\" uses mips [1, 3) of \"bloom\", which can be color_attachment one mip at a time",
        "  draw   film.py:5  color_attachment",
        "  bloom  film.py:3  r8unorm, 64×64, 7 mips",
        "  help: use one mip, such as [1, 2)",
    ];
    aspects_are_those_of_the_format: |film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.access(draw, depth, Use { aspects: Aspects::all(), ..Use::new(Usage::Sampled) });
    } => [
        "RG-E209 pass \"draw\" uses color and stencil of \"depth\", which has only depth",
        "  draw   film.py:5  sampled",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: use depth, or a format that has what you want",
    ];
    buffers_have_bytes_and_images_have_mips: |film| {
        let (image, buffer, draw) = (film.image("color", Format::Rgba8unorm), film.buffer("bins", 64), film.draw());
        film.access(draw, image, bytes(Usage::Sampled, [0, 4]));
        film.access(draw, buffer, mips(Usage::StorageRead, [0, 1]));
    } => [
        "RG-E209 pass \"draw\" uses bytes of \"color\", which is an image",
        "  draw   film.py:6  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use mips, layers and aspects",
        "RG-E209 pass \"draw\" uses mips, layers or aspects of \"bins\", which is a buffer",
        "  draw  film.py:7  storage_read",
        "  bins  film.py:4  buffer of 64 bytes",
        "  help: use range, in bytes",
    ];
    a_uniform_range_stays_within_the_limit: |film| {
        film.profile = Profile::minimal();
        let (buffer, draw) = (film.buffer("bones", 65536), film.draw());
        film.uses(draw, buffer, Usage::Uniform);
        film.access(draw, buffer, bytes(Usage::Uniform, [0, 16385]));
    } => [
        "RG-E212 pass \"draw\" uses 16385 bytes of \"bones\" as uniform; profile \"minimal\" allows 16384",
        "  draw   film.py:6  uniform",
        "  bones  film.py:3  buffer of 65536 bytes",
        "  help: use a smaller range, or storage_read",
    ];
    a_resource_of_another_graph_is_refused: |film| {
        let draw = film.draw();
        film.uses(draw, ResourceId::new(9), Usage::Sampled);
    } => [
        "RG-E202 pass \"draw\" uses a resource of another graph",
        "  draw  film.py:4  sampled",
        "  help: declare the resource in this graph",
    ];
    only_resolve_attachments_say_what_they_resolve: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        let details = Details { resolves: Some(color), ..Details::default() };
        film.access(draw, color, Use { details, ..Use::new(Usage::ColorAttachment) });
    } => [
        "RG-E217 pass \"draw\" uses \"color\" as color_attachment, which takes no resolves or mode",
        "  draw   film.py:5  color_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  help: use resolve_attachment, or leave resolves out",
    ];
    everything_that_recorded_frames_do_is_accepted: |film| {
        film.profile = Profile::single_queue();
        let depth = film.image("depth", Format::Depth32floatStencil8);
        let mipped = film.resource("mips", Resource::image(Image { mips: Some(Mips::Full), ..of_format(Format::R8unorm) }));
        let scratch = film.buffer("scratch", 1 << 20);
        let test = film.pass("test", PassQueue::Graphics);
        film.uses(test, depth, Usage::DepthStencilRead);
        film.uses(test, depth, Usage::Sampled);
        let fill = film.pass("fill", PassQueue::Graphics);
        film.access(fill, mipped, mips(Usage::TransferSrc, [0, 1]));
        film.access(fill, mipped, mips(Usage::TransferDst, [1, 7]));
        let build = film.pass("build", PassQueue::Compute);
        film.access(build, scratch, at(Usage::StorageWrite, Stages::ACCELERATION_STRUCTURE_BUILD));
        film.access(build, depth, at(Usage::StorageRead, Stages::COMPUTE_SHADER));
        let halves = Use { ranges: Ranges { bytes: Some([0, 1]), ..Ranges::default() }, ..Use::new(Usage::TransferDst) };
        let copy = film.pass("copy", PassQueue::Transfer);
        film.access(copy, scratch, halves);
    } => [];
    an_attachment_that_is_cleared_is_not_read_in_place: |film| {
        let (image, draw) = (film.image("a", Format::R8unorm), film.draw());
        film.uses(draw, image, Usage::InputAttachment);
        film.access(draw, image, loaded(Usage::ColorAttachment, Load::Clear));
    } => [
        "RG-E217 pass \"draw\" uses \"a\" as input_attachment and as color_attachment, and the two conflict",
        "  draw  film.py:6  color_attachment",
        "  a     film.py:3  r8unorm, 64×64",
        "  a     film.py:5  input_attachment, r8unorm, 64×64",
        "  help: use load: load to read in place what was there, or leave out the input attachment",
    ];
}
