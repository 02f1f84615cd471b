//! Passes downwards, a column for each resource; culled passes are struck out, with their reasons.

use super::{EDGE, MUTED, Picture, QUEUES, TEXT, fitting, queue_kind, text_width};
use crate::page::data::PlanData;

const LINE: f64 = 20.0;
/// Passes that the matrix has at most: a picture of more is none.
const MOST_LINES: usize = 160;
/// Widest and narrowest distance of columns.
const STEPS: [f64; 2] = [24.0, 11.0];
/// Names of resources rise by this angle, in degrees.
const RISE: f64 = 55.0;

impl Picture {
    /// The matrix below some height. Returns where it ends.
    pub(super) fn matrix(&mut self, data: &PlanData, top: f64) -> f64 {
        let lines = &data.shown[..data.shown.len().min(MOST_LINES)];
        let name = |pass: &u32| text_width(&data.passes.name[*pass as usize], 12.0);
        let left = lines.iter().map(name).fold(0.0, f64::max).min(self.width * 0.6) + 30.0 + 12.0;
        let mut columns: Vec<u32> = Vec::new();
        for pass in lines {
            for access in (0..data.accesses.pass.len()).filter(|access| data.accesses.pass[*access] == *pass) {
                if !columns.contains(&data.accesses.resource[access]) {
                    columns.push(data.accesses.resource[access]);
                }
            }
        }
        // The names of the last columns reach over the right edge of the columns.
        let room = (self.width - left - EDGE - 60.0).max(STEPS[1]);
        let left_out = columns.len().saturating_sub((room / STEPS[1]) as usize);
        columns.truncate(columns.len() - left_out);
        let named = |resource: &u32| text_width(&data.resources.name[*resource as usize], 11.0);
        let longest = columns.iter().map(named).fold(0.0, f64::max);
        let (cosine, sine) = (RISE.to_radians().cos(), RISE.to_radians().sin());
        let step = (room / columns.len().max(1) as f64).clamp(STEPS[1], STEPS[0]);
        let reach = columns.len() as f64 * step + left;
        // Where the names would leave the picture they are turned upright.
        let upright = reach + longest * cosine > self.width;
        let head = if upright { longest + 16.0 } else { longest * sine + 20.0 };
        let x = |column: usize| left + 8.0 + step * column as f64;
        for (column, &resource) in columns.iter().enumerate() {
            let root = data.resources.root[resource as usize] > 0;
            let under = if root { "text-decoration=\"underline\" font-weight=\"600\"" } else { "" };
            let name = &data.resources.name[resource as usize];
            let at = [x(column) + 3.0, top + head - 8.0];
            self.turned(at, if upright { -90.0 } else { -RISE }, 11.0, &TEXT, under, name);
        }
        let y = |line: usize| top + head + LINE * line as f64;
        self.lives(data, lines, &columns, x, y);
        for (line, &pass) in lines.iter().enumerate() {
            self.line(data, pass as usize, &columns, [y(line), left], x);
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
        self.text(EDGE, end + 20.0, 11.0, &MUTED, "", &legend);
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

    fn line(&mut self, data: &PlanData, pass: usize, columns: &[u32], [top, left]: [f64; 2], x: impl Fn(usize) -> f64) {
        let culled = data.passes.culled[pass] >= 0;
        let (ink, more) = if culled { (&MUTED, "text-decoration=\"line-through\"") } else { (&TEXT, "") };
        if !culled {
            let kind = queue_kind(data, data.passes.queue[pass]);
            let [fill, edge, _] = QUEUES[kind];
            self.add(format_args!(
                "<rect x=\"{EDGE}\" y=\"{:.1}\" width=\"8\" height=\"8\" rx=\"2\" class=\"rg-b{kind}\" fill=\"{fill}\" \
                 stroke=\"{edge}\"/>",
                top + 6.0
            ));
        }
        self.text(30.0, top + 14.0, 12.0, ink, more, &fitting(&data.passes.name[pass], left - 36.0, 12.0));
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
            self.mark([x(column), top + LINE / 2.0], 1.0, mode, culled);
        }
        if culled {
            let left = x(last) + 6.0;
            let why = fitting(data.texts.get(data.passes.culled[pass]), self.width - left - 4.0, 11.0);
            self.text(left, top + 14.0, 11.0, &MUTED, "font-style=\"italic\"", &why);
        }
    }
}
