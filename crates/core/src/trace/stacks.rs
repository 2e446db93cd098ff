//! Samples by the whole stack of user code in which the clock found a command: what a flame graph is drawn of. Every function is kept once,
//! and the lightest stacks go where all would be too much for a record.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::command::CommandName;
use super::report::{Code, WorkKind};
use crate::validate::{Invalid, MAX_COUNT, ensure};

/// Bytes of JSON that a record keeps of one alternative. Packed they are about a fifth of that.
pub const KEPT_BYTES: usize = 100_000;

/// Bytes of JSON of a stack without its frames, of a frame, and of a function without its names: about.
const ROW_BYTES: usize = 70;
const FRAME_BYTES: usize = 5;
const FUNCTION_BYTES: usize = 24;

/// Samples by stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stacks {
    /// The functions in which the frames are.
    pub functions: Vec<Code>,
    /// The stacks, those with the same beginning beside each other.
    pub stacks: Vec<StackRow>,
    /// Stacks that are not among them, because they had the fewest samples and all would have been too much for a record.
    #[serde(default)]
    pub left_out: u64,
    /// Samples that found these.
    #[serde(default)]
    pub left_out_samples: u64,
}

/// Samples that found a command at the same stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StackRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// What it did there: user code, page faults, its start-up, or waiting for a lock. Null: it was in the kernel for a call.
    pub kind: Option<WorkKind>,
    /// The functions by their places in the list of them, the outermost first. As far as the unwinding came: of a deep stack the
    /// outermost are missing.
    pub frames: Vec<u32>,
    /// How many.
    pub samples: u64,
}

/// Adds up samples.
#[derive(Debug, Default)]
pub struct Gathering {
    places: HashMap<Code, u32>,
    functions: Vec<Code>,
    counted: HashMap<Key, u64>,
    left_out: u64,
    left_out_samples: u64,
}

/// What is counted together.
type Key = (CommandName, Option<WorkKind>, Vec<u32>);

impl Gathering {
    /// Counts samples. The frames begin with the outermost one.
    pub fn take(
        &mut self,
        command: CommandName,
        kind: Option<WorkKind>,
        frames: impl IntoIterator<Item = Code>,
        samples: u64,
    ) {
        let mut all: Vec<u32> = frames.into_iter().map(|code| self.place(code)).collect();
        // Frames of one file in a row that have no name say no more than one of them.
        all.dedup_by(|a, b| a == b && self.functions[*a as usize].symbol.is_none());
        if samples > 0 {
            *self.counted.entry((command, kind, all)).or_default() += samples;
        }
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: Stacks) {
        for StackRow { command, kind, frames, samples } in other.stacks {
            let code = |place: u32| other.functions.get(place as usize).cloned();
            let frames: Vec<Code> = frames.into_iter().filter_map(code).collect();
            self.take(command, kind, frames, samples);
        }
        self.left_out += other.left_out;
        self.left_out_samples += other.left_out_samples;
    }

    /// What was counted: the stacks with the most samples, as many as are about so many bytes of JSON.
    pub fn finish(self, most_bytes: usize) -> Stacks {
        let Self { functions, counted, mut left_out, mut left_out_samples, .. } = self;
        let mut all: Vec<(Key, u64)> = counted.into_iter().collect();
        // Equal ones in one order, whatever that of the map is.
        all.sort_by(|a, b| Reverse(a.1).cmp(&Reverse(b.1)).then_with(|| a.0.cmp(&b.0)));
        let (mut bytes, mut seen) = (0, HashSet::new());
        let fits = |((command, _, frames), _): &&(Key, u64)| {
            bytes += ROW_BYTES + command.len() + frames.len() * FRAME_BYTES;
            for place in frames {
                if seen.insert(*place) {
                    let Code { symbol, file, .. } = &functions[*place as usize];
                    bytes +=
                        FUNCTION_BYTES + [symbol, file].into_iter().flatten().map(String::len).sum::<usize>();
                }
            }
            bytes <= most_bytes
        };
        let kept = all.iter().take_while(fits).count();
        for (_, samples) in all.drain(kept..) {
            left_out += 1;
            left_out_samples += samples;
        }
        all.sort();
        let mut used = Used::default();
        let row = |((command, kind, frames), samples): (Key, u64)| {
            let frames = frames.into_iter().map(|place| used.place(place)).collect();
            StackRow { command, kind, frames, samples }
        };
        let stacks = all.into_iter().map(row).collect();
        let functions = used.order.into_iter().map(|place| functions[place as usize].clone()).collect();
        Stacks { functions, stacks, left_out, left_out_samples }
    }

    fn place(&mut self, code: Code) -> u32 {
        if let Some(place) = self.places.get(&code) {
            return *place;
        }
        let place = u32::try_from(self.functions.len()).expect("memory ends before");
        self.functions.push(code.clone());
        self.places.insert(code, place);
        place
    }
}

/// The functions of kept stacks, numbered as they come.
#[derive(Default)]
struct Used {
    places: HashMap<u32, u32>,
    order: Vec<u32>,
}

impl Used {
    fn place(&mut self, former: u32) -> u32 {
        let next = self.order.len() as u32;
        *self.places.entry(former).or_insert_with(|| {
            self.order.push(former);
            next
        })
    }
}

impl Stacks {
    /// Whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty() && self.left_out_samples == 0
    }

    /// The functions of a stack, the outermost first.
    pub fn frames<'a>(&'a self, row: &'a StackRow) -> impl Iterator<Item = &'a Code> {
        row.frames.iter().filter_map(|place| self.functions.get(*place as usize))
    }

    /// Checks what the renderers rely on.
    pub(crate) fn validate(&self, place: &str) -> Result<(), Invalid> {
        let at = || place.to_owned();
        for row in &self.stacks {
            let known = row.frames.iter().all(|frame| (*frame as usize) < self.functions.len());
            ensure(known, at, "a frame is of no function in it")?;
            ensure(row.samples <= MAX_COUNT, at, "a count is absurd")?;
        }
        ensure(self.left_out.max(self.left_out_samples) <= MAX_COUNT, at, "a count is absurd")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(symbol: &str) -> Code {
        Code { symbol: Some(symbol.to_owned()), file: Some("/bin/p".to_owned()), called_from: None }
    }

    fn gathered(stacks: &[(&str, u64)]) -> Gathering {
        let mut all = Gathering::default();
        for (frames, samples) in stacks {
            all.take("p".into(), Some(WorkKind::User), frames.split(';').map(code), *samples);
        }
        all
    }

    fn folded(stacks: &Stacks) -> Vec<(String, u64)> {
        let name = |code: &Code| code.symbol.clone().unwrap_or_else(|| "?".to_owned());
        let text = |row: &StackRow| stacks.frames(row).map(name).collect::<Vec<_>>().join(";");
        stacks.stacks.iter().map(|row| (text(row), row.samples)).collect()
    }

    #[test]
    fn runs_add_up_by_stack_whatever_their_functions_are_numbered() {
        let mut both = gathered(&[("main;a", 3), ("main;b", 2)]);
        both.add(gathered(&[("main;b;c", 1), ("main;a", 4)]).finish(usize::MAX));
        let all = both.finish(usize::MAX);
        let expected = [("main;a", 7), ("main;b", 2), ("main;b;c", 1)];
        assert_eq!(folded(&all), expected.map(|(stack, samples)| (stack.to_owned(), samples)));
        assert_eq!((all.functions.len(), all.left_out), (4, 0));
        assert!(all.validate("x").is_ok());
        let mut wrong = all;
        wrong.stacks[0].frames[0] = 4;
        assert!(wrong.validate("x").is_err());
    }

    #[test]
    fn the_lightest_stacks_go_and_are_counted() {
        let few = gathered(&[("main;a", 30), ("main;b", 5), ("main;c", 4), ("main;a;d", 20)]).finish(320);
        assert_eq!(folded(&few), [("main;a".to_owned(), 30), ("main;a;d".to_owned(), 20)]);
        assert_eq!((few.left_out, few.left_out_samples), (2, 9));
        assert_eq!(few.functions, ["main", "a", "d"].map(code), "functions of no kept stack stay out");
        let mut again = Gathering::default();
        again.add(few);
        let again = again.finish(200);
        assert_eq!((again.stacks.len(), again.left_out, again.left_out_samples), (1, 3, 29));
    }

    #[test]
    fn frames_without_a_name_are_one() {
        let mut all = Gathering::default();
        let stripped = Code { symbol: None, ..code("") };
        let frames = [
            code("main"),
            Code::default(),
            Code::default(),
            stripped.clone(),
            stripped,
            code("f"),
            code("f"),
        ];
        all.take("p".into(), None, frames, 1);
        assert_eq!(folded(&all.finish(usize::MAX))[0].0, "main;?;?;f;f");
    }

    #[test]
    fn a_record_of_the_most_that_is_kept_stays_small() {
        let mut all = Gathering::default();
        for stack in 0..20_000_u32 {
            let frames = (0..24).map(|depth| code(&format!("function_{}_of_it", (stack >> depth) % 900)));
            all.take("program".into(), Some(WorkKind::User), frames, u64::from(stack % 97 + 1));
        }
        let kept = all.finish(KEPT_BYTES);
        let bytes = serde_json::to_vec(&kept).unwrap().len();
        assert!((KEPT_BYTES / 2..KEPT_BYTES * 5 / 4).contains(&bytes), "{bytes}");
    }
}
