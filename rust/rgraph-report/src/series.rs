//! Times of many frames of one plan: per pass its least, median, 99th percentile and largest, and frames that took far
//! longer than the others.

use std::collections::HashMap;

use serde::Serialize;

use crate::measured::Measured;

/// A frame is a spike if it is longer than the median by at least this share of it,
const SPIKE_SHARE: f64 = 0.1;
/// and by at least this many median absolute deviations: about four standard deviations of normal noise.
const SPIKE_DEVIATIONS: f64 = 6.0;

/// One measured frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SeriesFrame {
    /// Number of its run.
    pub run: u64,
    /// From its first pass to its last, in microseconds; `None`: unknown.
    pub gpu_us: Option<f64>,
    /// When its passes ran.
    pub measured: Measured,
}

/// Frames of one plan as columns, and what they have in common. Times in microseconds, rounded to 10 ns.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Series {
    /// Number of the run of each frame.
    pub run: Vec<u64>,
    /// Duration of each frame: its own, else from the first begin to the last end of its passes.
    pub gpu_us: Vec<f64>,
    /// Times of the frames.
    pub spread: Spread,
    /// Position of the frame whose duration is the median.
    pub median: usize,
    /// Positions of spikes: frames that are longer than the median by a tenth and by six median absolute deviations.
    pub spikes: Vec<usize>,
    /// The passes that any of the frames has times of, in the order of their first begin.
    pub passes: Vec<PassSeries>,
}

/// Least, median, 99th percentile (nearest rank) and largest of some durations, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spread {
    /// Least.
    pub min: f64,
    /// Median: of an even number the lower one, so that a frame has it.
    pub median: f64,
    /// At least 99 of 100 durations are not longer.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// One pass in every frame.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PassSeries {
    /// The pass.
    pub name: String,
    /// Its queue; `None`: the host.
    pub queue: Option<String>,
    /// The most passes that it was timed with as one.
    pub group: u32,
    /// Its times.
    pub spread: Spread,
    /// Begin in each frame; `None`: not measured there.
    pub begin: Vec<Option<f64>>,
    /// Duration in each frame; `None`: not measured there.
    pub us: Vec<Option<f64>>,
}

impl Series {
    /// Columns of frames. O(frames × passes × log frames).
    pub fn new(frames: &[SeriesFrame]) -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut passes: Vec<PassSeries> = Vec::new();
        for (at, frame) in frames.iter().enumerate() {
            for span in &frame.measured.passes {
                let index = *known.entry(&span.name).or_insert_with(|| {
                    passes.push(PassSeries::empty(&span.name, span.queue.clone(), frames.len()));
                    passes.len() - 1
                });
                let pass = &mut passes[index];
                pass.group = pass.group.max(span.group);
                pass.begin[at] = Some(rounded(span.begin_us));
                pass.us[at] = Some(rounded(span.end_us - span.begin_us));
            }
        }
        for pass in &mut passes {
            let mut times: Vec<f64> = pass.us.iter().flatten().copied().collect();
            pass.spread = Spread::of(&mut times);
        }
        let gpu_us: Vec<f64> = frames.iter().map(|frame| rounded(frame.duration())).collect();
        let mut sorted = gpu_us.clone();
        let spread = Spread::of(&mut sorted);
        let median = gpu_us.iter().position(|us| us.total_cmp(&spread.median).is_eq()).unwrap_or(0);
        Self {
            run: frames.iter().map(|frame| frame.run).collect(),
            spikes: spikes(&gpu_us, spread.median),
            gpu_us,
            spread,
            median,
            passes,
        }
    }

    /// The columns as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data serializes")
    }

    /// A table for terminals: the frames, then each pass, longest median first.
    pub fn table(&self) -> String {
        let Spread { min, median, p99, max } = self.spread;
        let spikes = self.spikes.len();
        let mut text = format!(
            "{} frames: {min:.1} µs at least, {median:.1} in the median, {p99:.1} at the 99th percentile, {max:.1} at most; \
             {spikes} spike{}\n",
            self.run.len(),
            if spikes == 1 { "" } else { "s" }
        );
        let width = self.passes.iter().map(|pass| pass.name.chars().count()).max().unwrap_or(4).clamp(4, 40);
        text += &format!("  {:width$} {:>10} {:>10} {:>10} {:>10}\n", "pass", "min µs", "median", "p99", "max");
        let mut order: Vec<&PassSeries> = self.passes.iter().collect();
        order.sort_by(|a, b| b.spread.median.total_cmp(&a.spread.median));
        for PassSeries { name, group, spread: Spread { min, median, p99, max }, .. } in order {
            let shared = if *group > 1 { "~" } else { "" };
            let median = format!("{shared}{median:.1}");
            text += &format!("  {name:width$} {min:>10.1} {median:>10} {p99:>10.1} {max:>10.1}\n");
        }
        text.pop();
        text
    }
}

impl SeriesFrame {
    fn duration(&self) -> f64 {
        let ends = || self.measured.passes.iter().filter(|span| span.queue.is_some());
        self.gpu_us.unwrap_or_else(|| {
            let begin = ends().map(|span| span.begin_us).fold(f64::INFINITY, f64::min);
            let end = ends().map(|span| span.end_us).fold(f64::NEG_INFINITY, f64::max);
            (end - begin).max(0.0)
        })
    }
}

impl PassSeries {
    fn empty(name: &str, queue: Option<String>, frames: usize) -> Self {
        let none = vec![None; frames];
        Self { name: name.to_owned(), queue, group: 1, spread: Spread::default(), begin: none.clone(), us: none }
    }
}

impl Spread {
    /// Sorts the durations; all zero if there are none.
    pub fn of(times: &mut [f64]) -> Self {
        times.sort_by(f64::total_cmp);
        let rank = |share: f64| {
            let at = (share * times.len() as f64).ceil() as usize;
            times.get(at.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self { min: rank(0.0), median: rank(0.5), p99: rank(0.99), max: rank(1.0) }
    }
}

fn spikes(times: &[f64], median: f64) -> Vec<usize> {
    let mut deviations: Vec<f64> = times.iter().map(|us| (us - median).abs()).collect();
    let deviation = Spread::of(&mut deviations).median;
    let limit = median + (SPIKE_SHARE * median).max(SPIKE_DEVIATIONS * deviation);
    (0..times.len()).filter(|&at| times[at] > limit).collect()
}

fn rounded(us: f64) -> f64 {
    (us * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::PassSpan;

    fn frame(run: u64, times: &[(&str, f64)]) -> SeriesFrame {
        let mut at = 0.0;
        let mut measured = Measured::default();
        for (name, us) in times {
            let queue = Some("graphics".to_owned());
            measured.passes.push(PassSpan { name: (*name).to_owned(), queue, begin_us: at, end_us: at + us, group: 1 });
            at += us;
        }
        SeriesFrame { run, gpu_us: None, measured }
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(Spread::of(&mut times), Spread { min: 1.0, median: 100.0, p99: 198.0, max: 200.0 });
        assert_eq!(Spread::of(&mut [7.0]), Spread { min: 7.0, median: 7.0, p99: 7.0, max: 7.0 });
        assert_eq!(Spread::of(&mut []), Spread::default());
    }

    #[test]
    fn a_long_frame_is_a_spike_and_noise_is_none() {
        let frames: Vec<_> = (0..20)
            .map(|run| {
                frame(run, &[("a", 10.0 + f64::from(run as u32 % 3)), ("b", if run == 7 { 60.0 } else { 20.0 })])
            })
            .collect();
        let series = Series::new(&frames);
        assert_eq!(series.spikes, [7]);
        assert_eq!(series.passes[1].spread, Spread { min: 20.0, median: 20.0, p99: 60.0, max: 60.0 });
        assert_eq!(series.gpu_us[series.median], series.spread.median);
    }

    #[test]
    fn a_pass_that_some_frames_lack_has_gaps() {
        let series = Series::new(&[frame(3, &[("a", 1.0)]), frame(4, &[("b", 5.0), ("a", 3.0)])]);
        assert_eq!(series.run, [3, 4]);
        assert_eq!(series.passes[1].us, [None, Some(5.0)]);
        assert_eq!(series.passes[0].begin, [Some(0.0), Some(5.0)]);
        assert!(series.table().contains("2 frames"));
        assert_eq!(Series::new(&[]).run.len(), 0);
    }
}
