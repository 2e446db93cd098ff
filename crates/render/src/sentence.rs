//! The verdict in one sentence: who wins, by how much, and from what load on that changes.

use whyfaster_core::analysis::fewest_duets;
use whyfaster_core::analysis::{Comparison, Level, LevelResult};
use whyfaster_core::plan::{Loads, Mode, Pace, Plan};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Batch, Duet};
use whyfaster_core::status::Status;
use whyfaster_core::verdict::{Method, Ratio, Verdict};
use whyfaster_core::warning::Caution;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::list;
use whyfaster_words::text::{Tone, capitalise, tone, wrap};
use whyfaster_words::units::{count, duration, factor, percent, range, rounds, time, times};

use super::lead::Lead;
use super::names::Names;

/// Alternatives beside the baseline that a sentence still names one by one.
const NAMED: usize = 3;

/// What tells sooner, where the time is undecided.
const AT_ONCE: &str = "; --pace on runs both at once, which tells sooner who needs less CPU time";

/// The sentence for a record.
pub fn sentence(record: &Record, names: &Names, look: &Look) -> String {
    let body = Teller { record, names, look }.body() + assumption(record);
    let took = duration(record.took_s);
    match record.status {
        Status::Complete => begin(&body, names),
        Status::Interrupted => format!("Partial, interrupted after {took}: {body}"),
        Status::Failed => format!("Partial, ended by an error after {took}: {body}"),
    }
}

/// The answer in one sentence, as it stands at the top of a screen.
pub(super) fn headline(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let lines = wrap(&sentence(record, names, look), look.width, 0);
    lines.iter().map(|line| tone(Tone::Strong, line)).collect()
}

/// What the intervals assume, where they assume something.
fn assumption(record: &Record) -> &'static str {
    let mut comparisons = record.analysis.levels.iter().flat_map(|level| &level.comparisons);
    if comparisons.any(|it| it.method == Method::StudentT && it.low.is_some()) {
        " (With so few rounds the interval is Student's t, which assumes normally distributed logarithms of the ratios.)"
    } else {
        ""
    }
}

/// Where a level is, in words: "alone", "at 10 copies".
pub fn at(record: &Record, load: u32) -> String {
    match record.plan.mode {
        Mode::Batch if load == 1 => "alone".to_owned(),
        Mode::Batch => format!("at {load} copies"),
        Mode::Closed { .. } if load == 1 => "with 1 worker".to_owned(),
        Mode::Closed { .. } => format!("with {load} workers"),
        Mode::Open { rate_per_s, .. } => format!("at {rate_per_s} starts a second"),
    }
}

struct Teller<'a> {
    record: &'a Record,
    names: &'a Names,
    look: &'a Look,
}

/// One pair over the levels: (load, comparison), rising.
type Story<'a> = Vec<(u32, &'a Comparison)>;

impl<'a> Teller<'a> {
    fn levels(&self) -> impl DoubleEndedIterator<Item = &'a Level> {
        self.record.analysis.levels.iter().filter(|level| !level.results.is_empty())
    }

    fn body(&self) -> String {
        let Some(first) = self.levels().next() else { return self.nothing() };
        if self.all_timed_out() {
            let limit =
                self.record.plan.timeout_s.map(|s| format!(" of {}", duration(s))).unwrap_or_default();
            return format!(
                "nothing finished within the time-out{limit}; raise --timeout or make the work smaller."
            );
        }
        if self.record.plan.alternatives.len() <= 1 {
            return self.single(first);
        }
        let mut others: Vec<&str> = Vec::new();
        for c in self.levels().flat_map(|level| &level.comparisons) {
            if !others.contains(&c.alternative.as_str()) {
                others.push(&c.alternative);
            }
        }
        match (others.as_slice(), self.levels().count()) {
            ([], _) => "nothing can be compared yet: no round ran every alternative.".to_owned(),
            ([other], _) => self.doubted(&self.pair(&self.story(other))),
            (_, 1) if others.len() <= NAMED => self.doubted(&self.list(&first.comparisons)),
            (_, 1) => self.doubted(&format!("{}.", self.leader(first))),
            _ => self.doubted(&self.leaders(&others)),
        }
    }

    /// The sentence with the doubt that outputs which differ leave.
    fn doubted(&self, sentence: &str) -> String {
        let warnings = self.record.analysis.warnings.iter().filter_map(|it| it.caution.as_ref());
        let differ: Vec<_> = warnings
            .filter_map(|it| match it {
                Caution::OutputsDiffer { alternative, before, place, vary, .. } => {
                    Some((alternative, before, place, vary))
                }
                _ => None,
            })
            .collect();
        let Some((_, before, place, _)) = differ.first() else { return sentence.to_owned() };
        let listed =
            |names: Vec<&String>| list(&names.into_iter().map(|it| self.name(it)).collect::<Vec<_>>());
        let mut vary: Vec<&String> = differ.iter().flat_map(|(.., vary)| vary.iter()).collect();
        vary.dedup();
        let doubt = if vary.is_empty() {
            let names: Vec<&String> = differ.iter().map(|(alternative, ..)| *alternative).collect();
            let (print, at) = match (names.len(), place) {
                (1, Some((byte, _))) => ("prints", format!(" (first at byte {byte})")),
                (1, None) => ("prints", String::new()),
                _ => ("print", String::new()),
            };
            format!("{} {print} something else than {}{at}", listed(names), self.name(before))
        } else {
            format!("the output of {} differs from run to run", listed(vary))
        };
        format!("{}, but {doubt}.", sentence.strip_suffix('.').unwrap_or(sentence))
    }

    /// A name as a part of the sentence: a command line stands in quotes, or one could not tell where it ends.
    fn name(&self, full: &str) -> String {
        let shown = self.names.show(full);
        if shown.contains(' ') { format!("'{shown}'") } else { shown.to_string() }
    }

    fn nothing(&self) -> String {
        let why = match self.record.analysis.not_measured.first() {
            Some(_) => "the reasons stand below",
            None => "it ended before the first batch was over; run it again",
        };
        format!("nothing was measured: {why}.")
    }

    fn all_timed_out(&self) -> bool {
        let batches = &self.record.batches;
        !batches.is_empty()
            && batches.iter().all(|b| !b.copies.timed_out.is_empty() && b.copies.timed_out.iter().all(|t| *t))
    }

    fn story(&self, other: &str) -> Story<'a> {
        let of = |level: &'a Level| {
            let comparison = level.comparisons.iter().find(|c| c.alternative == other)?;
            Some((level.load, comparison))
        };
        self.levels().filter_map(of).collect()
    }

    fn single(&self, first: &Level) -> String {
        let Some(result) = first.results.first() else { return self.nothing() };
        let name = self.name(&result.alternative);
        let only = self.levels().count() == 1;
        let place = self.place(first.load).map(|place| format!(" {place}")).unwrap_or_default();
        let mut text = format!("{name} takes {}{place}", self.takes(result));
        let last = self.levels().next_back().filter(|_| !only);
        if let Some((level, result)) = last.and_then(|level| Some((level, level.results.first()?))) {
            text.push_str(&format!("; {} {}", self.takes(result), at(self.record, level.load)));
        }
        text + "."
    }

    /// "412 ms (405 ms to 420 ms)"; with a time-out "at least 10.0 s".
    fn takes(&self, result: &LevelResult) -> String {
        let show = |seconds| time(seconds, self.look.time_unit);
        if !matches!(self.record.plan.mode, Mode::Batch) {
            let (p50, rate) = (show(result.latency_s.p50), count(result.throughput_per_s));
            return format!("{p50} (median latency; {rate} copies a second)");
        }
        let estimate = result.makespan_s;
        if result.timed_out > 0 {
            return format!("at least {} (cut by the time-out)", show(estimate.median));
        }
        match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => format!("{} ({} to {})", show(estimate.median), show(low), show(high)),
            _ => format!("{} (too few rounds for an interval)", show(estimate.median)),
        }
    }

    fn at(&self, load: u32) -> String {
        at(self.record, load)
    }

    /// Where a single level is; not said of one copy when nothing but one copy was asked for.
    fn place(&self, load: u32) -> Option<String> {
        let plain = matches!(self.record.plan.mode, Mode::Batch) && load <= 1;
        let only = matches!(&self.record.plan.loads, Loads::Fixed(asked) if asked.iter().all(|l| *l == load));
        (!(plain && only)).then(|| self.at(load))
    }

    /// How far apart alternatives that are the same may be. A band that was asked for stands for itself.
    fn same<'c>(&self, comparisons: impl IntoIterator<Item = &'c Comparison>) -> String {
        let plan = &self.record.plan;
        let reaches = |c: &Comparison| Some(c.low?.recip().max(c.high?) - 1.0);
        let most = comparisons.into_iter().filter_map(reaches).fold(plan.delta, f64::max);
        // Rounded up: it is a bound.
        format!("within {}", percent((most * 1000.0 - 1e-6).ceil() / 1000.0))
    }

    /// Two alternatives.
    fn pair(&self, story: &Story) -> String {
        let decided: Vec<(u32, Lead)> =
            story.iter().filter_map(|(load, c)| Some((*load, Lead::of(c)?))).collect();
        let mut winners: Vec<&str> = decided.iter().map(|(_, lead)| lead.winner).collect();
        winners.dedup();
        match (story.as_slice(), winners.len()) {
            ([(load, only)], _) => {
                let place = self.place(*load).map(|place| format!(", {place}")).unwrap_or_default();
                format!("{}.", self.clause((*load, only), &place))
            }
            (_, 0) => self.no_winner(story),
            (_, 1) => self.one_winner(story, &decided),
            (_, 2) => self.one_flip(story, &decided),
            _ => self.many_flips(&decided),
        }
    }

    /// One comparison as a clause; `place` comes after the names.
    fn clause(&self, (load, c): (u32, &Comparison), place: &str) -> String {
        let (alternative, baseline) = (self.name(&c.alternative), self.name(&c.baseline));
        match (c.verdict, Lead::of(c)) {
            (_, Some(lead)) => {
                let (winner, loser) = (self.name(lead.winner), self.name(lead.loser));
                format!("{winner} is {} faster than {loser}{place}{}", lead.factor(), lead.interval())
            }
            (Verdict::Same, _) => {
                let range = Self::range(c);
                format!("{alternative} and {baseline} take the same time {}{place}{range}", self.same([c]))
            }
            _ => {
                let ratio = times(c.time());
                let so_far = format!("{alternative} took {ratio} the time of {baseline}{}", Self::range(c));
                let work = self.work(c, load);
                let (known, more) = (self.less_work(c, work), self.more_rounds(&[(load, c)]));
                let sooner = if work.is_none() && self.may_run_at_once(load) { AT_ONCE } else { "" };
                format!("undecided after {}{place}: {so_far}; {known}{more}{sooner}", rounds(c.rounds))
            }
        }
    }

    /// The ratio of the works where it is known who needs less: from runs at once if there are any, else from those in turns.
    fn work(&self, c: &Comparison, load: u32) -> Option<Ratio> {
        let lowest = self.record.analysis.levels.first().is_some_and(|level| level.load == load);
        let at_once = self.record.analysis.duets.iter().find(|it| lowest && it.alternative == c.alternative);
        at_once.map(|it| it.work).or(c.work).filter(|work| work.excludes_one())
    }

    /// Whether runs at once are only not made because nobody asked for them, and would fit.
    fn may_run_at_once(&self, load: u32) -> bool {
        let plan = &self.record.plan;
        let kept_s = Duet::kept_s(plan.rounds.max_time_s);
        let fits = |batch: &Batch| {
            let work_s = batch.work_s() / f64::from(load);
            let span_s = batch.copies.wall_s.iter().copied().fold(0.0, f64::max);
            let fewest_s = f64::from(fewest_duets(plan)) * Duet::one_s(span_s, work_s);
            batch.load != load || work_s >= Duet::LEAST_WORK_S && fewest_s <= kept_s
        };
        plan.pace == Pace::Auto
            && !plan.duets()
            && Plan { pace: Pace::On, ..plan.clone() }.duets()
            && self.record.batches.iter().all(fits)
    }

    /// What is known all the same where the time is not: who does less work, which decides once every CPU is busy.
    fn less_work(&self, c: &Comparison, work: Option<Ratio>) -> String {
        let Some(work) = work else { return String::new() };
        let (less, name) =
            if work.ratio < 1.0 { (work.inverse(), &c.alternative) } else { (work, &c.baseline) };
        let (name, times, range) = (self.name(name), times(less), range(less));
        format!("{name} needs {times} less CPU time{range}, which decides when every CPU is busy; ")
    }

    fn range(c: &Comparison) -> String {
        match (c.low, c.high) {
            (Some(_), Some(_)) => range(c.time()),
            _ => c.less_sure.map_or_else(String::new, |less| {
                let (low, high) = (factor(less.low), factor(less.high));
                format!(" ({low} to {high}, at {:.0}% confidence only)", less.confidence * 100.0)
            }),
        }
    }

    /// What more rounds would bring. Every load has rounds of its own, which take their own time.
    fn more_rounds(&self, undecided: &[(u32, &Comparison)]) -> String {
        let needed = |(load, c): &(u32, &Comparison)| Some((*load, c.rounds_needed?));
        let needed: Option<Vec<(u32, u32)>> = undecided.iter().map(needed).collect();
        let Some(needed) = needed else {
            return "how many more rounds would tell is not known".to_owned();
        };
        let most = needed.iter().map(|(_, rounds)| *rounds).max().unwrap_or(1);
        let rounds = if most == 1 { "1 more round".to_owned() } else { format!("{most} more rounds") };
        let more_s: f64 = needed.iter().map(|(load, rounds)| f64::from(*rounds) * self.round_s(*load)).sum();
        let all_made = needed.iter().all(|(load, _)| self.rounds(*load) >= self.record.plan.rounds.max);
        let how = match self.record.status {
            Status::Interrupted => duration(more_s),
            _ if self.record.plan.rounds.fixed => "raise --runs".to_owned(),
            _ if all_made => format!("{}; raise --max-runs", duration(more_s)),
            _ => format!("{}; raise --max-time", duration(more_s)),
        };
        format!("about {rounds} would tell ({how})")
    }

    /// Rounds that ran at a load.
    fn rounds(&self, load: u32) -> u32 {
        let batches = self.record.batches.iter().filter(|batch| batch.load == load);
        batches.map(|batch| batch.round + 1).max().unwrap_or(0)
    }

    /// What a round took at a load, about.
    fn round_s(&self, load: u32) -> f64 {
        let batches = self.record.batches.iter().filter(|batch| batch.load == load);
        batches.map(|batch| batch.makespan_s).sum::<f64>() / f64::from(self.rounds(load).max(1))
    }

    fn no_winner(&self, story: &Story) -> String {
        let Some((load, first)) = story.first() else { return self.nothing() };
        if story.iter().all(|(_, c)| c.verdict == Verdict::Same) {
            let (a, b) = (self.name(&first.alternative), self.name(&first.baseline));
            return format!(
                "{a} and {b} take the same time {} at every measured load.",
                self.same(story.iter().map(|(_, c)| *c))
            );
        }
        let (a, b) = (self.name(&first.alternative), self.name(&first.baseline));
        let more = self.more_time(story).unwrap_or_else(|| self.at(*load));
        format!("no winner between {a} and {b}: {}; {more}.", self.open_loads(story, |_| true))
    }

    /// What more time would bring where loads are undecided.
    fn more_time(&self, story: &Story) -> Option<String> {
        let undecided = story.iter().filter(|(_, c)| c.verdict == Verdict::Undecided);
        let undecided: Vec<_> = undecided.copied().collect();
        (!undecided.is_empty()).then(|| self.more_rounds(&undecided))
    }

    /// "the same within 2% at 10 copies, undecided alone and at 100 copies".
    fn open_loads(&self, story: &Story, which: impl Fn(u32) -> bool) -> String {
        let list = |verdict| {
            let of = story.iter().filter(|(load, c)| c.verdict == verdict && which(*load));
            join(&of.map(|(load, _)| self.at(*load)).collect::<Vec<_>>())
        };
        let same = Some(list(Verdict::Same)).filter(|l| !l.is_empty());
        let undecided = Some(list(Verdict::Undecided)).filter(|l| !l.is_empty());
        let alike =
            story.iter().filter(|(load, c)| c.verdict == Verdict::Same && which(*load)).map(|(_, c)| *c);
        let parts = [
            same.map(|loads| format!("the same {} {loads}", self.same(alike))),
            undecided.map(|loads| format!("undecided {loads}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn one_winner(&self, story: &Story, decided: &[(u32, Lead)]) -> String {
        let Some(((first_load, first), (last_load, last))) = decided.first().zip(decided.last()) else {
            return self.no_winner(story);
        };
        let (winner, loser) = (self.name(first.winner), self.name(first.loser));
        let lead = |load: u32, lead: &Lead| format!("{} {}{}", lead.factor(), self.at(load), lead.interval());
        let rest = self.open_loads(story, |_| true);
        let rest = self.more_time(story).map_or(rest.clone(), |more| format!("{rest}; {more}"));
        if rest.is_empty() {
            return format!(
                "{winner} is faster than {loser} at every measured load: {}, {}.",
                lead(*first_load, first),
                lead(*last_load, last)
            );
        }
        if decided.len() == 1 {
            let (factor, place, interval) = (first.factor(), self.at(*first_load), first.interval());
            return format!("{winner} is {factor} faster than {loser} {place}{interval}; {rest}.");
        }
        let leads = format!("{}, {}", lead(*first_load, first), lead(*last_load, last));
        format!("{winner} is faster than {loser}: {leads}; {rest}.")
    }

    fn one_flip(&self, story: &Story, decided: &[(u32, Lead)]) -> String {
        let Some(((first_load, first), (last_load, last))) = decided.first().zip(decided.last()) else {
            return self.no_winner(story);
        };
        let turn = decided.iter().position(|(_, lead)| lead.winner == last.winner).unwrap_or(0);
        let (from, to) = (decided[turn].0, decided[turn.saturating_sub(1)].0);
        let winner = self.name(last.winner);
        let head = format!(
            "{} is {} faster {}{}",
            self.name(first.winner),
            first.factor(),
            self.at(*first_load),
            first.interval()
        );
        let tail = if from == *last_load {
            format!("{} {winner} wins, {}{}", self.at(from), last.factor(), last.interval())
        } else {
            let on = self.at(from).replacen("at ", "", 1).replacen("with ", "", 1);
            format!(
                "from {on} on {winner} wins, {} {}{}",
                last.factor(),
                self.at(*last_load),
                last.interval()
            )
        };
        // Between the two winners there may be levels without one; the line with the ranges tells of them.
        let rest = self.open_loads(story, |load| load < to || load > from);
        let rest = if rest.is_empty() { rest } else { format!("; {rest}") };
        format!("{head}; {tail}{rest}.")
    }

    fn many_flips(&self, decided: &[(u32, Lead)]) -> String {
        let mut winners: Vec<&str> = Vec::new();
        for (_, lead) in decided {
            if !winners.contains(&lead.winner) {
                winners.push(lead.winner);
            }
        }
        let where_wins = |winner: &&str| {
            let loads = decided.iter().filter(|(_, lead)| lead.winner == *winner);
            let loads = join(&loads.map(|(load, _)| self.at(*load)).collect::<Vec<_>>());
            format!("{} wins {loads}", self.name(winner))
        };
        let parts = winners.iter().map(where_wins).collect::<Vec<_>>().join(", ");
        format!("the answer flips more than once with the load: {parts}.")
    }

    /// Several alternatives at one level, each named.
    fn list(&self, comparisons: &[Comparison]) -> String {
        let Some(first) = comparisons.first() else { return self.nothing() };
        let mut sorted: Vec<&Comparison> = comparisons.iter().collect();
        sorted.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let part = |c: &&Comparison| {
            let name = self.name(&c.alternative);
            match (c.verdict, Lead::of(c)) {
                (Verdict::Slower, Some(lead)) => {
                    format!("{name} takes {} as long{}", lead.factor(), lead.interval())
                }
                (_, Some(lead)) => format!("{name} is {} faster{}", lead.factor(), lead.interval()),
                (Verdict::Same, _) => format!("{name} takes the same time {}", self.same([*c])),
                _ => format!("{name} is undecided"),
            }
        };
        let parts = sorted.iter().map(part).collect::<Vec<_>>().join("; ");
        format!("against {}: {parts}.", self.name(&first.baseline))
    }

    /// Many alternatives at one level: who leads, and how the others stand.
    fn leader(&self, level: &Level) -> String {
        let of = |verdict| level.comparisons.iter().filter(move |c| c.verdict == verdict);
        let Some(baseline) = level.comparisons.first().map(|c| self.name(&c.baseline)) else {
            return self.nothing();
        };
        let leader = of(Verdict::Faster).min_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let head = match leader.and_then(|c| Some((c, Lead::of(c)?))) {
            Some((c, lead)) => {
                let name = self.name(&c.alternative);
                format!("{name} leads, {} faster than {baseline}{}", lead.factor(), lead.interval())
            }
            None if of(Verdict::Slower).count() == level.comparisons.len() => format!("{baseline} leads"),
            None => format!("nothing is shown to be faster than {baseline}"),
        };
        let counts = [
            (of(Verdict::Faster).count(), "faster"),
            (of(Verdict::Slower).count(), "slower"),
            (of(Verdict::Same).count(), "the same"),
            (of(Verdict::Undecided).count(), "undecided"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
        format!("{head}, of {}: {}", level.comparisons.len(), counts.collect::<Vec<_>>().join(", "))
    }

    /// Several alternatives over several levels: who leads at the lowest and at the highest, and how many flip.
    fn leaders(&self, others: &[&str]) -> String {
        let flips = others.iter().filter(|other| {
            let mut winners: Vec<&str> =
                self.story(other).iter().filter_map(|(_, c)| Some(Lead::of(c)?.winner)).collect();
            winners.dedup();
            winners.len() > 1
        });
        let flips = match flips.count() {
            0 => "the answer flips for none".to_owned(),
            n => format!("the answer flips for {n} of {}", others.len()),
        };
        let ends = [self.levels().next(), self.levels().next_back()].into_iter().flatten();
        let parts = ends.map(|level| format!("{}: {}", self.at(level.load), self.leader(level)));
        format!("{}; {flips}.", parts.collect::<Vec<_>>().join("; "))
    }
}

/// A sentence begins with a capital, but a name is written as it is.
fn begin(text: &str, names: &Names) -> String {
    if names.begins(text) { text.to_owned() } else { capitalise(text) }
}

/// "a", "a and b", "a, b and c".
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
