//! Lifetimes and accesses: a row for each resource, a column for each pass in the order of the plan.

use std::collections::HashMap;

use super::{EDGE, MUTED, Picture, QUEUES, TEXT, TURNED, fitting, queue_kind, text_width};
use crate::page::data::PlanData;
use rgraph_ir::words::bytes_phrase;

const LINE: f64 = 18.0;
/// Room for a size behind the name.
const SIZE: f64 = 62.0;
/// Rows at most: a picture of more is none.
const MOST_LINES: usize = 1000;

impl Picture {
    /// The rows below some height. Returns where they end.
    pub(super) fn resources(&mut self, data: &PlanData, top: f64) -> f64 {
        let columns = &data.resources;
        let mut rows: Vec<usize> = (0..columns.name.len()).filter(|resource| columns.first[*resource] >= 0).collect();
        rows.sort_by_key(|resource| (columns.first[*resource], columns.last[*resource]));
        let left_out = rows.len().saturating_sub(MOST_LINES);
        rows.truncate(MOST_LINES);
        let live = data.passes.culled.iter().filter(|why| **why < 0).count();
        let widest = rows.iter().map(|row| text_width(&columns.name[*row], 12.0)).fold(0.0, f64::max);
        let left = EDGE + widest.min(self.width * 0.6) + SIZE + 8.0;
        let step = (self.width - left - EDGE) / live.max(1) as f64;
        let x = |pass: usize| left + step * pass as f64;
        let below = self.pass_names(data, live, top, step, &x);
        let y = |row: usize| below + LINE * row as f64;
        let mut modes: HashMap<(usize, usize), u8> = HashMap::new();
        for access in 0..data.accesses.pass.len() {
            let key = (data.accesses.resource[access] as usize, data.accesses.pass[access] as usize);
            *modes.entry(key).or_default() |= data.accesses.mode[access];
        }
        for (row, &resource) in rows.iter().enumerate() {
            let root = columns.root[resource] > 0;
            let under = if root { "text-decoration=\"underline\" font-weight=\"600\"" } else { "" };
            let name = fitting(&columns.name[resource], left - SIZE - EDGE - 8.0, 12.0);
            self.text(EDGE, y(row) + 13.0, 12.0, &TEXT, under, &name);
            let size = bytes_phrase(columns.bytes[resource]);
            self.text(left - 8.0, y(row) + 13.0, 10.0, &MUTED, "text-anchor=\"end\"", &size);
            let first = columns.first[resource] as usize;
            let last = usize::try_from(columns.last[resource]).unwrap_or(live).min(live.saturating_sub(1));
            self.add(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"11\" rx=\"3\" class=\"rg-bar\" fill=\"#f5f6f8\" \
                 stroke=\"#8a94a3\"/>",
                x(first),
                y(row) + 3.5,
                (x(last + 1) - x(first)).max(1.0)
            ));
            let mut passes: Vec<(usize, u8)> =
                (first..=last).filter_map(|pass| Some((pass, *modes.get(&(resource, pass))?))).collect();
            passes.sort_unstable();
            for (pass, mode) in passes {
                self.mark([x(pass) + step / 2.0, y(row) + 9.0], (step / 12.0).clamp(0.35, 0.8), mode, false);
            }
        }
        let end = y(rows.len());
        let more = if left_out > 0 { format!(" · and {left_out} more resources") } else { String::new() };
        let legend = format!("△ reads  ▼ writes  ◆ both · roots are underlined{more}");
        self.text(EDGE, end + 20.0, 11.0, &MUTED, "", &legend);
        end + 34.0
    }

    /// Names of passes over their columns; where columns are narrower than a line of text, every few. Returns where the
    /// columns begin.
    fn pass_names(&mut self, data: &PlanData, live: usize, top: f64, step: f64, x: &dyn Fn(usize) -> f64) -> f64 {
        let every = (TURNED / step).ceil().max(1.0) as usize;
        let named: Vec<usize> = (0..live).step_by(every).collect();
        let longest = named.iter().map(|pass| text_width(&data.passes.name[*pass], 11.0)).fold(0.0, f64::max);
        let below = top + longest + 12.0;
        for &pass in &named {
            let middle = x(pass) + step / 2.0;
            self.turned([middle + 4.0, below - 8.0], -90.0, 11.0, &TEXT, "", &data.passes.name[pass]);
        }
        for pass in 0..live {
            let [_, edge, _] = QUEUES[queue_kind(data, data.passes.queue[pass])];
            self.add(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"3\" fill=\"{edge}\"/>",
                x(pass),
                below - 4.0,
                (step - 0.5).max(0.5)
            ));
        }
        below
    }
}
