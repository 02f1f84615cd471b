//! The heaps: bytes upwards, passes to the right, a block for each placement. Blocks too small for their names have a
//! number, and the names are in a key below.

use super::{EDGE, MUTED, Picture, TEXT, text_width};
use crate::escape::escaped;
use crate::page::data::PlanData;
use rgraph_ir::words::{bytes_phrase, plain};

/// Height of the largest heap, and of the smallest.
const HEIGHTS: [f64; 2] = [360.0, 44.0];
const NAME: f64 = 11.0;
/// Blocks at most: a picture of more is none.
const MOST_BLOCKS: usize = 5000;
const TINTS: [&str; 6] = ["#bcd7fb", "#ffd2a1", "#aee8dd", "#e2d0fb", "#fbd0e0", "#e9e6a4"];

/// How a block carries its name.
#[derive(PartialEq)]
enum Label {
    Across,
    Upwards,
    Number,
}

impl Picture {
    /// The heaps below some height. Returns where they end.
    pub(super) fn memory(&mut self, data: &PlanData, top: f64) -> f64 {
        let largest = data.heaps.iter().map(|(_, size)| *size).max().unwrap_or(0).max(1);
        let live = data.passes.culled.iter().filter(|why| **why < 0).count().max(1);
        let mut below = top;
        let mut key: Vec<String> = Vec::new();
        for (heap, (name, size)) in data.heaps.iter().enumerate() {
            self.text(
                EDGE,
                below + 12.0,
                12.0,
                &TEXT,
                "font-weight=\"600\"",
                &format!("{name}, {}", bytes_phrase(*size)),
            );
            let height = (*size as f64 / largest as f64 * HEIGHTS[0]).max(HEIGHTS[1]);
            self.heap(data, heap as i32, [below + 20.0, height], *size, live, &mut key);
            below += height + 34.0;
        }
        if data.heaps.is_empty() {
            self.text(EDGE, below + 12.0, 12.0, &MUTED, "", "no memory: nothing is transient");
            below += 24.0;
        }
        if key.is_empty() {
            return below;
        }
        for line in self.wrapped(&key, NAME) {
            self.text(EDGE, below + 8.0, NAME, &TEXT, "", &line);
            below += 16.0;
        }
        below + 12.0
    }

    fn heap(
        &mut self,
        data: &PlanData,
        heap: i32,
        [top, height]: [f64; 2],
        size: u64,
        live: usize,
        key: &mut Vec<String>,
    ) {
        let left = EDGE + 64.0;
        let along = self.width - left - EDGE;
        let x = |pass: f64| left + pass / live as f64 * along;
        let y = |byte: f64| top + height - byte / size.max(1) as f64 * height;
        for share in [0.0, 0.5, 1.0] {
            let at = y(share * size as f64);
            self.rule([left - 4.0, at, self.width - EDGE, at]);
            let text = bytes_phrase((share * size as f64) as u64);
            self.text(left - 8.0, at + 3.5, 10.0, &MUTED, "text-anchor=\"end\"", &text);
        }
        let columns = &data.resources;
        let inside = (0..columns.name.len()).filter(|resource| columns.heap[*resource] == heap);
        for resource in inside.take(MOST_BLOCKS) {
            let Ok(first) = usize::try_from(columns.first[resource]) else { continue };
            let last = usize::try_from(columns.last[resource]).unwrap_or(live - 1).min(live - 1);
            let (begin, end) = (x(first as f64), x(last as f64 + 1.0));
            let (offset, bytes) = (columns.offset[resource] as f64, columns.placed[resource] as f64);
            let place =
                [begin, y(offset + bytes), (end - begin).max(1.0), (bytes / size.max(1) as f64 * height).max(0.7)];
            self.block(data, resource, place, key);
        }
    }

    fn block(&mut self, data: &PlanData, resource: usize, [left, top, width, height]: [f64; 4], key: &mut Vec<String>) {
        let name = &data.resources.name[resource];
        let size = bytes_phrase(data.resources.placed[resource] as u64);
        let tint = resource % TINTS.len();
        self.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"rg-m{tint} rg-block\" \
             fill=\"{}\" stroke=\"#667180\" stroke-width=\"0.7\"><title>{}</title></rect>",
            TINTS[tint],
            escaped(&format!("{}, {size}", plain(name)))
        ));
        let long = text_width(name, NAME) + 6.0;
        let label = match (long <= width && height >= 13.0, long <= height && width >= 13.0) {
            (true, _) => Label::Across,
            (_, true) => Label::Upwards,
            _ => Label::Number,
        };
        let middle = [left + width / 2.0, top + height / 2.0];
        match label {
            Label::Across => {
                self.text(middle[0], middle[1] + 4.0, NAME, &TEXT, "text-anchor=\"middle\"", name);
            }
            Label::Upwards => {
                self.turned([middle[0] + 4.0, middle[1]], -90.0, NAME, &TEXT, "text-anchor=\"middle\"", name);
            }
            Label::Number => {
                let number = (key.len() + 1).to_string();
                if text_width(&number, 9.0) + 2.0 <= width && height >= 9.0 {
                    self.text(middle[0], middle[1] + 3.2, 9.0, &TEXT, "text-anchor=\"middle\"", &number);
                }
                key.push(format!("{number} {name} {size}"));
            }
        }
    }
}
