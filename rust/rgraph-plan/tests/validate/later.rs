//! Words for the mistakes that later stages find.

use rgraph_plan::access::{Aspects, Load, PassQueue, Usage};
use rgraph_plan::error::Mistake;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::resolve::subresource::SubresourceRange;
use rgraph_plan::inside::resolve::{AccessId, Problem, Reads, Via};
use rgraph_plan::inside::size::{ShapeScratch, shapes};
use rgraph_plan::inside::validate::mistakes::{Floor, Worst, of_problems, out_of_memory};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Image, Resource, Size};

use super::{Film, lines};

/// The read by the `at`th access.
fn access(at: usize) -> Reads {
    Reads::Access(AccessId::new(at))
}

fn words(film: &Film, problems: &[Problem]) -> Vec<String> {
    let mut out = IdVec::new();
    shapes(&film.graph, &Profile::discrete(), &mut out, &mut ShapeScratch::default(), &mut Vec::new());
    let mistakes: Vec<Mistake> = of_problems(&film.graph, &out, problems);
    lines(&mistakes)
}

fn whole(film: &Film, resource: rgraph_plan::resource::ResourceId) -> SubresourceRange {
    let mut out = IdVec::new();
    shapes(&film.graph, &Profile::discrete(), &mut out, &mut ShapeScratch::default(), &mut Vec::new());
    SubresourceRange::whole(&out[resource])
}

#[test]
fn a_read_of_what_nobody_writes_offers_the_nearest_name_that_somebody_writes() {
    let mut film = Film::new();
    let depth = film.image("depth", Format::Depth32float);
    film.image("depth1", Format::Depth32float);
    let depth0 = film.image("depth0", Format::Depth32float);
    let draw = film.draw();
    film.uses(draw, depth0, Usage::DepthStencilAttachment);
    let blur = film.pass("blur", PassQueue::Compute);
    film.uses(blur, depth, Usage::Sampled);
    let never = Problem::NeverWritten { by: access(1), resource: depth, part: whole(&film, depth) };
    let root = Problem::NeverWritten { by: Reads::Root, resource: depth, part: whole(&film, depth) };
    assert_eq!(
        words(&film, &[never, root]),
        [
            "RG-E203 pass \"blur\" reads \"depth\" but nothing before it writes it",
            "  blur   film.py:9  sampled",
            "  depth  film.py:3  declared here, transient",
            "  help: add a pass that writes \"depth\" before it, import \"depth\", or did you mean \"depth0\"?",
            "RG-E203 root \"depth\" is written by no pass",
            "  depth  film.py:3  declared here, transient",
            "  help: add a pass that writes \"depth\", import \"depth\", or did you mean \"depth0\"?",
        ]
    );
}

#[test]
fn a_read_of_a_part_that_nobody_writes_names_the_part_and_the_writer_that_misses_it() {
    let mut film = Film::new();
    let bloom = film.image("bloom", Format::R8unorm);
    let draw = film.draw();
    film.uses(draw, bloom, Usage::ColorAttachment);
    let blur = film.pass("blur", PassQueue::Compute);
    film.uses(blur, bloom, Usage::Sampled);
    let part = SubresourceRange { mips: [1, 3], layers: [0, 2], ..whole(&film, bloom) };
    assert_eq!(
        words(&film, &[Problem::NeverWritten { by: access(1), resource: bloom, part }]),
        [
            "RG-E203 pass \"blur\" reads \"bloom\" (mips [1, 3), layers [0, 2)) but nothing before it writes it",
            "  blur   film.py:7  sampled",
            "  bloom  film.py:3  declared here, transient",
            "  draw   film.py:5  writes it, but not so that this read finds it",
            "  help: add a pass that writes \"bloom\" before it, or import \"bloom\"",
        ]
    );
}

#[test]
fn several_unwritten_subresources_of_one_read_are_one_mistake() {
    let mut film = Film::new();
    let bloom = film.image("bloom", Format::R8unorm);
    let blur = film.pass("blur", PassQueue::Compute);
    film.uses(blur, bloom, Usage::Sampled);
    let subresource = |mip| {
        let part = SubresourceRange { mips: [mip, mip + 1], ..whole(&film, bloom) };
        Problem::NeverWritten { by: access(0), resource: bloom, part }
    };
    assert_eq!(
        words(&film, &[subresource(1), subresource(2), subresource(3)]),
        [
            "RG-E203 pass \"blur\" reads \"bloom\" (mips [1, 4)) but nothing before it writes it",
            "  blur   film.py:5  sampled",
            "  bloom  film.py:3  declared here, transient",
            "  help: add a pass that writes \"bloom\" before it, or import \"bloom\"",
        ]
    );
}

#[test]
fn unwritten_subresources_of_one_read_keep_their_aspects_however_many_they_are() {
    let mut film = Film::new();
    let depth = film.image("depth", Format::Depth24plusStencil8);
    let blur = film.pass("blur", PassQueue::Compute);
    film.access(blur, depth, Use { aspects: Aspects::DEPTH, ..Use::new(Usage::Sampled) });
    let subresource = |mip| {
        let part = SubresourceRange { mips: [mip, mip + 1], aspects: Aspects::DEPTH, ..whole(&film, depth) };
        Problem::NeverWritten { by: access(0), resource: depth, part }
    };
    for count in 2..5 {
        let problems: Vec<Problem> = (1..1 + count).map(subresource).collect();
        assert_eq!(
            words(&film, &problems)[0],
            format!(
                "RG-E203 pass \"blur\" reads \"depth\" (mips [1, {}), depth) but nothing before it writes it",
                1 + count
            )
        );
    }
}

#[test]
fn what_inserted_work_reads_is_named_by_what_it_is_for() {
    let mut film = Film::new();
    let (fine, mips) = (film.image("fine", Format::R8unorm), film.image("mips", Format::R8unorm));
    let half = Image { size: Some(Size::scaled(None, 0.5, 0.5)), ..Image::default() };
    film.resource("small", Resource { modifies: Some(fine), ..Resource::image(half) });
    let inserted = |resource| Problem::NeverWritten { by: Reads::Inserted, resource, part: whole(&film, resource) };
    assert_eq!(
        words(&film, &[inserted(fine), inserted(mips)]),
        [
            "RG-E203 \"small\" starts as a scaled copy of \"fine\", but nothing before it writes it",
            "  fine   film.py:3  declared here, transient",
            "  small  film.py:5  modifies \"fine\"",
            "  help: add a pass that writes \"fine\" before it, or import \"fine\"",
            "RG-E203 mips of \"mips\" are made from what nothing writes",
            "  mips  film.py:4  declared here, transient",
            "  help: add a pass that writes \"mips\" before it, or import \"mips\"",
        ]
    );
}

#[test]
fn cycles_are_spelled_out_with_who_writes_and_who_reads_where() {
    let mut film = Film::new();
    let (a, c) = (film.image("a", Format::R8unorm), film.image("c", Format::R8unorm));
    let on = film.resource("on", Resource { modifies: Some(a), ..Resource::image(Image::default()) });
    let blur = film.pass("blur", PassQueue::Compute);
    film.uses(blur, a, Usage::StorageWrite);
    film.uses(blur, c, Usage::Sampled);
    let tone = film.pass("tone", PassQueue::Compute);
    film.uses(tone, a, Usage::Sampled);
    film.uses(tone, c, Usage::StorageWrite);
    film.uses(tone, on, Usage::StorageReadWrite);
    let forward = [(blur, Via::Resource(a)), (tone, Via::Forward(c))];
    let modifies = [(blur, Via::Modifies(a, on)), (tone, Via::After)];
    let after = [(blur, Via::Resource(a)), (tone, Via::After)];
    let problems = [forward, modifies, after].map(|passes| Problem::Cycle(passes.to_vec()));
    assert_eq!(
        words(&film, &problems),
        [
            "RG-E204 cycle: blur → tone → blur",
            "  a  blur writes (film.py:7), then tone reads (film.py:10)",
            "  c  tone writes (film.py:11), blur reads (film.py:8) and waits for the first writer",
            "  help: let \"blur\" read last frame's contents (a history of \"c\"), or declare a writer of \"c\" before it",
            "RG-E204 cycle: blur → tone → blur",
            "  on    film.py:5  modifies \"a\": blur writes \"a\" (film.py:7), then tone reads and writes \"on\" (film.py:12)",
            "  blur  film.py:6  is ordered after tone",
            "  help: finish with \"a\" before \"on\" is used, or copy \"a\" instead of modifying it",
            "RG-E204 cycle: blur → tone → blur",
            "  a     blur writes (film.py:7), then tone reads (film.py:10)",
            "  blur  film.py:6  is ordered after tone",
            "  help: do not order \"blur\" after \"tone\"",
        ]
    );
}

#[test]
fn a_long_cycle_is_cut_short() {
    let mut film = Film::new();
    let passes: Vec<_> = (0..100).map(|at| (film.pass(&format!("p{at}"), PassQueue::Compute), Via::After)).collect();
    let messages = words(&film, &[Problem::Cycle(passes)]);
    assert_eq!(
        messages[0],
        "RG-E204 cycle: p0 → p1 → p2 → p3 → p4 → p5 → p6 → p7 → p8 → p9 → p10 → p11 → (88 more) → p0"
    );
    assert_eq!(messages.len(), 1 + 12 + 1);
}

#[test]
fn conditional_outputs_that_hold_nothing_name_flag_writer_and_reader() {
    let mut film = Film::new();
    let bloom = film.image("bloom", Format::R8unorm);
    let flag = film.graph.flag("pretty");
    let glow = film.pass("glow", PassQueue::Graphics);
    film.access(glow, bloom, Use { load: Some(Load::Discard), ..Use::new(Usage::ColorAttachment) });
    let tone = film.pass("tone", PassQueue::Graphics);
    film.uses(tone, bloom, Usage::Sampled);
    let by = |reader| Problem::HoldsNothing { flag, pass: glow, resource: bloom, reader };
    assert_eq!(
        words(&film, &[by(Some(tone)), by(None)]),
        [
            "RG-E215 while flag \"pretty\" is off, pass \"tone\" reads \"bloom\", which holds nothing",
            "  glow  film.py:5  writes it only while \"pretty\" is on",
            "  tone  film.py:7  reads it",
            "  help: give \"glow\" a fallback for \"bloom\", or write \"bloom\" before it, or put the reader under the same flag",
            "RG-E215 while flag \"pretty\" is off, root \"bloom\" holds nothing",
            "  glow  film.py:5  writes it only while \"pretty\" is on",
            "  help: write \"bloom\" before \"glow\", or give \"glow\" a fallback for \"bloom\" and make a copy of \"bloom\" the root",
        ]
    );
}

#[test]
fn a_root_that_is_modified_is_lost() {
    let mut film = Film::new();
    let lit = film.image("lit", Format::R8unorm);
    let by = film.resource("forward", Resource { modifies: Some(lit), ..Resource::image(Image::default()) });
    assert_eq!(
        words(&film, &[Problem::RootModified { root: lit, by }]),
        [
            "RG-E210 root \"lit\" is lost: \"forward\" modifies it in its memory",
            "  lit      film.py:3  a root",
            "  forward  film.py:4  modifies \"lit\"",
            "  help: make \"forward\" the root, or copy \"lit\" instead of modifying it",
        ]
    );
}

#[test]
fn too_little_memory_names_what_fills_it() {
    let mut film = Film::new();
    film.image("lit", Format::R8unorm);
    let worst = Worst {
        pass: None,
        bytes: 4001,
        largest: vec![("lit".to_owned(), 4000), ("lit mips".to_owned(), 1)],
        others: 3,
    };
    let mistake = out_of_memory(&film.graph, "device", [4096, 1000], &worst, None);
    assert_eq!(
        lines(&[mistake]),
        [
            "RG-E221 memory \"device\" has 1000 bytes, the best order found needs 4096",
            "  lit       film.py:3  4000 bytes",
            "  lit mips  1 byte",
            "  others    3 further resources",
            "  help: make the largest of them smaller, keep fewer roots, or plan for a device with more memory",
        ]
    );
}

#[test]
fn resources_that_are_all_named_have_no_others() {
    let film = Film::new();
    let worst = Worst { pass: None, bytes: 4000, largest: vec![("out".to_owned(), 4000)], others: 0 };
    let mistake = out_of_memory(&film.graph, "device", [4096, 1000], &worst, None);
    assert_eq!(
        lines(&[mistake]),
        [
            "RG-E221 memory \"device\" has 1000 bytes, the best order found needs 4096",
            "  out  film.py:2  4000 bytes",
            "  help: make the largest of them smaller, keep fewer roots, or plan for a device with more memory",
        ]
    );
}

#[test]
fn a_floor_proves_a_refusal_only_where_it_is_above_what_there_is() {
    let film = Film::new();
    let worst = Worst { pass: None, bytes: 4000, largest: Vec::new(), others: 0 };
    let messages = |bytes| {
        let floor = Floor { pass: "draw".to_owned(), bytes, alive: Vec::new() };
        lines(&[out_of_memory(&film.graph, "device", [4096, 1000], &worst, Some(&floor))]).remove(0)
    };
    let best = "RG-E221 memory \"device\" has 1000 bytes, the best order found needs 4096";
    assert_eq!(messages(1000), format!("{best}; it is not proved that none fits, but none needs less than 1000"));
    let every = "RG-E221 memory \"device\" has 1000 bytes, and every permitted order of the frame needs 1001";
    assert_eq!(messages(1001), format!("{every}, alive while \"draw\" runs"));
}

#[test]
fn the_first_eight_of_a_flood_offer_a_near_name() {
    let mut film = Film::new();
    let (lit, draw) = (film.image("lit", Format::R8unorm), film.draw());
    film.uses(draw, lit, Usage::ColorAttachment);
    let mut problems = Vec::new();
    for at in 0..12 {
        let image = film.image(&format!("lit{at}"), Format::R8unorm);
        let blur = film.pass(&format!("blur {at}"), PassQueue::Compute);
        film.uses(blur, image, Usage::Sampled);
        problems.push(Problem::NeverWritten { by: access(1 + at), resource: image, part: whole(&film, image) });
    }
    let offers = |line: &String| line.ends_with("did you mean \"lit\"?");
    assert_eq!(words(&film, &problems).iter().filter(|line| offers(line)).count(), 8);
}

#[test]
fn a_flood_of_unwritten_reads_is_said_in_full() {
    let mut film = Film::new();
    let mut problems = Vec::new();
    for at in 0..30_000 {
        let image = film.image(&format!("image {at}"), Format::R8unorm);
        let pass = film.pass(&format!("pass {at}"), PassQueue::Compute);
        film.uses(pass, image, Usage::Sampled);
        let part = SubresourceRange { mips: [0, 1], layers: [0, 1], aspects: Aspects::COLOR, bytes: [0, 0] };
        problems.push(Problem::NeverWritten { by: access(at), resource: image, part });
    }
    assert_eq!(words(&film, &problems).len(), 4 * problems.len());
}
