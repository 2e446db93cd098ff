//! What is kept comes back; what is damaged is refused.

use data_encoding::BASE64;
use proptest::prelude::*;

use super::super::check::CheckKind;
use super::super::counts::{CallCell, CallGroup};
use super::super::event::{
    Block, Call, CallNumber, FileKind, Left, NotOurs, Skipped, TaskKind, Totals, What,
};
use super::super::names::Abi;
use super::*;

fn recorded(events: &[Event], setting: Setting) -> Stored {
    let mut recorder = Recorder::new(1 << 20);
    events.iter().for_each(|event| recorder.push(event));
    recorder.finish(setting, Counts::default(), Facts::default()).unwrap()
}

fn read(stored: &Stored) -> Result<Vec<Event>, Damaged> {
    let mut events = Vec::new();
    stored.each(&mut |event| events.push(event.clone()))?;
    Ok(events)
}

fn event(at: u64, what: What) -> Event {
    Event { at, cpu: 3, what }
}

const WAITS: Block = Block {
    call: Some(CallNumber { number: 202, compat: true }),
    fault: false,
    io: true,
    file: FileKind::Socket,
    inode: u64::MAX,
    bitset: true,
};

#[test]
fn of_a_stream_that_is_too_long_the_beginning_is_kept() {
    let events: Vec<Event> = (0..100)
        .map(|at| {
            event(
                at,
                What::Name { task: at as u32 + 1, process: 1, name: format!("n{at}"), kind: TaskKind::Other },
            )
        })
        .collect();
    let keep = |limit| {
        let mut recorder = Recorder::new(limit);
        events.iter().for_each(|event| recorder.push(event));
        recorder
    };
    let (setting, counts, facts) = (Setting::default(), Counts::default(), Facts::default());
    let (stored, left_out) = keep(300).finish_with_what_fits(setting.clone(), counts.clone(), facts.clone());
    let kept = read(&stored).unwrap();
    assert_eq!(kept.as_slice(), &events[..kept.len()]);
    assert!(kept.len() > 10 && left_out > 10 && kept.len() as u64 + left_out == 100, "{left_out}");
    assert!(keep(300).finish(setting.clone(), counts.clone(), facts.clone()).is_err());
    let (stored, left_out) = keep(1 << 20).finish_with_what_fits(setting, counts, facts);
    assert_eq!((read(&stored).unwrap(), left_out), (events, 0));
}

#[test]
fn extremes_come_back() {
    let all = Totals {
        run_ns: MOST,
        delay_ns: Some(0),
        call_run_ns: Some(1),
        calls_entered: None,
        calls_returned: Some(MOST - 1),
        faults: None,
        voluntary: Some(3),
        involuntary: Some(4),
        migrations: None,
        stolen_ns: Some(9),
        unseen_ns: 11,
    };
    let start = LATEST - LONGEST;
    let name = || "ä name with spaces".to_owned();
    let skipped =
        |totals, why| What::Skipped(Skipped { task: 7, process: u32::MAX, name: name(), why, totals });
    let events = [
        event(start, What::Switch { prev: u32::MAX, next: 0, left: Left::Dead, block: None }),
        event(start - 5, What::Switch { prev: 0, next: 7, left: Left::Stopped, block: None }),
        event(start + LONGEST, What::Exec { task: 7, former: 8, name: name(), path: None, so_far: all }),
        event(
            start,
            What::Exec {
                task: 7,
                former: 7,
                name: name(),
                path: Some(String::new()),
                so_far: Totals::default(),
            },
        ),
        event(start, What::End { task: 7, process: 7, status: Some(i32::MIN), totals: all }),
        event(start, What::Allowed { task: 7, cpus: vec![u64::MAX; 128] }),
        event(start, What::Spent { task: 7, call_run_ns: MOST }),
        event(start, What::Spent { task: 8, call_run_ns: 1 }),
        event(start, What::Spent { task: 7, call_run_ns: 0 }),
        event(start, skipped(Some(all), NotOurs::OtherUser)),
        event(start, skipped(None, NotOurs::Refused)),
        event(start, What::LivesOn { task: 7, so_far: all }),
        event(start, What::LivesOn { task: 7, so_far: Totals::default() }),
        event(start, What::Started { task: 7, run_ns: MOST, call_run_ns: 0 }),
        event(start, What::Pipes { task: 7, input: 1, output: 0 }),
        event(start, What::Script { task: 7, script: name(), interpreter: String::new() }),
        event(start, What::Below { task: 7, parent: 6 }),
        event(start, What::Stop),
        event(start, What::Waits { task: 7, left: Left::Sleeping, block: WAITS }),
    ];
    assert_eq!(read(&recorded(&events, Setting::default())).unwrap(), events);
}

#[test]
fn calls_are_not_kept_for_they_are_counted() {
    let call = CallNumber { number: 1, compat: false };
    let call =
        Call { task: 1, call, began: 0, args: [0; 6], result: None, path: None, run_ns: 0, runnable_ns: 0 };
    let stored = recorded(&[event(5, What::Call(call))], Setting::default());
    assert_eq!((stored.events, stored.stream.as_str()), (0, ""));
}

#[test]
fn what_is_too_long_is_not_kept_at_all() {
    let mut recorder = Recorder::new(100);
    for at in 0..100 {
        recorder.push(&event(at, What::Queued { task: 1, on: 1 }));
    }
    let refused = recorder.finish(Setting::default(), Counts::default(), Facts::default());
    assert_eq!(refused, Err(TooLong { limit: 100 }));
}

#[test]
fn a_switch_takes_about_eight_bytes() {
    let mut events = Vec::new();
    for turn in 0..1000_u64 {
        let (prev, next) = if turn % 2 == 0 { (20_000, 20_001) } else { (20_001, 20_000) };
        events.push(event(turn * 2500, What::Switch { prev, next, left: Left::Runnable, block: None }));
    }
    let stored = recorded(&events, Setting::default());
    let bytes = BASE64.decode(stored.stream.as_bytes()).unwrap().len();
    assert!(bytes <= 9 * events.len(), "{bytes}");
}

#[test]
fn damage_is_named() {
    let good = recorded(&[event(5, What::Queued { task: 1, on: 1 })], Setting::default());
    let why = |stored: &Stored| read(stored).unwrap_err().why;
    assert_eq!(why(&Stored { stream: "*".to_owned(), ..good.clone() }), "it is not base64");
    assert_eq!(why(&Stored { events: 2, ..good.clone() }), "it has another number of events than it says");
    let other = Stored { format: "whyfaster-schedule/5".to_owned(), ..good.clone() };
    assert_eq!(why(&other), "it is written in a way that this version does not know");
    let bytes = |bytes: &[u8]| Stored { stream: BASE64.encode(bytes), ..good.clone() };
    assert_eq!(why(&bytes(&[format::kind::QUEUED, 0, 0, 1])), "it is cut off");
    assert_eq!(
        why(&bytes(&[format::kind::QUEUED, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
        "a number is too long"
    );
    assert_eq!(why(&bytes(&[format::kind::QUEUED, 0, 0, 1, 0x80, 0x80, 0x01])), "there is no such CPU");
    assert_eq!(why(&bytes(&[format::kind::WORK, 0, 0, 1, 0, 200, 1])), "a string is cut off or no UTF-8");
    assert_eq!(why(&bytes(&[format::kind::WORK, 0, 0, 1, 1])), "a string is used before it is given");
    assert_eq!(why(&bytes(&[format::kind::ALLOWED, 0, 0, 1, 0xff, 0x7f])), "a set of CPUs is too large");
}

#[test]
fn counts_that_would_overflow_are_refused() {
    let mut stored = recorded(&[], Setting::default());
    let by = CallGroup { name: "x".to_owned(), forked: false, subshell: false, process: None };
    stored.counts.calls.push(CallCell {
        by,
        call: CallNumber { number: 0, compat: false },
        file: crate::trace::event::FileKind::None,
        path: None,
        entered: u64::MAX,
        not_returned: 0,
        begun_before: 0,
        going_on: 0,
        errors: Vec::new(),
        total_ns: None,
        max_ns: None,
        runnable_ns: None,
        blocked_ns: None,
        failed_ns: None,
        bytes: None,
        histogram: Vec::new(),
    });
    assert_eq!(stored.analyse().unwrap_err().why, "its counts are out of range");
}

#[test]
fn it_goes_through_json() {
    let stored = recorded(&[event(5, What::Queued { task: 1, on: 1 })], Setting::default());
    let json = serde_json::to_string(&stored).unwrap();
    assert_eq!(serde_json::from_str::<Stored>(&json).unwrap(), stored);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_kept_stream_gives_the_same_report(
        mut events in prop::collection::vec(super::super::tests::any_event(), 0..200),
        sorted: bool,
    ) {
        if sorted {
            events.sort_by_key(|event| event.at);
        }
        let setting = Setting { abi: Abi::X86_64, running: true, ..Setting::default() };
        let stored = recorded(&events, setting.clone());
        prop_assert_eq!(read(&stored).unwrap(), events.clone());
        let mut analysis = Analysis::new(setting);
        events.iter().for_each(|event| analysis.push(event));
        let direct = analysis.finish(&Counts::default(), &Facts::default());
        prop_assert_eq!(stored.analyse().unwrap(), direct);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let stored = Stored { stream: BASE64.encode(&bytes), ..recorded(&[], Setting::default()) };
        let _ = stored.analyse();
        let decoded: Result<Vec<Event>, Damaged> = decode::Decoder::new(&bytes).collect();
        // An event takes at least four bytes.
        prop_assert!(decoded.is_ok_and(|events| events.len() * 4 <= bytes.len()) || !bytes.is_empty());
    }

    #[test]
    fn a_flipped_bit_is_read_or_refused(
        events in prop::collection::vec(super::super::tests::any_event(), 1..100),
        place: prop::sample::Index,
        bit in 0_u8..8,
    ) {
        let stored = recorded(&events, Setting { running: true, ..Setting::default() });
        let mut bytes = BASE64.decode(stored.stream.as_bytes()).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        let damaged = Stored { stream: BASE64.encode(&bytes), ..stored };
        if let Ok(report) = damaged.analyse() {
            prop_assert!(report.checks.iter().filter(|it| !matches!(it.kind, Some(CheckKind::Running | CheckKind::Work))).all(|it| it.holds));
        }
    }
}
