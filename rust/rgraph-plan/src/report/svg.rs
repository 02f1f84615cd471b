//! A still picture of a plan as SVG: passes by queue, and below them passes against resources. It needs neither script
//! nor font of its own, so that it looks right where both are stripped (repositories, notebooks, mails); where styles
//! are left in, it follows the reader's dark theme.

use std::fmt::Write;

use super::page::data::PlanData;
use super::page::escaped;
use super::page::gather::gather;
use super::words::{bytes_phrase, plain, time_phrase};
use crate::graph::Graph;
use crate::plan::Plan;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 128.0;
const LANE: f64 = 58.0;
const BOX: f64 = 34.0;
const LINE: f64 = 20.0;
const HEAD: f64 = 96.0;

/// Passes and resources that the diagram has at most: a picture of more is none.
const MOST_LINES: usize = 160;
const MOST_COLUMNS: usize = 34;

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
    .rgraph .rg-b3{fill:#333a45;stroke:#98a3b2}.rgraph .rg-t3{fill:#e8ecf2}}";

/// The picture. O(plan).
pub fn svg(plan: &Plan, graph: Option<&Graph>) -> String {
    let data = gather(plan, graph);
    let mut picture = Picture { out: String::new() };
    let below = picture.timeline(&data, 66.0);
    let height = picture.diagram(&data, below + 20.0);
    let mut head = Picture { out: String::new() };
    head.text(16.0, 28.0, 17.0, &TEXT, "font-weight=\"600\"", &plan.graph);
    let meta = &data.meta;
    let live = data.passes.culled.iter().filter(|why| **why < 0).count();
    let mut figures = vec![
        format!("{live} of {} passes", data.passes.name.len()),
        format!("{} barrier calls", meta.barrier_calls),
        format!("{} submits", meta.submits),
        format!("{} ({} without aliasing)", bytes_phrase(meta.memory), bytes_phrase(meta.memory_plain)),
    ];
    if meta.frame_us > 0.0 {
        figures.push(format!("{} (modelled)", time_phrase(meta.frame_us)));
    }
    head.text(16.0, 48.0, 12.0, &MUTED, "", &format!("for {} · {}", meta.profile, figures.join(" · ")));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rgraph\" role=\"img\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,sans-serif\">\
         <title>{}</title><style>{DARK}</style><rect class=\"{}\" fill=\"{}\" width=\"100%\" height=\"100%\" rx=\"8\"/>\
         {}{}</svg>\n",
        escaped(&format!("Plan of {}: {}", plain(&plan.graph), figures.join(", "))),
        PAPER.1,
        PAPER.0,
        head.out,
        picture.out
    )
}

struct Picture {
    out: String,
}

/// Width of a letter, in heights of the font: of a wide sans serif in its mean.
const LETTER: f64 = 0.62;

/// A name that fits into so many pixels at so many pixels a letter; empty if hardly a letter would be left.
fn fitting(name: &str, pixels: f64, size: f64) -> String {
    let letters = (pixels / (size * LETTER)) as usize;
    let name = plain(name);
    if name.chars().count() <= letters {
        return name.into_owned();
    }
    if letters < 3 {
        return String::new();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
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

    fn rule(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        self.add(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{}\" stroke=\"{}\"/>",
            RULE.1, RULE.0
        ));
    }

    /// A lane for each queue that is used; boxes in modelled time, or one after the other. Returns where it ends.
    fn timeline(&mut self, data: &PlanData, top: f64) -> f64 {
        let live: Vec<usize> = (0..data.passes.name.len()).filter(|pass| data.passes.culled[*pass] < 0).collect();
        let timed = live.iter().any(|pass| data.passes.us[*pass] > 0.0);
        let span = |pass: usize| match timed {
            true => (f64::from(data.passes.start[pass]), f64::from(data.passes.start[pass] + data.passes.us[pass])),
            false => (pass as f64, pass as f64 + 1.0),
        };
        let extent = live.iter().map(|pass| span(*pass).1).fold(0.0, f64::max).max(1e-6);
        let x = |at: f64| LEFT + at / extent * (WIDTH - LEFT - 16.0);
        let mut lanes: Vec<i32> = live.iter().map(|pass| data.passes.queue[*pass]).collect();
        lanes.sort_unstable_by_key(|queue| if *queue < 0 { i32::MAX } else { *queue });
        lanes.dedup();
        let at = |queue: i32| top + LANE * lanes.iter().position(|lane| *lane == queue).unwrap_or(0) as f64;
        for &queue in &lanes {
            let name = if queue < 0 { "host" } else { &data.queues[queue as usize].name };
            self.text(16.0, at(queue) + 21.0, 13.0, &TEXT, "font-weight=\"600\"", &fitting(name, LEFT - 24.0, 13.0));
            let mut drawn = f64::MIN;
            for &pass in live.iter().filter(|pass| data.passes.queue[**pass] == queue) {
                let (begin, end) = span(pass);
                let (left, right) = (x(begin), x(end));
                // Boxes narrower than a pixel are seen as one.
                if right < drawn + 0.8 {
                    continue;
                }
                drawn = right;
                self.pass_box(data, pass, [left, at(queue), (right - left - 1.0).max(1.0)]);
            }
        }
        self.waits(data, |pass| (x(span(pass).0), x(span(pass).1)), at);
        let end = top + LANE * lanes.len() as f64;
        self.rule([16.0, end, WIDTH - 16.0, end]);
        end
    }

    fn pass_box(&mut self, data: &PlanData, pass: usize, [left, top, width]: [f64; 3]) {
        let kind = queue_kind(data, data.passes.queue[pass]);
        let [fill, edge, ink] = QUEUES[kind];
        let name = escaped(&plain(&data.passes.name[pass]));
        self.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BOX}\" rx=\"{}\" class=\"rg-b{kind}\" \
             fill=\"{fill}\" stroke=\"{edge}\"><title>{name}</title></rect>",
            if width > 8.0 { 4 } else { 0 }
        ));
        let shown = fitting(&data.passes.name[pass], width - 10.0, 11.0);
        if !shown.is_empty() {
            self.add(format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" font-weight=\"600\" class=\"rg-t{kind}\" fill=\"{ink}\" \
                 pointer-events=\"none\">{}</text>",
                left + 6.0,
                top + BOX / 2.0 + 4.0,
                escaped(&shown)
            ));
        }
    }

    /// Arrows from what signals to what waits.
    fn waits(&mut self, data: &PlanData, span: impl Fn(usize) -> (f64, f64), at: impl Fn(i32) -> f64) {
        let mut drawn: Vec<f64> = Vec::new();
        for (wait, &batch) in data.waits.batch.iter().enumerate() {
            let source = data.waits.source[wait];
            let to = data.batches.first[batch as usize];
            if source < 0 || to < 0 || data.batches.last[source as usize] < 0 {
                continue;
            }
            let (from, to) = (data.batches.last[source as usize] as usize, to as usize);
            let (x1, x2) = (span(from).1, span(to).0);
            if drawn.iter().any(|other| (other - x2).abs() < 5.0) {
                continue;
            }
            drawn.push(x2);
            let (lane1, lane2) = (at(data.passes.queue[from]), at(data.passes.queue[to]));
            let up = lane1 > lane2;
            let y1 = if up { lane1 + 8.0 } else { lane1 + BOX - 8.0 };
            let y2 = if up { lane2 + BOX - 8.0 } else { lane2 + 8.0 };
            let bend = ((x2 - x1).abs() / 2.0).max(10.0);
            let (b1, b2, tip) = (x1 + bend, x2 - bend, x2 - 6.0);
            self.add(format_args!(
                "<path d=\"M{x1:.1} {y1:.1}C{b1:.1} {y1:.1} {b2:.1} {y2:.1} {x2:.1} {y2:.1}\" fill=\"none\" class=\"{}\" \
                 stroke=\"{}\" stroke-width=\"1.5\"/><path class=\"rg-tip\" fill=\"{}\" \
                 d=\"M{tip:.1} {:.1}L{x2:.1} {y2:.1}L{tip:.1} {:.1}Z\"/>",
                WAIT.1,
                WAIT.0,
                WAIT.0,
                y2 - 3.5,
                y2 + 3.5
            ));
        }
    }

    /// Passes downwards, a column for each resource. Returns where it ends.
    fn diagram(&mut self, data: &PlanData, top: f64) -> f64 {
        let lines = &data.shown[..data.shown.len().min(MOST_LINES)];
        let mut columns: Vec<u32> = Vec::new();
        for pass in lines {
            for access in (0..data.accesses.pass.len()).filter(|access| data.accesses.pass[*access] == *pass) {
                if !columns.contains(&data.accesses.resource[access]) {
                    columns.push(data.accesses.resource[access]);
                }
            }
        }
        let left_out = columns.len().saturating_sub(MOST_COLUMNS);
        columns.truncate(MOST_COLUMNS);
        let step = ((WIDTH - LEFT - 200.0) / columns.len().max(1) as f64).min(24.0);
        let x = |column: usize| LEFT + 28.0 + step * column as f64;
        for (column, &resource) in columns.iter().enumerate() {
            let root = data.resources.root[resource as usize] > 0;
            let under = if root { "text-decoration=\"underline\" font-weight=\"600\"" } else { "" };
            let turn = format!("{under} transform=\"rotate(-55 {:.1} {:.1})\"", x(column) + 3.0, top + HEAD - 8.0);
            let name = fitting(&data.resources.name[resource as usize], 104.0, 11.0);
            self.text(x(column) + 3.0, top + HEAD - 8.0, 11.0, &TEXT, &turn, &name);
        }
        let y = |line: usize| top + HEAD + LINE * line as f64;
        self.lives(data, lines, &columns, x, y);
        for (line, &pass) in lines.iter().enumerate() {
            self.line(data, pass as usize, &columns, y(line), x);
        }
        let end = y(lines.len());
        let mut more = Vec::new();
        if data.shown.len() > lines.len() {
            more.push(format!("{} more passes", data.shown.len() - lines.len()));
        }
        if left_out > 0 {
            more.push(format!("{left_out} more resources"));
        }
        let more = if more.is_empty() { String::new() } else { format!(" · and {}", more.join(", ")) };
        let legend = format!("△ reads  ▼ writes  ◆ both · roots are underlined{more}");
        self.text(16.0, end + 20.0, 11.0, &MUTED, "", &legend);
        end + 34.0
    }

    /// A line down each column from the first use to the last.
    fn lives(
        &mut self,
        data: &PlanData,
        lines: &[u32],
        columns: &[u32],
        x: impl Fn(usize) -> f64,
        y: impl Fn(usize) -> f64,
    ) {
        let turn = |pass: i32| lines.iter().position(|line| *line as i32 == pass);
        for (column, &resource) in columns.iter().enumerate() {
            let Some(first) = turn(data.resources.first[resource as usize]) else { continue };
            let last = turn(data.resources.last[resource as usize]).unwrap_or(lines.len());
            self.rule([x(column), y(first) + LINE / 2.0, x(column), y(last) + LINE / 2.0]);
        }
    }

    fn line(&mut self, data: &PlanData, pass: usize, columns: &[u32], top: f64, x: impl Fn(usize) -> f64) {
        let culled = data.passes.culled[pass] >= 0;
        let (ink, more) = if culled { (&MUTED, "text-decoration=\"line-through\"") } else { (&TEXT, "") };
        if !culled {
            let kind = queue_kind(data, data.passes.queue[pass]);
            let [fill, edge, _] = QUEUES[kind];
            self.add(format_args!(
                "<rect x=\"16\" y=\"{:.1}\" width=\"8\" height=\"8\" rx=\"2\" class=\"rg-b{kind}\" fill=\"{fill}\" \
                 stroke=\"{edge}\"/>",
                top + 6.0
            ));
        }
        self.text(30.0, top + 14.0, 12.0, ink, more, &fitting(&data.passes.name[pass], LEFT - 34.0, 12.0));
        let mut last = 0;
        let mut modes: Vec<(usize, u8)> = Vec::new();
        let all = data.accesses.pass.iter().enumerate().filter(|(_, of)| **of as usize == pass);
        for (access, _) in all {
            let found = columns.iter().position(|column| *column == data.accesses.resource[access]);
            let Some(column) = found else { continue };
            last = last.max(column + 1);
            match modes.iter_mut().find(|(known, _)| *known == column) {
                Some((_, mode)) => *mode |= data.accesses.mode[access],
                None => modes.push((column, data.accesses.mode[access])),
            }
        }
        for (column, mode) in modes {
            self.mark(x(column), top + LINE / 2.0, mode, culled);
        }
        if culled {
            let why = data.texts.get(data.passes.culled[pass]);
            let left = x(last) + 6.0;
            let why = fitting(why, WIDTH - left, 9.5);
            self.text(left, top + 14.0, 11.0, &MUTED, "font-style=\"italic\"", &why);
        }
    }

    fn mark(&mut self, x: f64, y: f64, mode: u8, culled: bool) {
        let (ink, shape) = match mode {
            1 => (&READ, "M0 -5L5.5 4.5L-5.5 4.5ZM0 -2L-3 3L3 3Z"),
            2 => (&WRITE, "M-5.5 -4.5L5.5 -4.5L0 5Z"),
            _ => (&BOTH, "M0 -6L6 0L0 6L-6 0Z"),
        };
        let ink = if culled { &MUTED } else { ink };
        self.add(format_args!(
            "<path transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\" class=\"{}\" fill=\"{}\" fill-rule=\"evenodd\"/>",
            ink.1, ink.0
        ));
    }
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
