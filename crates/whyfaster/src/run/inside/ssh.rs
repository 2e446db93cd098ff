//! `ssh:HOST`: the worker on another machine, through the user's own ssh and its configuration.
//!
//! One connection does it all. A small script on the far side makes a directory, takes the worker and the plan from its standard
//! input, runs the worker, and takes the directory away again, however it ends. Its input stays open meanwhile: when we
//! go, it ends, and the far side ends the worker. The login shell runs once, before anything is measured.

use std::cell::RefCell;
use std::process::Command;
use std::time::Duration;

use super::guest::{About, Guest, Options};
use super::process::{self, Start};
use super::{tools, workers};
use crate::exit::{Exit, Failure};
use crate::run::interrupts::Interrupts;
use crate::run::probe::site::{Site, Take};
use crate::run::probe::worker::Ended;

/// What runs over there; `@SIZE@` bytes of worker, then `@PLAN@` bytes of plan come in. For the Bourne shell of any system.
const SCRIPT: &str = r#"
say() { echo "whyfaster-remote: $*" >&2; exit 90; }
d=$(mktemp -d "${TMPDIR:-/tmp}/whyfaster-XXXXXX") || say "no directory can be made in ${TMPDIR:-/tmp}"
w=
trap 'test -n "$w" && kill "$w" 2>/dev/null; rm -rf "$d"' EXIT
trap 'exit 91' HUP INT TERM PIPE
umask 077
head -c @ALL@ >"$d/all" && test "$(wc -c <"$d/all")" -eq @ALL@ || say "no room for the worker in $d (it needs about 3 MiB)"
head -c @SIZE@ "$d/all" >"$d/worker" && tail -c @PLAN@ "$d/all" >"$d/plan" && test "$(wc -c <"$d/plan")" -eq @PLAN@ &&
    test "$(wc -c <"$d/worker")" -eq @SIZE@ && chmod 700 "$d/worker" || say "no room for the worker in $d (it needs about 3 MiB)"
rm -f "$d/all"
exec 3<&0
TMPDIR=$d "$d/worker" --plan "$d/plan" </dev/null &
w=$!
{ cat <&3 >/dev/null; kill "$w" 2>/dev/null; } &
c=$!
wait "$w"; s=$?
w=
kill "$c" 2>/dev/null
test $s -eq 126 && say "$d does not allow programs to run there, or the worker is for another machine: it is $(uname -sm)"
exit $s
"#;

/// Another machine.
#[derive(Debug)]
pub struct Ssh {
    host: String,
    options: Options,
    /// The worker for that machine, once it is known which one it is.
    worker: RefCell<Option<Vec<u8>>>,
}

impl Ssh {
    /// Nothing is connected yet.
    pub fn open(host: &str, options: &Options) -> Self {
        Self { host: host.to_owned(), options: options.clone(), worker: RefCell::new(None) }
    }

    fn command(&self, remote: &str) -> Result<Command, Failure> {
        let ssh = tools::find(&["ssh"], "apt install openssh-client")?;
        let mut command = Command::new(ssh);
        // A question (password, unknown host key) could not be answered: we are not the terminal's foreground.
        command.args(["-T", "-o", "BatchMode=yes", "--", &self.host]);
        command.arg(format!("exec /bin/sh -c {}", shell_words::quote(remote)));
        Ok(command)
    }

    /// The machine's own name of its instruction set and system.
    fn machine(&self, interrupts: &Interrupts) -> Result<Option<(String, String)>, Failure> {
        let mut said = None;
        let start = Start {
            command: self
                .command(r#"printf 'hello\tos=%s\tmachine=%s\ndone\t\n' "$(uname -s)" "$(uname -m)""#)?,
            what: format!("ssh {}", self.host),
            input: Vec::new(),
            hold: false,
            silence: self.options.silence.min(Duration::from_secs(60)),
            console: None,
        };
        let ended = process::run(start, interrupts, &mut |line| {
            let field =
                |key: &str| line.split('\t').find_map(|part| part.strip_prefix(key)).map(str::to_owned);
            said = field("os=").zip(field("machine=")).or(said.take());
            Ok(())
        });
        match ended.map_err(|failure| self.explained(failure))? {
            Ended::Interrupted => Ok(None),
            Ended::Whole => said.map(Some).ok_or_else(|| {
                Failure::new(
                    Exit::Error,
                    format!("ssh {}: it did not tell what machine it is", self.host),
                    "it needs uname",
                )
            }),
        }
    }

    fn worker(&self, interrupts: &Interrupts) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(worker) = &*self.worker.borrow() {
            return Ok(Some(worker.clone()));
        }
        let Some((os, machine)) = self.machine(interrupts)? else { return Ok(None) };
        if os != "Linux" && self.options.worker.is_none() {
            return Err(Failure::new(
                Exit::Unfit,
                format!("{} runs {os} on {machine}, and this program carries a worker for Linux", self.host),
                "build the worker for it (the book says how) and name it with --worker FILE",
            ));
        }
        let worker = workers::of(if machine == "arm64" { "aarch64" } else { &machine }, &self.options)?;
        *self.worker.borrow_mut() = Some(worker.clone());
        Ok(Some(worker))
    }

    /// What to do about the usual reasons why ssh gives up.
    fn explained(&self, failure: Failure) -> Failure {
        let host = &self.host;
        let (exit, hint) = if failure.message.contains("Host key verification failed") {
            (
                Exit::Unfit,
                format!(
                    "whyfaster accepts no unknown host key for you: connect once with 'ssh {host}', check the key, and try again"
                ),
            )
        } else if failure.message.contains("Permission denied") {
            (
                Exit::Unfit,
                format!(
                    "whyfaster answers no question for a password: make 'ssh -o BatchMode=yes {host} true' work first"
                ),
            )
        } else if failure.message.contains("whyfaster-remote: no ") {
            (
                Exit::Unfit,
                format!(
                    "make room on {host}; to use another directory there, set TMPDIR for its non-interactive shells"
                ),
            )
        } else if failure.message.contains("whyfaster-remote: ") {
            (
                Exit::Unfit,
                "name a worker for that machine with --worker FILE, or set TMPDIR over there".to_owned(),
            )
        } else if failure.message.contains("never began") {
            (Exit::Unfit, format!("make 'ssh -o BatchMode=yes {host} true' work first"))
        } else {
            return failure;
        };
        Failure { exit, hint: Some(hint), message: failure.message }
    }
}

impl Site for Ssh {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let Some(mut input) = self.worker(interrupts)? else { return Ok(Ended::Interrupted) };
        let size = input.len();
        input.extend_from_slice(plan.as_bytes());
        let script = SCRIPT
            .replace("@ALL@", &input.len().to_string())
            .replace("@SIZE@", &size.to_string())
            .replace("@PLAN@", &plan.len().to_string());
        let command = self.command(&script)?;
        let what = format!("ssh {}", self.host);
        let start = Start { command, what, input, hold: true, silence: self.options.silence, console: None };
        process::run(start, interrupts, take).map_err(|failure| self.explained(failure))
    }

    fn at_once(&self) -> bool {
        true
    }
}

impl Guest for Ssh {
    fn about(&self) -> About {
        About { mechanism: format!("on {}, over ssh", self.host), here: false, ..About::default() }
    }
}
