//! Mistakes between accesses of one pass: attachments, resolves, overlaps.

use rgraph_plan::access::{Aspects, Load, PassQueue, ResolveMode, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Details, Use};
use rgraph_plan::id::Id;
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Image, Mips, Resource, ResourceId, Size};

use super::{bytes, cases, layers, mips, multisampled, of_format, resolving};

fn resolve_by(mode: ResolveMode, resolves: ResourceId) -> Use {
    let details = Details { resolves: Some(resolves), resolve_mode: Some(mode), clear: None };
    Use { details, ..Use::new(Usage::ResolveAttachment) }
}

cases! {
    attachments_of_two_sizes_cannot_match: |film| {
        let color = film.image("color", Format::Rgba8unorm);
        let half = Image { size: Some(Size::scaled(None, 0.5, 0.5)), ..of_format(Format::Depth32float) };
        let depth = film.resource("depth", Resource::image(half));
        let draw = film.draw();
        film.uses(draw, color, Usage::ColorAttachment);
        film.uses(draw, depth, Usage::DepthStencilAttachment);
    } => [
        "RG-E206 pass \"draw\" has attachments that cannot match: \"depth\" has 32×32, \"color\" 64×64",
        "  draw   film.py:7  depth_stencil_attachment",
        "  depth  film.py:4  depth32float, 32×32",
        "  color  film.py:6  color_attachment, rgba8unorm, 64×64",
        "  help: give all attachments of a pass one size",
    ];
    attachments_are_compared_by_the_mip_that_is_drawn_to: |film| {
        let bloom = film.resource("bloom", Resource::image(Image { mips: Some(Mips::Full), ..of_format(Format::R8unorm) }));
        let half = Image { size: Some(Size::absolute(32, 32)), ..of_format(Format::Depth32float) };
        let depth = film.resource("depth", Resource::image(half));
        let (fits, differs) = (film.pass("fits", PassQueue::Graphics), film.pass("differs", PassQueue::Graphics));
        film.access(fits, bloom, mips(Usage::ColorAttachment, [1, 2]));
        film.uses(fits, depth, Usage::DepthStencilAttachment);
        film.access(differs, bloom, mips(Usage::ColorAttachment, [2, 3]));
        film.uses(differs, depth, Usage::DepthStencilAttachment);
    } => [
        "RG-E206 pass \"differs\" has attachments that cannot match: \"depth\" has 32×32, \"bloom\" 16×16",
        "  differs  film.py:10  depth_stencil_attachment",
        "  depth    film.py:4  depth32float, 32×32",
        "  bloom    film.py:9  color_attachment, r8unorm, 64×64, 7 mips",
        "  help: give all attachments of a pass one size",
    ];
    attachments_of_different_samples_or_layers_cannot_match: |film| {
        let color = film.resource("color", multisampled(Format::Rgba8unorm));
        let depth = film.image("depth", Format::Depth32float);
        let array = film.resource("array", Resource::image(Image { layers: Some(4), ..of_format(Format::Rgba8unorm) }));
        let draw = film.draw();
        film.uses(draw, color, Usage::ColorAttachment);
        film.uses(draw, depth, Usage::DepthStencilAttachment);
        film.access(draw, array, layers(Usage::ColorAttachment, [1, 3]));
    } => [
        "RG-E208 pass \"draw\" has attachments that cannot match: \"depth\" has 1 sample, \"color\" 4 samples",
        "  draw   film.py:8  depth_stencil_attachment",
        "  depth  film.py:4  depth32float, 64×64",
        "  color  film.py:7  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: give all attachments of a pass the same number of samples, or use resolve_attachment",
        "RG-E206 pass \"draw\" has attachments that cannot match: \"array\" has 2 layers, \"color\" 1 layer",
        "  draw   film.py:9  color_attachment",
        "  array  film.py:5  rgba8unorm, 64×64, 4 layers",
        "  color  film.py:7  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: give all attachments of a pass the same number of layers",
        "RG-E208 pass \"draw\" has attachments that cannot match: \"array\" has 1 sample, \"color\" 4 samples",
        "  draw   film.py:9  color_attachment",
        "  array  film.py:5  rgba8unorm, 64×64, 4 layers",
        "  color  film.py:7  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: give all attachments of a pass the same number of samples, or use resolve_attachment",
    ];
    a_pass_has_one_depth_attachment: |film| {
        let (a, b) = (film.image("a", Format::Depth32float), film.image("b", Format::Depth32float));
        let draw = film.draw();
        film.uses(draw, a, Usage::DepthStencilAttachment);
        film.uses(draw, b, Usage::DepthStencilRead);
    } => [
        "RG-E217 pass \"draw\" has two depth attachments, \"a\" and \"b\"",
        "  draw  film.py:7  depth_stencil_read",
        "  b     film.py:4  depth32float, 64×64",
        "  a     film.py:6  depth_stencil_attachment, depth32float, 64×64",
        "  help: keep one of them, or split the pass",
    ];
    a_pass_has_no_more_colours_than_the_profile_allows: |film| {
        film.profile = Profile::minimal();
        let draw = film.draw();
        for name in ["a", "b", "c", "d", "e", "f"] {
            let image = film.image(name, Format::R8unorm);
            film.uses(draw, image, Usage::ColorAttachment);
        }
    } => [
        "RG-E212 pass \"draw\" has more than 4 colour attachments, the most of profile \"minimal\"",
        "  draw  film.py:13  color_attachment",
        "  e     film.py:12  r8unorm, 64×64",
        "  help: split the pass, or pack what it writes",
    ];
    a_resolve_names_an_attachment_of_its_pass: |film| {
        let (one, other) = (film.image("one", Format::Rgba8unorm), film.image("other", Format::Rgba8unorm));
        let draw = film.draw();
        film.access(draw, one, resolving(other));
    } => [
        "RG-E217 pass \"draw\" resolves \"other\" to \"one\", but \"other\" is no attachment of it",
        "  draw  film.py:6  resolve_attachment",
        "  one   film.py:3  rgba8unorm, 64×64",
        "  help: add \"other\" to the pass as an attachment",
    ];
    a_resolve_without_a_source_takes_the_only_one_that_fits: |film| {
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let more = film.resource("more", multisampled(Format::Rgba8unorm));
        let one = film.image("one", Format::Rgba8unorm);
        let (clear, vague) = (film.pass("clear", PassQueue::Graphics), film.pass("vague", PassQueue::Graphics));
        film.uses(clear, many, Usage::ColorAttachment);
        film.uses(clear, one, Usage::ResolveAttachment);
        film.uses(vague, many, Usage::ColorAttachment);
        film.uses(vague, more, Usage::ColorAttachment);
        film.uses(vague, one, Usage::ResolveAttachment);
    } => [
        "RG-E217 pass \"vague\" resolves to \"one\", but names no source",
        "  vague  film.py:12  resolve_attachment",
        "  one    film.py:5  rgba8unorm, 64×64",
        "  help: set resolves to the multisampled attachment",
    ];
    a_resolve_goes_from_several_samples_to_one_of_the_same_format: |film| {
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let few = film.image("few", Format::Rgba8unorm);
        let one = film.image("one", Format::Rgba8unorm);
        let float = film.image("float", Format::Rgba16float);
        let more = film.resource("more", multisampled(Format::Rgba8unorm));
        for (name, from, into) in [("single", few, one), ("format", many, float), ("double", many, more)] {
            let pass = film.pass(name, PassQueue::Graphics);
            film.uses(pass, from, Usage::ColorAttachment);
            film.access(pass, into, resolving(from));
        }
    } => [
        "RG-E208 pass \"single\" resolves \"few\" to \"one\", but \"few\" has one sample per texel",
        "  single  film.py:10  resolve_attachment",
        "  one     film.py:5  rgba8unorm, 64×64",
        "  few     film.py:9  color_attachment, rgba8unorm, 64×64",
        "  help: give it several samples",
        "RG-E207 pass \"format\" resolves \"many\" to \"float\", but their formats are rgba8unorm and rgba16float",
        "  format  film.py:13  resolve_attachment",
        "  float   film.py:6  rgba16float, 64×64",
        "  many    film.py:12  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: give both one format",
        "RG-E208 pass \"double\" resolves \"many\" to \"more\", but \"more\" has 4 samples per texel",
        "  double  film.py:16  resolve_attachment",
        "  more    film.py:7  rgba8unorm, 64×64, 4 samples",
        "  many    film.py:15  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: give it one sample",
    ];
    a_resolve_mode_fits_the_format: |film| {
        let mut pair = |name: &str, format| (film.resource(name, multisampled(format)), film.image(&format!("{name} 1"), format));
        let ids = pair("ids", Format::R32uint);
        let color = pair("color", Format::Rgba8unorm);
        let depth = pair("depth", Format::Depth24plusStencil8);
        for (name, (from, into), usage, mode) in [
            ("ids average", ids, Usage::ColorAttachment, ResolveMode::Average),
            ("ids zero", ids, Usage::ColorAttachment, ResolveMode::SampleZero),
            ("ids min", ids, Usage::ColorAttachment, ResolveMode::Min),
            ("color max", color, Usage::ColorAttachment, ResolveMode::Max),
            ("color average", color, Usage::ColorAttachment, ResolveMode::Average),
            ("depth average", depth, Usage::DepthStencilAttachment, ResolveMode::Average),
            ("depth min", depth, Usage::DepthStencilAttachment, ResolveMode::Min),
        ] {
            let pass = film.pass(name, PassQueue::Graphics);
            film.uses(pass, from, usage);
            film.access(pass, into, resolve_by(mode, from));
        }
    } => [
        "RG-E207 pass \"ids average\" resolves \"ids\" to \"ids 1\", by average, but integers have no mean",
        "  ids average  film.py:11  resolve_attachment",
        "  ids 1        film.py:4  r32uint, 64×64",
        "  ids          film.py:10  color_attachment, r32uint, 64×64, 4 samples",
        "  help: use sample_zero",
        "RG-E207 pass \"ids min\" resolves \"ids\" to \"ids 1\", by min, which is for depth and stencil only",
        "  ids min  film.py:17  resolve_attachment",
        "  ids 1    film.py:4  r32uint, 64×64",
        "  ids      film.py:16  color_attachment, r32uint, 64×64, 4 samples",
        "  help: use sample_zero",
        "RG-E207 pass \"color max\" resolves \"color\" to \"color 1\", by max, but colours can only be averaged",
        "  color max  film.py:20  resolve_attachment",
        "  color 1    film.py:6  rgba8unorm, 64×64",
        "  color      film.py:19  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: use average",
        "RG-E207 pass \"depth average\" resolves \"depth\" to \"depth 1\", by average, but stencils have no mean",
        "  depth average  film.py:26  resolve_attachment",
        "  depth 1        film.py:8  depth24plus-stencil8, 64×64",
        "  depth          film.py:25  depth_stencil_attachment, depth24plus-stencil8, 64×64, 4 samples",
        "  help: use sample_zero, min or max",
    ];
    an_attachment_is_resolved_once: |film| {
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        let (a, b) = (film.image("a", Format::Rgba8unorm), film.image("b", Format::Rgba8unorm));
        let draw = film.draw();
        film.uses(draw, many, Usage::ColorAttachment);
        film.access(draw, a, resolving(many));
        film.access(draw, b, resolving(many));
    } => [
        "RG-E217 pass \"draw\" resolves \"many\" twice",
        "  draw  film.py:9  resolve_attachment",
        "  b     film.py:5  rgba8unorm, 64×64",
        "  many  film.py:7  color_attachment, rgba8unorm, 64×64, 4 samples",
        "  help: resolve it once and copy the result",
    ];
    a_resolve_of_another_graph_is_refused: |film| {
        let (one, draw) = (film.image("one", Format::Rgba8unorm), film.draw());
        film.access(draw, one, resolving(ResourceId::new(7)));
    } => [
        "RG-E202 pass \"draw\" resolves a resource of another graph",
        "  draw  film.py:5  resolve_attachment",
        "  one   film.py:3  rgba8unorm, 64×64",
        "  help: resolve an attachment of the same pass",
    ];
    a_pass_cannot_draw_to_what_it_samples: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.uses(draw, color, Usage::Sampled);
        film.uses(draw, color, Usage::ColorAttachment);
    } => [
        "RG-E217 pass \"draw\" uses \"color\" as sampled and as color_attachment, and the two conflict",
        "  draw   film.py:6  color_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  color  film.py:5  sampled, rgba8unorm, 64×64",
        "  help: use input_attachment to read the texel under the fragment, or split the pass",
    ];
    ranges_that_meet_contradict_and_ranges_that_do_not_are_fine: |film| {
        let bins = film.buffer("bins", 64);
        let fits = film.pass("fits", PassQueue::Compute);
        film.access(fits, bins, bytes(Usage::StorageWrite, [0, 16]));
        film.access(fits, bins, bytes(Usage::StorageRead, [16, 64]));
        let meets = film.pass("meets", PassQueue::Compute);
        film.access(meets, bins, bytes(Usage::StorageWrite, [0, 17]));
        film.access(meets, bins, bytes(Usage::StorageRead, [16, 64]));
    } => [
        "RG-E217 pass \"meets\" uses \"bins\" as storage_write (bytes [0, 17)) and as storage_read (bytes [16, 64)), and the two conflict",
        "  meets  film.py:9  storage_read",
        "  bins   film.py:3  buffer of 64 bytes",
        "  bins   film.py:8  storage_write, buffer of 64 bytes",
        "  help: use storage_read_write once",
    ];
    a_pass_that_presents_uses_the_image_in_no_other_way: |film| {
        let color = film.image("color", Format::Rgba8unorm);
        let show = film.pass("show", PassQueue::Graphics);
        film.uses(show, color, Usage::Present);
        film.uses(show, color, Usage::Sampled);
    } => [
        "RG-E217 pass \"show\" uses \"color\" as present and as sampled, and the two conflict",
        "  show   film.py:6  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  color  film.py:5  present, rgba8unorm, 64×64",
        "  help: present it in a pass of its own",
    ];
    depth_of_one_mip_and_stencil_of_another_are_apart: |film| {
        let mut two = of_format(Format::Depth24plusStencil8);
        two.mips = Some(Mips::Count(2));
        let depth = film.resource("depth", Resource::image(two));
        let copy = film.pass("copy", PassQueue::Graphics);
        film.access(copy, depth, Use { aspects: Aspects::DEPTH, ..mips(Usage::TransferDst, [1, 2]) });
        film.access(copy, depth, Use { aspects: Aspects::STENCIL, ..mips(Usage::TransferSrc, [0, 1]) });
    } => [];
    what_is_stored_to_and_sampled_is_not_one_storage_access: |film| {
        let (color, work) = (film.image("color", Format::Rgba8unorm), film.pass("work", PassQueue::Compute));
        film.uses(work, color, Usage::StorageWrite);
        film.uses(work, color, Usage::Sampled);
    } => [
        "RG-E217 pass \"work\" uses \"color\" as storage_write and as sampled, and the two conflict",
        "  work   film.py:6  sampled",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  color  film.py:5  storage_write, rgba8unorm, 64×64",
        "  help: split the pass, or make the ranges disjoint",
    ];
    the_same_write_said_twice_contradicts_itself: |film| {
        let depth = film.image("depth", Format::Depth32float);
        let draw = film.draw();
        film.uses(draw, depth, Usage::DepthStencilAttachment);
        film.uses(draw, depth, Usage::DepthStencilAttachment);
    } => [
        "RG-E217 pass \"draw\" uses \"depth\" as depth_stencil_attachment and as depth_stencil_attachment, and the two conflict",
        "  draw   film.py:6  depth_stencil_attachment",
        "  depth  film.py:3  depth32float, 64×64",
        "  depth  film.py:5  depth_stencil_attachment, depth32float, 64×64",
        "  help: declare it once, or make the ranges disjoint",
    ];
    depth_tested_and_written_cannot_be_sampled_but_its_stencil_can: |film| {
        let depth = film.image("depth", Format::Depth24plusStencil8);
        let fits = film.pass("fits", PassQueue::Graphics);
        film.access(fits, depth, Use { aspects: Aspects::DEPTH, ..Use::new(Usage::DepthStencilAttachment) });
        film.access(fits, depth, Use { aspects: Aspects::STENCIL, ..Use::new(Usage::Sampled) });
        let meets = film.pass("meets", PassQueue::Graphics);
        film.uses(meets, depth, Usage::DepthStencilAttachment);
        film.access(meets, depth, Use { aspects: Aspects::DEPTH, ..Use::new(Usage::Sampled) });
    } => [
        "RG-E217 pass \"meets\" uses \"depth\" as depth_stencil_attachment and as sampled (depth), and the two conflict",
        "  meets  film.py:9  sampled",
        "  depth  film.py:3  depth24plus-stencil8, 64×64",
        "  depth  film.py:8  depth_stencil_attachment, depth24plus-stencil8, 64×64",
        "  help: use depth_stencil_read if the pass only tests, or split the pass",
    ];
    a_colour_that_the_pass_clears_is_not_read_in_place: |film| {
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.access(draw, color, Use { load: Some(Load::Clear), ..Use::new(Usage::ColorAttachment) });
        film.uses(draw, color, Usage::InputAttachment);
    } => [
        "RG-E217 pass \"draw\" uses \"color\" as color_attachment and as input_attachment, and the two conflict",
        "  draw   film.py:6  input_attachment",
        "  color  film.py:3  rgba8unorm, 64×64",
        "  color  film.py:5  color_attachment, rgba8unorm, 64×64",
        "  help: use load: load to read in place what was there, or leave out the input attachment",
    ];
    depth_that_the_pass_writes_is_not_read_in_place: |film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.uses(draw, depth, Usage::InputAttachment);
        film.uses(draw, depth, Usage::DepthStencilAttachment);
    } => [
        "RG-E217 pass \"draw\" uses \"depth\" as input_attachment and as depth_stencil_attachment, and the two conflict",
        "  draw   film.py:6  depth_stencil_attachment",
        "  depth  film.py:3  depth32float, 64×64",
        "  depth  film.py:5  input_attachment, depth32float, 64×64",
        "  help: use depth_stencil_read if the pass only tests, or split the pass",
    ];
    reads_meet_and_attachments_meet_input_attachments: |film| {
        let (color, depth) = (film.image("color", Format::Rgba8unorm), film.image("depth", Format::Depth32float));
        let draw = film.draw();
        film.uses(draw, color, Usage::ColorAttachment);
        film.uses(draw, color, Usage::InputAttachment);
        film.uses(draw, depth, Usage::DepthStencilRead);
        film.uses(draw, depth, Usage::Sampled);
        film.uses(draw, depth, Usage::InputAttachment);
    } => [];
}

#[test]
fn ten_thousand_accesses_of_one_buffer_in_one_pass_are_no_more_than_a_sort() {
    let mut film = super::Film::new();
    let bins = film.buffer("bins", 1 << 20);
    let work = film.pass("work", PassQueue::Compute);
    for at in 0..10_000 {
        film.access(work, bins, bytes(Usage::StorageWrite, [at * 8, at * 8 + 8]));
        film.access(work, bins, bytes(Usage::StorageRead, [1 << 19, 1 << 20]));
    }
    assert_eq!(film.messages(), [""; 0]);
    film.access(work, bins, bytes(Usage::StorageRead, [800, 801]));
    let messages = film.messages();
    assert!(
        messages[0].contains("storage_write (bytes [800, 808)) and as storage_read (bytes [800, 801))"),
        "{messages:?}"
    );
}
