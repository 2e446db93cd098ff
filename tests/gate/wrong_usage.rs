//! Every message about wrong usage, word for word, in one snapshot: exit status 2, nothing on standard output, and a next step.
//! After a change that is meant: INSTA_UPDATE=always cargo test --test measuring wrong_usage, and read the difference.

use crate::support::Sandbox;

/// Words behind `whyfaster`, as a shell reads them.
const LINES: &str = r#"
frobnicate
compare
compare --no-such-option true
compare --runs 0 true
compare --runs 5 --min-runs 3 true
compare --min-runs 5 --max-runs 4 true
compare --warmup -1 true
compare -p a -p b true
compare --reference-name x true
compare -L n 1,2 --reference "echo {n}" "echo {n}"
compare -L n 1,2 --reference true -p "sleep {n}" "echo {n}"
compare -L n 1,2 --reference true --setup "touch {n}" "echo {n}"
compare -P n 1 true
compare -P n 3 1 true
compare -P n 1 x true
compare -D 1 true
compare -N "echo 'x"
compare -N "echo a | cat" true
compare -N "LC_ALL=C sort f"
compare -S --shell bash true
compare -S -N true
compare -i=x true
compare --style loud true
compare --sort size true
compare --time-unit week true
compare --output nul true
compare --output log true
compare --input missing true
compare --load 0 true
compare --load 1,x true
compare --mode open true
compare --rate 5 true
compare --max-time soon true
compare --max-time -5 true
compare --mode open --rate -5 true
compare --load -3 true
compare --delta 2 true
compare --confidence 100% true
compare --timeout 0 true
compare --fail-on-inconclusive true
compare --fail-if-slower true
compare --metrics time,instructions true
compare --metrics memory_peak_resident:ms true
compare --fail-if 'memory>5%' true
compare --fail-if 'time_user>5' true
compare --fail-if 'time_user>5%' true
compare --export-format hyperfine3 true
compare --json --export-csv - true
compare --json --html - true
compare --svg - --html - true
report -o - --png - r.json
show --list --export-json f
prices --list --record f
prices --source getpid --record f
prices --fetch
prices --silence 3s
machines --json
machines --kernels a,b --all
machines macosx-10.7 debian-2.6.32 --json --html -
compare --why=no --why-rounds 3 true
compare --why=often true
compare --why-rounds 0 true
store get abc
store remove 1 x
trace
trace --follow x
trace --follow ./
trace --follow 1 --pin 0
trace --input missing true
trace --ring-size 3M true
trace --calls=opnat true
trace --level rusage --perfetto p true
trace --sample-rate 99 true
trace --json --output inherit true
trace "seq 9 | wc" --json
trace -S ls -l
trace -N "seq 9 > f"
show
prices getpdi
prices --source getpdi
prices --explain fork+exec
prices --project "many forks"
prices getpid --seed x
prices --project /nowhere/counts.txt
prices --inside docker
prices --inside gvisor:kvm
machines macosx-10.7
machines macosx-10.8
machines macosx-10.8 debian-2.6.32
machines debian-2.6.32 --project "3 forks"
demo --load 3
demo --max-time soon
man compar
man xyz
completions csh
"#;

#[test]
fn wrong_usage_is_named_with_the_next_step() {
    let place = Sandbox::new();
    let mut screen = String::new();
    for line in LINES.trim().lines() {
        let ran = place.shell(&format!("exec \"$whyfaster\" {line}"));
        ran.expect(2, &[]);
        assert_eq!(ran.out, "", "{line}");
        assert!(["hint: ", "--help"].iter().any(|next| ran.err.contains(next)), "{line}: {}", ran.err);
        screen += &format!("$ whyfaster {line}\n{}\n", ran.err);
    }
    insta::assert_snapshot!(screen);
    place.assert_clean();
}
