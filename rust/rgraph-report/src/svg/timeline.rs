//! Passes by queue on an axis of time or of order, with waits between queues as arrows. Arrows run between names, never
//! over one: each has a place among the names below the lanes that it comes past.

use std::fmt::Write as _;

use super::{EDGE, MUTED, Picture, QUEUES, TEXT, TURNED, WAIT, queue_kind, spread, text_width};
use crate::escape::escaped;
use crate::page::data::PlanData;
use rgraph_ir::words::{plain, time_phrase};

const BOX: f64 = 34.0;
const NAME: f64 = 11.0;
/// Room for lines from boxes to the names below them.
const LEADER: f64 = 16.0;
const GAP: f64 = 14.0;
/// Arrows begin and end so far inside of their boxes.
const INSIDE: f64 = 3.0;
/// Waits that end closer to each other are one arrow, if there is room for so many; else those that end closer than two
/// names.
const SAME: [f64; 2] = [5.0, 2.0 * TURNED];

/// A queue with its passes.
struct Lane {
    queue: i32,
    top: f64,
    /// Passes and, where a box is too narrow for its name, the place of the name below.
    passes: Vec<(usize, Option<f64>)>,
    /// Arrows that come past the names, and where.
    past: Vec<(usize, f64)>,
    height: f64,
}

/// One queue waits for another.
struct Arrow {
    /// Where it begins and ends.
    ends: [f64; 2],
    /// Numbers of the lanes in which it does.
    lanes: [usize; 2],
    /// Where it is at each lane below the upper one, to the lower one: between the boxes of those in between.
    at: Vec<f64>,
}

impl Arrow {
    fn upper(&self) -> usize {
        self.lanes[0].min(self.lanes[1])
    }

    fn lower(&self) -> usize {
        self.lanes[0].max(self.lanes[1])
    }
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
        let boxes = |queue: i32| live.iter().copied().filter(move |pass| data.passes.queue[*pass] == queue);
        let room = (along / TURNED) as usize;
        let mut arrows = self.arrows(data, &queues, &ends, SAME[0]);
        if (0..queues.len()).any(|lane| past(&arrows, lane).len() > room / 2) {
            arrows = self.arrows(data, &queues, &ends, SAME[1]);
        }
        let mut lanes = Vec::new();
        let mut below = top;
        for (at, queue) in queues.into_iter().enumerate() {
            let lane = Lane { queue, top: below, passes: Vec::new(), past: past(&arrows, at), height: 0.0 };
            let lane = self.lane(data, lane, boxes(queue).collect(), &ends, left);
            below += lane.height;
            lanes.push(lane);
        }
        self.ruler(left, below, timed.then_some(extent), live.len());
        for lane in &lanes {
            self.text(EDGE, lane.top + 21.0, 13.0, &TEXT, "font-weight=\"600\"", name(lane.queue));
            self.boxes(data, lane, &ends);
        }
        for (at, arrow) in arrows.iter().enumerate() {
            self.arrow(at, arrow, &lanes);
        }
        below + 22.0
    }

    /// Decides where names are written, and where arrows come past them. As many names as there is room for stand below
    /// the boxes; of more, those of the longest passes.
    fn lane(&self, data: &PlanData, lane: Lane, passes: Vec<usize>, ends: Ends<'_>, left: f64) -> Lane {
        let fits = |pass: usize| {
            let [begin, end] = ends(pass);
            text_width(&data.passes.name[pass], NAME) + 12.0 <= end - begin
        };
        let room = (((self.width - EDGE - left) / TURNED) as usize).saturating_sub(lane.past.len());
        let mut outside: Vec<usize> = passes.iter().copied().filter(|pass| !fits(*pass)).collect();
        if outside.len() > room {
            outside.sort_by(|a, b| data.passes.us[*b].total_cmp(&data.passes.us[*a]));
            outside.truncate(room);
        }
        let longest = outside.iter().map(|pass| text_width(&data.passes.name[*pass], NAME)).fold(0.0, f64::max);
        let below = if outside.is_empty() { 0.0 } else { LEADER + longest };
        let middle = |pass: usize| ends(pass).iter().sum::<f64>() / 2.0;
        let mut items: Vec<(f64, Result<usize, usize>)> =
            outside.iter().map(|pass| (middle(*pass), Ok(*pass))).collect();
        items.extend(lane.past.iter().map(|&(arrow, at)| (at, Err(arrow))));
        items.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted: Vec<f64> = items.iter().map(|item| item.0).collect();
        let places = spread(&wanted, [left + TURNED / 2.0, self.width - EDGE - TURNED / 2.0]);
        let place = |of| items.iter().position(|item| item.1 == of).map(|at| places[at]);
        let past = lane.past.iter().map(|&(arrow, at)| (arrow, place(Err(arrow)).unwrap_or(at))).collect();
        let passes = passes.into_iter().map(|pass| (pass, place(Ok(pass)))).collect();
        Lane { passes, past, height: BOX + below + GAP, ..lane }
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

    /// Arrows from what signals to what waits, those that end within some pixels of another one left out.
    fn arrows(&self, data: &PlanData, queues: &[i32], ends: Ends<'_>, same: f64) -> Vec<Arrow> {
        let mut arrows: Vec<Arrow> = Vec::new();
        for (wait, &batch) in data.waits.batch.iter().enumerate() {
            let (source, to) = (data.waits.source[wait], data.batches.first[batch as usize]);
            let Some(from) = usize::try_from(source).ok().map(|source| data.batches.last[source]) else { continue };
            let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else { continue };
            let lane = |pass: usize| queues.iter().position(|queue| *queue == data.passes.queue[pass]);
            let (Some(one), Some(other)) = (lane(from), lane(to)) else { continue };
            let inside = |pass: usize| INSIDE.min((ends(pass)[1] - ends(pass)[0]) / 2.0);
            let [x1, x2] = [ends(from)[1] - inside(from), ends(to)[0] + inside(to)];
            if one == other || arrows.iter().any(|drawn| drawn.lanes[1] == other && (drawn.ends[1] - x2).abs() < same) {
                continue;
            }
            let lower = if one < other { x2 } else { x1 };
            let mut at = vec![lower];
            for between in (one.min(other) + 1..one.max(other)).rev() {
                at.push(self.free(data, queues[between], at[at.len() - 1], ends));
            }
            at.reverse();
            arrows.push(Arrow { ends: [x1, x2], lanes: [one, other], at });
        }
        arrows
    }

    /// The place next to another one at which no pass of a queue is; the same place where they leave no room.
    fn free(&self, data: &PlanData, queue: i32, wanted: f64, ends: Ends<'_>) -> f64 {
        let passes = (0..data.passes.name.len()).filter(|pass| data.passes.culled[*pass] < 0);
        let mut boxes: Vec<[f64; 2]> = passes.filter(|pass| data.passes.queue[*pass] == queue).map(ends).collect();
        boxes.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut gaps = Vec::new();
        let mut begin = f64::MIN;
        for [left, right] in boxes {
            gaps.push([begin, left - INSIDE]);
            begin = begin.max(right + INSIDE);
        }
        gaps.push([begin, self.width - EDGE]);
        let places = gaps.iter().filter(|gap| gap[0] <= gap[1]).map(|gap| wanted.clamp(gap[0], gap[1]));
        places.min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs())).unwrap_or(wanted)
    }

    /// Down or up, with bends between boxes and names only. `index` is the arrow's number.
    fn arrow(&mut self, index: usize, arrow: &Arrow, lanes: &[Lane]) {
        let (upper, lower) = (arrow.upper(), arrow.lower());
        let [first, last] = if arrow.lanes[0] == upper { arrow.ends } else { [arrow.ends[1], arrow.ends[0]] };
        // Neighbouring arrows bend at different heights.
        let step = (index % 3) as f64 * 3.0;
        let mut line = vec![[first, lanes[upper].top + BOX]];
        let mut turn = |x: f64, y: f64| {
            let before = line[line.len() - 1][0];
            line.extend([[before, y], [x, y]]);
        };
        for lane in upper..lower {
            let place = lanes[lane].past.iter().find(|past| past.0 == index).map_or(last, |past| past.1);
            turn(place, lanes[lane].top + BOX + 4.0 + step);
            turn(arrow.at[lane - upper], lanes[lane + 1].top - 4.0 - step);
        }
        line.push([last, lanes[lower].top]);
        if arrow.lanes[0] == lower {
            line.reverse();
        }
        let [x, y] = line[line.len() - 1];
        let back = if arrow.lanes[0] == lower { y + 6.0 } else { y - 6.0 };
        let path = rounded(&line);
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" class=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/><path class=\"rg-tip\" \
             fill=\"{}\" d=\"M{:.1} {back:.1}L{x:.1} {y:.1}L{:.1} {back:.1}Z\"/>",
            WAIT.1,
            WAIT.0,
            WAIT.0,
            x - 3.5,
            x + 3.5
        ));
    }
}

/// Arrows that come past the names of a lane, and where they want to.
fn past(arrows: &[Arrow], lane: usize) -> Vec<(usize, f64)> {
    let passes = arrows.iter().enumerate().filter(|(_, arrow)| (arrow.upper()..arrow.lower()).contains(&lane));
    passes.map(|(at, arrow)| (at, arrow.at[lane - arrow.upper()])).collect()
}

/// A line of straight parts, across and down, with round corners.
fn rounded(line: &[[f64; 2]]) -> String {
    let mut path = format!("M{:.1} {:.1}", line[0][0], line[0][1]);
    for corner in line.windows(3) {
        let towards = |[x, y]: [f64; 2], [to_x, to_y]: [f64; 2]| {
            let long = (to_x - x).hypot(to_y - y);
            let share = if long > 0.0 { (long / 2.0).min(4.0) / long } else { 0.0 };
            [x + (to_x - x) * share, y + (to_y - y) * share]
        };
        let [begin, end] = [towards(corner[1], corner[0]), towards(corner[1], corner[2])];
        let _ = write!(
            path,
            "L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            begin[0], begin[1], corner[1][0], corner[1][1], end[0], end[1]
        );
    }
    let [x, y] = line[line.len() - 1];
    let _ = write!(path, "L{x:.1} {y:.1}");
    path
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
