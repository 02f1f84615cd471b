//! Bytes held ÷ bytes live, nanoseconds per operation and the slowest of a thousand, for the heap and for others.
//! `cargo run --release` prints the table; `cargo run --release -- rgraph` only the rows whose name has that word.

mod driver;
mod peers;
mod traces;

use std::hint::black_box;
use std::time::Instant;

use peers::Peer;
use traces::{CHUNK, Operation, Trace};

/// Operations after the filling.
const OPERATIONS: usize = 1_000_000;
/// Runs, of which the fastest counts: the machine is shared.
const ROUNDS: usize = 5;

/// What a run found.
#[derive(Clone, Copy)]
struct Found {
    held_to_live: f64,
    nanoseconds: f64,
    slowest: f64,
}

/// Mean of held ÷ live after the filling.
fn held_to_live<P: Peer>(trace: &Trace) -> f64 {
    let mut peer = P::new();
    let mut table: Vec<Option<(P::Range, u64)>> = (0..trace.places).map(|_| None).collect();
    let mut touched: Vec<u32> = Vec::new();
    let (mut live, mut count, mut sum, mut samples) = (0, 0_u64, 0.0, 0_u32);
    let looked_at = trace.filled + timed::<P>(trace).len();
    for (i, &operation) in trace.operations[..looked_at].iter().enumerate() {
        let (range, size, is_new) = match operation {
            Operation::Allocate(place, size) => {
                let range = peer.allocate(size);
                (&table[place as usize].insert((range, size)).0, size, true)
            }
            Operation::Free(place) => {
                let (range, size) = table[place as usize].as_ref().expect("a range");
                (range, *size, false)
            }
        };
        let start = P::start(range);
        for chunk in start / CHUNK..=(start + size - 1) / CHUNK {
            let chunk = chunk as usize;
            touched.resize(touched.len().max(chunk + 1), 0);
            let before = touched[chunk];
            touched[chunk] = if is_new { before + 1 } else { before - 1 };
            if before + touched[chunk] == 1 {
                count = if is_new { count + 1 } else { count - 1 };
            }
        }
        if let Operation::Free(place) = operation {
            let (range, size) = table[place as usize].take().expect("a range");
            peer.free(range);
            live -= size;
        } else {
            live += size;
        }
        if i >= trace.filled && i % 16 == 0 {
            sum += peer.held().unwrap_or(count * CHUNK) as f64 / live as f64;
            samples += 1;
        }
    }
    sum / f64::from(samples)
}

#[inline(always)]
fn run<P: Peer>(peer: &mut P, table: &mut [Option<P::Range>], operation: Operation) {
    match operation {
        Operation::Allocate(place, size) => table[place as usize] = Some(black_box(peer.allocate(size))),
        Operation::Free(place) => peer.free(table[place as usize].take().expect("a range")),
    }
}

/// The operations that are looked at after the filling.
fn timed<P: Peer>(trace: &Trace) -> &[Operation] {
    let rest = &trace.operations[trace.filled..];
    if P::IS_SLOW { &rest[..rest.len() / 20] } else { rest }
}

/// An allocator after the filling, its ranges, and the operations to time.
fn filled<P: Peer>(trace: &Trace) -> (P, Vec<Option<P::Range>>, &[Operation]) {
    let mut peer = P::new();
    let mut table: Vec<_> = (0..trace.places).map(|_| None).collect();
    trace.operations[..trace.filled].iter().for_each(|&operation| run(&mut peer, &mut table, operation));
    (peer, table, timed::<P>(trace))
}

/// Nanoseconds per operation after the filling.
fn nanoseconds<P: Peer>(trace: &Trace) -> f64 {
    let (mut peer, mut table, rest) = filled::<P>(trace);
    let start = Instant::now();
    rest.iter().for_each(|&operation| run(&mut peer, &mut table, operation));
    start.elapsed().as_secs_f64() * 1e9 / rest.len() as f64
}

/// Nanoseconds that 999 of 1000 operations after the filling stay below, the clock's own included.
fn slowest<P: Peer>(trace: &Trace) -> f64 {
    let (mut peer, mut table, rest) = filled::<P>(trace);
    let mut times = Vec::with_capacity(rest.len());
    for &operation in rest {
        let start = Instant::now();
        run(&mut peer, &mut table, operation);
        times.push(start.elapsed().as_nanos() as u64);
    }
    let index = times.len() * 999 / 1000;
    *times.select_nth_unstable(index).1 as f64
}

fn measure<P: Peer>(traces: &[Trace], round: usize, found: &mut Vec<Found>) {
    if P::IS_SLOW && round > 0 {
        return;
    }
    for (i, trace) in traces.iter().enumerate() {
        let (nanoseconds, slowest) = (nanoseconds::<P>(trace), slowest::<P>(trace));
        if round == 0 {
            found.push(Found { held_to_live: held_to_live::<P>(trace), nanoseconds, slowest });
        } else {
            found[i].nanoseconds = found[i].nanoseconds.min(nanoseconds);
            found[i].slowest = found[i].slowest.min(slowest);
        }
    }
}

type Measure = fn(&[Trace], usize, &mut Vec<Found>);

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    let traces = traces::all(OPERATIONS);
    let all: [(&str, Measure); 6] = [
        (peers::Ours::NAME, measure::<peers::Ours>),
        (peers::OffsetAllocator::NAME, measure::<peers::OffsetAllocator>),
        (peers::Vma::NAME, measure::<peers::Vma>),
        (peers::VmaBlocks::NAME, measure::<peers::VmaBlocks>),
        (peers::GpuAllocator::NAME, measure::<peers::GpuAllocator>),
        (peers::RangeAlloc::NAME, measure::<peers::RangeAlloc>),
    ];
    let mut rows: Vec<_> =
        all.into_iter().filter(|(name, _)| name.contains(&word)).map(|(name, run)| (name, run, Vec::new())).collect();
    for round in 0..ROUNDS {
        for (_, run, found) in &mut rows {
            run(&traces, round, found);
        }
    }
    let names = traces.iter().map(|trace| trace.name).collect::<Vec<_>>().join(" | ");
    for (what, figure, digits) in [
        ("mean of held ÷ live", (|found| found.held_to_live) as fn(&Found) -> f64, 3),
        ("ns per operation, least of the rounds", |found| found.nanoseconds, 1),
        ("ns, 99.9 % are faster, clock included, least of the rounds", |found| found.slowest, 0),
    ] {
        println!("\n| {what} | {names} |\n| --- | --- | --- | --- | --- |");
        for (name, _, found) in &rows {
            let figures: Vec<_> = found.iter().map(|found| format!("{:.digits$}", figure(found))).collect();
            println!("| {name} | {} |", figures.join(" | "));
        }
    }
}
