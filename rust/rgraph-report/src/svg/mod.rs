//! Still pictures of a plan as SVG. They need neither script nor font of their own, so that they look right where both
//! are stripped (repositories, notebooks, papers); where styles are left in, they follow the reader's dark theme. Names
//! are whole: where a box is too narrow for its name, the name is written next to it or in a key below.

mod matrix;
mod memory;
mod resources;
mod timeline;

use std::fmt::Write;

use super::page::data::PlanData;
use super::page::gather::gather;
use crate::escape::escaped;
use rgraph_ir::graph::Graph;
use rgraph_ir::plan::Plan;
use rgraph_ir::words::{bytes_phrase, plain, time_phrase};

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum View {
    /// The timeline, and below it the matrix.
    #[default]
    Plan,
    /// Passes by queue in modelled time, or one after the other.
    Timeline,
    /// Lifetimes and accesses: a row per resource, a column per pass.
    Resources,
    /// Heaps: bytes upwards, passes to the right.
    Memory,
    /// Passes downwards, a column per resource, culled passes with their reasons.
    Matrix,
}

impl View {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Timeline, Self::Resources, Self::Memory, Self::Matrix];

    /// Its word in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Timeline => "timeline",
            Self::Resources => "resources",
            Self::Memory => "memory",
            Self::Matrix => "matrix",
        }
    }
}

/// Width of a picture in pixels where nothing else is asked for, and the least and the most that it can have.
pub const WIDTH: u32 = 1000;
/// See [`WIDTH`].
pub const WIDTHS: [u32; 2] = [320, 20_000];

/// Room at the left and right edge.
const EDGE: f64 = 16.0;
/// Distance of lines of small text, across.
const TURNED: f64 = 12.0;

/// A colour of the light theme, and the class that gives it another one in the dark.
struct Ink(&'static str, &'static str);

const PAPER: Ink = Ink("#ffffff", "rg-paper");
const TEXT: Ink = Ink("#171c24", "rg-text");
const MUTED: Ink = Ink("#566070", "rg-muted");
const RULE: Ink = Ink("#d7dce3", "rg-rule");
const READ: Ink = Ink("#2c68c4", "rg-read");
const WRITE: Ink = Ink("#b3261e", "rg-write");
const BOTH: Ink = Ink("#7a4fc4", "rg-both");
const WAIT: Ink = Ink("#b96300", "rg-wait");

/// Fill, edge and ink of passes on graphics, compute, transfer queues and the host.
pub(super) const QUEUES: [[&str; 3]; 4] = [
    ["#d3e4fd", "#2c68c4", "#0c2f66"],
    ["#ffe2c0", "#b96300", "#552d00"],
    ["#c8efe8", "#0c8273", "#06433b"],
    ["#e3e7ec", "#667180", "#242b35"],
];

const DARK: &str = "@media (prefers-color-scheme:dark){\
    .rgraph .rg-paper{fill:#12151a}.rgraph .rg-text{fill:#e7eaf0}.rgraph .rg-muted{fill:#a3adbb}\
    .rgraph .rg-rule{stroke:#313844}.rgraph .rg-read{fill:#76b4ff}.rgraph .rg-write{fill:#ff8f85}\
    .rgraph .rg-both{fill:#bb9bf5}.rgraph .rg-wait{stroke:#e8a046}.rgraph .rg-tip{fill:#e8a046}\
    .rgraph .rg-b0{fill:#1e3b63;stroke:#5e9bef}.rgraph .rg-t0{fill:#dceaff}\
    .rgraph .rg-b1{fill:#573812;stroke:#e8a046}.rgraph .rg-t1{fill:#ffecd3}\
    .rgraph .rg-b2{fill:#124740;stroke:#38b8a6}.rgraph .rg-t2{fill:#d3f8f1}\
    .rgraph .rg-b3{fill:#333a45;stroke:#98a3b2}.rgraph .rg-t3{fill:#e8ecf2}\
    .rgraph .rg-m0{fill:#24508c}.rgraph .rg-m1{fill:#7a4c12}.rgraph .rg-m2{fill:#14665b}\
    .rgraph .rg-m3{fill:#543a82}.rgraph .rg-m4{fill:#7a2f52}.rgraph .rg-m5{fill:#5c5a14}\
    .rgraph .rg-bar{fill:#20252e;stroke:#6d7889}.rgraph .rg-block{stroke:#98a3b2}}";

/// The timeline and the matrix at the usual width. O(plan).
pub fn svg(plan: &Plan, graph: Option<&Graph>) -> String {
    picture(plan, graph, View::default(), WIDTH)
}

/// A view of the plan in a width of pixels, kept within [`WIDTHS`]. O(plan), O(placements²) for memory.
pub fn picture(plan: &Plan, graph: Option<&Graph>, view: View, width: u32) -> String {
    let data = gather(plan, graph);
    let width = f64::from(width.clamp(WIDTHS[0], WIDTHS[1]));
    let mut head = Picture { out: String::new(), width };
    head.text(EDGE, 28.0, 17.0, &TEXT, "font-weight=\"600\"", &plan.graph);
    let mut figures = figures(&data);
    figures.insert(0, format!("for {}", data.meta.profile));
    let mut top = 48.0;
    for line in head.wrapped(&figures, 12.0) {
        head.text(EDGE, top, 12.0, &MUTED, "", &line);
        top += 16.0;
    }
    let top = top + 2.0;
    let mut picture = Picture { out: String::new(), width };
    let height = match view {
        View::Plan => {
            let below = picture.timeline(&data, top);
            picture.matrix(&data, below + 20.0)
        }
        View::Timeline => picture.timeline(&data, top) + 12.0,
        View::Resources => picture.resources(&data, top),
        View::Memory => picture.memory(&data, top),
        View::Matrix => picture.matrix(&data, top),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rgraph\" role=\"img\" viewBox=\"0 0 {width} {height:.0}\" \
         width=\"{width}\" height=\"{height:.0}\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,sans-serif\">\
         <title>{}</title><style>{DARK}</style><rect class=\"{}\" fill=\"{}\" width=\"100%\" height=\"100%\" rx=\"8\"/>\
         {}{}</svg>\n",
        escaped(&format!("Plan of {}: {}", plain(&plan.graph), figures.join(", "))),
        PAPER.1,
        PAPER.0,
        head.out,
        picture.out
    )
}

fn figures(data: &PlanData) -> Vec<String> {
    let meta = &data.meta;
    let live = data.passes.culled.iter().filter(|why| **why < 0).count();
    let mut figures = vec![
        format!("{live} of {} passes", data.passes.name.len()),
        counted(meta.barrier_calls as usize, "barrier call"),
        counted(meta.submits as usize, "submit"),
        format!("{} ({} without aliasing)", bytes_phrase(meta.memory), bytes_phrase(meta.memory_plain)),
    ];
    if meta.frame_us > 0.0 {
        figures.push(format!("{} (modelled)", time_phrase(meta.frame_us)));
    }
    figures
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Width of a text in pixels in DejaVu Sans, the widest of the usual fonts.
fn text_width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'I' => 0.33,
        'f' | 't' | 'r' | '/' | '(' | ')' | '[' | ']' | '-' => 0.41,
        '_' | 'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.58,
        'w' => 0.82,
        'm' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' => 0.73,
        c if c as u32 >= 0x1100 => 1.05,
        _ => 0.64,
    };
    plain(text).chars().map(letter).sum::<f64>() * size
}

/// A text that fits into so many pixels; it keeps its end, which tells names of one prefix apart.
fn fitting(text: &str, pixels: f64, size: f64) -> String {
    if text_width(text, size) <= pixels {
        return plain(text).into_owned();
    }
    let letters: Vec<char> = plain(text).chars().collect();
    let shortened = |kept: usize| -> String {
        let front = kept / 3;
        letters[..front].iter().chain(&['…']).chain(&letters[letters.len() - (kept - front)..]).collect()
    };
    let fits = (3..letters.len()).rev().find(|kept| text_width(&shortened(*kept), size) <= pixels);
    fits.map_or_else(String::new, shortened)
}

struct Picture {
    out: String,
    width: f64,
}

impl Picture {
    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing into memory does not fail");
    }

    fn text(&mut self, x: f64, y: f64, size: f64, ink: &Ink, more: &str, text: &str) {
        let text = escaped(&plain(text));
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" class=\"{}\" fill=\"{}\" {more}>{text}</text>",
            ink.1, ink.0
        ));
    }

    /// Text that is turned by an angle round its beginning.
    fn turned(&mut self, [x, y]: [f64; 2], angle: f64, size: f64, ink: &Ink, more: &str, text: &str) {
        self.text(x, y, size, ink, &format!("{more} transform=\"rotate({angle} {x:.1} {y:.1})\""), text);
    }

    fn rule(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        self.add(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{}\" stroke=\"{}\"/>",
            RULE.1, RULE.0
        ));
    }

    /// Items with dots between them, as lines of the picture's width.
    fn wrapped(&self, items: &[String], size: f64) -> Vec<String> {
        let room = self.width - 2.0 * EDGE;
        let mut lines: Vec<String> = Vec::new();
        for item in items {
            match lines.last_mut() {
                Some(line) if text_width(&format!("{line} · {item}"), size) <= room => *line += &format!(" · {item}"),
                _ => lines.push(item.clone()),
            }
        }
        lines
    }

    /// A sign for reading, writing, or both; grey for culled passes.
    fn mark(&mut self, [x, y]: [f64; 2], scale: f64, mode: u8, culled: bool) {
        let (ink, shape) = match mode {
            1 => (&READ, "M0 -5L5.5 4.5L-5.5 4.5ZM0 -2L-3 3L3 3Z"),
            2 => (&WRITE, "M-5.5 -4.5L5.5 -4.5L0 5Z"),
            _ => (&BOTH, "M0 -6L6 0L0 6L-6 0Z"),
        };
        let ink = if culled { &MUTED } else { ink };
        self.add(format_args!(
            "<path transform=\"translate({x:.1} {y:.1}) scale({scale:.2})\" d=\"{shape}\" class=\"{}\" fill=\"{}\" \
             fill-rule=\"evenodd\"/>",
            ink.1, ink.0
        ));
    }
}

/// Places of labels that are wanted at some places, in order: at least [`TURNED`] apart and within both ends. There
/// must be room for all.
fn spread(wanted: &[f64], [left, right]: [f64; 2]) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::with_capacity(wanted.len());
    for at in wanted {
        let free = places.last().map_or(left, |last| last + TURNED);
        places.push(at.max(free));
    }
    let mut end = right;
    for place in places.iter_mut().rev() {
        *place = place.min(end);
        end = *place - TURNED;
    }
    places
}

/// 0 graphics, 1 compute, 2 transfer, 3 the host.
pub(super) fn queue_kind(data: &PlanData, queue: i32) -> usize {
    let Some(queue) = usize::try_from(queue).ok().and_then(|queue| data.queues.get(queue)) else { return 3 };
    if queue.capabilities.contains(&"graphics") {
        0
    } else if queue.capabilities.contains(&"compute") {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::{TURNED, spread, text_width};

    #[test]
    fn labels_stand_apart_and_inside() {
        let places = spread(&[0.0, 1.0, 2.0, 99.0, 100.0], [0.0, 100.0]);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= TURNED - 1e-9), "{places:?}");
        assert!(places[0] >= 0.0 && places[4] <= 100.0);
        assert_eq!(spread(&[10.0, 50.0], [0.0, 100.0]), [10.0, 50.0]);
    }

    #[test]
    fn text_is_as_wide_as_its_letters() {
        assert!(text_width("mmm", 10.0) > 2.0 * text_width("lll", 10.0));
        assert!((text_width("ab", 20.0) - 2.0 * text_width("ab", 10.0)).abs() < 1e-9);
    }
}
