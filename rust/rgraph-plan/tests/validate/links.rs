//! Mistakes between passes: weights, devices, fallbacks, orderings, roots, names.

use rgraph_plan::access::{Load, PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{FlagId, Graph, PassId, Use};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Image, Imported, Life, Resource, ResourceId, Size};

use super::{Film, cases, of_format};

/// A conditional pass `name` that writes `output`.
fn switched(film: &mut Film, name: &str, output: ResourceId) -> PassId {
    let pass = film.pass(name, PassQueue::Graphics);
    let flag = film.graph.flag("pretty");
    film.graph.pass_mut(pass).conditional = Some(flag);
    film.access(pass, output, Use { load: Some(Load::Discard), ..Use::new(Usage::ColorAttachment) });
    pass
}

cases! {
    weights_are_durations: |film| {
        for (name, weight) in [("nan", f64::NAN), ("negative", -1.0), ("endless", f64::INFINITY), ("fine", 0.0)] {
            let pass = film.pass(name, PassQueue::Compute);
            film.graph.pass_mut(pass).weight_us = Some(weight);
        }
    } => [
        "RG-E213 pass \"nan\" has a weight of NaN µs",
        "  nan  film.py:3  declared here, on queue compute",
        "  help: give it its duration in microseconds, 0 to 10^12",
        "RG-E213 pass \"negative\" has a weight of -1.0 µs",
        "  negative  film.py:4  declared here, on queue compute",
        "  help: give it its duration in microseconds, 0 to 10^12",
        "RG-E213 pass \"endless\" has a weight of inf µs",
        "  endless  film.py:5  declared here, on queue compute",
        "  help: give it its duration in microseconds, 0 to 10^12",
    ];
    a_profile_is_one_device: |film| {
        let draw = film.draw();
        film.graph.pass_mut(draw).device = Some(3);
    } => [
        "RG-E212 pass \"draw\" runs on device 3, but profile \"discrete\" is one device",
        "  draw  film.py:3  declared here, on queue graphics",
        "  help: use device 0 or \"any\", or plan it for several devices",
    ];
    flags_and_classes_are_of_this_graph: |film| {
        let draw = film.draw();
        film.graph.pass_mut(draw).conditional = Some(FlagId::new(4));
    } => [
        "RG-E202 pass \"draw\" names a flag or an occupancy class of another graph",
        "  draw  film.py:3  declared here, on queue graphics",
        "  help: ask this graph for the flag or the class",
    ];
    a_pass_is_not_ordered_after_itself: |film| {
        let draw = film.draw();
        film.graph.order_after(draw, draw);
        film.graph.order_after(draw, PassId::new(9));
    } => [
        "RG-E204 pass \"draw\" is ordered after itself",
        "  draw  film.py:3  declared here, on queue graphics",
        "  help: leave it out of its own after",
        "RG-E202 a pass is ordered after a pass of another graph",
        "  help: order passes of this graph",
    ];
    a_fallback_needs_a_flag_and_an_output: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let draw = film.draw();
        film.uses(draw, a, Usage::ColorAttachment);
        film.graph.fallback(draw, a, b);
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, b, a);
    } => [
        "RG-E215 pass \"draw\" falls back from \"a\" to \"b\", but no flag switches the pass",
        "  draw  film.py:5  declared here, on queue graphics",
        "  a     film.py:3  r8unorm, 64×64",
        "  b     film.py:4  r8unorm, 64×64",
        "  help: make the pass conditional, or leave the fallback out",
        "RG-E215 pass \"glow\" falls back from \"b\" to \"a\", but does not write \"b\"",
        "  glow  film.py:7  declared here, on queue graphics",
        "  b     film.py:4  r8unorm, 64×64",
        "  a     film.py:3  r8unorm, 64×64",
        "  help: write \"b\" in the pass, or leave the fallback out",
    ];
    a_fallback_has_the_shape_of_the_output_and_is_said_once: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::Rgba8uint));
        let c = film.image("c", Format::R8unorm);
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, b);
        let blur = switched(&mut film, "blur", c);
        film.graph.fallback(blur, c, c);
        film.graph.fallback(blur, c, a);
    } => [
        "RG-E215 pass \"glow\" falls back from \"a\" to \"b\", but one is r8unorm, 64×64 and the other rgba8uint, 64×64",
        "  glow  film.py:6  declared here, on queue graphics",
        "  a     film.py:3  r8unorm, 64×64",
        "  b     film.py:4  rgba8uint, 64×64",
        "  help: give both one shape",
        "RG-E215 pass \"blur\" falls back from \"c\" to \"c\", which is the same",
        "  blur  film.py:8  declared here, on queue graphics",
        "  c     film.py:5  r8unorm, 64×64",
        "  c     film.py:5  r8unorm, 64×64",
        "  help: name another resource",
        "RG-E215 pass \"blur\" falls back from \"c\" to \"a\", and another fallback of \"c\" too",
        "  blur  film.py:8  declared here, on queue graphics",
        "  c     film.py:5  r8unorm, 64×64",
        "  a     film.py:3  r8unorm, 64×64",
        "  help: keep one of them",
    ];
    an_output_that_falls_back_is_no_attachment_of_its_readers: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, b);
        let draw = film.draw();
        film.uses(draw, a, Usage::InputAttachment);
    } => [
        "RG-E215 pass \"draw\" has \"a\" as input_attachment, which falls back while \"glow\" is off",
        "  draw  film.py:8  input_attachment",
        "  glow  film.py:5  falls back to \"b\"",
        "  help: read \"a\" as sampled, or leave out its fallback",
    ];
    an_output_that_falls_back_may_modify_a_circle: |film| {
        let modifying = |number| Resource { modifies: Some(ResourceId::new(number)), ..Resource::image(Image::default()) };
        film.resource("a", modifying(2));
        let b = film.resource("b", modifying(1));
        let (top, other) = (film.resource("top", modifying(1)), film.image("other", Format::R8unorm));
        let stray = film.resource("stray", modifying(99));
        for (name, output) in [("glow", top), ("haze", stray)] {
            let pass = switched(&mut film, name, output);
            film.graph.fallback(pass, output, other);
        }
        let draw = film.draw();
        film.uses(draw, top, Usage::InputAttachment);
        film.uses(draw, stray, Usage::InputAttachment);
        film.graph.root(b);
    } => [
        "RG-E210 \"a\" modifies itself: a → b → a",
        "  a  film.py:3  modifies \"b\"",
        "  b  film.py:4  modifies \"a\"",
        "  help: start from an image that modifies nothing",
        "RG-E210 \"top\" modifies \"a\", which \"b\" modifies already",
        "  top  film.py:5  rgba8unorm, 64×64",
        "  b    film.py:4  rgba8unorm, 64×64",
        "  help: let it modify \"b\", or copy \"a\" first",
        "RG-E202 \"stray\" modifies a resource of another graph",
        "  stray  film.py:7  declared here",
        "  help: modify a resource of this graph",
        "RG-E215 pass \"draw\" has \"top\" as input_attachment, which falls back while \"glow\" is off",
        "  draw  film.py:13  input_attachment",
        "  glow  film.py:8  falls back to \"other\"",
        "  help: read \"top\" as sampled, or leave out its fallback",
        "RG-E215 pass \"draw\" has \"stray\" as input_attachment, which falls back while \"haze\" is off",
        "  draw  film.py:14  input_attachment",
        "  haze  film.py:10  falls back to \"other\"",
        "  help: read \"stray\" as sampled, or leave out its fallback",
    ];
    an_output_that_falls_back_is_not_modified: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, b);
        film.resource("on", Resource { modifies: Some(a), ..Resource::image(Image::default()) });
    } => [
        "RG-E215 pass \"glow\" falls back from \"a\" to \"b\", but \"on\" modifies \"a\" whatever the flags are",
        "  glow  film.py:5  declared here, on queue graphics",
        "  a     film.py:3  r8unorm, 64×64",
        "  b     film.py:4  r8unorm, 64×64",
        "  help: copy \"a\" in a pass of its own instead",
    ];
    an_output_that_falls_back_is_not_scaled: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, b);
        let half = Image { size: Some(Size::absolute(32, 32)), ..Image::default() };
        film.resource("half", Resource { modifies: Some(a), ..Resource::image(half) });
    } => [
        "RG-E215 pass \"glow\" falls back from \"a\" to \"b\", but \"half\" is scaled from \"a\" whatever the flags are",
        "  glow  film.py:5  declared here, on queue graphics",
        "  a     film.py:3  r8unorm, 64×64",
        "  b     film.py:4  r8unorm, 64×64",
        "  help: copy \"a\" in a pass of its own instead",
    ];
    an_output_that_falls_back_is_only_read_or_replaced_afterwards: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, b);
        let over = film.pass("over", PassQueue::Graphics);
        film.uses(over, a, Usage::ColorAttachment);
        let anew = film.pass("anew", PassQueue::Graphics);
        film.access(anew, a, Use { load: Some(Load::Discard), ..Use::new(Usage::ColorAttachment) });
    } => [
        "RG-E215 pass \"over\" writes over part of \"a\", which falls back while \"glow\" is off",
        "  over  film.py:8  color_attachment",
        "  glow  film.py:5  falls back to \"b\"",
        "  help: write a resource that starts as a copy of \"a\", or replace it wholly with load: clear or discard",
    ];
    fallbacks_do_not_run_in_a_circle: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let c = film.image("c", Format::R8unorm);
        let (one, two, three) = (switched(&mut film, "one", a), switched(&mut film, "two", b), switched(&mut film, "three", c));
        film.graph.fallback(one, a, b);
        film.graph.fallback(two, b, a);
        film.graph.fallback(three, c, a);
    } => [
        "RG-E215 pass \"one\" falls back from \"a\" in a circle",
        "  one  film.py:6  declared here, on queue graphics",
        "  a    film.py:3  r8unorm, 64×64",
        "  help: fall back to a resource that falls back no further",
    ];
    fallbacks_of_fallbacks_are_fine: |film| {
        let (a, b) = (film.image("a", Format::R8unorm), film.image("b", Format::R8unorm));
        let c = film.image("c", Format::R8unorm);
        let (one, two, three) = (switched(&mut film, "one", a), switched(&mut film, "two", b), switched(&mut film, "more", a));
        film.graph.fallback(one, a, b);
        film.graph.fallback(two, b, c);
        film.graph.fallback(three, a, c);
    } => [];
    a_fallback_is_of_this_graph: |film| {
        let a = film.image("a", Format::R8unorm);
        let glow = switched(&mut film, "glow", a);
        film.graph.fallback(glow, a, ResourceId::new(99));
    } => [
        "RG-E202 a fallback names a pass or a resource of another graph",
        "  help: name those of this graph",
    ];
    a_graph_without_a_root_would_run_nothing: |film| {
        film.graph = Graph::new("film", [64, 64]);
        let color = film.image("color", Format::R8unorm);
        let draw = film.draw();
        film.uses(draw, color, Usage::ColorAttachment);
    } => [
        "RG-E214 graph \"film\" has no root: nothing would run",
        "  help: name what the frame is for, such as root \"color\", or give a pass side effects",
    ];
    the_root_to_name_is_what_a_pass_writes_last: |film| {
        film.graph = Graph::new("film", [64, 64]);
        let (color, table) = (film.image("color", Format::R8unorm), film.buffer("table", 64));
        let draw = film.draw();
        film.uses(draw, color, Usage::ColorAttachment);
        film.uses(draw, table, Usage::Uniform);
    } => [
        "RG-E214 graph \"film\" has no root: nothing would run",
        "  help: name what the frame is for, such as root \"color\", or give a pass side effects",
    ];
    other_mistakes_do_not_hide_that_there_is_no_root: |film| {
        film.graph = Graph::new("film", [64, 64]);
        film.buffer("void", 0);
    } => [
        "RG-E205 \"void\" has 0 bytes",
        "  void  film.py:3  declared here",
        "  help: declare at least 1",
        "RG-E214 graph \"film\" has no root: nothing would run",
        "  help: name a resource as root, or give a pass side effects",
    ];
    where_a_name_is_unknown_the_root_may_be_what_it_stands_for: |film| {
        film.graph = Graph::new("film", [64, 64]);
        let draw = film.draw();
        film.graph.order_after(draw, PassId::new(9));
    } => [
        "RG-E202 a pass is ordered after a pass of another graph",
        "  help: order passes of this graph",
    ];
    an_empty_graph_has_no_root: |film| {
        film.graph = Graph::new("film", [64, 64]);
    } => [
        "RG-E214 graph \"film\" has no root: nothing would run",
        "  help: name a resource as root, or give a pass side effects",
    ];
    names_are_told_apart: |film| {
        film.image("out", Format::R8unorm);
        film.image("", Format::R8unorm);
        film.draw();
        film.draw();
    } => [
        "RG-E201 two resources are called \"out\"",
        "  out  film.py:2  declared here",
        "  out  film.py:3  and again here",
        "  help: rename one of them",
        "RG-E219 a resource has an empty name",
        "  help: give it a name of 1 to 1024 bytes",
        "RG-E201 two passes are called \"draw\"",
        "  draw  film.py:5  declared here",
        "  draw  film.py:6  and again here",
        "  help: rename one of them",
    ];
}

#[test]
fn side_effects_presents_and_written_imports_are_roots() {
    let bare = || {
        let mut film = Film::new();
        film.graph = Graph::new("film", [64, 64]);
        film
    };
    let mut effects = bare();
    let log = effects.draw();
    effects.graph.pass_mut(log).side_effects = true;
    let mut presents = bare();
    let (shown, show) = (presents.image("shown", Format::R8unorm), presents.draw());
    presents.uses(show, shown, Usage::Present);
    let import = |film: &mut Film| {
        let life = Life::Imported(Imported::default());
        film.resource("given", Resource { life, ..Resource::image(of_format(Format::R8unorm)) })
    };
    let mut imports = bare();
    let (given, draw) = (import(&mut imports), imports.draw());
    imports.uses(draw, given, Usage::ColorAttachment);
    let mut modified = bare();
    let (given, draw) = (import(&mut modified), modified.draw());
    let on = modified.resource("on", Resource { modifies: Some(given), ..Resource::image(Image::default()) });
    modified.uses(draw, on, Usage::ColorAttachment);
    for film in [effects, presents, imports, modified] {
        assert_eq!(film.messages(), [""; 0]);
    }
    let mut read = bare();
    let (given, draw) = (import(&mut read), read.draw());
    read.uses(draw, given, Usage::Sampled);
    assert_eq!(read.messages().len(), 2, "reading an imported image keeps nothing");
}
