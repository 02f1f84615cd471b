//! Small graphs in a line format, baked in every way and checked.
//!
//! One declaration per line; `#` begins a comment:
//!
//! ```text
//! image a mips=3 layers=2 root            keys of formats.md; 64x64 rgba8unorm if nothing else is given
//! buffer b 256 persistent
//! pass draw graphics if=flag fallback=a:b after=other effects: color a load=clear; sampled b mips=0..1
//! before draw other                       expectation: the plan runs `draw` before `other`
//! runs draw                               expectation: live
//! culled draw                             expectation: culled
//! exclusive b                             expectation: no family shares `b` without a transfer
//! refused RG-E217                         expectation: every bake is refused with this code
//! either RG-E217                          expectation: refused with this code, or right
//! ```
//!
//! The lines become a graph file, so that a failing corner can be given to `rgraph bake` as it is printed.

use std::fmt::Write as _;

use rgraph_check::certificate::{certificate, verify};
use rgraph_check::check;
use rgraph_check::interpret::disagreement;
use rgraph_files::{read_graph, read_profile};
use rgraph_plan::access::Sharing;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::{Policy, Profile, Split};

/// An expectation of a corner.
#[derive(Debug)]
pub enum Expected {
    Before(String, String),
    Runs(String),
    Culled(String),
    Exclusive(String),
    Refused(String),
    Either(String),
}

/// Short words for usages; every other word is that of graph files (`docs/reference/formats.md`).
const SHORT: [(&str, &str); 7] = [
    ("color", "color_attachment"),
    ("depth", "depth_stencil_attachment"),
    ("depth_read", "depth_stencil_read"),
    ("input", "input_attachment"),
    ("resolve", "resolve_attachment"),
    ("src", "transfer_src"),
    ("dst", "transfer_dst"),
];

fn quoted(words: &str, between: char) -> String {
    let list: Vec<_> = words.split(between).map(|word| format!("{word:?}")).collect();
    format!("[{}]", list.join(", "))
}

/// `2..4` as `[2, 4]`.
fn range(value: &str) -> String {
    let (first, end) = value.split_once("..").unwrap_or_else(|| panic!("no range: {value}"));
    format!("[{first}, {end}]")
}

/// The keys of a resource; the root flag aside.
fn resource(image: bool, words: &[&str]) -> (String, bool) {
    let mut keys: Vec<String> = Vec::new();
    let mut imported: Option<Vec<String>> = None;
    let (mut root, mut given) = (false, Vec::new());
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        given.push(key);
        match key {
            "root" => root = true,
            "persistent" | "fresh" | "cube" | "acceleration_structure" => keys.push(format!("\"{key}\": true")),
            "imported" => imported = Some(imported.unwrap_or_default()),
            "layout" | "queue" | "contents" => {
                imported.get_or_insert_default().push(format!("\"{key}\": \"{value}\""));
            }
            "wait" | "signal" => imported.get_or_insert_default().push(format!("\"{key}\": true")),
            "leave" => {
                let (layout, queue) = value.split_once('@').unwrap_or((value, ""));
                let parts = [("layout", layout), ("queue", queue)];
                let parts = parts.iter().filter(|(_, value)| !value.is_empty());
                let parts: Vec<_> = parts.map(|(key, value)| format!("\"{key}\": \"{value}\"")).collect();
                keys.push(format!("\"leave\": {{{}}}", parts.join(", ")));
            }
            "size" => {
                keys.push(format!("\"size\": [{}]", value.replace('x', ", ")));
            }
            "mips" if value == "full" => keys.push("\"mips\": \"full\"".to_owned()),
            "mips" | "layers" | "samples" | "frames" => keys.push(format!("\"{key}\": {value}")),
            "format" | "modifies" | "history_of" | "first_frame" | "sharing" | "memory_domain" => {
                keys.push(format!("\"{key}\": \"{value}\""));
            }
            bytes if bytes.parse::<u64>().is_ok() => keys.push(format!("\"size\": {bytes}")),
            other => panic!("unknown word of a resource: {other}"),
        }
    }
    if let Some(imported) = imported {
        keys.push(format!("\"imported\": {{{}}}", imported.join(", ")));
    }
    let inherits = given.contains(&"modifies") || given.contains(&"history_of");
    if image && !inherits && !given.contains(&"size") {
        keys.push("\"size\": [64, 64]".to_owned());
    }
    if image && !inherits && !given.contains(&"format") {
        keys.push("\"format\": \"rgba8unorm\"".to_owned());
    }
    (format!("{{{}}}", keys.join(", ")), root)
}

fn access(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let [usage, resource, rest @ ..] = words.as_slice() else { panic!("no access: {text}") };
    let usage = SHORT.iter().find(|(short, _)| short == usage).map_or(*usage, |(_, long)| long);
    let mut keys = format!("\"resource\": \"{resource}\", \"usage\": \"{usage}\"");
    for word in rest {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = match key {
            "generate_mips" | "unordered" => "true".to_owned(),
            "mips" | "layers" | "range" => range(value),
            "stages" | "aspects" => quoted(value, '+'),
            "clear" if value.contains('/') => format!("[{}]", value.replace('/', ", ")),
            "clear" => value.to_owned(),
            "load" | "stencil_load" | "transfer" | "resolves" | "resolve_mode" => format!("\"{value}\""),
            other => panic!("unknown word of an access: {other}"),
        };
        write!(keys, ", \"{key}\": {value}").unwrap();
    }
    format!("{{{keys}}}")
}

fn pass(line: &str) -> String {
    let (head, accesses) = line.split_once(':').filter(|(head, _)| !head.contains("fallback")).unwrap_or_else(|| {
        // A fallback has colons of its own.
        line.split_once(": ").unwrap_or((line, ""))
    });
    let words: Vec<_> = head.split_whitespace().collect();
    let [name, queue, rest @ ..] = words.as_slice() else { panic!("no pass: {line}") };
    let mut keys = format!("\"name\": \"{name}\", \"queue\": \"{queue}\"");
    for word in rest {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "if" => write!(keys, ", \"conditional\": \"{value}\"").unwrap(),
            "after" => write!(keys, ", \"after\": {}", quoted(value, ',')).unwrap(),
            "effects" => keys.push_str(", \"side_effects\": true"),
            "weight" => write!(keys, ", \"weight_us\": {value}").unwrap(),
            "fallback" => {
                let pairs: Vec<_> = value.split(',').map(|pair| pair.replace(':', "\": \"")).collect();
                write!(keys, ", \"fallback\": {{\"{}\"}}", pairs.join("\", \"")).unwrap();
            }
            other => panic!("unknown word of a pass: {other}"),
        }
    }
    let accesses: Vec<_> = accesses.split(';').filter(|text| !text.trim().is_empty()).map(access).collect();
    format!("{{{keys}, \"accesses\": [{}]}}", accesses.join(", "))
}

/// The graph file that the lines stand for, and what is expected of its plans.
fn parse(text: &str) -> (String, Vec<Expected>) {
    let (mut images, mut buffers, mut passes, mut roots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut expected = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        let Some((word, rest)) = line.split_once(' ') else {
            assert!(line.is_empty(), "no declaration: {line}");
            continue;
        };
        let words: Vec<_> = rest.split_whitespace().collect();
        match word {
            "image" | "buffer" => {
                let (keys, root) = resource(word == "image", &words[1..]);
                let list = if word == "image" { &mut images } else { &mut buffers };
                list.push(format!("\"{}\": {keys}", words[0]));
                roots.extend(root.then(|| format!("\"{}\"", words[0])));
            }
            "pass" => passes.push(pass(rest)),
            "before" => expected.push(Expected::Before(words[0].to_owned(), words[1].to_owned())),
            "runs" => expected.extend(words.iter().map(|name| Expected::Runs((*name).to_owned()))),
            "culled" => expected.extend(words.iter().map(|name| Expected::Culled((*name).to_owned()))),
            "exclusive" => expected.push(Expected::Exclusive(words[0].to_owned())),
            "refused" => expected.push(Expected::Refused(words[0].to_owned())),
            "either" => expected.push(Expected::Either(words[0].to_owned())),
            other => panic!("unknown declaration: {other}"),
        }
    }
    let file = format!(
        "{{\"rgraph\": 1, \"name\": \"corner\",\n\"images\": {{{}}},\n\"buffers\": {{{}}},\n\"passes\": [\n {}],\n\"roots\": [{}]}}",
        images.join(",\n "),
        buffers.join(",\n "),
        passes.join(",\n "),
        roots.join(", ")
    );
    (file, expected)
}

const SEVERAL_QUEUES: &str = r#"{"rprofile": 1, "name": "several", "image_alignment": 256, "buffer_alignment": 16,
 "queues": [{"name": "graphics", "family": 0, "count": 2, "capabilities": ["graphics", "compute", "transfer"]},
            {"name": "compute", "family": 1, "count": 2, "capabilities": ["compute", "transfer"]},
            {"name": "transfer", "family": 2, "count": 1, "capabilities": ["transfer"]}]}"#;

pub fn profiles() -> Vec<Profile> {
    let several = read_profile(SEVERAL_QUEUES.as_bytes(), "several").expect("the profile is right");
    vec![Profile::minimal(), Profile::single_queue(), Profile::discrete(), several]
}

/// Every policy, effort and split.
fn all_options() -> impl Iterator<Item = Options> {
    let policies = [Policy::Declared, Policy::Auto, Policy::Overlap, Policy::Weighted, Policy::Exact { nodes: 200 }];
    let splits = [Split::Never, Split::Distance, Split::Always];
    policies.into_iter().flat_map(move |policy| {
        splits
            .into_iter()
            .flat_map(move |split| (0..3).map(move |effort| Options { policy, split, effort, ..Options::default() }))
    })
}

/// What a plan that checks clean and computes the right thing breaks of the expectations.
fn unmet(plan: &Plan, expected: &[Expected]) -> Option<String> {
    let at = |name: &str| plan.live().position(|pass| plan.pass_name(pass) == name);
    expected.iter().find_map(|expected| match expected {
        Expected::Before(first, second) => match (at(first), at(second)) {
            (Some(a), Some(b)) if a < b => None,
            places => Some(format!("\"{first}\" does not run before \"{second}\": {places:?}")),
        },
        Expected::Runs(name) => at(name).is_none().then(|| format!("\"{name}\" does not run")),
        Expected::Culled(name) => at(name).map(|_| format!("\"{name}\" is not culled")),
        Expected::Exclusive(name) => {
            let found = plan.resources.iter_ids().find(|(id, _)| plan.resource_name(*id) == name);
            let exclusive = found.is_some_and(|(_, resource)| resource.sharing == Sharing::Exclusive);
            (!exclusive).then(|| format!("\"{name}\" is not exclusive"))
        }
        Expected::Refused(code) => Some(format!("it is baked, but expected to be refused with {code}")),
        Expected::Either(_) => None,
    })
}

fn checked(graph: &Graph, plan: &Plan, expected: &[Expected]) -> Option<String> {
    if let Some(first) = check(graph, plan).first() {
        return Some(format!("checker: {first}"));
    }
    if let Err(refused) = certificate(graph, plan).and_then(|proof| verify(graph, plan, &proof)) {
        return Some(format!("certificate: {refused}"));
    }
    if let Some(what) = disagreement(graph, plan, 8) {
        return Some(format!("interpreter: {what}"));
    }
    unmet(plan, expected)
}

/// Bakes a graph over profiles and options; the first plan that is wrong, in words.
pub fn wrong(graph: &Graph, profiles: &[Profile], expected: &[Expected]) -> Option<String> {
    let mut scratch = Scratch::default();
    for profile in profiles {
        let mut seen: Vec<Plan> = Vec::new();
        for options in all_options() {
            let finding = |what: String| Some(format!("{} {options:?}: {what}", profile.name));
            let plan = match bake(graph, profile, &options, &mut scratch) {
                Ok(plan) => plan,
                Err(error) => {
                    let codes: Vec<_> = error.mistakes().iter().map(|mistake| mistake.code.text()).collect();
                    let agreed = expected.iter().any(|one| match one {
                        Expected::Refused(code) | Expected::Either(code) => codes.contains(&code.as_str()),
                        _ => false,
                    });
                    if agreed {
                        continue;
                    }
                    return finding(format!("refused: {error}"));
                }
            };
            if !seen.contains(&plan) {
                if let Some(what) = checked(graph, &plan, expected) {
                    return finding(what);
                }
                seen.push(plan);
            }
        }
    }
    None
}

/// The graph that the lines stand for.
///
/// # Panics
/// With the graph file if it is none.
pub fn graph(text: &str) -> Graph {
    let (file, _) = parse(text);
    read_graph(file.as_bytes(), "corner").unwrap_or_else(|error| panic!("{error}\n{file}"))
}

/// Bakes a corner in every way: each plan checks clean, computes what the declaration says, and meets the expectations.
///
/// # Panics
/// With the graph file and the first difference if one does not.
pub fn assert_corner(text: &str) {
    let (file, expected) = parse(text);
    let graph = graph(text);
    if let Some(what) = wrong(&graph, &profiles(), &expected) {
        panic!("{what}\n{file}");
    }
}
