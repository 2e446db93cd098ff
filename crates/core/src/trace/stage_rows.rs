//! Stages as rows of the report: who reads from whom, in the order of the flow, and who sets the pace.

use super::event::FileKind;
use super::labels::{Label, Labels};
use super::ledger::seconds;
use super::report::{Direction, StageRow, SyscallRow, TransferRow};
use super::stages::{MOST_BESIDE, Shape, Stages, Sums};

/// A stage that was busy for so much of the time of the one that sets the pace might as well set it.
const NEAR: f64 = 0.95;
/// Rows of the report: those with the longest lives.
const MOST_ROWS: usize = 64;

impl Stages {
    /// The stages, those that read from nobody first.
    pub(super) fn rows(&self, labels: &Labels) -> Vec<StageRow> {
        let shapes = in_order(self.shapes(labels));
        let mut rows: Vec<StageRow> = shapes.iter().map(|(shape, sums)| row(labels, shape, sums)).collect();
        for (index, (shape, _)) in shapes.iter().enumerate() {
            rows[index].reads_from = before(&shapes, shape);
        }
        // A stage that has ended early, or that waits for its neighbours, leaves the pace to another.
        let own = |(_, sums): &(Shape, Sums)| {
            sums.life.saturating_sub(sums.starved + sums.held_up) / sums.processes.max(1)
        };
        let setter = (0..rows.len()).max_by_key(|at| (own(&shapes[*at]), std::cmp::Reverse(*at)));
        if let Some(setter) = setter.filter(|_| rows.len() > 1) {
            rows[setter].bottleneck = true;
            let pace = seconds(own(&shapes[setter]));
            for (at, row) in rows.iter_mut().enumerate() {
                row.near = at != setter && seconds(own(&shapes[at])) >= NEAR * pace;
            }
        }
        rows
    }

    /// Shapes with neighbours; those of one command of which one has all neighbours of the other are one.
    fn shapes(&self, labels: &Labels) -> Vec<(Shape, Sums)> {
        let mut all: Vec<(Shape, Sums)> =
            self.folded.iter().map(|(shape, sums)| (shape.clone(), *sums)).collect();
        self.late.iter().for_each(|late| known_late(&mut all, *late));
        all.retain(|(shape, _)| beside(shape) > 0);
        all.sort_by_key(|(shape, _)| {
            (
                std::cmp::Reverse(beside(shape)),
                labels.name(shape.0).to_owned(),
                shape.1.clone(),
                shape.2.clone(),
            )
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
}

/// Calls that move data out of a pipe without a byte of it in the table of transfers.
const UNSEEN: [&str; 5] = ["splice", "tee", "vmsplice", "sendfile", "io_uring_enter"];

/// Who only inherited a pipe and never read from it reads from nobody: of `(sleep 1; cat)` behind a pipe only `cat` does.
/// It stays a stage, as it holds the others up all the same.
pub(super) fn only_readers(rows: &mut [StageRow], transfers: &[TransferRow], calls: &[SyscallRow]) {
    // Where no call was told by what it worked on, nothing is known of who read.
    if !transfers.iter().any(|row| row.file == FileKind::Pipe) {
        return;
    }
    let read = |command: &str| {
        let mut from_pipes = transfers.iter().filter(|row| {
            row.command == command && row.direction == Direction::Read && row.file == FileKind::Pipe
        });
        let unseen =
            |row: &SyscallRow| row.command.as_deref() == Some(command) && UNSEEN.contains(&row.name.as_str());
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
        command: labels.name(shape.0).to_owned(),
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
            command: command.to_owned(),
            direction,
            file: FileKind::Pipe,
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
}
