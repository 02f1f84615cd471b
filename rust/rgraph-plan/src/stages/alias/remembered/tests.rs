//! What is the same question, and how many answers are kept.

use super::*;
use crate::stages::alias::tests::item;

#[test]
fn an_answer_is_found_for_the_same_question_alone() {
    let items = [item(4, 0, 1), item(2, 1, 2)];
    let (ended, known, other) = ([[1, 0, 0, 0]], [[0, 2, 0, 0]], [[0, 3, 0, 0]]);
    let asked = Question { items: &items, effort: (1, Some(64)), happens: Some([&ended, &known]) };
    let peak = Peak { total: 6, lower_bound: 6, swept: 7, nodes: 9 };
    let mut remembered = Remembered::default();
    assert_eq!(remembered.find(asked), None);
    remembered.keep(asked, &[0, 4], peak);
    // Nothing was spent on it this time.
    assert_eq!(remembered.find(asked), Some((&[0, 4][..], Peak { nodes: 0, ..peak })));
    let others = [
        Question { items: &items[..1], ..asked },
        Question { effort: (2, Some(64)), ..asked },
        Question { effort: (1, None), ..asked },
        Question { happens: None, ..asked },
        Question { happens: Some([&[], &[]]), ..asked },
        Question { happens: Some([&ended, &other]), ..asked },
    ];
    for other in others {
        assert_eq!(remembered.find(other), None, "{other:?}");
        remembered.keep(other, &[1], peak);
        assert_eq!(remembered.find(other).map(|(offsets, _)| offsets), Some(&[1][..]));
    }
    assert_eq!(remembered.find(asked).map(|(offsets, _)| offsets), Some(&[0, 4][..]));
}

#[test]
fn the_oldest_answer_makes_room() {
    let mut remembered = Remembered::default();
    let items: Vec<_> = (1..=KEPT as u64 + 2).map(|size| [item(size, 0, 0)]).collect();
    let asked = |at: usize| Question { items: &items[at], effort: (1, None), happens: None };
    for at in 0..items.len() {
        remembered.keep(asked(at), &[at as u64], Peak::default());
        for kept in 0..items.len() {
            let expected = (kept <= at && kept + KEPT > at).then(|| vec![kept as u64]);
            assert_eq!(remembered.find(asked(kept)).map(|(offsets, _)| offsets.to_vec()), expected);
        }
    }
}
