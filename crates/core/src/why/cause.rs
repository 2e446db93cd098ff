//! The closed list of causes. What there is to know of each stands in its file under `causes/`.

use serde::{Deserialize, Serialize};

/// Makes the list: the cause, its name in the document and of its page.
macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal,)*) => {
        /// Why one alternative takes longer than another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Cause {
            $($(#[$doc])* $cause,)*
        }

        impl Cause {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$cause),*];

            /// Its name in the document.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$cause => $name,)*
                }
            }
        }
    };
}

causes! {
    /// It makes more processes.
    Processes = "processes",
    /// It searches PATH, and fails, more often.
    PathSearch = "path_search",
    /// Its programs take longer to load and start up.
    Startup = "startup",
    /// It reads or writes in smaller pieces.
    SmallIo = "small_io",
    /// It copies data through a pipe once more.
    PipeCopy = "pipe_copy",
    /// The other one overlaps work on several CPUs.
    Overlap = "overlap",
    /// It computes more in user code.
    Compute = "compute",
    /// It touches more memory for the first time.
    PageFaults = "page_faults",
    /// It has more work with files in the kernel.
    Files = "files",
    /// It makes more system calls that do little each.
    Calls = "calls",
    /// It has more system time, and no count tells what for.
    Kernel = "kernel",
    /// It waits for a disk.
    Disk = "disk",
    /// It waits for a lock.
    Lock = "lock",
    /// It sleeps or polls.
    Sleep = "sleep",
    /// Others take the CPU.
    CpuContention = "cpu_contention",
    /// It waits for a CPU while another one stands idle.
    Misplacement = "misplacement",
    /// It is given less of the machine: priority, session, cgroup.
    Share = "share",
    /// It waits for the network.
    Network = "network",
    /// None of these.
    Unexplained = "unexplained",
}

impl Cause {
    /// Its page of the documentation.
    pub fn page(self) -> String {
        format!("docs/src/causes/{}.md", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_document() {
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.name());
        }
    }

    /// Every cause has its page with all its parts, which the book links and lists.
    #[test]
    fn every_cause_has_its_page() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read =
            |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|_| panic!("no {path}"));
        let (summary, list) = (read("docs/src/SUMMARY.md"), read("docs/src/causes.md"));
        for cause in Cause::ALL {
            let (name, text) = (cause.name(), read(&cause.page()));
            for part in
                ["What it means", "How it is found", "Its numbers", "What to do", "How it is confirmed"]
            {
                assert!(text.contains(part), "{name}: no '{part}'");
            }
            for (page, text) in [("SUMMARY.md", &summary), ("causes.md", &list)] {
                assert!(text.contains(&format!("causes/{name}.md")), "{name} is not linked in {page}");
            }
        }
        let pages = std::fs::read_dir(root.join("docs/src/causes")).unwrap().count();
        assert_eq!(pages, Cause::ALL.len(), "a page of no cause");
    }
}
