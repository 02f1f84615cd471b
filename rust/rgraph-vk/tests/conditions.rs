//! Conditional passes: what is skipped with them while their flag is off.

use rgraph_plan::access::{Load, PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Ranges, Use};
use rgraph_plan::resource::{Image, Mips, Resource as Declared, Size};
use rgraph_vk::Inputs;
use rgraph_vk::work::{View, What};

use crate::support::bench::{Bench, device, using, whole, words};

fn cleared(value: f64, mip: u32) -> Use {
    let mut how = Use { load: Some(Load::Clear), ..using(Usage::ColorAttachment) };
    how.details.clear = Some(Clear::Color([value, 0.0, 0.0, 1.0]));
    Use { ranges: Ranges { mips: Some([mip, mip + 1]), ..Ranges::default() }, ..how }
}

/// The name of the inserted pass holds `/mips/` twice, so no name of a pass can be read from it.
#[test]
fn mips_of_a_pass_that_is_off_are_not_generated_whatever_the_names_are() {
    let Some(device) = device(2) else { return };
    for name in ["p", "mips/p", "mips/mips/p.1"] {
        let mut b = Bench::new([8, 8]);
        let image = Image { format: Some(Format::R32float), mips: Some(Mips::Count(2)), ..Image::default() };
        let image = b.graph().add_resource(name, Declared::image(image), None);
        let out = b.graph().sized_image("out", Format::R32float, Size::absolute(1, 1));
        b.graph().root(out);
        b.pass("top", PassQueue::Graphics, &[(image, cleared(1.0, 0))]);
        b.pass("low", PassQueue::Graphics, &[(image, cleared(2.0, 1))]);
        let fill = b.pass("fill", PassQueue::Graphics, &[(image, Use { generate_mips: true, ..cleared(3.0, 0) })]);
        let flag = b.graph().flag("on");
        b.graph().pass_mut(fill).conditional = Some(flag);
        b.raster(
            "last",
            "
            @group(0) @binding(0) var image: texture_2d<f32>;
            @fragment fn main() -> @location(0) vec4<f32> { return textureLoad(image, vec2<u32>(0u), 1); }",
            &[(out, cleared(0.0, 0))],
            &[("image", whole(image))],
        );
        let compiled = b.compile(&device.0);
        for (on, expected) in [(false, 2.0), (true, 3.0), (false, 2.0)] {
            let frame = compiled.run(&Inputs { flags: vec![("on".to_owned(), on)], ..Inputs::default() }).unwrap();
            let got = f32::from_bits(words(frame.read(out).unwrap().bytes())[0]);
            assert_eq!(got, expected, "\"{name}\", flag {on}");
        }
    }
}

/// The better picture and its reader are under one flag: while it is off, no pass needs the fallback, which
/// has no memory.
#[test]
fn a_reader_that_is_off_binds_nothing_that_would_stand_in() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([4, 4]);
    let image = |b: &mut Bench, name: &str| b.graph().sized_image(name, Format::R32float, Size::absolute(1, 1));
    let [plain, better, seen, out] = ["plain", "better", "seen", "out"].map(|name| image(&mut b, name));
    b.graph().root(out);
    let reads = |image: &str| {
        format!(
            "@group(0) @binding(0) var {image}: texture_2d<f32>;
            @fragment fn main() -> @location(0) vec4<f32> {{ return textureLoad({image}, vec2<u32>(0u), 0); }}"
        )
    };
    b.pass("cheap", PassQueue::Graphics, &[(plain, cleared(1.0, 0))]);
    b.pass("base", PassQueue::Graphics, &[(out, cleared(2.0, 0))]);
    let dear = b.pass("dear", PassQueue::Graphics, &[(better, cleared(3.0, 0))]);
    let look = b.raster("look", &reads("better"), &[(seen, cleared(0.0, 0))], &[("better", whole(better))]);
    let drawn = Use { load: Some(Load::Load), ..using(Usage::ColorAttachment) };
    let last = b.raster("last", &reads("seen"), &[(out, drawn)], &[("seen", whole(seen))]);
    let flag = b.graph().flag("on");
    for pass in [dear, look, last] {
        b.graph().pass_mut(pass).conditional = Some(flag);
    }
    b.graph().fallback(dear, better, plain);
    let compiled = b.compile(&device.0);
    for (on, expected) in [(true, 3.0), (false, 2.0), (true, 3.0)] {
        let frame = compiled.run(&Inputs { flags: vec![("on".to_owned(), on)], ..Inputs::default() }).unwrap();
        let got = f32::from_bits(words(frame.read(out).unwrap().bytes())[0]);
        assert_eq!(got, expected, "flag {on}");
    }
}

/// Two passes write one mip each of a picture and have a fallback each: who reads both mips gets that of the last one
/// that is off, who reads one mip asks its writer alone.
#[test]
fn the_last_of_several_passes_that_is_off_decides_if_it_writes_what_is_read() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let image = |b: &mut Bench, name: &str| {
        let image = Image { format: Some(Format::R32float), mips: Some(Mips::Count(2)), ..Image::default() };
        b.graph().add_resource(name, Declared::image(image), None)
    };
    let [better, two, three] = ["better", "two", "three"].map(|name| image(&mut b, name));
    let [both, low] = ["both", "low"].map(|name| b.graph().sized_image(name, Format::R32float, Size::absolute(1, 1)));
    b.pass("make two", PassQueue::Graphics, &[(two, cleared(2.0, 0))]);
    b.pass("make three", PassQueue::Graphics, &[(three, cleared(3.0, 0))]);
    for (name, mip, value, instead) in [("first", 0, 1.0, two), ("second", 1, 4.0, three)] {
        let pass = b.pass(name, PassQueue::Graphics, &[(better, cleared(value, mip))]);
        let flag = b.graph().flag(name);
        b.graph().pass_mut(pass).conditional = Some(flag);
        b.graph().fallback(pass, better, instead);
    }
    let program = "
        @group(0) @binding(0) var image: texture_2d<f32>;
        @fragment fn main() -> @location(0) vec4<f32> { return textureLoad(image, vec2<u32>(0u), 0); }";
    let What::Resource(all) = whole(better) else { unreachable!() };
    let mip = What::Resource(View { mips: Some([0, 1]), ..all });
    for (name, out, view) in [("look", both, whole(better)), ("look low", low, mip)] {
        b.graph().root(out);
        b.raster(name, program, &[(out, cleared(0.0, 0))], &[("image", view)]);
    }
    let compiled = b.compile(&device.0);
    for (on, expected) in [([true, true], [1.0, 1.0]), ([true, false], [3.0, 1.0]), ([false, true], [2.0, 2.0])] {
        let flags = ["first", "second"].into_iter().zip(on).map(|(flag, on)| (flag.to_owned(), on)).collect();
        let frame = compiled.run(&Inputs { flags, ..Inputs::default() }).unwrap();
        let got = [both, low].map(|out| f32::from_bits(words(frame.read(out).unwrap().bytes())[0]));
        assert_eq!(got, expected, "flags {on:?}");
    }
}

/// A run that fails was none: its flags do not count for the next one.
#[test]
fn flags_of_a_run_that_fails_do_not_stay() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([4, 4]);
    let out = b.graph().sized_image("out", Format::R32float, Size::absolute(1, 1));
    b.graph().root(out);
    b.pass("always", PassQueue::Graphics, &[(out, cleared(1.0, 0))]);
    let more = b.pass("more", PassQueue::Graphics, &[(out, cleared(2.0, 0))]);
    let flag = b.graph().flag("on");
    b.graph().pass_mut(more).conditional = Some(flag);
    let compiled = b.compile(&device.0);
    let value = |flags: Vec<(String, bool)>| {
        compiled
            .run(&Inputs { flags, ..Inputs::default() })
            .map(|frame| f32::from_bits(words(frame.read(out).unwrap().bytes())[0]))
    };
    let set = |name: &str, on: bool| (name.to_owned(), on);
    assert_eq!(value(vec![]).unwrap(), 2.0);
    value(vec![set("on", false), set("no such flag", true)]).unwrap_err();
    assert_eq!(value(vec![]).unwrap(), 2.0);
    assert_eq!(value(vec![set("on", false)]).unwrap(), 1.0);
    value(vec![set("on", true), set("on", false), set("on", true), set("no such flag", true)]).unwrap_err();
    assert_eq!(value(vec![]).unwrap(), 1.0);
}
