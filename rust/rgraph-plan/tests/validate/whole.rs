//! Validation as a whole: several mistakes at once, none where there is none, and what it costs.

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Resource, ResourceId};

use super::{Film, cases, mips, of_format};

cases! {
    several_mistakes_are_said_together_in_the_order_of_declaration: |film| {
        film.profile.barrier_us = f64::NAN;
        let depth = film.image("depth", Format::Depth32float);
        film.image("depth", Format::R8unorm);
        film.buffer("void", 0);
        let draw = film.draw();
        film.uses(draw, depth, Usage::ColorAttachment);
        let work = film.pass("work", PassQueue::AsyncCompute);
        film.access(work, depth, mips(Usage::Sampled, [1, 2]));
        film.graph.pass_mut(work).weight_us = Some(-1.0);
        film.graph.order_after(work, work);
        // Declared last, reported with its pass.
        film.uses(draw, ResourceId::new(3), Usage::Index);
    } => [
        "RG-E201 two resources are called \"depth\"",
        "  depth  film.py:3  declared here",
        "  depth  film.py:4  and again here",
        "  help: rename one of them",
        "RG-E220 profile \"discrete\" has barrier_us NaN",
        "  help: give it a cost in microseconds, 0 to 10^12",
        "RG-E205 \"void\" has 0 bytes",
        "  void  film.py:5  declared here",
        "  help: declare at least 1",
        "RG-E207 pass \"draw\" uses \"depth\" as color_attachment, but depth32float is depth or stencil",
        "  draw   film.py:7  color_attachment",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: use depth_stencil_attachment, or declare it with a colour format",
        "RG-E213 pass \"work\" has a weight of -1.0 µs",
        "  work  film.py:8  declared here, on queue async_compute",
        "  help: give it its duration in microseconds, 0 to 10^12",
        "RG-E209 pass \"work\" uses mips [1, 2) of \"depth\", which has 1",
        "  work   film.py:9  sampled",
        "  depth  film.py:3  depth32float, 64×64",
        "  help: use at most [0, 1)",
        "RG-E204 pass \"work\" is ordered after itself",
        "  work  film.py:8  declared here, on queue async_compute",
        "  help: leave it out of its own after",
    ];
}

#[test]
fn the_same_graph_has_the_same_mistakes_each_time() {
    let mut film = Film::new();
    for at in 0..50 {
        film.buffer(&format!("b{at}"), 0);
    }
    assert_eq!(film.messages(), film.messages());
}

#[test]
fn a_mistake_that_harms_ids_ranges_or_shapes_passes_later_stages() {
    let resolvable = |declare: &dyn Fn(&mut Film)| {
        let mut film = Film::new();
        declare(&mut film);
        film.found().resolvable
    };
    assert!(resolvable(&|_| ()));
    assert!(resolvable(&|film| _ = film.resource("bare", Resource::image(Default::default()))), "a stand-in is sound");
    assert!(resolvable(&|film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.uses(draw, depth, Usage::ColorAttachment);
    }));
    assert!(!resolvable(&|film| {
        let (depth, draw) = (film.image("depth", Format::Depth32float), film.draw());
        film.access(draw, depth, mips(Usage::Sampled, [0, 2]));
    }));
    assert!(resolvable(&|film| _ = film.image("out", Format::R8unorm)), "both are there, under one name");
    assert!(!resolvable(&|film| {
        film.graph.add_mistake(Mistake::new(Code::UnknownName, "who is it", "name it"));
    }));
    let falls_back = |film: &mut Film, to: Resource| {
        let (a, b, draw) = (film.image("a", Format::R8unorm), film.resource("b", to), film.draw());
        let flag = film.graph.flag("pretty");
        film.graph.pass_mut(draw).conditional = Some(flag);
        film.uses(draw, a, Usage::ColorAttachment);
        film.graph.fallback(draw, a, b);
    };
    assert!(resolvable(&|film| falls_back(film, Resource::image(of_format(Format::R8unorm)))));
    assert!(!resolvable(&|film| falls_back(film, Resource::image(Default::default()))), "shapes may differ");
    assert!(!resolvable(&|film| {
        let draw = film.draw();
        film.uses(draw, ResourceId::new(99), Usage::Sampled);
    }));
    assert!(!resolvable(&|film| {
        let bare = film.resource("bare", Resource::image(Default::default()));
        let draw = film.draw();
        film.access(draw, bare, mips(Usage::Sampled, [7, 8]));
    }));
}

#[test]
fn every_usage_on_every_kind_of_resource_is_answered_without_a_panic() {
    for usage in Usage::ALL {
        for queue in PassQueue::ALL {
            for format in
                [None, Some(Format::Rgba8unorm), Some(Format::Depth24plusStencil8), Some(Format::Bc1RgbaUnorm)]
            {
                let mut film = Film::new();
                let resource = match format {
                    Some(format) => film.image("it", format),
                    None => film.buffer("it", 64),
                };
                let pass = film.pass("pass", *queue);
                film.access(pass, resource, Use { generate_mips: true, unordered: true, ..Use::new(*usage) });
                film.uses(pass, resource, *usage);
                let found = film.found();
                assert!(
                    found.mistakes.iter().all(|mistake| !mistake.help.is_empty() && mistake.code != Code::BadProfile)
                );
            }
        }
    }
}
