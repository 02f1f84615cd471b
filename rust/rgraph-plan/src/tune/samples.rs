//! Measured times, of which some are outliers.

use std::collections::BTreeMap;

/// The value in the middle, or the mean of the two there; `None` of none. O(n log n).
pub fn median(values: &[f64]) -> Option<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    let upper = *ordered.get(ordered.len() / 2)?;
    Some(if ordered.len() % 2 == 1 { upper } else { (ordered[ordered.len() / 2 - 1] + upper) / 2.0 })
}

/// Times in microseconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// One more.
    pub fn add(&mut self, us: f64) {
        self.0.push(us);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value in the middle.
    pub fn median(&self) -> Option<f64> {
        median(&self.0)
    }

    /// The smallest; infinity of none.
    pub fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The largest; 0 of none.
    pub fn most(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The standard error of the median, from the median of absolute deviations, which outliers do not move.
    ///
    /// # Source
    /// Rousseeuw and Croux, "Alternatives to the Median Absolute Deviation", JASA 1993 (1.4826 makes the deviation that
    /// of a normal distribution); the error of a median of n normal values is 1.2533 σ / √n.
    pub fn error(&self) -> f64 {
        let Some(middle) = self.median() else { return 0.0 };
        let deviations: Vec<f64> = self.0.iter().map(|us| (us - middle).abs()).collect();
        1.2533 * 1.4826 * median(&deviations).unwrap_or(0.0) / (self.len() as f64).sqrt()
    }
}

/// Durations of passes over some frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Durations(BTreeMap<String, Vec<f64>>);

impl Durations {
    pub(super) fn add(&mut self, passes: &[(String, f64)]) {
        for (name, us) in passes.iter().filter(|(_, us)| us.is_finite() && *us >= 0.0) {
            match self.0.get_mut(name) {
                Some(known) => known.push(*us),
                None => drop(self.0.insert(name.clone(), vec![*us])),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The median of each pass, by name.
    pub(super) fn medians(&self) -> Vec<(String, f64)> {
        self.0.iter().filter_map(|(name, times)| Some((name.clone(), median(times)?))).collect()
    }
}
