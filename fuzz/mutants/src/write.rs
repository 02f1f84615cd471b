//! Writes a file's text with all its mutants in it, each behind a question to `crate::mutant::on`.

use std::ops::Range;

use crate::find::{Kind, Place};

/// A file with its mutants, and the place of each in the new text.
pub struct Written {
    pub text: String,
    /// Bytes of an alternative and its mutant; bytes of a whole place and all its mutants.
    pub spans: Vec<(Range<usize>, Vec<u32>)>,
}

impl Written {
    /// The mutants of the smallest piece that touches some bytes.
    pub fn blamed(&self, bytes: &Range<usize>) -> Option<&[u32]> {
        let touching = self.spans.iter().filter(|(span, _)| span.start <= bytes.end && bytes.start <= span.end);
        touching.min_by_key(|(span, ids)| (ids.len() > 1, span.len())).map(|(_, ids)| ids.as_slice())
    }
}

/// The text of a file, with each mutant whose number is not 0. `numbers` has a list for each place.
pub fn instrument(text: &str, places: &[Place], numbers: &[Vec<u32>]) -> Written {
    let mut writer = Writer { text, places, numbers, next: 0, out: String::new(), spans: Vec::new() };
    writer.emit(0..text.len());
    assert_eq!(writer.next, places.len(), "each place is within those before it, or behind them");
    Written { text: writer.out, spans: writer.spans }
}

struct Writer<'a> {
    text: &'a str,
    places: &'a [Place],
    numbers: &'a [Vec<u32>],
    /// The next place in the order of the text.
    next: usize,
    out: String,
    spans: Vec<(Range<usize>, Vec<u32>)>,
}

impl Writer<'_> {
    /// Write some bytes, with the places within them.
    fn emit(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(place) = self.places.get(self.next) {
            let inside = place.bytes.start >= at && place.bytes.end <= range.end;
            if !inside || (place.bytes.is_empty() && place.bytes.start == range.end) {
                break;
            }
            self.out.push_str(&self.text[at..place.bytes.start]);
            at = place.bytes.end;
            let index = self.next;
            self.next += 1;
            self.place(index);
        }
        self.out.push_str(&self.text[at..range.end]);
    }

    fn place(&mut self, index: usize) {
        let (place, numbers) = (&self.places[index], &self.numbers[index]);
        let used: Vec<u32> = numbers.iter().copied().filter(|&id| id != 0).collect();
        let start = self.out.len();
        match &place.kind {
            Kind::Result { values } => {
                for (value, &id) in values.iter().zip(numbers).filter(|&(_, &id)| id != 0) {
                    let from = self.out.len();
                    self.out.push_str(&format!(" if crate::mutant::on({id}) {{ return {value}; }}"));
                    self.spans.push((from..self.out.len(), vec![id]));
                }
                return;
            }
            Kind::Arm => {
                if let [id] = used[..] {
                    self.out.push_str(&format!(" if !crate::mutant::on({id})"));
                    self.spans.push((start..self.out.len(), vec![id]));
                }
                return;
            }
            Kind::Binary { left, right, others } => {
                let (left, right) = (left.clone(), right.clone());
                self.out.push('(');
                for (other, &id) in others.iter().zip(numbers).filter(|&(_, &id)| id != 0) {
                    let value = format!("({}) {other} ({})", &self.text[left.clone()], &self.text[right.clone()]);
                    self.alternative(id, &value);
                }
                self.out.push_str(if used.is_empty() { "" } else { "{ " });
                self.emit(left.clone());
                self.out.push_str(&self.text[left.end..right.start]);
                self.emit(right);
            }
            Kind::Unary { operand } => {
                let (operand, whole) = (operand.clone(), place.bytes.clone());
                self.out.push('(');
                if let [id] = used[..] {
                    self.alternative(id, &self.text[operand.clone()]);
                }
                self.out.push_str(if used.is_empty() { "" } else { "{ " });
                self.out.push_str(&self.text[whole.start..operand.start]);
                self.emit(operand);
            }
            Kind::Guard => {
                let bytes = place.bytes.clone();
                self.out.push('(');
                for (value, &id) in ["true", "false"].iter().zip(numbers).filter(|&(_, &id)| id != 0) {
                    self.alternative(id, value);
                }
                self.out.push_str(if used.is_empty() { "" } else { "{ " });
                self.emit(bytes);
            }
        }
        self.out.push_str(if used.is_empty() { ")" } else { " })" });
        self.spans.push((start..self.out.len(), used));
    }

    fn alternative(&mut self, id: u32, value: &str) {
        let from = self.out.len();
        self.out.push_str(&format!("if crate::mutant::on({id}) {{ {value} }} else "));
        self.spans.push((from..self.out.len(), vec![id]));
    }
}
