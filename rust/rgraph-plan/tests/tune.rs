//! The closed loop by itself: plans whose frames take what the test says are tried, kept and rejected.

use rgraph_plan::tune::{Errand, Found, FrameTime, Phase, Settings, Trial, Tuning, Wanted};

/// A machine: what frames of the kept and of the tried plan take, and how late times come.
struct Machine {
    tuning: Tuning,
    kept: usize,
    tried: Option<usize>,
    frame: u64,
    late: std::collections::VecDeque<(rgraph_plan::tune::Turn, FrameTime)>,
}

impl Machine {
    fn new(settings: Settings) -> Self {
        Self { tuning: Tuning::new(settings), kept: usize::MAX, tried: None, frame: 0, late: Default::default() }
    }

    /// Runs frames; `us` says what a plan takes in a frame (`usize::MAX`: the first one), `found` what a search finds.
    fn run<T: Into<FrameTime>>(&mut self, frames: u64, us: impl Fn(usize, u64) -> T, found: &[Found]) {
        for _ in 0..frames {
            let turn = self.tuning.turn();
            let plan = if turn.tried { self.tried.expect("a plan is tried when it is ready") } else { self.kept };
            if turn.wanted != Wanted::Nothing {
                self.late.push_back((turn, us(plan, self.frame).into()));
            }
            self.frame += 1;
            // Two frames are under way.
            if self.late.len() > 2 || turn.wanted == Wanted::Nothing {
                let passes = [("a".to_owned(), 30.0), ("b".to_owned(), 70.0)];
                while let Some((turn, us)) = self.late.pop_front() {
                    self.tuning.measured(turn, Some(us), &passes);
                }
            }
            for errand in self.tuning.errands() {
                match errand {
                    Errand::Search(weights) => {
                        assert_eq!(weights, [("a".to_owned(), 30.0), ("b".to_owned(), 70.0)]);
                        self.tuning.found(found.to_vec());
                    }
                    Errand::Prepare(at) => {
                        self.tried = Some(at);
                        self.tuning.ready();
                    }
                    Errand::Keep => self.kept = self.tried.take().unwrap(),
                    Errand::Drop => self.tried = None,
                }
            }
        }
    }
}

fn found(predicted: &[f64]) -> Vec<Found> {
    let one = |(at, us): (usize, &f64)| Found { what: format!("plan {at}"), predicted_us: *us };
    predicted.iter().enumerate().map(one).collect()
}

/// Noise between -1 and 1 that is the same in each run.
fn noise(frame: u64) -> f64 {
    ((frame.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % 2001) as f64 / 1000.0 - 1.0
}

fn kept(trials: &[Trial]) -> Vec<bool> {
    trials.iter().map(|trial| trial.kept).collect()
}

#[test]
fn the_slow_plan_goes_and_the_fast_one_stays() {
    let mut machine = Machine::new(Settings::default());
    // The model favours the slow one.
    let us = |plan, frame| noise(frame) + [130.0, 80.0, 300.0].get(plan).copied().unwrap_or(100.0);
    machine.run(400, us, &found(&[50.0, 60.0, 70.0]));
    assert_eq!(machine.tuning.phase(), Phase::Settled);
    assert_eq!(kept(machine.tuning.trials()), [false, true, false], "{:?}", machine.tuning.trials());
    assert_eq!(machine.kept, 1);
    let [slow, fast, hopeless] = machine.tuning.trials() else { panic!() };
    assert!(slow.why.starts_with("slower by"), "{}", slow.why);
    assert!(fast.why.starts_with("faster by 20"), "{}", fast.why);
    assert!((fast.kept_us.unwrap() - 100.0).abs() < 1.0 && (fast.measured_us.unwrap() - 80.0).abs() < 1.0);
    assert_eq!((fast.frames, fast.predicted_us, fast.round), (12, 60.0, 1));
    // It is compared with the plan that stayed before, and not tried to its end.
    assert!(hopeless.why.contains("given up early") && hopeless.frames < 12, "{hopeless:?}");
    assert!((hopeless.kept_us.unwrap() - 80.0).abs() < 1.0);
}

#[test]
fn a_gain_within_the_noise_is_none() {
    for (spread, stays) in [(0.1, true), (12.0, false)] {
        let mut machine = Machine::new(Settings::default());
        let us = |plan, frame| spread * noise(frame) + if plan == 0 { 98.0 } else { 100.0 };
        machine.run(200, us, &found(&[90.0]));
        let [trial] = machine.tuning.trials() else { panic!() };
        assert_eq!(trial.kept, stays, "{trial:?}");
        assert!(stays || trial.why.starts_with("no faster beyond the noise"), "{trial:?}");
    }
    // Without any noise the margin decides.
    let mut machine = Machine::new(Settings { margin: 0.05, ..Settings::default() });
    machine.run(200, |plan, _| if plan == 0 { 98.0 } else { 100.0 }, &found(&[90.0]));
    assert_eq!(kept(machine.tuning.trials()), [false]);
}

#[test]
fn a_clock_that_drifts_does_not_decide() {
    // Every frame is a thousandth slower than the one before: whatever comes later looks slower.
    let mut machine = Machine::new(Settings::default());
    machine.run(
        200,
        |plan, frame| (if plan == 0 { 90.0 } else { 100.0 }) * 1.001_f64.powi(frame as i32),
        &found(&[90.0]),
    );
    assert_eq!(kept(machine.tuning.trials()), [true], "{:?}", machine.tuning.trials());
}

#[test]
fn a_settled_frame_is_watched_seldom_and_begins_again_when_it_is_another() {
    let mut machine = Machine::new(Settings { sample: 1, ..Settings::default() });
    machine.run(300, |_, _| 100.0, &found(&[90.0]));
    assert_eq!((machine.tuning.phase(), machine.tuning.trials().len()), (Phase::Settled, 1));
    let wanted = (0..160).filter(|_| machine.tuning.turn().wanted != Wanted::Nothing).count();
    assert_eq!(wanted, 10);
    // One slow frame, and then a short while of them, change nothing; another frame does.
    let begin = machine.frame;
    machine.run(500, |_, frame| if frame < begin + 20 { 400.0 } else { 100.0 }, &[]);
    assert_eq!(machine.tuning.trials().len(), 1);
    machine.run(1000, |plan, _| if plan == 0 { 100.0 } else { 200.0 }, &found(&[90.0]));
    assert_eq!(kept(machine.tuning.trials()), [false, true], "{:?}", machine.tuning.trials());
    assert_eq!(machine.tuning.trials()[1].round, 2);
}

#[test]
fn a_device_without_times_is_left_alone() {
    let mut tuning = Tuning::new(Settings { sample: 1, ..Settings::default() });
    for _ in 0..20 {
        let turn = tuning.turn();
        tuning.measured(turn, None, &[]);
    }
    assert_eq!(tuning.phase(), Phase::Blind);
    assert_eq!(tuning.turn().wanted, Wanted::Nothing);
    assert!(tuning.errands().is_empty());
}

#[test]
fn a_plan_that_cannot_be_made_is_recorded() {
    let mut tuning = Tuning::new(Settings { sample: 1, weigh: 1, ..Settings::default() });
    let turn = tuning.turn();
    tuning.measured(turn, None, &[("a".to_owned(), 3.0)]);
    assert_eq!(tuning.errands(), [Errand::Search(vec![("a".to_owned(), 3.0)])]);
    tuning.found(found(&[1.0]));
    assert_eq!(tuning.errands(), [Errand::Prepare(0)]);
    tuning.refused("no memory".to_owned());
    assert_eq!(tuning.errands(), [Errand::Drop]);
    assert_eq!((tuning.trials()[0].kept, &*tuning.trials()[0].why), (false, "no memory"));
    assert_eq!(tuning.phase(), Phase::Settled);
}

#[test]
fn the_frame_before_measured_ones_is_asked_when_it_ends() {
    let settings = Settings { sample: 1, weigh: 1, frames: 4, lead: 2, ..Settings::default() };
    let mut tuning = Tuning::new(settings);
    let turn = tuning.turn();
    tuning.measured(turn, Some(1.0.into()), &[("a".to_owned(), 1.0)]);
    tuning.found(found(&[1.0]));
    tuning.ready();
    let turns: Vec<_> = (0..16).map(|_| tuning.turn()).collect();
    let block = [Wanted::Nothing, Wanted::End, Wanted::Frame, Wanted::Frame];
    assert_eq!(turns.iter().map(|turn| turn.wanted).collect::<Vec<_>>(), block.repeat(4));
    assert!(turns.windows(2).all(|two| two[0].frame + 1 == two[1].frame));
    // Ends are no samples: the trial is over with the last frame that counts.
    for turn in turns {
        assert_eq!(tuning.trials().len(), 0);
        tuning.measured(turn, Some(if turn.tried { 80.0 } else { 100.0 }.into()), &[]);
    }
    assert_eq!((tuning.trials()[0].frames, tuning.trials()[0].kept), (4, true));
}

#[test]
fn frames_that_follow_each_other_faster_win_over_shorter_ones() {
    let cases = [
        // A shorter frame that leaves the device idle between frames; the other way about.
        ([100.0, 110.0], [90.0, 120.0], false, "slower by 9.1 % from frame to frame"),
        ([100.0, 110.0], [105.0, 106.0], true, "faster by 3.6 % from frame to frame"),
        // The program waits for a display.
        ([100.0, 160.0], [90.0, 160.0], true, "faster by 10.0 %"),
        ([100.0, 160.0], [110.0, 160.0], false, "slower by 10.0 %"),
        ([100.0, 160.0], [100.0, 160.0], false, "no faster beyond the noise: 0.0 µs of at least 1.0"),
    ];
    for (before, tried, stays, why) in cases {
        let mut machine = Machine::new(Settings::default());
        let time = |[us, period]: [f64; 2]| FrameTime { us, period_us: Some(period) };
        machine.run(200, |plan, _| time(if plan == 0 { tried } else { before }), &found(&[90.0]));
        let [trial] = machine.tuning.trials() else { panic!() };
        assert_eq!((trial.kept, &*trial.why), (stays, why));
        let at = usize::from(why.ends_with("to frame"));
        assert_eq!((trial.measured_us, trial.kept_us), (Some(tried[at]), Some(before[at])));
    }
}
