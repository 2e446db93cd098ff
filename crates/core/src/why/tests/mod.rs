//! Tests of the whole way from hand-made reports to findings.

mod causes;
mod experiments;
mod growth;
mod judging;
mod mixed;
mod refusals;
mod starts;

pub(super) mod fixture;

/// Every cause has its page, which the book links.
#[test]
fn every_cause_has_its_page() {
    use super::cause::Cause;
    use Cause::*;
    let all = [
        Processes,
        PathSearch,
        Startup,
        SmallIo,
        PipeCopy,
        Overlap,
        Compute,
        PageFaults,
        Disk,
        Lock,
        Sleep,
        CpuContention,
        Misplacement,
        Share,
        Network,
        Unexplained,
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|_| panic!("no {path}"));
    let summary = read("docs/src/SUMMARY.md");
    for cause in all {
        let name = serde_json::to_value(cause).unwrap();
        let name = name.as_str().unwrap();
        assert_eq!(super::sentence::page(cause), format!("docs/src/causes/{name}.md"));
        let text = read(&super::sentence::page(cause));
        for part in ["What it means", "How it is found", "Its numbers", "What to do", "How it is confirmed"] {
            assert!(text.contains(part), "{name}: no '{part}'");
        }
        assert!(summary.contains(&format!("causes/{name}.md")), "{name} is not linked");
    }
}
