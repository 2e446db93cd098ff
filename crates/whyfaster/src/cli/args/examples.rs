//! Three examples for each verb: its help begins with them.

/// Of `compare`.
pub(super) const COMPARE: &str = "\
Examples:
  whyfaster compare 'sort -u words.txt' 'sort words.txt | uniq'
  whyfaster compare --load auto ./old ./new      # and with many copies at once?
  whyfaster compare --fail-if-slower=5 --reference ./old ./new    # in CI";

/// Of `trace`.
pub(super) const TRACE: &str = "\
Examples:
  whyfaster trace 'sort words.txt | uniq -c'
  whyfaster trace --flamegraph flames.svg ./slow.sh
  whyfaster trace --follow 1234                  # what already runs";

/// Of `show`.
pub(super) const SHOW: &str = "\
Examples:
  whyfaster show -v                              # all tables of the last one
  whyfaster show --list
  whyfaster show run.json --export-markdown table.md";

/// Of `report`.
pub(super) const REPORT: &str = "\
Examples:
  whyfaster report                               # of the last record
  whyfaster report run.json -o run.html --open
  whyfaster report run.json --svg run.svg        # the one picture";

/// Of `study`.
pub(super) const STUDY: &str = "\
Examples:
  whyfaster study                                # lists them
  whyfaster study pipes
  whyfaster study threads --quick";

/// Of `prices`.
pub(super) const PRICES: &str = "\
Examples:
  whyfaster prices
  whyfaster prices fork execve pipe_latency
  whyfaster prices --record here.json            # for 'whyfaster machines'";

/// Of `machines`.
pub(super) const MACHINES: &str = "\
Examples:
  whyfaster machines                             # the built-in lists
  whyfaster machines here.json there.json
  whyfaster machines here.json macosx-10.7 --project '30000 fork+execve'";

/// Of `store`.
pub(super) const STORE: &str = "\
Examples:
  whyfaster store add lists/                     # the records in a directory
  whyfaster store add --label before node1.json node2.json
  whyfaster store list --since 2026-10-01";

/// Of `fleet`.
pub(super) const FLEET: &str = "\
Examples:
  whyfaster fleet compare hosts.txt -- 'sort in.txt' 'LC_ALL=C sort in.txt'
  whyfaster fleet prices ssh:node1 ssh:node2 --to lists -- --quick
  whyfaster fleet diff before/ after/            # what an update changed";

/// Of `doctor`.
pub(super) const DOCTOR: &str = "\
Examples:
  whyfaster doctor
  whyfaster doctor -v                            # every line
  whyfaster doctor --json";

/// Of `demo`.
pub(super) const DEMO: &str = "\
Examples:
  whyfaster demo
  whyfaster demo --max-time 60s                  # on a busy machine
  whyfaster demo --record demo.json";

/// Of `man`.
pub(super) const MAN: &str = "\
Examples:
  whyfaster man
  whyfaster man compare
  whyfaster man compare > whyfaster-compare.1";

/// Of `completions`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  whyfaster completions bash > whyfaster.bash
  whyfaster completions zsh > _whyfaster         # into a directory of $fpath
  whyfaster completions fish > ~/.config/fish/completions/whyfaster.fish";
