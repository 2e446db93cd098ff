//! Which lines words become.

use whyfaster_words::exit::Exit;

use super::*;

fn probes() -> Vec<Probe> {
    let probe = |name: &str, group: &str, variants: &str, batch: &str| {
        format!(
            "probe\tname={name}\tgroup={group}\tunit=one\texercises=x\tneeds=nothing\tportable=1\tvariants={variants}\t\
                 measures=time\tbatch={batch}\tpairs=0\tdisturbed=inv\tsource=c/p.c\n"
        )
    };
    let list = [
        probe("cond", "thread", "asleep awake burst", "param"),
        "param\tname=cond\tkey=n\tvalues=100 10 1000\tabout=events\n".to_owned(),
        "param\tname=cond\tkey=gap\tvalues=0 10\tabout=idle\n".to_owned(),
        probe("getpid", "kernel", "libc raw", "auto"),
        probe("burn", "selftest", "loop", "auto"),
    ];
    whyfaster_probe::parse_list(&list.concat()).unwrap()
}

fn selected(words: &[&str], change: impl FnOnce(&mut Wanted)) -> Selection {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    let mut wanted = Wanted { words, cpus: vec![0, 1], ..Wanted::default() };
    change(&mut wanted);
    select(&probes(), &wanted).unwrap()
}

#[test]
fn groups_stand_in_their_order_and_hidden_probes_are_hidden() {
    let selection = selected(&[], |_| {});
    let names: Vec<&str> = selection.lines.iter().map(|line| line.probe.as_str()).collect();
    assert_eq!(names, ["getpid", "getpid", "cond", "cond", "cond", "cond", "cond", "cond", "cond"]);
    assert_eq!(selected(&["burn"], |_| {}).lines.len(), 1);
    assert_eq!(selected(&["kernel"], |_| {}).lines.len(), 2);
}

#[test]
fn the_columns_of_a_hand_over() {
    let selection = selected(&["cond"], |_| {});
    let shown: Vec<(&str, &str, &str)> = selection
        .lines
        .iter()
        .map(|l| (l.variant.as_str(), l.cpu.as_str(), l.params[0].1.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("asleep", "same", "100"),
            ("asleep", "other", "100"),
            ("asleep", "free", "100"),
            ("awake", "other", "100"),
            ("burst", "free", "100"),
            ("burst", "free", "10"),
            ("burst", "free", "1000")
        ]
    );
    assert!(selected(&["cond"], |w| w.all = true).lines.iter().any(|l| l.params[1].1 == "10"));
    assert!(selected(&["getpid"], |w| w.all = true).lines.iter().any(|l| l.temp == "cold"));
    assert!(selected(&["cond"], |w| w.all = true).lines.len() > 15);
}

#[test]
fn a_new_thread_has_no_column_for_another_cpu_than_its_makers() {
    let probes = whyfaster_probe::descriptions();
    let columns = |all: bool| -> Vec<String> {
        let wanted =
            Wanted { words: vec!["newthread".to_owned()], cpus: vec![0, 1], all, ..Wanted::default() };
        select(&probes, &wanted).unwrap().lines.into_iter().map(|line| line.cpu).collect()
    };
    assert_eq!(columns(false), ["same", "free", "free", "free", "free"]);
    assert!(columns(true).iter().all(|cpu| cpu != "other"));
}

#[test]
fn a_word_that_is_group_and_probe_means_the_group_and_both_can_be_named() {
    let line = |name: &str, group: &str| {
        format!(
            "probe\tname={name}\tgroup={group}\tunit=one\texercises=x\tneeds=nothing\tportable=1\tvariants=burst\t\
             measures=total\tbatch=param\tpairs=0\tdisturbed=inv\tsource=c/p.c\n"
        )
    };
    let list = [line("pipe", "thread"), line("cond", "thread"), line("pipe_bandwidth", "pipe")].concat();
    let probes = whyfaster_probe::parse_list(&list).unwrap();
    let names = |word: &str| -> Vec<String> {
        let wanted = Wanted { words: vec![word.to_owned()], cpus: vec![0, 1], ..Wanted::default() };
        select(&probes, &wanted).unwrap().lines.into_iter().map(|line| line.probe).collect()
    };
    assert!(names("pipe").iter().all(|name| name == "pipe_bandwidth"));
    assert_eq!((names("pipe").len(), names("thread/pipe")), (2, vec!["pipe".to_owned()]));
    assert_eq!(names("cond"), ["cond"]);
    assert_eq!(names("thread"), ["pipe", "cond"]);
    let wrong = Wanted { words: vec!["thread/pip".to_owned()], ..Wanted::default() };
    assert!(select(&probes, &wrong).unwrap_err().hint.unwrap().contains("'thread/pipe'"));
}

#[test]
fn only_the_rows_that_are_asked_for_are_measured() {
    let selection = selected(&["cond"], |w| w.rows = vec!["cond/n=10".into(), "cond/n=1000".into()]);
    let shown: Vec<&str> = selection.lines.iter().map(|line| line.params[0].1.as_str()).collect();
    assert_eq!(shown, ["10", "1000"]);
}

#[test]
fn one_cpu_leaves_the_other_column_out_with_the_reason() {
    let selection = selected(&["cond"], |w| w.cpus = vec![3]);
    assert!(selection.lines.iter().all(|line| line.cpu != "other"));
    assert_eq!(selection.missing.len(), 2);
    assert_eq!(selection.missing[0].1, "needs two CPUs, and only CPU 3 may be used");
}

#[test]
fn memory_that_there_is_not_leaves_a_row_out_with_the_reason() {
    let probes = whyfaster_probe::descriptions();
    let with = |memory: Option<u64>| {
        let words = vec!["fork".to_owned()];
        select(&probes, &Wanted { words, cpus: vec![0, 1], all: true, memory, ..Wanted::default() }).unwrap()
    };
    assert_eq!(with(None).missing, []);
    assert_eq!(with(Some(2 << 30)).missing, []);
    let (all, some) = (with(None), with(Some(1 << 30)));
    let largest = |line: &&Line| line.params.contains(&("rss".to_owned(), "1G".to_owned()));
    assert_eq!(some.lines.iter().filter(largest).count(), 0);
    assert_eq!(some.missing.len(), all.lines.iter().filter(largest).count());
    let why = "needs 1.0 GiB of memory, and what is available, less a tenth, is 921.6 MiB";
    assert!(!some.missing.is_empty() && some.missing.iter().all(|(_, told)| told == why), "{some:?}");
    assert_eq!(["0", "4K", "64M", "1G", "x"].map(size), [0, 4096, 64 << 20, 1 << 30, 0]);
}

#[test]
fn a_small_machine_gets_every_pair_and_a_large_one_those_of_its_first_cpu() {
    assert_eq!(pairs(&[0, 1, 5], false), ["0,1", "0,5", "1,5"]);
    assert_eq!(pairs(&[0, 1, 2, 3, 4], false).len(), 4);
    assert_eq!(pairs(&[0, 1, 2, 3, 4], true).len(), 10);
    assert_eq!(pairs(&[7], true), ["other"]);
}

#[test]
fn many_cpus_make_no_long_list() {
    let list = "probe\tname=cacheline\tgroup=cpu\tunit=one\texercises=x\tneeds=nothing\tportable=1\tvariants=threads\t\
                    measures=time\tbatch=auto\tpairs=1\tmatrix=1\tdisturbed=inv\tsource=c/p.c\n";
    let probes: Vec<Probe> =
        whyfaster_probe::parse_list(list).unwrap().into_iter().chain(self::probes()).collect();
    let lines = |cpus: Vec<u32>, all: bool| {
        select(&probes, &Wanted { cpus, all, ..Wanted::default() }).unwrap().lines
    };
    let (two, many) = (lines(vec![0, 1], false), lines((0..32).collect(), false));
    // One pair becomes those of the first CPU; everything else is the same.
    assert_eq!(many.len(), two.len() - 1 + 31);
    assert!(many.iter().any(|line| line.cpu == "0,31"));
    let pairs = |lines: &[Line]| lines.iter().filter(|line| line.probe == "cacheline").count();
    // With all: every pair of sixteen, and the first CPU with each of the others.
    assert_eq!(pairs(&lines((0..32).collect(), true)), 16 * 15 / 2 + 16);
    let most = lines((0..256).collect(), true).len();
    assert!(most < 1_000, "{most} lines, of which each is a row of the list");
}

#[test]
fn an_unknown_word_gets_the_nearest() {
    let words = vec!["getpdi".to_owned()];
    let failure = select(&probes(), &Wanted { words, ..Wanted::default() }).unwrap_err();
    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.hint.as_deref().unwrap().contains("'getpid'"), "{failure:?}");
    assert_eq!(nearest("zzz", ["getpid"].into_iter()), None);
}

#[test]
fn a_line_reads_as_the_worker_expects() {
    let selection = selected(&["cond"], |_| {});
    assert_eq!(
        selection.lines[1].text(true, 20),
        "probe cond asleep batches=24 n=100 gap=0 cpu=other temp=warm count=1 budget_ms=20\n"
            .replace("24", "6")
    );
    assert_eq!(selection.lines[1].head().params, "n=100,gap=0");
}
