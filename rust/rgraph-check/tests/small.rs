//! Small graphs of two to five passes, most of them with conditional passes that write one output in parts, each with a
//! fallback or without: baked in every way, checked, and interpreted like their declaration. `RGRAPH_SMALL` asks for
//! more, `RGRAPH_SMALL_SEEDS` for some alone.

use std::fmt::Write as _;
use std::num::NonZero;

use rgraph_check::random::Random;
use rgraph_check::serial::serial;
use rgraph_plan::bake::{Options, Scratch, bake};

use crate::support::corner;

fn seeds() -> Vec<u64> {
    let asked = std::env::var("RGRAPH_SMALL_SEEDS").ok();
    let named = asked.map(|seeds| seeds.split(',').map(|seed| seed.parse().expect("a seed is a number")).collect());
    let count = std::env::var("RGRAPH_SMALL").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    named.unwrap_or_else(|| (0..count).collect())
}

/// Resources of one kind that can be fallbacks of each other.
struct Alternatives {
    image: bool,
    names: &'static [&'static str],
}

impl Alternatives {
    /// All of a resource, or a half.
    fn part(&self, random: &mut Random) -> &'static str {
        let parts =
            if self.image { ["", " layers=0..1", " layers=1..2"] } else { ["", " range=0..128", " range=128..256"] };
        parts[[0, 0, 0, 1, 2][random.below(5) as usize]]
    }

    fn write(&self, random: &mut Random, queue: &str, name: &str) -> String {
        let usages: &[&str] = match (self.image, queue) {
            (_, "transfer") => &["dst"],
            (true, "graphics") => &["color", "storage_write", "dst"],
            _ => &["storage_write", "dst"],
        };
        let usage = random.pick(usages);
        let loads: &[&str] = match *usage {
            "color" => &["", " load=clear", " load=discard", " load=discard", " load=load"],
            _ => &["", " load=discard", " load=discard"],
        };
        format!("{usage} {name}{}{}", self.part(random), random.pick(loads))
    }

    fn read(&self, random: &mut Random, queue: &str, name: &str) -> String {
        let usages: &[&str] = match (self.image, queue) {
            (_, "transfer") => &["src"],
            (true, _) => &["sampled", "storage_read", "src"],
            (false, _) => &["storage_read", "uniform", "src"],
        };
        format!("{} {name}{}", random.pick(usages), self.part(random))
    }

    fn declare(&self, random: &mut Random, text: &mut String) {
        for name in self.names {
            let kind = if self.image { format!("image {name} layers=2") } else { format!("buffer {name} 256") };
            let life = random.pick(&["", "", "", " imported", " persistent"]);
            let sharing = random.pick(&["", " sharing=exclusive", " sharing=concurrent"]);
            writeln!(text, "{kind}{life}{sharing}").expect("strings take all");
        }
    }
}

/// The lines of a small graph.
pub fn small(seed: u64) -> String {
    let mut random = Random::new(seed);
    let alternatives =
        Alternatives { image: random.chance(1, 2), names: &["a", "b", "c"][..2 + random.below(2) as usize] };
    let mut text = String::new();
    alternatives.declare(&mut random, &mut text);
    let passes = 2 + random.below(4);
    for number in 0..passes {
        let queue = *random.pick(&["graphics", "graphics", "compute", "async_compute", "transfer"]);
        let last = number + 1 == passes;
        // Most passes write the first resource, and most fall back to another.
        let output = if random.chance(2, 3) { alternatives.names[0] } else { *random.pick(alternatives.names) };
        let flag = (!last && random.chance(2, 3)).then(|| *random.pick(&["one", "two"]));
        let mut head = format!("pass p{number} {queue}");
        let mut uses = Vec::new();
        if let Some(flag) = flag {
            write!(head, " if={flag}").expect("strings take all");
            let input = *random.pick(alternatives.names);
            if input != output && random.chance(2, 3) {
                write!(head, " fallback={output}:{input}").expect("strings take all");
            }
        }
        if last || random.chance(1, 3) {
            head.push_str(" effects");
        }
        if !last || random.chance(1, 4) {
            uses.push(alternatives.write(&mut random, queue, output));
        }
        let reads = if last { 1 + random.below(2) } else { random.below(2) };
        for at in 0..reads {
            let name = if at == 0 && last { alternatives.names[0] } else { *random.pick(alternatives.names) };
            if !uses.iter().any(|one| one.split(' ').nth(1) == Some(name)) {
                uses.push(alternatives.read(&mut random, queue, name));
            }
        }
        writeln!(text, "{head}: {}", uses.join("; ")).expect("strings take all");
    }
    text
}

/// Whether the planner accepts the graph of a seed, and what is wrong with its plans.
fn checked(seed: u64) -> (bool, Option<String>) {
    let text = small(seed);
    let (graph, profiles) = (corner::graph(&text), corner::profiles());
    if bake(&graph, &profiles[0], &Options::default(), &mut Scratch::default()).is_err() {
        return (false, None);
    }
    (true, corner::wrong(&graph, &profiles, &[]).map(|what| format!("{seed}: {what}\n{text}")))
}

/// What the last pass reads in the place of `a` while flags `one` and `two` are so.
fn read_while(text: &str, [one, two]: [bool; 2]) -> String {
    let graph = corner::graph(text);
    let serial = serial(&graph);
    let last = serial.steps.last().expect("a pass reads");
    let resource = last.uses[0].effective(|flag| if graph.flags()[flag] == "one" { one } else { two });
    graph.resource_name(resource).to_owned()
}

const STATES: [[bool; 2]; 4] = [[true, true], [true, false], [false, true], [false, false]];

#[test]
fn the_last_writer_that_is_off_decides_what_is_read() {
    let text = "
        buffer a 256
        buffer b 256 imported
        buffer c 256 imported
        pass first compute if=one fallback=a:b: storage_write a load=discard
        pass second compute if=two fallback=a:c: storage_write a range=0..128 load=discard
        pass look compute effects: storage_read a";
    assert_eq!(STATES.map(|on| read_while(text, on)), ["a", "c", "b", "c"]);
}

#[test]
fn a_writer_that_runs_ends_the_fallbacks_before_it_where_it_writes() {
    let text = |second: &str, read: &str| {
        format!(
            "buffer a 256
            buffer b 256 imported
            pass first compute if=one fallback=a:b: storage_write a load=discard
            pass second compute {second}: storage_write a range=0..128 load=discard
            pass look compute effects: storage_read a{read}"
        )
    };
    let found = |second: &str, read: &str| STATES.map(|on| read_while(&text(second, read), on));
    assert_eq!(found("effects", " range=0..128"), ["a"; 4]);
    assert_eq!(found("effects", ""), ["a", "a", "b", "b"]);
    assert_eq!(found("if=two", " range=0..128"), ["a", "a", "a", "b"]);
    assert_eq!(found("if=two fallback=a:b", " range=0..128"), ["a", "b", "a", "b"]);
}

#[test]
fn small_graphs_with_fallbacks_are_planned_right_in_every_way() {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let seeds = &seeds();
    let all: Vec<_> = std::thread::scope(|scope| {
        let part =
            |first: usize| seeds.iter().skip(first).step_by(threads).map(|seed| checked(*seed)).collect::<Vec<_>>();
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("no graph makes a stage panic")).collect()
    });
    let accepted = all.iter().filter(|(accepted, _)| *accepted).count();
    let wrong: Vec<_> = all.into_iter().filter_map(|(_, what)| what).collect();
    println!("{accepted} of {} small graphs are accepted", seeds.len());
    assert!(wrong.is_empty(), "{} graphs are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
    assert!(accepted * 5 > seeds.len(), "only {accepted} graphs are accepted");
}
