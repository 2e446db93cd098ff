//! `ssh:HOST`: the worker on another machine, through the user's own ssh and its configuration.
//!
//! One connection does it all. A small script on the far side makes a directory, takes the worker and the plan from its standard
//! input, runs the worker, and takes the directory away again, however it ends. Its input stays open meanwhile: when we
//! go, it ends, and the far side ends the worker. The login shell runs once, before anything is measured.

use std::cell::RefCell;
use std::process::Command;
use std::time::Duration;

use whyfaster_words::exit::{Exit, Failure};

use super::guest::{Asked, Guest, Kind, Options};
use super::process::{self, Lost, Start};
use super::{tools, workers};
use crate::interrupts::Interrupts;
use crate::probe::worker::Ended;

pub(super) static KIND: Kind = Kind {
    word: "ssh",
    form: ":HOST",
    help: "on another machine, through your own ssh and its configuration",
    needs: "a host",
    // ssh would take it for an option.
    read: |host| match host.starts_with('-') || host.contains(char::is_whitespace) {
        true => Err(format!("'{host}' is no host")),
        false => Ok(host.to_owned()),
    },
    open,
};

/// Exit statuses of the script: there is no room, or the worker does not run there.
const NO_ROOM: i32 = 90;
const NOT_RUN: i32 = 92;

/// What runs over there; `@SIZE@` bytes of worker, then `@PLAN@` bytes of plan come in. For the Bourne shell of any system.
const SCRIPT: &str = r#"
say() { echo "whyfaster-remote: $2" >&2; exit "$1"; }
d=$(mktemp -d "${TMPDIR:-/tmp}/whyfaster-XXXXXX") || say @ROOM@ "no directory can be made in ${TMPDIR:-/tmp}"
w=
trap 'test -n "$w" && kill "$w" 2>/dev/null; rm -rf "$d"' EXIT
trap 'exit 91' HUP INT TERM PIPE
umask 077
head -c @ALL@ >"$d/all" && test "$(wc -c <"$d/all")" -eq @ALL@ || say @ROOM@ "no room for the worker in $d (it needs about 3 MiB)"
head -c @SIZE@ "$d/all" >"$d/worker" && tail -c @PLAN@ "$d/all" >"$d/plan" && test "$(wc -c <"$d/plan")" -eq @PLAN@ &&
    test "$(wc -c <"$d/worker")" -eq @SIZE@ && chmod 700 "$d/worker" || say @ROOM@ "no room for the worker in $d (it needs about 3 MiB)"
rm -f "$d/all"
exec 3<&0
TMPDIR=$d "$d/worker" --plan "$d/plan" </dev/null &
w=$!
{ cat <&3 >/dev/null; kill "$w" 2>/dev/null; } &
c=$!
wait "$w"; s=$?
w=
kill "$c" 2>/dev/null
test $s -eq 126 && say @OTHER@ "$d does not allow programs to run there, or the worker is for another machine: it is $(uname -sm)"
exit $s
"#;

/// Nothing is connected yet.
fn open(asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    let host = asked.behind.clone();
    let far = Far { host: host.clone(), options: options.clone(), worker: RefCell::new(None) };
    let guest = Guest::new(asked, options, move |plan, interrupts| far.start(plan, interrupts));
    Ok(Guest {
        mechanism: format!("on {host}, over ssh"),
        here: false,
        at_once: true,
        remedy: Box::new(move |lost| remedy(&host, lost)),
        ..guest
    })
}

/// Another machine.
struct Far {
    host: String,
    options: Options,
    /// The worker for that machine, once it is known which one it is.
    worker: RefCell<Option<Vec<u8>>>,
}

impl Far {
    fn start(&self, plan: &str, interrupts: &Interrupts) -> Result<Option<Start>, Failure> {
        let Some(mut input) = self.worker(interrupts)? else { return Ok(None) };
        let size = input.len();
        input.extend_from_slice(plan.as_bytes());
        let script = SCRIPT
            .replace("@ALL@", &input.len().to_string())
            .replace("@SIZE@", &size.to_string())
            .replace("@PLAN@", &plan.len().to_string())
            .replace("@ROOM@", &NO_ROOM.to_string())
            .replace("@OTHER@", &NOT_RUN.to_string());
        Ok(Some(self.remote(&script, input)?.held()))
    }

    /// A script for the shell over there.
    fn remote(&self, script: &str, input: impl Into<Vec<u8>>) -> Result<Start, Failure> {
        let mut command = Command::new(tools::find(&["ssh"], "apt install openssh-client")?);
        // A question (password, unknown host key) could not be answered: we are not the terminal's foreground.
        command.args(["-T", "-o", "BatchMode=yes", "--", &self.host]);
        command.arg(format!("exec /bin/sh -c {}", shell_words::quote(script)));
        Ok(Start::new(command, format!("ssh {}", self.host), input))
    }

    /// The machine's own name of its system and instruction set; `None` if we were interrupted.
    fn machine(&self, interrupts: &Interrupts) -> Result<Option<(String, String)>, Failure> {
        let mut said = None;
        let ask = r#"printf 'hello\tos=%s\tmachine=%s\ndone\t\n' "$(uname -s)" "$(uname -m)""#;
        let silence = self.options.silence.min(Duration::from_secs(60));
        let ended = process::run(self.remote(ask, "")?, silence, interrupts, &mut |line| {
            let field =
                |key: &str| line.split('\t').find_map(|part| part.strip_prefix(key)).map(str::to_owned);
            said = field("os=").zip(field("machine=")).or(said.take());
            Ok(())
        })?;
        match ended.map_err(|lost| lost.failure(remedy(&self.host, &lost)))? {
            Ended::Interrupted => Ok(None),
            Ended::Whole => said.map(Some).ok_or_else(|| {
                let message = format!("ssh {}: it did not tell what machine it is", self.host);
                Failure::new(Exit::Error, message, "it needs uname")
            }),
        }
    }

    fn worker(&self, interrupts: &Interrupts) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(worker) = &*self.worker.borrow() {
            return Ok(Some(worker.clone()));
        }
        let Some((os, machine)) = self.machine(interrupts)? else { return Ok(None) };
        if os != "Linux" && self.options.worker.is_none() {
            return Err(Failure::unfit(
                format!("{} runs {os} on {machine}, and this program carries a worker for Linux", self.host),
                "build the worker for it (the book says how) and name it with --worker FILE",
            ));
        }
        let worker = workers::of(if machine == "arm64" { "aarch64" } else { &machine }, &self.options)?;
        *self.worker.borrow_mut() = Some(worker.clone());
        Ok(Some(worker))
    }
}

/// What to do about the usual reasons why ssh gives up.
fn remedy(host: &str, lost: &Lost) -> Option<(Exit, String)> {
    let hint = if lost.said("Host key verification failed") {
        format!(
            "whyfaster accepts no unknown host key for you: connect once with 'ssh {host}', check the key, and try again"
        )
    } else if lost.said("Permission denied") {
        format!(
            "whyfaster answers no question for a password: make 'ssh -o BatchMode=yes {host} true' work first"
        )
    } else if lost.status == Some(NO_ROOM) {
        format!(
            "make room on {host}; to use another directory there, set TMPDIR for its non-interactive shells"
        )
    } else if lost.status == Some(NOT_RUN) {
        "name a worker for that machine with --worker FILE, or set TMPDIR over there".to_owned()
    } else if !lost.began {
        format!("make 'ssh -o BatchMode=yes {host} true' work first")
    } else {
        return None;
    };
    Some((Exit::Unfit, hint))
}
