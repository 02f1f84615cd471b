//! "Did you mean …?": the known word nearest to an unknown one.

/// Longest word compared, in bytes: edit distance is quadratic in it.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if any is near enough to be what was meant: at most one edit more than a third of
/// the word's letters, case aside; else the first that begins with it. The first of equally near ones.
/// O(candidates × letters²).
///
/// # Source
/// Optimal string alignment distance (insert, delete, replace, swap neighbours), by the `strsim` crate.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let limit = 1 + word.chars().count() / 3;
    let mut best: Option<(usize, &str)> = None;
    let mut longer = None;
    for candidate in candidates {
        if longer.is_none() && word.len() > 2 && candidate.to_lowercase().starts_with(&word) {
            longer = Some(candidate);
        }
        let bound = best.map_or(limit + 1, |(distance, _)| distance);
        if candidate.len() > LONGEST || candidate.len().abs_diff(word.len()) >= bound.saturating_mul(4) {
            continue;
        }
        let distance = strsim::osa_distance(&word, &candidate.to_lowercase());
        if distance < bound && distance < candidate.chars().count() {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate).or(longer)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_strange_one_finds_none() {
        let known = ["sampled", "storage_read", "storage_write", "uniform"];
        assert_eq!(nearest("sampeld", known), Some("sampled"));
        assert_eq!(nearest("STORAGE_WRITE", known), Some("storage_write"));
        assert_eq!(nearest("storage_raed", known), Some("storage_read"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), known), None);
    }

    #[test]
    fn the_beginning_of_a_word_is_completed() {
        assert_eq!(nearest("async", ["compute", "async_compute", "async_copy"]), Some("async_compute"));
    }

    #[test]
    fn the_first_of_equally_near_words_is_offered() {
        assert_eq!(nearest("lid", ["lit", "lip"]), Some("lit"));
    }

    #[test]
    fn a_word_of_one_letter_is_not_mistaken_for_every_other() {
        assert_eq!(nearest("x", ["a", "b"]), None);
    }
}
