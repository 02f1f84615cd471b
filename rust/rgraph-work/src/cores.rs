//! Work of the CPU that is split over its cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// Does the work of each job, on as many threads of the name `thread` as there are cores; one job alone is left to the
/// caller, who needs it at once. Threads take the next job when they are done with one, since some take much longer
/// than others.
pub fn on_all_cores<T: Sync>(thread: &str, jobs: &[T], work: impl Fn(&T) + Sync) {
    if jobs.len() < 2 {
        return;
    }
    let threads = available_parallelism().map_or(1, std::num::NonZero::get).max(2).min(jobs.len());
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(job);
        }
    };
    scope(|scope| {
        for _ in 1..threads {
            // Without a thread more, those that there are do its work.
            let _ = std::thread::Builder::new().name(thread.to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn every_job_is_done_once() {
        for count in [0, 2, 3, 100] {
            let jobs: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            on_all_cores("rgraph test", &jobs, |job| {
                job.fetch_add(1, Ordering::Relaxed);
            });
            assert!(jobs.iter().all(|job| job.load(Ordering::Relaxed) == 1), "{count} jobs");
        }
    }

    #[test]
    fn jobs_run_at_the_same_time() {
        // Each of two jobs waits until the other one has begun.
        let (to_second, from_first) = channel();
        let (to_first, from_second) = channel();
        let jobs = [(to_second, std::sync::Mutex::new(from_second)), (to_first, std::sync::Mutex::new(from_first))];
        let met = AtomicUsize::new(0);
        on_all_cores("rgraph test", &jobs, |(send, receive)| {
            send.send(()).unwrap();
            let other = receive.lock().unwrap().recv_timeout(Duration::from_secs(60));
            met.fetch_add(usize::from(other.is_ok()), Ordering::Relaxed);
        });
        assert_eq!(met.load(Ordering::Relaxed), 2);
    }
}
