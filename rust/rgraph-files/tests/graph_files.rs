//! Graph and profile files: what is written reads back equal, and everything that `docs/reference/formats.md` allows is
//! understood.

use std::path::Path;

use rgraph_files::{read_graph, read_profile, write_graph, write_profile};
use rgraph_plan::access::{Accesses, Aspects, Layout, Load, PassQueue, ResolveMode, Sharing, Stages, Transfer, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Graph, Pass, Use};
use rgraph_plan::id::Id;
use rgraph_plan::profile::{Capabilities, MemoryType, Profile, Queue};
use rgraph_plan::resource::{
    Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Round, Size,
};

fn read(text: &str) -> Graph {
    read_graph(text.as_bytes(), "test.rgraph.json").unwrap_or_else(|error| panic!("{error}"))
}

/// A graph with every declaration that a file can have.
fn everything() -> Graph {
    let mut g = Graph::new("every \"thing\"\n", [1280, 720]);
    let image = |image: Image| Resource::image(image);
    let format = |format: Format| Image { format: Some(format), ..Image::default() };
    let lit = g.add_resource("lit", image(Image { mips: Some(Mips::Full), ..format(Format::Rgba16float) }), None);
    let depth = Image {
        size: Some(Size::scaled(Some(lit), 0.5, 1.0 / 3.0)),
        samples: Some(4),
        ..format(Format::Depth32floatStencil8)
    };
    let depth = g.add_resource("depth", image(depth), None);
    let mixed = Size {
        x: Axis::Texels(64),
        y: Axis::Scaled(Some(depth), 2.5),
        z: Some(Axis::Scaled(None, 0.125)),
        round: Round::Up,
    };
    g.add_resource(
        "mixed",
        image(Image { size: Some(mixed), mips: Some(Mips::Count(3)), ..format(Format::R8unorm) }),
        None,
    );
    let up = Size { round: Round::Up, ..Size::scaled(None, 0.25, 0.25) };
    g.add_resource("up", image(Image { size: Some(up), ..format(Format::R8unorm) }), None);
    let volume = Image { size: Some(Size::volume(32, 16, 8)), ..format(Format::R32float) };
    g.add_resource("volume", image(volume), None);
    let cube = Image { size: Some(Size::absolute(64, 64)), layers: Some(12), cube: true, ..Image::default() };
    let imported = Imported {
        layout: Some(Layout::ShaderReadOnly),
        queue: Some(PassQueue::AsyncCompute),
        stages: Stages::FRAGMENT_SHADER | Stages::ALL_TRANSFER,
        access: Accesses::SHADER_SAMPLED_READ | Accesses::TRANSFER_READ,
        defined: false,
        wait: true,
        signal: true,
    };
    let leave = Leave { layout: Some(Layout::PresentSrc), queue: Some(PassQueue::Graphics) };
    let env = Resource { life: Life::Imported(imported), leave: Some(leave), ..image(cube) };
    let env = g.add_resource("env", env, None);
    let history = Life::History(History { of: lit, frames: 3, zero_first: false });
    g.add_resource("lit_prev", Resource { life: history, ..image(Image::default()) }, None);
    let forward = Resource { modifies: Some(lit), sharing: Some(Sharing::Concurrent), ..image(Image::default()) };
    let forward = g.add_resource("forward", forward, None);
    let plain = Resource { life: Life::Imported(Imported::default()), ..image(Image::default()) };
    g.add_resource("plain", plain, None);
    let lights = g.add_resource("lights", Resource::buffer(u64::MAX), None);
    let kept = Resource { life: Life::Persistent, sharing: Some(Sharing::Exclusive), ..Resource::buffer(256) };
    g.add_resource("kept", kept, None);
    let tree = Kind::Buffer(Buffer { size: Some(1 << 20), acceleration_structure: true });
    g.add_resource("tree", Resource { kind: tree, ..Resource::buffer(0) }, None);
    let none = Kind::Buffer(Buffer { size: None, acceleration_structure: false });
    let remembers = Life::History(History { of: lights, frames: 1, zero_first: true });
    g.add_resource("lights_prev", Resource { kind: none, life: remembers, ..Resource::buffer(0) }, None);

    let first = g.add_pass("first", Pass::new(PassQueue::Graphics), None);
    let mut color = Use::new(Usage::ColorAttachment);
    color.load = Some(Load::Clear);
    color.details.clear = Some(Clear::Color([0.1, -2.0, 1e-300, 1e300]));
    color.ranges.mips = Some([0, 1]);
    color.ranges.layers = Some([2, 3]);
    color.generate_mips = true;
    g.access(first, lit, &color, None);
    let mut ds = Use::new(Usage::DepthStencilAttachment);
    ds.load = Some(Load::Discard);
    ds.stencil_load = Some(Load::Load);
    ds.aspects = Aspects::DEPTH | Aspects::STENCIL;
    ds.details.clear = Some(Clear::Depth(0.5, Some(7)));
    g.access(first, depth, &ds, None);

    let unit = g.unit("texture");
    let flag = g.flag("bloom");
    let mut second = Pass::new(PassQueue::Any);
    second.weight_us = Some(12.75);
    second.unit = Some(unit);
    second.device = Some(1);
    second.side_effects = true;
    second.conditional = Some(flag);
    second.setup = true;
    let second = g.add_pass("second", second, None);
    g.order_after(second, first);
    g.fallback(second, forward, env);
    let mut resolve = Use::new(Usage::ResolveAttachment);
    resolve.details.resolves = Some(depth);
    resolve.details.resolve_mode = Some(ResolveMode::SampleZero);
    g.access(second, forward, &resolve, None);
    let mut fill = Use::new(Usage::TransferDst);
    fill.transfer = Some(Transfer::Fill);
    fill.ranges.bytes = Some([256, u64::MAX]);
    fill.stages = Stages::ALL_TRANSFER | Stages::HOST;
    fill.unordered = true;
    g.access(second, lights, &fill, None);
    let mut only_depth = Use::new(Usage::DepthStencilAttachment);
    only_depth.details.clear = Some(Clear::Depth(1.0, None));
    g.access(second, depth, &only_depth, None);
    g.root(forward);
    g.root(env);
    g
}

#[test]
fn a_graph_that_says_everything_reads_back_equal() {
    let graph = everything();
    let text = write_graph(&graph);
    let again = read(&text);
    assert_eq!(write_graph(&again), text);
    assert_eq!(again.content_hash(), graph.content_hash());
    assert!(again.resources().as_slice() == graph.resources().as_slice());
}

/// Every usage, stage, load and queue is read as what it is written as.
#[test]
fn every_word_of_every_list_reads_back_as_itself() {
    let mut graph = Graph::new("words", [4, 4]);
    let target = graph.add_resource("a", Resource::image(Image::default()), None);
    for (at, queue) in PassQueue::ALL.iter().enumerate() {
        let pass = graph.add_pass(&format!("p{at}"), Pass::new(*queue), None);
        for usage in Usage::ALL {
            let mut how = Use::new(*usage);
            how.stages = Stages::from_bits_retain(1 << (*usage as u32 % 21));
            graph.access(pass, target, &how, None);
        }
        for transfer in Transfer::ALL {
            graph.access(pass, target, &Use { transfer: Some(*transfer), ..Use::new(Usage::TransferDst) }, None);
        }
    }
    for format in Format::all() {
        let image = Image { format: Some(format), ..Image::default() };
        graph.add_resource(format.name(), Resource::image(image), None);
    }
    assert_eq!(read(&write_graph(&graph)).content_hash(), graph.content_hash());
}

#[test]
fn the_example_of_formats_is_understood_as_it_says() {
    let graph = read(
        r#"{
  "rgraph": 1, "name": "frame", "reference_size": [1920, 1080],
  "images": {
    "albedo": {"format": "rgba8unorm"},
    "half":   {"format": "rgba16float", "size": {"relative_to": "reference", "scale": [0.5, 0.5]}},
    "shadow": {"format": "depth32float", "size": [2048, 2048], "layers": 4},
    "lit":    {"format": "rgba16float", "mips": "full", "samples": 1},
    "ao_blur": {"format": "r8unorm", "size": {"relative_to": "half", "scale": [1, 1]}},
    "lit_prev": {"history_of": "lit"},
    "forward": {"format": "rgba16float", "modifies": "lit"},
    "env":    {"format": "rgba8unorm", "size": [512, 512], "layers": 6, "imported": {"layout": "shader_read_only_optimal", "queue": "graphics"}}
  },
  "buffers": {"lights": {"size": 65536}, "exposure": {"size": 256, "persistent": true}},
  "passes": [
    {"name": "gbuffer", "queue": "graphics", "accesses": [
      {"resource": "albedo", "usage": "color_attachment", "load": "clear", "clear": [0, 0, 0, 1]},
      {"resource": "shadow", "usage": "sampled", "stages": ["fragment"], "layers": [0, 4]}]},
    {"name": "ssao", "queue": "async_compute", "accesses": [
      {"resource": "half", "usage": "storage_write"}], "weight_us": 350, "unit": "texture"},
    {"name": "log", "queue": "cpu", "accesses": [{"resource": "exposure", "usage": "host_read"}], "side_effects": true}
  ],
  "roots": ["forward"]
}"#,
    );
    assert_eq!((graph.name(), graph.reference_size()), ("frame", [1920, 1080]));
    let resource = |name: &str| &graph.resources()[graph.find_resource(name).unwrap()];
    let image = |name: &str| resource(name).as_image().unwrap();
    assert_eq!(graph.find_resource("albedo"), Some(ResourceId::new(0)));
    assert_eq!(graph.find_resource("exposure"), Some(ResourceId::new(9)));
    assert_eq!(image("half").size, Some(Size::scaled(None, 0.5, 0.5)));
    assert_eq!(image("ao_blur").size, Some(Size::scaled(graph.find_resource("half"), 1.0, 1.0)));
    assert_eq!(image("shadow").layers, Some(4));
    assert_eq!(image("lit").mips, Some(Mips::Full));
    let lit = graph.find_resource("lit").unwrap();
    assert_eq!(resource("lit_prev").life, Life::History(History { of: lit, frames: 1, zero_first: true }));
    assert_eq!(resource("forward").modifies, Some(lit));
    assert!(matches!(resource("env").life, Life::Imported(i) if i.defined && i.layout == Some(Layout::ShaderReadOnly)));
    assert_eq!(resource("exposure").life, Life::Persistent);
    assert_eq!(graph.passes().len(), 3);
    let ssao = &graph.passes()[graph.find_pass("ssao").unwrap()];
    assert_eq!((ssao.queue, ssao.weight_us, ssao.device), (PassQueue::AsyncCompute, Some(350.0), None));
    assert!(graph.passes()[graph.find_pass("log").unwrap()].side_effects);
    assert_eq!(graph.accesses().len(), 4);
    assert_eq!(graph.accesses()[1].stages, Stages::FRAGMENT_SHADER);
    assert_eq!(graph.roots(), [graph.find_resource("forward").unwrap()]);
}

#[test]
fn every_declaration_knows_its_file_and_line() {
    let graph = read(
        "{\"rgraph\": 1,\n\"images\": {\n\"a\": {},\n\"b\": {}},\n\"passes\": [\n{\"name\": \"p\", \"accesses\": [\n{\"resource\": \"a\", \"usage\": \"sampled\"},\n\n{\"resource\": \"b\", \"usage\": \"sampled\"}]}]}",
    );
    let place = |place: Option<&rgraph_plan::graph::Place>| place.unwrap().to_string();
    assert_eq!(place(graph.resource_place(graph.find_resource("b").unwrap())), "test.rgraph.json:4");
    assert_eq!(place(graph.pass_place(graph.find_pass("p").unwrap())), "test.rgraph.json:6");
    assert_eq!(place(graph.access_place(1)), "test.rgraph.json:9");
}

#[test]
fn lines_are_right_far_into_a_long_file() {
    let mut text = "{\"rgraph\": 1, \"passes\": [".to_owned();
    for pass in 0..2000 {
        text += &format!("{}\n{{\"name\": \"p{pass}\"}}", if pass == 0 { "" } else { "," });
    }
    let graph = read(&(text + "]}"));
    for (id, _) in graph.passes().iter_ids() {
        assert_eq!(graph.pass_place(id).unwrap().line as usize, id.index() + 2);
    }
}

#[test]
fn other_spellings_that_formats_allows_mean_the_same() {
    let one = read(
        "\u{feff}{\"rgraph\": 1.0, \"images\": {\"a\": {\"format\": \"VK_FORMAT_R8G8B8A8_UNORM\", \"size\": [4e2, 3.0], \
         \"imported\": {\"layout\": \"shader_read_only\"}}, \"b\": {\"format\": \"R16_SFLOAT\", \"imported\": true}, \
         \"c\": {\"imported\": false, \"size\": {\"x\": 5, \"y\": {\"relative_to\": \"a\", \"scale\": 2, \"round\": \"up\"}}}}, \
         \"passes\": [{\"name\": \"p\", \"device\": \"any\", \"accesses\": [{\"resource\": \"a\", \"usage\": \"sampled\", \
         \"stages\": [\"fragment_shader\"], \"load\": \"dont_care\"}]}]}",
    );
    let two = read(
        "{\"passes\": [{\"accesses\": [{\"usage\": \"sampled\", \"stages\": [\"fragment\"], \"load\": \"discard\", \
         \"resource\": \"a\"}], \"queue\": \"graphics\", \"name\": \"p\"}], \"images\": {\"a\": {\"imported\": \
         {\"layout\": \"shader_read_only_optimal\", \"contents\": \"defined\"}, \"size\": [400, 3], \"format\": \
         \"rgba8unorm\"}, \"b\": {\"format\": \"r16float\", \"imported\": {}}, \"c\": {\"size\": {\"round\": \"up\", \
         \"x\": 5, \"y\": {\"relative_to\": \"a\", \"scale\": 2.0}}}}, \"rgraph\": 1}",
    );
    assert_eq!(write_graph(&one), write_graph(&two));
    assert_eq!(one.content_hash(), two.content_hash());
}

#[test]
fn buffers_of_an_api_graph_come_after_its_images_and_keep_their_order() {
    let mut graph = Graph::new("mixed", [4, 4]);
    for (at, name) in ["b1", "i1", "b2", "i2"].into_iter().enumerate() {
        let resource = if at % 2 == 0 { Resource::buffer(4) } else { Resource::image(Image::default()) };
        graph.add_resource(name, resource, None);
    }
    let names: Vec<_> = read(&write_graph(&graph)).resource_names().iter().map(str::to_owned).collect();
    assert_eq!(names, ["i1", "i2", "b1", "b2"]);
}

#[test]
fn modules_are_written_flattened() {
    let mut graph = Graph::new("modules", [4, 4]);
    let slot = graph.add_slot("early", None);
    graph.add_pass("late", Pass::new(PassQueue::Graphics), None);
    let mut pass = Pass::new(PassQueue::Graphics);
    pass.slot = Some(slot);
    graph.add_pass("soon", pass, None);
    let names: Vec<_> = read(&write_graph(&graph)).pass_names().iter().map(str::to_owned).collect();
    assert_eq!(names, ["soon", "late"]);
}

#[test]
fn graphs_made_by_others_read_back_equal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/graphs");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: the folder ../shared/data/graphs is not there");
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let graph = read_graph(&std::fs::read(&path).unwrap(), name).unwrap_or_else(|error| panic!("{error}"));
        let again = read_graph(write_graph(&graph).as_bytes(), name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(graph.content_hash(), again.content_hash(), "{name}");
        assert!(!graph.passes().is_empty() && !graph.roots().is_empty(), "{name}");
    }
}

#[test]
fn a_profile_reads_back_equal_and_what_it_leaves_out_has_its_default() {
    for name in Profile::BUILT_IN {
        let profile = Profile::built_in(name).unwrap();
        assert_eq!(read_profile(write_profile(&profile).as_bytes(), "p").unwrap(), profile);
    }
    let mut odd = Profile::minimal();
    odd.name = "odd".into();
    odd.memory = vec![
        MemoryType { name: "device".into(), heap_size: Some(17_179_869_184) },
        MemoryType { name: "host".into(), heap_size: None },
    ];
    odd.cross_queue_us = 0.1 + 0.2;
    odd.limits.max_buffer = u64::MAX;
    assert_eq!(read_profile(write_profile(&odd).as_bytes(), "p").unwrap(), odd);

    let short = br#"{"rprofile": 1, "queues": [{"name": "q", "family": 3, "capabilities": ["compute", "transfer"]}]}"#;
    let queue =
        Queue { name: "q".into(), family: 3, count: 1, capabilities: Capabilities::COMPUTE | Capabilities::TRANSFER };
    assert_eq!(read_profile(short, "p").unwrap(), Profile::new("unnamed", vec![queue]));
}
