//! Stages as rows of the report: who reads from whom, in the order of the flow, and who sets the pace.

use std::collections::{BTreeMap, BTreeSet};

use super::command::CommandName;
use super::event::FileKind;
use super::labels::{Label, Labels};
use super::ledger::seconds;
use super::report::{Direction, StageRow, SyscallRow, TransferRow};
use super::stage_groups::Group;
use super::stages::{MOST_BESIDE, Shape, Stages, Sums};

/// A stage that was busy for so much of the time of the one that sets the pace might as well set it.
const NEAR: f64 = 0.95;
/// Rows of the report: those with the longest lives.
const MOST_ROWS: usize = 64;

/// The shapes of one pipeline.
type Pipeline = (Group, Vec<(Shape, Sums)>);

impl Stages {
    /// The stages: pipelines in the order in which they began, in each of them those that read from nobody first.
    pub(super) fn rows(&self, labels: &Labels) -> Vec<StageRow> {
        let mut rows: Vec<StageRow> = Vec::new();
        for (pipeline, shapes) in self.pipelines(labels).into_iter().enumerate() {
            let shapes = in_order(shapes);
            let first = rows.len();
            for (shape, sums) in &shapes {
                let reads_from = before(&shapes, shape).into_iter().map(|at| first + at).collect();
                rows.push(StageRow { pipeline, reads_from, ..row(labels, shape, sums) });
            }
        }
        rows
    }

    /// Shapes with neighbours by pipeline. Pipelines of the same commands are one: a loop runs the same one many times.
    fn pipelines(&self, labels: &Labels) -> Vec<Vec<(Shape, Sums)>> {
        let mut groups: BTreeMap<Group, Vec<(Shape, Sums)>> = BTreeMap::new();
        for ((group, shape), sums) in &self.folded {
            groups.entry(self.groups.of(*group)).or_default().push((shape.clone(), *sums));
        }
        for (group, writer, reader) in &self.late {
            if let Some(all) = groups.get_mut(&self.groups.of(*group)) {
                known_late(all, (*writer, *reader));
            }
        }
        let mut same: BTreeMap<BTreeSet<Label>, Pipeline> = BTreeMap::new();
        for (group, mut all) in groups {
            all.retain(|(shape, _)| beside(shape) > 0);
            let commands = all.iter().map(|(shape, _)| shape.0).collect();
            same.entry(commands).or_insert_with(|| (group, Vec::new())).1.append(&mut all);
        }
        let mut all: Vec<Pipeline> =
            same.into_values().map(|(group, all)| (group, merged(all, labels))).collect();
        let life =
            |all: &[(Shape, Sums)]| std::cmp::Reverse(all.iter().map(|(_, sums)| sums.life).sum::<u64>());
        all.sort_by_key(|(group, all)| (life(all), *group));
        let mut room = MOST_ROWS;
        all.retain(|(_, all)| {
            let fits = !all.is_empty() && all.len() <= room;
            room -= if fits { all.len() } else { 0 };
            fits
        });
        all.sort_by_key(|(group, _)| *group);
        all.into_iter().map(|(_, all)| all).collect()
    }
}

/// The shapes of one pipeline: those of one command of which one has all neighbours of the other are one.
fn merged(mut all: Vec<(Shape, Sums)>, labels: &Labels) -> Vec<(Shape, Sums)> {
    all.sort_by_key(|(shape, _)| {
        (std::cmp::Reverse(beside(shape)), labels.name(shape.0).to_owned(), shape.1.clone(), shape.2.clone())
    });
    let mut shapes: Vec<(Shape, Sums)> = Vec::new();
    for (shape, sums) in all {
        let within = |((label, up, down), _): &&mut (Shape, Sums)| {
            *label == shape.0
                && shape.1.iter().all(|it| up.contains(it))
                && shape.2.iter().all(|it| down.contains(it))
        };
        match shapes.iter_mut().find(within) {
            Some((_, sum)) => sum.add(&sums),
            None => shapes.push((shape, sums)),
        }
    }
    shapes.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.life));
    shapes.truncate(MOST_ROWS);
    shapes.sort_by_key(|(shape, _)| labels.name(shape.0).to_owned());
    shapes
}

/// Takes out who is no reader, then pipelines through which nothing flows, and says who sets the pace of each.
pub(super) fn settle(rows: &mut Vec<StageRow>, transfers: &[TransferRow], calls: &[SyscallRow]) {
    only_readers(rows, transfers, calls);
    let flows: BTreeSet<usize> =
        rows.iter().filter(|row| !row.reads_from.is_empty()).map(|row| row.pipeline).collect();
    let numbers: Vec<usize> = flows.iter().copied().collect();
    let kept: Vec<bool> = rows.iter().map(|row| flows.contains(&row.pipeline)).collect();
    let place = |at: usize| kept[..at].iter().filter(|kept| **kept).count();
    rows.retain(|row| flows.contains(&row.pipeline));
    for row in rows.iter_mut() {
        row.pipeline = numbers.partition_point(|number| *number < row.pipeline);
        row.reads_from.iter_mut().for_each(|at| *at = place(*at));
    }
    (0..numbers.len()).for_each(|pipeline| pace(rows, pipeline));
}

/// Who sets the pace of a pipeline: a stage that has ended early, or that waits for its neighbours, leaves it to another;
/// who only holds a pipe moves nothing and has none.
fn pace(rows: &mut [StageRow], pipeline: usize) {
    let own = |row: &StageRow| (row.life_s - row.starved_s - row.held_up_s).max(0.0) / number(row.processes);
    let read: BTreeSet<usize> = rows.iter().flat_map(|row| row.reads_from.iter().copied()).collect();
    let moves = |at: &usize| !rows[*at].reads_from.is_empty() || read.contains(at);
    let stages: Vec<usize> =
        (0..rows.len()).filter(|at| rows[*at].pipeline == pipeline).filter(moves).collect();
    let slowest =
        stages.iter().copied().max_by(|a, b| own(&rows[*a]).total_cmp(&own(&rows[*b])).then(b.cmp(a)));
    let Some(setter) = slowest.filter(|_| stages.len() > 1) else { return };
    let pace = own(&rows[setter]);
    rows[setter].bottleneck = true;
    for at in stages.into_iter().filter(|at| *at != setter) {
        rows[at].near = own(&rows[at]) >= NEAR * pace;
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn number(processes: u64) -> f64 {
    processes.max(1) as f64
}

/// Calls that move data out of a pipe without a byte of it in the table of transfers.
const UNSEEN: [&str; 5] = ["splice", "tee", "vmsplice", "sendfile", "io_uring_enter"];

/// Who only inherited a pipe and never read from it reads from nobody: of `(sleep 1; cat)` behind a pipe only `cat` does.
/// It stays a stage, as it holds the others up all the same.
fn only_readers(rows: &mut [StageRow], transfers: &[TransferRow], calls: &[SyscallRow]) {
    // Where no call was told by what it worked on, nothing is known of who read.
    if !transfers.iter().any(|row| row.file == FileKind::Pipe) {
        return;
    }
    let read = |command: &CommandName| {
        let mut from_pipes = transfers.iter().filter(|row| {
            &row.command == command && row.direction == Direction::Read && row.file == FileKind::Pipe
        });
        let unseen =
            |row: &SyscallRow| row.command.as_ref() == Some(command) && UNSEEN.contains(&row.name.as_str());
        from_pipes.any(|row| row.calls > 0) || calls.iter().any(unseen)
    };
    for row in rows.iter_mut().filter(|row| row.starved_s <= 0.0 && !read(&row.command)) {
        row.reads_from.clear();
    }
}

/// How many neighbours.
fn beside(shape: &Shape) -> usize {
    shape.1.len() + shape.2.len()
}

/// Writer and reader that were known to belong together when the writer had been folded already. It goes to the processes
/// of the writer's command that have neighbours, if there are any.
fn known_late(all: &mut [(Shape, Sums)], (writer, reader): (Label, Label)) {
    let knows = |shape: &Shape| shape.0 == writer && shape.2.contains(&reader);
    if all.iter().any(|(shape, _)| knows(shape)) {
        return;
    }
    let best = all.iter_mut().filter(|(shape, _)| shape.0 == writer).max_by_key(|(shape, _)| beside(shape));
    if let Some((shape, _)) = best {
        shape.2.push(reader);
    }
}

/// The stages that a stage reads from.
fn before(shapes: &[(Shape, Sums)], shape: &Shape) -> Vec<usize> {
    let writes = |(other, _): &(Shape, Sums)| {
        other != shape && shape.1.contains(&other.0) && other.2.contains(&shape.0)
    };
    shapes.iter().enumerate().filter(|(_, other)| writes(other)).map(|(at, _)| at).collect()
}

/// Writers before readers; a circle stays as it is.
fn in_order(shapes: Vec<(Shape, Sums)>) -> Vec<(Shape, Sums)> {
    let mut depth = vec![0; shapes.len()];
    for _ in 0..shapes.len().min(MOST_BESIDE) {
        for at in 0..shapes.len() {
            depth[at] =
                before(&shapes, &shapes[at].0).iter().map(|other| depth[*other] + 1).max().unwrap_or(0);
        }
    }
    let mut ordered: Vec<(usize, (Shape, Sums))> = depth.into_iter().zip(shapes).collect();
    ordered.sort_by_key(|(depth, _)| *depth);
    ordered.into_iter().map(|(_, shape)| shape).collect()
}

fn row(labels: &Labels, shape: &Shape, sums: &Sums) -> StageRow {
    let waits = sums.starved + sums.held_up;
    StageRow {
        command: labels.command(shape.0).clone(),
        pipeline: 0,
        processes: sums.processes,
        reads_from: Vec::new(),
        life_s: seconds(sums.life),
        running_s: seconds(sums.times.run),
        runnable_s: seconds(sums.times.wait),
        starved_s: seconds(sums.starved),
        held_up_s: seconds(sums.held_up),
        other_s: seconds(sums.times.blocked.saturating_sub(waits)),
        slack_s: Some(seconds(waits / sums.processes.max(1))),
        bottleneck: false,
        near: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(command: &str, reads_from: &[usize]) -> StageRow {
        let sums = Sums::default();
        let mut labels = Labels::new();
        let label = labels.of(command);
        StageRow { reads_from: reads_from.to_vec(), ..row(&labels, &(label, Vec::new(), Vec::new()), &sums) }
    }

    fn moved(command: &str, direction: Direction) -> TransferRow {
        TransferRow {
            command: command.into(),
            direction,
            file: FileKind::Pipe,
            path: None,
            calls: 1,
            bytes: 1,
            cpu_s: None,
        }
    }

    #[test]
    fn who_never_reads_is_no_reader() {
        let mut rows = [stage("head", &[]), stage("cat", &[0]), stage("sleep", &[0])];
        only_readers(&mut rows, &[], &[]);
        assert_eq!(rows[2].reads_from, [0], "nothing is known");
        let transfers = [moved("head", Direction::Write), moved("cat", Direction::Read)];
        only_readers(&mut rows, &transfers, &[]);
        assert_eq!(rows[1].reads_from, [0]);
        assert_eq!(rows[2].reads_from, [0; 0]);
        // A reader that was never seen to read, and yet waited for its input.
        let mut waits = [StageRow { starved_s: 0.1, ..stage("pv", &[0]) }];
        only_readers(&mut waits, &transfers, &[]);
        assert_eq!(waits[0].reads_from, [0]);
    }

    #[test]
    fn who_only_holds_a_pipe_sets_no_pace() {
        let lived = |life_s, row| StageRow { life_s, ..row };
        let mut rows = vec![
            lived(9.0, StageRow { pipeline: 0, ..stage("shim", &[]) }),
            lived(1.0, StageRow { pipeline: 1, ..stage("seq", &[]) }),
            lived(3.0, StageRow { pipeline: 1, ..stage("sort", &[1]) }),
            lived(8.0, StageRow { pipeline: 1, ..stage("sleep", &[]) }),
        ];
        settle(&mut rows, &[], &[]);
        let left: Vec<(&str, usize, &[usize], bool)> = rows
            .iter()
            .map(|row| (row.command.as_str(), row.pipeline, &row.reads_from[..], row.bottleneck))
            .collect();
        let expected =
            [("seq", 0, &[][..], false), ("sort", 0, &[0][..], true), ("sleep", 0, &[][..], false)];
        assert_eq!(left, expected);
    }
}
