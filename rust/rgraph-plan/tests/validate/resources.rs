//! Mistakes of resources by themselves, of what they remember or modify, and of their edges.

use rgraph_plan::access::{Layout, PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::id::Id;
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{
    Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Size,
};

use super::{cases, multisampled, of_format};

fn sized(size: Size) -> Resource {
    Resource::image(Image { size: Some(size), ..of_format(Format::Rgba8unorm) })
}

fn history(of: ResourceId, frames: u32) -> Resource {
    let life = Life::History(History { of, frames, zero_first: true });
    Resource { life, ..Resource::image(Image::default()) }
}

fn modifying(base: ResourceId, image: Image) -> Resource {
    Resource { modifies: Some(base), ..Resource::image(image) }
}

fn imported(imported: Imported, format: Format) -> Resource {
    Resource { life: Life::Imported(imported), ..Resource::image(of_format(format)) }
}

cases! {
    an_image_needs_a_format_and_a_buffer_a_size: |film| {
        film.resource("bare", Resource::image(Image::default()));
        film.resource("void", Resource { kind: Kind::Buffer(Buffer::default()), ..Resource::buffer(1) });
    } => [
        "RG-E207 \"bare\" has no format",
        "  bare  film.py:3  declared here",
        "  help: declare one, such as rgba8unorm",
        "RG-E205 \"void\" has no size",
        "  void  film.py:4  declared here",
        "  help: declare its bytes",
    ];
    nothing_may_be_zero: |film| {
        film.resource("flat", sized(Size::absolute(8, 0)));
        film.resource("none", Resource::image(Image { layers: Some(0), mips: Some(Mips::Count(0)), samples: Some(0), ..of_format(Format::R8unorm) }));
        film.buffer("empty", 0);
    } => [
        "RG-E205 \"flat\" has a height of 0",
        "  flat  film.py:3  declared here",
        "  help: declare at least 1",
        "RG-E205 \"none\" has 0 mips",
        "  none  film.py:4  declared here",
        "  help: declare at least 1",
        "RG-E205 \"none\" has 0 layers",
        "  none  film.py:4  declared here",
        "  help: declare at least 1",
        "RG-E205 \"none\" has 0 samples",
        "  none  film.py:4  declared here",
        "  help: declare at least 1",
        "RG-E205 \"empty\" has 0 bytes",
        "  empty  film.py:5  declared here",
        "  help: declare at least 1",
    ];
    a_reference_size_of_zero_is_said_once: |film| {
        film.graph = rgraph_plan::graph::Graph::new("film", [0, 64]);
        let out = film.image("out", Format::R8unorm);
        film.image("more", Format::R8unorm);
        film.graph.root(out);
    } => [
        "RG-E205 \"out\" is relative to the reference size, which is 0×64",
        "  out  film.py:3  declared here",
        "  help: give the graph a reference size of at least 1×1",
    ];
    scales_are_finite_and_above_zero_and_products_fit: |film| {
        film.resource("nan", sized(Size::scaled(None, f64::NAN, 1.0)));
        film.resource("negative", sized(Size::scaled(None, 1.0, -2.0)));
        film.resource("huge", sized(Size::scaled(None, 1e12, 1.0)));
    } => [
        "RG-E213 \"nan\" scales its width by NaN",
        "  nan  film.py:3  declared here",
        "  help: give it a finite number above 0",
        "RG-E213 \"negative\" scales its height by -2.0",
        "  negative  film.py:4  declared here",
        "  help: give it a finite number above 0",
        "RG-E205 \"huge\" has a width of more than 4294967295 texels",
        "  huge  film.py:5  declared here",
        "  help: use a smaller scale",
    ];
    a_size_is_relative_to_an_image_of_this_graph: |film| {
        let buffer = film.buffer("lights", 64);
        film.resource("a", sized(Size::scaled(Some(buffer), 1.0, 1.0)));
        film.resource("b", sized(Size::scaled(Some(ResourceId::new(99)), 1.0, 1.0)));
    } => [
        "RG-E205 \"a\" is relative to \"lights\", which is a buffer",
        "  a  film.py:4  declared here",
        "  help: relate it to an image or to the reference size",
        "RG-E202 \"b\" is relative to a resource of another graph",
        "  b  film.py:5  declared here",
        "  help: relate it to an image of this graph",
    ];
    sizes_that_need_themselves_are_spelled_out: |film| {
        let next = |at: usize| Some(ResourceId::new(at));
        film.resource("a", sized(Size::scaled(next(2), 1.0, 1.0)));
        film.resource("b", sized(Size { x: Axis::Texels(4), ..Size::scaled(next(3), 1.0, 1.0) }));
        film.resource("c", sized(Size::scaled(next(1), 1.0, 1.0)));
        film.resource("own", sized(Size::scaled(next(4), 0.5, 0.5)));
    } => [
        "RG-E205 \"a\" needs its own size: a → b → c → a",
        "  a  film.py:3  is relative to \"b\"",
        "  b  film.py:4  is relative to \"c\"",
        "  c  film.py:5  is relative to \"a\"",
        "  help: give one of them a size of its own",
        "RG-E205 \"own\" needs its own size: own → own",
        "  own  film.py:6  is relative to \"own\"",
        "  help: give one of them a size of its own",
    ];
    mips_samples_and_layers_are_within_what_the_image_and_the_profile_have: |film| {
        film.profile = Profile::minimal();
        let base = || of_format(Format::R8unorm);
        film.resource("mips", Resource::image(Image { mips: Some(Mips::Count(9)), ..base() }));
        film.resource("samples", Resource::image(Image { samples: Some(3), ..base() }));
        film.resource("more samples", Resource::image(Image { samples: Some(8), ..base() }));
        film.resource("layers", Resource::image(Image { layers: Some(257), ..base() }));
        film.resource("wide", sized(Size::absolute(4097, 4)));
        film.resource("deep", sized(Size::volume(4, 4, 257)));
        film.buffer("big", (1 << 30) + 1);
    } => [
        "RG-E209 \"mips\" has 9 mips, but is one texel after 7",
        "  mips  film.py:3  declared here",
        "  help: declare at most 7, or \"full\"",
        "RG-E208 \"samples\" has 3 samples, which is no power of two",
        "  samples  film.py:4  declared here",
        "  help: use 1, 2, 4 or 8",
        "RG-E212 \"more samples\" has 8 samples; on profile \"minimal\" at most 4 can be",
        "  more samples  film.py:5  declared here",
        "  help: make it smaller, or plan for another device",
        "RG-E212 \"layers\" has 257 layers; on profile \"minimal\" at most 256 can be",
        "  layers  film.py:6  declared here",
        "  help: make it smaller, or plan for another device",
        "RG-E212 \"wide\" has a width of 4097; on profile \"minimal\" at most 4096 can be",
        "  wide  film.py:7  declared here",
        "  help: make it smaller, or plan for another device",
        "RG-E212 \"deep\" has a depth of 257; on profile \"minimal\" at most 256 can be",
        "  deep  film.py:8  declared here",
        "  help: make it smaller, or plan for another device",
        "RG-E212 \"big\" has 1073741825 bytes; on profile \"minimal\" at most 1073741824 can be",
        "  big  film.py:9  declared here",
        "  help: make it smaller, or plan for another device",
    ];
    bytes_that_overflow_are_refused: |film| {
        film.profile.limits.max_image_2d = u32::MAX;
        film.resource("all", sized(Size::absolute(u32::MAX, u32::MAX)));
    } => [
        "RG-E223 \"all\" is too large: the bytes of all resources together overflow",
        "  all  film.py:3  declared here",
        "  help: make it smaller",
    ];
    shapes_that_vulkan_cannot_make_are_refused: |film| {
        let of = of_format;
        let (rgba, depth) = (Format::Rgba8unorm, Format::Depth32float);
        let volume = Some(Size::volume(8, 8, 8));
        for (name, image) in [
            ("layered volume", Image { size: volume, layers: Some(2), ..of(rgba) }),
            ("deep depth", Image { size: volume, ..of(depth) }),
            ("five faces", Image { cube: true, layers: Some(5), ..of(rgba) }),
            ("oblong cube", Image { cube: true, size: Some(Size::absolute(8, 4)), ..of(rgba) }),
            ("sampled volume", Image { size: volume, samples: Some(4), ..of(rgba) }),
            ("sampled cube", Image { cube: true, samples: Some(4), ..of(rgba) }),
            ("sampled mips", Image { mips: Some(Mips::Full), samples: Some(4), ..of(rgba) }),
            ("sampled blocks", Image { samples: Some(4), ..of(Format::Bc1RgbaUnorm) }),
        ] {
            film.resource(name, Resource::image(image));
        }
    } => [
        "RG-E205 \"layered volume\" has three dimensions and layers too (rgba8unorm, 8×8×8, 2 layers)",
        "  layered volume  film.py:3  declared here",
        "  help: use a depth or layers, not both",
        "RG-E207 \"deep depth\" has three dimensions, but depth formats have two (depth32float, 8×8×8)",
        "  deep depth  film.py:4  declared here",
        "  help: use layers instead of a depth",
        "RG-E205 \"five faces\" is a cube, but its layers are no multiple of six (rgba8unorm, 64×64, cube, 5 layers)",
        "  five faces  film.py:5  declared here",
        "  help: give it six layers a cube",
        "RG-E205 \"oblong cube\" is a cube, but its width is not its height (rgba8unorm, 8×4, cube, 6 layers)",
        "  oblong cube  film.py:6  declared here",
        "  help: give it square faces",
        "RG-E208 \"sampled volume\" has several samples and three dimensions (rgba8unorm, 8×8×8, 4 samples)",
        "  sampled volume  film.py:7  declared here",
        "  help: use one sample",
        "RG-E208 \"sampled cube\" has several samples and is a cube (rgba8unorm, 64×64, cube, 6 layers, 4 samples)",
        "  sampled cube  film.py:8  declared here",
        "  help: use one sample, or six layers",
        "RG-E208 \"sampled mips\" has several samples and several mips (rgba8unorm, 64×64, 7 mips, 4 samples)",
        "  sampled mips  film.py:9  declared here",
        "  help: use one mip, and resolve to an image with mips",
        "RG-E208 \"sampled blocks\" has several samples and a block-compressed format (bc1-rgba-unorm, 64×64, 4 samples)",
        "  sampled blocks  film.py:10  declared here",
        "  help: use one sample",
    ];
    a_history_remembers_a_transient_or_imported_resource_a_few_frames_ago: |film| {
        let lit = film.image("lit", Format::R8unorm);
        let kept = film.resource("kept", Resource { life: Life::Persistent, ..Resource::image(of_format(Format::R8unorm)) });
        let past = film.resource("past", history(lit, 1));
        film.resource("older", history(past, 1));
        film.resource("never", history(lit, 0));
        film.resource("ages", history(lit, 65));
        film.resource("of kept", history(kept, 1));
        film.resource("of nothing", history(ResourceId::new(99), 1));
        film.resource("bytes", Resource { kind: Kind::Buffer(Buffer::default()), ..history(lit, 1) });
        film.resource("of itself", history(ResourceId::new(9), 1));
    } => [
        "RG-E216 \"older\" is a history of \"past\", which is a history itself",
        "  older  film.py:6  r8unorm, 64×64",
        "  past   film.py:5  r8unorm, 64×64",
        "  help: remember the resource itself, more frames ago",
        "RG-E216 \"never\" remembers 0 frames",
        "  never  film.py:7  declared here",
        "  help: remember 1 to 64 frames",
        "RG-E216 \"ages\" remembers 65 frames",
        "  ages  film.py:8  declared here",
        "  help: remember 1 to 64 frames",
        "RG-E216 \"of kept\" is a history of \"kept\", which is persistent: it has one memory",
        "  of kept  film.py:9  r8unorm, 64×64",
        "  kept     film.py:4  r8unorm, 64×64",
        "  help: read it before it is written",
        "RG-E202 \"of nothing\" is a history of a resource of another graph",
        "  of nothing  film.py:10  declared here",
        "  help: remember a resource of this graph",
        "RG-E216 \"bytes\" is a history of \"lit\", which is of another kind",
        "  bytes  film.py:11  buffer of 1 byte",
        "  lit    film.py:3  r8unorm, 64×64",
        "  help: declare both as images, or both as buffers",
        "RG-E216 \"of itself\" is a history of \"bytes\", which is a history itself",
        "  of itself  film.py:12  rgba8unorm, 64×64",
        "  bytes      film.py:11  buffer of 1 byte",
        "  help: remember the resource itself, more frames ago",
    ];
    a_history_has_the_shape_and_state_of_what_it_remembers: |film| {
        let lit = film.image("lit", Format::R8unorm);
        let shaped = Kind::Image(of_format(Format::Rgba8unorm));
        film.resource("past", Resource { kind: shaped, ..history(lit, 1) });
        film.resource("left", Resource { leave: Some(Leave::default()), ..history(lit, 1) });
        let same = Image { size: Some(Size::absolute(64, 64)), samples: Some(1), ..of_format(Format::R8unorm) };
        film.resource("same", Resource { kind: Kind::Image(same), ..history(lit, 1) });
    } => [
        "RG-E216 \"past\" is a history of \"lit\" and declares another shape",
        "  past  film.py:4  r8unorm, 64×64",
        "  lit   film.py:3  r8unorm, 64×64",
        "  help: leave out its format and size",
        "RG-E216 \"left\" is a history and is to be left in a state",
        "  left  film.py:5  declared here",
        "  help: declare leave of \"lit\"",
    ];
    what_modifies_a_resource_without_a_shape_is_not_compared_with_it: |film| {
        let bare = film.resource("bare", Resource::image(Image::default()));
        film.resource("on", modifying(bare, of_format(Format::R8unorm)));
        let whole = film.image("whole", Format::R8unorm);
        film.resource("flat", modifying(whole, Image { size: Some(Size::absolute(8, 0)), ..Image::default() }));
        let void = film.resource("void", Resource { kind: Kind::Buffer(Buffer::default()), ..Resource::buffer(1) });
        film.resource("more", Resource { modifies: Some(void), ..Resource::buffer(64) });
    } => [
        "RG-E207 \"bare\" has no format",
        "  bare  film.py:3  declared here",
        "  help: declare one, such as rgba8unorm",
        "RG-E205 \"flat\" has a height of 0",
        "  flat  film.py:6  declared here",
        "  help: declare at least 1",
        "RG-E205 \"void\" has no size",
        "  void  film.py:7  declared here",
        "  help: declare its bytes",
    ];
    a_history_of_a_buffer_has_its_bytes: |film| {
        let sums = film.buffer("sums", 64);
        let bytes = |size| Resource { life: history(sums, 1).life, ..Resource::buffer(size) };
        film.resource("same", bytes(64));
        film.resource("more", bytes(65));
    } => [
        "RG-E216 \"more\" is a history of \"sums\" and declares another shape",
        "  more  film.py:5  buffer of 64 bytes",
        "  sums  film.py:3  buffer of 64 bytes",
        "  help: leave out its format and size",
    ];
    cubes_and_volumes_have_mips_and_block_formats: |film| {
        let cube = |format| Image { cube: true, layers: Some(6), mips: Some(Mips::Count(3)), ..of_format(format) };
        film.resource("sky", Resource::image(cube(Format::Rgba8unorm)));
        film.resource("packed sky", Resource::image(cube(Format::Bc1RgbaUnorm)));
        let size = Size { z: Some(Axis::Texels(16)), ..Size::absolute(64, 64) };
        film.resource("fog", Resource::image(Image { size: Some(size), mips: Some(Mips::Count(3)), ..of_format(Format::R8unorm) }));
    } => [];
    a_history_is_read_only: |film| {
        let lit = film.image("lit", Format::R8unorm);
        let past = film.resource("past", history(lit, 1));
        let draw = film.draw();
        film.uses(draw, past, Usage::ColorAttachment);
        film.resource("on", modifying(past, Image::default()));
    } => [
        "RG-E210 \"on\" modifies \"past\", but a history can only be read",
        "  on    film.py:7  r8unorm, 64×64",
        "  past  film.py:4  r8unorm, 64×64",
        "  help: modify \"lit\", or copy \"past\" first",
        "RG-E216 pass \"draw\" writes \"past\" as color_attachment, but a history can only be read",
        "  draw  film.py:6  color_attachment",
        "  past  film.py:4  r8unorm, 64×64",
        "  help: write \"lit\", whose past it is",
    ];
    what_modifies_has_the_memory_of_what_it_modifies: |film| {
        let base = Image { layers: Some(2), ..of_format(Format::R8unorm) };
        for (name, image) in [
            ("format", of_format(Format::Rgba8unorm)),
            ("layers and samples", Image { layers: Some(3), samples: Some(4), ..Image::default() }),
            ("mips", Image { mips: Some(Mips::Full), ..Image::default() }),
            ("dimensions", Image { size: Some(Size::volume(64, 64, 1)), layers: Some(1), ..Image::default() }),
        ] {
            let below = film.resource(&format!("{name} base"), Resource::image(base.clone()));
            film.resource(name, modifying(below, image));
        }
        let buffer = film.buffer("bytes", 64);
        film.resource("more bytes", Resource { modifies: Some(buffer), ..Resource::buffer(65) });
        let other = film.buffer("other", 64);
        film.resource("kind", modifying(other, Image::default()));
    } => [
        "RG-E210 \"format\" modifies \"format base\", but its format differs",
        "  format       film.py:4  rgba8unorm, 64×64, 2 layers",
        "  format base  film.py:3  r8unorm, 64×64, 2 layers",
        "  help: leave out what differs: it has what it modifies",
        "RG-E210 \"layers and samples\" modifies \"layers and samples base\", but its layers and samples differ",
        "  layers and samples       film.py:6  r8unorm, 64×64, 3 layers, 4 samples",
        "  layers and samples base  film.py:5  r8unorm, 64×64, 2 layers",
        "  help: leave out what differs: it has what it modifies",
        "RG-E210 \"mips\" modifies \"mips base\", but its mips differ",
        "  mips       film.py:8  r8unorm, 64×64, 2 layers, 7 mips",
        "  mips base  film.py:7  r8unorm, 64×64, 2 layers",
        "  help: leave out what differs: it has what it modifies",
        "RG-E210 \"dimensions\" modifies \"dimensions base\", but its layers and dimensions differ",
        "  dimensions       film.py:10  r8unorm, 64×64×1",
        "  dimensions base  film.py:9  r8unorm, 64×64, 2 layers",
        "  help: leave out what differs: it has what it modifies",
        "RG-E210 \"more bytes\" modifies \"bytes\", but its size differs",
        "  more bytes  film.py:12  buffer of 65 bytes",
        "  bytes       film.py:11  buffer of 64 bytes",
        "  help: leave out what differs: it has what it modifies",
        "RG-E210 \"kind\" modifies \"other\", which is of another kind",
        "  kind   film.py:14  rgba8unorm, 64×64",
        "  other  film.py:13  buffer of 64 bytes",
        "  help: declare both as images, or both as buffers",
    ];
    another_size_needs_a_format_that_can_be_scaled: |film| {
        let ids = film.image("ids", Format::R32uint);
        let half = || Image { size: Some(Size::scaled(None, 0.5, 0.5)), ..Image::default() };
        film.resource("fewer ids", modifying(ids, half()));
        let many = film.resource("many", multisampled(Format::Rgba8unorm));
        film.resource("fewer", modifying(many, half()));
        let fine = film.image("fine", Format::Rgba8unorm);
        film.resource("smaller", modifying(fine, half()));
    } => [
        "RG-E210 \"fewer ids\" modifies \"ids\", but its size differs",
        "  fewer ids  film.py:4  r32uint, 32×32",
        "  ids        film.py:3  r32uint, 64×64",
        "  help: give it the same size: its format or samples cannot be scaled by a blit",
        "RG-E210 \"fewer\" modifies \"many\", but its size differs",
        "  fewer  film.py:6  rgba8unorm, 32×32, 4 samples",
        "  many   film.py:5  rgba8unorm, 64×64, 4 samples",
        "  help: give it the same size: its format or samples cannot be scaled by a blit",
    ];
    a_scaled_modification_needs_a_graphics_queue: |film| {
        film.profile.queues.remove(0);
        let fine = film.image("fine", Format::Rgba8unorm);
        film.resource("smaller", modifying(fine, Image { size: Some(Size::absolute(8, 8)), ..Image::default() }));
    } => [
        "RG-E211 \"smaller\" modifies \"fine\", but its size differs",
        "  smaller  film.py:4  rgba8unorm, 8×8",
        "  fine     film.py:3  rgba8unorm, 64×64",
        "  help: give it the same size: profile \"discrete\" has no graphics queue to scale it on",
    ];
    a_resource_is_modified_once_and_by_a_transient: |film| {
        let base = film.image("base", Format::R8unorm);
        film.resource("first", modifying(base, Image::default()));
        film.resource("second", modifying(base, Image::default()));
        let more = film.image("more", Format::R8unorm);
        film.resource("kept", Resource { life: Life::Persistent, ..modifying(more, Image::default()) });
        film.resource("foreign", modifying(ResourceId::new(99), Image::default()));
    } => [
        "RG-E210 \"second\" modifies \"base\", which \"first\" modifies already",
        "  second  film.py:5  r8unorm, 64×64",
        "  first   film.py:4  r8unorm, 64×64",
        "  help: let it modify \"first\", or copy \"base\" first",
        "RG-E210 \"kept\" modifies \"more\", but has contents of its own",
        "  kept  film.py:7  r8unorm, 64×64",
        "  more  film.py:6  r8unorm, 64×64",
        "  help: let a transient modify it, or leave out what makes it persistent, imported or a history",
        "RG-E202 \"foreign\" modifies a resource of another graph",
        "  foreign  film.py:8  declared here",
        "  help: modify a resource of this graph",
    ];
    what_modifies_itself_is_spelled_out: |film| {
        film.resource("a", modifying(ResourceId::new(2), of_format(Format::R8unorm)));
        film.resource("b", modifying(ResourceId::new(1), of_format(Format::R8unorm)));
        film.resource("own", modifying(ResourceId::new(3), of_format(Format::R8unorm)));
    } => [
        "RG-E210 \"a\" modifies itself: a → b → a",
        "  a  film.py:3  modifies \"b\"",
        "  b  film.py:4  modifies \"a\"",
        "  help: start from an image that modifies nothing",
        "RG-E210 \"own\" modifies itself: own → own",
        "  own  film.py:5  modifies \"own\"",
        "  help: start from an image that modifies nothing",
    ];
    imported_states_and_states_to_be_left_in_make_sense: |film| {
        let on = |layout: Option<Layout>, queue: Option<PassQueue>| Imported { layout, queue, ..Imported::default() };
        film.resource("depth", imported(on(Some(Layout::ColorAttachment), None), Format::Depth32float));
        film.resource("color", imported(on(Some(Layout::DepthStencilReadOnly), Some(PassQueue::Any)), Format::R8unorm));
        let buffer = Life::Imported(on(Some(Layout::General), None));
        film.resource("buffer", Resource { life: buffer, ..Resource::buffer(64) });
        let leave = Some(Leave { layout: Some(Layout::Undefined), queue: Some(PassQueue::Any) });
        film.resource("left", Resource { leave, ..Resource::image(of_format(Format::R8unorm)) });
        film.resource("swapchain", imported(on(Some(Layout::Undefined), Some(PassQueue::Graphics)), Format::Bgra8unorm));
    } => [
        "RG-E207 \"depth\" is imported in layout color_attachment_optimal, which depth32float cannot have",
        "  depth  film.py:3  declared here",
        "  help: use general, or a layout for its format",
        "RG-E207 \"color\" is imported in layout depth_stencil_read_only_optimal, which r8unorm cannot have",
        "  color  film.py:4  declared here",
        "  help: use general, or a layout for its format",
        "RG-E211 \"color\" is imported on queue any",
        "  color  film.py:4  declared here",
        "  help: name the queue, or leave it out",
        "RG-E218 \"buffer\" is imported in layout general, but is a buffer",
        "  buffer  film.py:5  declared here",
        "  help: leave the layout out",
        "RG-E218 \"left\" is to be left in layout undefined",
        "  left  film.py:6  declared here",
        "  help: leave it in the layout that its next user wants",
        "RG-E211 \"left\" is left on queue any",
        "  left  film.py:6  declared here",
        "  help: name the queue, or leave it out",
    ];
    imported_queues_exist: |film| {
        film.profile.queues.remove(0);
        let on = Imported { queue: Some(PassQueue::Graphics), ..Imported::default() };
        film.resource("color", imported(on, Format::R8unorm));
    } => [
        "RG-E211 \"color\" is imported on queue graphics, which profile \"discrete\" does not have",
        "  color  film.py:3  declared here",
        "  help: name another queue, or leave it out: it has \"compute\" (compute and transfer) and \"transfer\" (transfer)",
    ];
    what_follows_from_a_wrong_size_is_not_said_again: |film| {
        let flat = film.resource("flat", sized(Size::absolute(8, 0)));
        let derived = film.resource("derived", sized(Size::scaled(Some(flat), 1.0, 1.0)));
        let (color, draw) = (film.image("color", Format::Rgba8unorm), film.draw());
        film.uses(draw, color, Usage::ColorAttachment);
        film.uses(draw, derived, Usage::ColorAttachment);
    } => [
        "RG-E205 \"flat\" has a height of 0",
        "  flat  film.py:3  declared here",
        "  help: declare at least 1",
    ];
}

/// Declares images each of which is relative to the next, and the last to the first.
fn ring(images: usize) -> Vec<String> {
    let mut film = super::Film::new();
    for at in 0..images {
        let next = ResourceId::new(1 + (at + 1) % images);
        film.resource(&format!("i{at}"), sized(Size::scaled(Some(next), 1.0, 1.0)));
    }
    film.messages()
}

#[test]
fn sixteen_images_of_a_cycle_are_spelled_out_and_more_are_counted() {
    let names: Vec<String> = (0..16).map(|at| format!("i{at}")).collect();
    let shown = names.join(" → ");
    let messages = ring(16);
    assert_eq!(messages[0], format!("RG-E205 \"i0\" needs its own size: {shown} → i0"));
    assert_eq!(messages.len(), 1 + 16 + 1);
    assert_eq!(messages[16], "  i15  film.py:18  is relative to \"i0\"");
    let messages = ring(18);
    assert_eq!(messages[0], format!("RG-E205 \"i0\" needs its own size: {shown} → (2 more) → i0"));
    // Whose next one is not shown has no line.
    assert_eq!(messages.len(), 1 + 15 + 1);
    assert_eq!(messages[15], "  i14  film.py:17  is relative to \"i15\"");
}

#[test]
fn a_history_that_says_its_shape_says_all_of_it_right() {
    let volume = Image { size: Some(Size::volume(16, 8, 4)), mips: Some(Mips::Count(3)), ..of_format(Format::R8unorm) };
    let cubes = Image {
        size: Some(Size::absolute(8, 8)),
        layers: Some(12),
        mips: Some(Mips::Count(2)),
        cube: true,
        ..of_format(Format::R8unorm)
    };
    let (flat, many) = (of_format(Format::R8unorm), Image { samples: Some(4), ..of_format(Format::R8unorm) });
    let messages = |of: &Image, says: Image| {
        let mut film = super::Film::new();
        let lit = film.resource("lit", Resource::image(of.clone()));
        film.resource("past", Resource { kind: Kind::Image(says), ..history(lit, 1) });
        film.messages()
    };
    for image in [&volume, &cubes, &flat, &many] {
        assert_eq!(messages(image, image.clone()), [""; 0]);
    }
    let of = |size: Size| Image { size: Some(size), ..Image::default() };
    let others = [
        (&volume, of_format(Format::Rgba8unorm)),
        (&volume, of(Size::volume(15, 8, 4))),
        (&volume, of(Size::volume(16, 9, 4))),
        (&volume, of(Size::volume(16, 8, 5))),
        (&volume, Image { mips: Some(Mips::Count(2)), ..Image::default() }),
        (&cubes, Image { layers: Some(6), ..Image::default() }),
        (&flat, Image { cube: true, ..Image::default() }),
        (&flat, Image { samples: Some(4), ..Image::default() }),
        (&many, Image { samples: Some(1), ..Image::default() }),
    ];
    for (image, says) in others {
        let messages = messages(image, says.clone());
        assert_eq!(messages[0], "RG-E216 \"past\" is a history of \"lit\" and declares another shape", "{says:?}");
    }
}
