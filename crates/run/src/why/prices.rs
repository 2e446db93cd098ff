//! What operations cost on this machine: measured by the probes in a few seconds.

use whyfaster_core::plan::User;
use whyfaster_core::price::PriceList;
use whyfaster_core::price::sample::row_id;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::trace::setting::{Facts, Operation, Price};
use whyfaster_core::why::Why;
use whyfaster_core::why::statement::LeftOut;

use super::super::interrupts::Interrupts;
use super::super::probe::select::{Wanted, select};
use super::super::probe::session::{Request, measure};
use super::super::probe::worker::Worker;
use super::so_far::SoFar;

/// Seconds to aim at, and after which nothing more begins. Where fewer are left of the time, these are all.
const BUDGET_S: (f64, f64) = (0.5, 3.0);

/// Bytes of one write of the row that stands for a pipe, in KiB.
const PIPE_KIB: f64 = 64.0;

/// Where an operation's price stands in a list: group and name, variant, and how many operations one of them is.
const ROWS: [(Operation, &str, &str, &str, f64); 9] = [
    (Operation::PageFault, "cpu", "fault", "4k", 1.0),
    (Operation::Process, "process", "fork", "reaped", 1.0),
    (Operation::Thread, "thread", "newthread", "fresh,same_cpu", 1.0),
    (Operation::Exec, "process", "execve", "static", 1.0),
    (Operation::Call, "kernel", "getppid", "raw", 1.0),
    (Operation::PipeKib, "pipe", "pipe_bandwidth", "processes,write=64K,same_cpu", PIPE_KIB),
    (Operation::Open, "kernel", "open_close", "raw", 1.0),
    (Operation::Stat, "kernel", "stat", "raw", 1.0),
    (Operation::Switch, "cpu", "switch", "pipe,same_cpu", 1.0),
];

/// What is known of these alternatives beside the stream: prices of operations.
pub(super) fn facts(so_far: &SoFar<'_>, alternatives: &[usize], explained: &mut Why) -> Vec<Facts> {
    let cpus = so_far.host.before.cpus_allowed.clone().unwrap_or_default();
    let left_s = so_far.ends().last_s - so_far.now_s();
    let prices = so_far.machine.prices(&cpus, left_s).unwrap_or_else(|why| {
        explained.left_out.push(LeftOut::Prices { why });
        Vec::new()
    });
    let memory = |index: &usize| memory(so_far, *index);
    let sizes: Vec<u64> = alternatives.iter().map(memory).collect();
    let available = so_far.host.before.memory_available;
    let faults =
        by_size(&sizes, memory(&so_far.plan.baseline), |bytes| so_far.machine.fault_price(bytes, available));
    faults.into_iter().map(|price| Facts { prices: with(&prices, price), ..Facts::default() }).collect()
}

/// The most bytes that a copy of this alternative had.
fn memory(so_far: &SoFar<'_>, alternative: usize) -> u64 {
    let of = |batch: &&Batch| batch.arm == Arm::Alternative(alternative);
    let copies = so_far.batches.iter().filter(of).flat_map(|batch| &batch.copies.max_rss_bytes);
    copies.copied().max().unwrap_or(0)
}

/// The price of a page fault in as much memory as each of these sizes. Those within a factor of two of the baseline's have its price: a CPU changes its
/// speed between two measurements of a price, and that would be told as a difference of the two commands.
fn by_size(sizes: &[u64], baseline: u64, price: impl Fn(u64) -> Option<Price>) -> Vec<Option<Price>> {
    let like_baseline = price(baseline);
    let is_like = |size: u64| size <= baseline.saturating_mul(2) && baseline <= size.saturating_mul(2);
    sizes.iter().map(|size| if is_like(*size) { like_baseline } else { price(*size) }).collect()
}

/// These prices, with that one in the place of what the probes say of the same operation.
fn with(prices: &[Price], price: Option<Price>) -> Vec<Price> {
    let others = prices.iter().filter(|it| price.is_none_or(|price| it.of != price.of));
    others.copied().chain(price).collect()
}

/// Measures them on these CPUs, in the seconds that are left. The error says why there are none.
pub(crate) fn measured(
    cpus: &[u32],
    seed: u64,
    user: Option<&User>,
    interrupts: &Interrupts,
    left_s: f64,
) -> Result<Vec<Price>, String> {
    let probes = whyfaster_probe::descriptions();
    let wanted = Wanted {
        words: ROWS.iter().map(|(_, group, name, ..)| format!("{group}/{name}")).collect(),
        rows: ROWS.iter().map(|(_, _, name, variant, _)| row_id(name, variant)).collect(),
        quick: true,
        cpus: cpus.to_vec(),
        ..Wanted::default()
    };
    let selection = select(&probes, &wanted).map_err(|failure| failure.message)?;
    let (budget_s, limit_s) = BUDGET_S;
    let limit_s = limit_s.min(left_s).max(0.0);
    let budget_s = budget_s.min(limit_s);
    let request = Request { selection, repetitions: 6, least: 3, budget_s, limit_s, spread_s: 0.0, seed };
    let worker = Worker::carried(user).map_err(|failure| failure.message)?;
    let measured = measure(&probes, &request, &worker, interrupts, &mut |_| {});
    let found = prices(&measured.list);
    match measured.failure {
        Some(failure) => Err(failure.message),
        None if found.is_empty() => Err("no time was left to measure them".to_owned()),
        None => Ok(found),
    }
}

fn prices(list: &PriceList) -> Vec<Price> {
    let price = |&(of, _, name, variant, operations): &(Operation, &str, &str, &str, f64)| {
        let ns = list.find(name, Some(variant))?.typical_ns()? / operations;
        Some(Price { of, ns })
    };
    ROWS.iter().filter_map(price).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_like_the_baselines_have_its_price() {
        let asked = std::cell::RefCell::new(Vec::new());
        let price = |bytes: u64| {
            asked.borrow_mut().push(bytes);
            Some(Price { of: Operation::PageFault, ns: bytes as f64 })
        };
        let prices = by_size(&[150, 1_000, 100, 201, 0], 150, price);
        let ns: Vec<f64> = prices.iter().flatten().map(|it| it.ns).collect();
        assert_eq!((ns, asked.into_inner()), (vec![150.0, 1_000.0, 150.0, 150.0, 0.0], vec![150, 1_000, 0]));
    }

    #[test]
    fn every_row_is_one_that_the_probes_give() {
        let probes = whyfaster_probe::descriptions();
        for (of, group, name, variant, _) in ROWS {
            let wanted = Wanted {
                words: vec![format!("{group}/{name}")],
                rows: vec![row_id(name, variant)],
                quick: true,
                cpus: vec![0, 1],
                ..Wanted::default()
            };
            let selection = select(&probes, &wanted).unwrap();
            assert!(!selection.lines.is_empty(), "{of:?}: no {group}/{name} {variant}");
        }
    }
}
