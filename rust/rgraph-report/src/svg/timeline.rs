//! Passes by queue on an axis of time or of order, with waits between queues as arrows.

use super::{EDGE, MUTED, Picture, QUEUES, TEXT, TURNED, WAIT, queue_kind, spread, text_width};
use crate::page::data::PlanData;
use crate::page::escaped;
use rgraph_ir::words::{plain, time_phrase};

const BOX: f64 = 34.0;
const NAME: f64 = 11.0;
/// Room for lines from boxes to the names below them.
const LEADER: f64 = 16.0;
const GAP: f64 = 14.0;

/// A queue with its passes.
struct Lane {
    queue: i32,
    top: f64,
    /// Passes and, where a box is too narrow for its name, the place of the name below.
    passes: Vec<(usize, Option<f64>)>,
    height: f64,
}

/// Where a pass lies on the axis, in pixels.
type Ends<'a> = &'a dyn Fn(usize) -> [f64; 2];

impl Picture {
    /// A lane for each queue that is used. Returns where it ends.
    pub(super) fn timeline(&mut self, data: &PlanData, top: f64) -> f64 {
        let live: Vec<usize> = (0..data.passes.name.len()).filter(|pass| data.passes.culled[*pass] < 0).collect();
        let timed = live.iter().any(|pass| data.passes.us[*pass] > 0.0);
        let span = |pass: usize| match timed {
            true => (f64::from(data.passes.start[pass]), f64::from(data.passes.start[pass] + data.passes.us[pass])),
            false => (pass as f64, pass as f64 + 1.0),
        };
        let extent = live.iter().map(|pass| span(*pass).1).fold(0.0, f64::max).max(1e-6);
        let mut queues: Vec<i32> = live.iter().map(|pass| data.passes.queue[*pass]).collect();
        queues.sort_unstable_by_key(|queue| if *queue < 0 { i32::MAX } else { *queue });
        queues.dedup();
        let name = |queue: i32| usize::try_from(queue).map_or("host", |queue| &data.queues[queue].name);
        let widest = queues.iter().map(|queue| text_width(name(*queue), 13.0)).fold(0.0, f64::max);
        let left = EDGE + widest + 12.0;
        let along = self.width - left - EDGE;
        let x = |at: f64| left + at / extent * along;
        let ends = |pass: usize| [x(span(pass).0), x(span(pass).1)];
        let mut lanes = Vec::new();
        let mut below = top;
        for queue in queues {
            let passes = live.iter().copied().filter(|pass| data.passes.queue[*pass] == queue).collect();
            let lane = self.lane(data, queue, below, passes, &ends, left);
            below += lane.height;
            lanes.push(lane);
        }
        self.ruler(left, below, timed.then_some(extent), live.len());
        for lane in &lanes {
            self.text(EDGE, lane.top + 21.0, 13.0, &TEXT, "font-weight=\"600\"", name(lane.queue));
            self.boxes(data, lane, &ends);
        }
        self.waits(data, &lanes, &ends);
        below + 22.0
    }

    /// Decides where names are written. As many as there is room for stand below the boxes; of more, the longest.
    fn lane(&self, data: &PlanData, queue: i32, top: f64, passes: Vec<usize>, ends: Ends<'_>, left: f64) -> Lane {
        let fits = |pass: usize| {
            let [begin, end] = ends(pass);
            text_width(&data.passes.name[pass], NAME) + 12.0 <= end - begin
        };
        let room = ((self.width - EDGE - left) / TURNED) as usize;
        let mut outside: Vec<usize> = passes.iter().copied().filter(|pass| !fits(*pass)).collect();
        if outside.len() > room {
            outside.sort_by(|a, b| data.passes.us[*b].total_cmp(&data.passes.us[*a]));
            outside.truncate(room);
        }
        outside.sort_by(|a, b| ends(*a)[0].total_cmp(&ends(*b)[0]));
        let wanted: Vec<f64> = outside.iter().map(|pass| ends(*pass).iter().sum::<f64>() / 2.0).collect();
        let places = spread(&wanted, [left + TURNED / 2.0, self.width - EDGE - TURNED / 2.0]);
        let longest = outside.iter().map(|pass| text_width(&data.passes.name[*pass], NAME)).fold(0.0, f64::max);
        let below = if outside.is_empty() { 0.0 } else { LEADER + longest };
        let at = |pass| outside.iter().position(|other| *other == pass).map(|at| places[at]);
        let passes = passes.into_iter().map(|pass| (pass, at(pass))).collect();
        Lane { queue, top, passes, height: BOX + below + GAP }
    }

    fn boxes(&mut self, data: &PlanData, lane: &Lane, ends: Ends<'_>) {
        let mut drawn = f64::MIN;
        for &(pass, below) in &lane.passes {
            let [left, right] = ends(pass);
            if let Some(place) = below {
                let (from, to) = ((left + right) / 2.0, lane.top + BOX);
                self.rule([from, to, place, to + LEADER - 4.0]);
                let name = &data.passes.name[pass];
                self.turned([place - 3.5, to + LEADER], 90.0, NAME, &TEXT, "", name);
            }
            // Boxes narrower than a pixel are seen as one.
            if right >= drawn + 0.8 {
                drawn = right;
                let inside = text_width(&data.passes.name[pass], NAME) + 12.0 <= right - left;
                self.pass_box(data, pass, [left, lane.top, (right - left - 1.0).max(1.0)], inside);
            }
        }
    }

    fn pass_box(&mut self, data: &PlanData, pass: usize, [left, top, width]: [f64; 3], named: bool) {
        let kind = queue_kind(data, data.passes.queue[pass]);
        let [fill, edge, ink] = QUEUES[kind];
        let name = escaped(&plain(&data.passes.name[pass]));
        self.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BOX}\" rx=\"{}\" class=\"rg-b{kind}\" \
             fill=\"{fill}\" stroke=\"{edge}\"><title>{name}</title></rect>",
            if width > 8.0 { 4 } else { 0 }
        ));
        if named {
            self.add(format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NAME}\" font-weight=\"600\" class=\"rg-t{kind}\" \
                 fill=\"{ink}\" pointer-events=\"none\">{name}</text>",
                left + 6.0,
                top + BOX / 2.0 + 4.0
            ));
        }
    }

    /// Numbers of the axis: times, or positions of passes, in steps that people count in.
    fn ruler(&mut self, left: f64, top: f64, extent: Option<f64>, passes: usize) {
        let across = self.width - left - EDGE;
        self.rule([left, top, left + across, top]);
        let most = extent.unwrap_or(passes as f64);
        let step = round_step(most / (across / 120.0).max(1.0)).max(if extent.is_some() { 0.0 } else { 1.0 });
        let last = if step > 0.0 { (most / step + 1e-9).floor() as usize } else { 0 };
        for at in 0..=last {
            let value = at as f64 * step;
            let x = left + if most > 0.0 { value / most * across } else { 0.0 };
            let text = if extent.is_some() { time_phrase(value) } else { format!("{value:.0}") };
            let anchor = match at {
                0 => "start",
                _ if x + text_width(&text, 10.0) / 2.0 > left + across => "end",
                _ => "middle",
            };
            self.rule([x, top, x, top + 4.0]);
            self.text(x, top + 16.0, 10.0, &MUTED, &format!("text-anchor=\"{anchor}\""), &text);
        }
    }

    /// Arrows from what signals to what waits.
    fn waits(&mut self, data: &PlanData, lanes: &[Lane], ends: Ends<'_>) {
        let top_of = |pass: usize| {
            let lane = lanes.iter().find(|lane| lane.queue == data.passes.queue[pass]);
            lane.map_or(0.0, |lane| lane.top)
        };
        let mut drawn: Vec<f64> = Vec::new();
        for (wait, &batch) in data.waits.batch.iter().enumerate() {
            let source = data.waits.source[wait];
            let to = data.batches.first[batch as usize];
            if source < 0 || to < 0 || data.batches.last[source as usize] < 0 {
                continue;
            }
            let (from, to) = (data.batches.last[source as usize] as usize, to as usize);
            let (x1, x2) = (ends(from)[1], ends(to)[0]);
            if drawn.iter().any(|other| (other - x2).abs() < 5.0) {
                continue;
            }
            drawn.push(x2);
            let (lane1, lane2) = (top_of(from), top_of(to));
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
}

/// The least of 1, 2 and 5 times a power of ten that is no smaller.
fn round_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 0.0;
    }
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * power)
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(least)
}
