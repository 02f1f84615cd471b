//! Placements of earlier bakes: a frame in which other things changed gets the same offsets as a search would find
//! again. Placing is a function of the values compared here, so the offsets are the same.

use super::item::{Item, Peak};

/// Placements that are kept: a bake that cuts intervals for bytes makes some, each in up to three classes of memory.
const KEPT: usize = 8;

/// What decides a placement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Question<'a> {
    /// What is placed.
    pub items: &'a [Item],
    /// Effort, and bytes that are aimed at.
    pub effort: (u32, Option<u64>),
    /// On several queues: by item, where its uses end, and up to where every use is known to come before it.
    pub happens: Option<[&'a [[u32; 4]]; 2]>,
}

#[derive(Default, Debug)]
struct Answer {
    items: Vec<Item>,
    effort: (u32, Option<u64>),
    several: bool,
    happens: [Vec<[u32; 4]>; 2],
    offsets: Vec<u64>,
    peak: Peak,
}

impl Answer {
    fn question(&self) -> Question<'_> {
        let [ended, known] = &self.happens;
        Question {
            items: &self.items,
            effort: self.effort,
            happens: self.several.then_some([ended.as_slice(), known.as_slice()]),
        }
    }
}

/// The last placements.
#[derive(Default, Debug)]
pub(crate) struct Remembered {
    answers: Vec<Answer>,
    next: usize,
}

impl Remembered {
    /// Offsets and peak of a placement that was made before. O(items · placements kept).
    pub(crate) fn find(&self, question: Question<'_>) -> Option<(&[u64], Peak)> {
        let answer = self.answers.iter().find(|answer| answer.question() == question)?;
        Some((&answer.offsets, Peak { nodes: 0, ..answer.peak }))
    }

    /// Keeps a placement in place of the oldest one. O(items).
    pub(crate) fn keep(&mut self, question: Question<'_>, offsets: &[u64], peak: Peak) {
        if self.answers.len() < KEPT {
            self.answers.resize_with(KEPT, Answer::default);
        }
        let answer = &mut self.answers[self.next];
        self.next = (self.next + 1) % KEPT;
        question.items.clone_into(&mut answer.items);
        answer.effort = question.effort;
        answer.several = question.happens.is_some();
        let happens = question.happens.unwrap_or_default();
        answer.happens.iter_mut().zip(happens).for_each(|(own, given)| given.clone_into(own));
        offsets.clone_into(&mut answer.offsets);
        answer.peak = peak;
    }
}

#[cfg(test)]
mod tests;
