//! Experiments: what is changed, what is expected, what came out.

use whyfaster_core::why::report::Experiment;
use whyfaster_core::why::{Edit, InPlace, Pace, Planned, Repeated, Shown, Untestable};
use whyfaster_stats::quantile::median;

use super::called::Called;
use super::numbers::{command_line, count, time, upper};

/// What is changed.
pub(super) fn change(edit: Option<&Edit>) -> String {
    let Some(edit) = edit else { return "nothing".to_owned() };
    let text = match edit {
        Edit::NoSleep => "every sleep in its command line is sleep 0",
        Edit::ShorterSleep { from, to } => {
            return format!("sleep {from} is sleep {to}, as long as the other one sleeps");
        }
        Edit::SleepsAsOther => "its command line sleeps only as long as the other one's",
        Edit::RealTime => {
            "it runs in the real-time class (round robin, priority 1), so that ordinary tasks cannot take its CPUs"
        }
        Edit::NoNice => "nice leaves its priority as it is",
        Edit::SharedSession => "it runs in the session of all",
        Edit::OwnSession => "it runs in a session of its own",
        Edit::WarmCache => "what it reads is in memory before it begins",
        Edit::ColdFiles { files } => {
            let names: Vec<String> = files.iter().map(|file| format!("'{file}'")).collect();
            return format!("{} left the page cache before it begins", names.join(", "));
        }
        Edit::PathOfOther => "it searches for programs where the other one does",
        Edit::ShortPath => "PATH names only the directories in which its programs are",
        Edit::LargePieces => "its options ask for large pieces",
        Edit::LargeBuffers { bytes } => {
            return format!(
                "stdbuf gives its programs buffers of {bytes} bytes, if they are the C library's"
            );
        }
        Edit::LineBuffers => {
            "stdbuf makes its programs write every line at once, if their buffers are the C library's"
        }
        Edit::NoCopies => "the stages that only copy are left out",
        Edit::PipeSize { bytes, larger } => {
            let often = if *larger { "less" } else { "more" };
            return format!("its pipes hold {bytes} bytes, so that stages wait for each other {often} often");
        }
        Edit::OneCpu { cpu, all } => {
            let what = if *all { "all of it" } else { "it" };
            return format!("{what} may run on CPU {cpu} only");
        }
        Edit::MoreCpus { cpus } => return format!("taskset lets it run on CPUs {}", list(cpus, ",")),
        Edit::StagesApart { cpus } => {
            return format!("its stages may run on CPUs {} only, each on its own", list(cpus, ", "));
        }
        Edit::ProcessesBefore { each, in_place, at_once } => {
            return processes_before(each, in_place.as_ref(), *at_once);
        }
        Edit::StartsBefore { each, against, at_once } => {
            return format!(
                "{} {}, against as many {}",
                repeated(each),
                before_it(*at_once),
                command_line(against)
            );
        }
        Edit::BindNow { set: true } => "LD_BIND_NOW is set",
        Edit::BindNow { set: false } => "LD_BIND_NOW is not set",
    };
    text.to_owned()
}

fn list(cpus: &[u32], between: &str) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

fn repeated(it: &Repeated) -> String {
    format!("{} times {}", count(it.times as f64), command_line(&it.words))
}

fn processes_before(each: &[Repeated], in_place: Option<&InPlace>, at_once: u64) -> String {
    let in_place =
        in_place.map(|it| format!("{}, against {},", repeated(&it.each), command_line(&it.against)));
    let all: Vec<String> = each.iter().map(repeated).chain(in_place).collect();
    format!("{} {}", all.join(" and "), before_it(at_once))
}

fn before_it(at_once: u64) -> String {
    let order = if at_once > 1 { format!("{at_once} at once") } else { "one after the other".to_owned() };
    format!("run before it, {order}")
}

/// What is expected of an experiment that is to run: `changed` is how sentences call the alternative that is changed.
fn expected(edit: &Edit, (put_in, sure): (bool, bool), seconds: f64, changed: &str) -> String {
    let (words, seconds) = (change(Some(edit)), time(seconds));
    match (put_in, sure) {
        (true, _) => format!("{} then takes about {seconds} longer: {words}.", upper(changed)),
        (false, true) => format!("{} can win about {seconds}: {words}.", upper(changed)),
        (false, false) => format!("At most {seconds} can be won for {changed}: {words}."),
    }
}

/// What is said before an experiment runs.
pub(super) fn announced(it: &Planned, changed: &str) -> String {
    let edit = it.edit.as_ref();
    edit.map_or(String::new(), |edit| expected(edit, (it.put_in, it.sure), it.predicted_s, changed))
}

/// What was said before it ran.
pub(super) fn prediction(it: &Experiment, called: &Called) -> String {
    let changed = called.of(&it.alternative);
    let edit = it.edit.as_ref();
    edit.map_or(String::new(), |edit| expected(edit, (it.put_in, it.sure), it.predicted_s, &changed))
}

/// What a confirmation says, without a full stop: both times of the experiment itself, for the machine may have changed since the
/// difference was measured.
pub(super) fn confirmation(it: &Experiment, called: &Called) -> String {
    let times = median(&it.changed_s).zip(median(&it.control_s));
    times.map_or(String::new(), |(changed_s, control_s)| {
        let changed = called.of(&it.alternative);
        format!(
            "with the change ({}), {changed} took {} instead of {}",
            it.change,
            time(changed_s),
            time(control_s)
        )
    })
}

/// What came out. `None`: a record of an older version, which has only the text.
pub(super) fn sentence(it: &Experiment, called: &Called) -> Option<String> {
    let shown = it.shown.as_ref()?;
    let with = |end: &str| upper(&format!("{}{end}.", confirmation(it, called)));
    let text = match shown {
        Shown::NotTestable { why } => format!("Not testable: {}.", untestable(why)),
        Shown::NotRun => "It was planned and not run: the time was over.".to_owned(),
        Shown::Interrupted => {
            let rounds = if it.rounds == 1 { "round" } else { "rounds" };
            format!("It was interrupted after {} {rounds}, which does not tell.", it.rounds)
        }
        Shown::TooMuch => too_much(it),
        Shown::Confirmed => with(""),
        Shown::Refuted => with(": the cause is another one"),
        Shown::FewRounds => with(", but the rounds are too few to tell"),
        Shown::MayStay => {
            with("; the change need not remove the cause, which may not be in the command line")
        }
        Shown::Unclear => with(", which does not tell"),
    };
    let pace = it.pace.as_ref().map(|Pace { now_s, before_s }| {
        format!(
            " Unchanged, it took {} in this test and {} before: the machine was not the same, nor is what can be won.",
            time(*now_s),
            time(*before_s)
        )
    });
    Some(text + &pace.unwrap_or_default())
}

fn too_much(it: &Experiment) -> String {
    let (took, verb) = if it.put_in { ("longer", "put in") } else { ("less", "took away") };
    format!(
        "With the change ({}), it takes {} {took}, more than the {} predicted: undecided, the change {verb} more than this cause.",
        it.change,
        time(it.won_s.map_or(0.0, |won| won.median)),
        time(it.predicted_s)
    )
}

/// Why a cause cannot be tested.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each reason, so that the compiler asks for the words of a new one"
)]
fn untestable(why: &Untestable) -> String {
    let text = match why {
        Untestable::Computes => "computing cannot be taken out of a program from outside",
        Untestable::Files => "what a program does with files cannot be left out from outside",
        Untestable::Calls => "the calls that a program makes cannot be left out from outside",
        Untestable::UsesMemory => "the memory that a program uses cannot be taken from it from outside",
        Untestable::Locks => "a lock cannot be left out from outside without changing what is computed",
        Untestable::Network => "the other end of the network is not under control",
        Untestable::NoCause => "there is no cause to remove",
        Untestable::SleepsItself => "the program sleeps by itself, and cannot be kept from it from outside",
        Untestable::SleepsElsewhere { seconds } => {
            return format!(
                "the cause is not in its command line, which sleeps only {} longer; a script or a program sleeps the rest",
                time(*seconds)
            );
        }
        Untestable::OtherSleepUnknown => "it is not known how long the other one sleeps",
        Untestable::SleepNotLonger => {
            "its command line does not say that it sleeps longer than the other one"
        }
        Untestable::NoRealTime { why } => return format!("to keep others from a CPU {why}"),
        Untestable::BothWaitForCpus => {
            "both wait for CPUs that others have, and without others most of what goes is what both wait"
        }
        Untestable::LeftToOthers => {
            "real-time tasks leave others a part of every second, about as much as it waits"
        }
        Untestable::Stolen => {
            "the hypervisor gives the CPUs to others, which nothing in this machine changes"
        }
        Untestable::Quota => "the quota belongs to its cgroup, which is not changed here",
        Untestable::ShareElsewhere => "what gives it less of the CPUs does not stand in its command line",
        Untestable::WriteBack => "it waits until data is written, and no cache can spare it that",
        Untestable::BothWaitForDisk => {
            "both wait for the disk, and with a warm cache most of what goes is what both wait"
        }
        Untestable::ProgramsUnknown => "it is not known in which directories the programs are",
        Untestable::OwnPieces => "the program chooses the size of its pieces itself",
        Untestable::PiecesElsewhere => {
            "the cause is not in its command line: other programs move the small pieces than those whose pieces it sets"
        }
        Untestable::NoPipeline => "its command line is no plain pipeline, of which a stage could be left out",
        Untestable::EveryStageWorks { fits: false } => {
            "every stage does something to the data, so none can be left out"
        }
        Untestable::EveryStageWorks { fits: true } => {
            "every stage does something to the data, and its pipes hold all of it as they are"
        }
        Untestable::OneCpu => "there is one CPU, on which nothing overlaps",
        Untestable::WaitsInTurn => "which waits depend on each other is not known from outside",
        Untestable::NoOtherCpu => "there is no other CPU",
        Untestable::AsManyProcesses => "both make as many processes, so there is none to put in",
        Untestable::ProgramMissing { program } => {
            return format!("'{program}' was not found, which takes the place of programs");
        }
        Untestable::NoWrapper => "there is no program to put processes in with",
        Untestable::NoStartStandsOut => "no program stands out by its start-up",
        Untestable::StartUnknown { program } => {
            return format!("'{program}' is not known to start without doing its work");
        }
        Untestable::NothingInItsPlace { program } => {
            return format!(
                "the other one starts no program in place of '{program}', to which its start-up could be compared"
            );
        }
        Untestable::StartsElsewhere { program } => {
            return format!(
                "both start '{program}', and how its start-ups differ does not stand in their command lines"
            );
        }
        Untestable::SameStart { program } => {
            return format!(
                "both start '{program}' with the same options; what it loads itself cannot be taken from it"
            );
        }
        Untestable::NoTime { rounds, seconds } => {
            return format!(
                "no time was left: {rounds} rounds would take {seconds:.1} s; allow more with --max-time"
            );
        }
        Untestable::CannotRun { why } => why,
    };
    text.to_owned()
}
