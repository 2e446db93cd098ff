//! Slurm's clients: in which environment they are called, and whether they were refused or had no answer.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use whyfaster_host::said::{said_unless, said_within};
use whyfaster_host::user::SECRETS;

/// How long a client may take that asks for one thing. Without its controller it tries for minutes.
pub(super) const ASKED: Duration = Duration::from_secs(5);

/// What of `SLURM_...` says which cluster is asked, and how much a client says (srun(1), "INPUT ENVIRONMENT VARIABLES").
const CLUSTER: [&str; 8] =
    ["CONF", "CONF_SERVER", "CLUSTERS", "JWT", "SACK_KEY", "SACK_SOCKET", "DEBUG", "DEBUG_FLAGS"];

/// What of `SLURM_...` and `SBATCH_...` says for whom is asked. All else tells of the job in which we may run ourselves, or changes what is
/// asked for.
const REQUEST: [&str; 5] = ["ACCOUNT", "QOS", "RESERVATION", "TIMELIMIT", "WCKEY"];

/// What the variables belong to that clients read.
const CLIENTS: [&str; 5] = ["SLURM", "SBATCH", "SQUEUE", "SCANCEL", "SINFO"];

/// What clients say where the controller gave no answer: what was asked for may be done all the same (slurm_errno.c).
const LOST: [&str; 5] =
    ["timed out", "Unable to contact", "connection failure", "receive failure", "Connection refused"];

/// Why a client has no answer.
pub(super) enum Fault {
    /// It says so.
    Refused(Vec<String>),
    /// It did not begin, did not end by itself, or had no answer.
    Silent(String),
}

impl Fault {
    pub(super) fn said(self) -> Vec<String> {
        match self {
            Self::Refused(said) => said,
            Self::Silent(why) => vec![why],
        }
    }
}

/// A client, in an environment that tells of no other request. Who asks is told to sbatch as it is to srun.
pub(super) fn client(name: &str) -> Command {
    let mut command = Command::new(name);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_a_request(name)) {
        command.env_remove(name);
    }
    // The controller keeps the environment of a job in a file.
    for name in SECRETS {
        command.env_remove(name);
    }
    for name in REQUEST {
        let (of_batch, of_job) = (format!("SBATCH_{name}"), env::var_os(format!("SLURM_{name}")));
        if let Some(value) = of_job.filter(|_| env::var_os(&of_batch).is_none()) {
            command.env(of_batch, value);
        }
    }
    command
}

/// Whether a variable would make it another request.
fn is_of_a_request(name: &OsStr) -> bool {
    let Some((client, rest)) = name.to_str().and_then(|name| name.split_once('_')) else { return false };
    let asks = REQUEST.contains(&rest) || client == "SLURM" && CLUSTER.contains(&rest);
    CLIENTS.contains(&client) && !(asks && ["SLURM", "SBATCH"].contains(&client))
}

/// What a client says to these words.
pub(super) fn said(words: &[&str], patience: Duration, is_stopped: &dyn Fn() -> bool) -> io::Result<Output> {
    let mut command = client(words[0]);
    // The job's script takes our environment: with `--export` and names, sbatch would have the node log the user in. Where there is room is the
    // node's own.
    command.env_remove("TMPDIR");
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    said_unless(&mut command, patience, is_stopped)
}

/// What a client answers.
pub(super) fn answer(
    words: &[&str],
    patience: Duration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<String, Fault> {
    let output =
        said(words, patience, is_stopped).map_err(|error| Fault::Silent(format!("{}: {error}", words[0])))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<String> =
        said.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let ended = || format!("{} ended with {}", words[0], output.status);
    let is_lost = said.iter().any(|line| LOST.iter().any(|it| line.contains(it)));
    match (output.status.code(), said.is_empty()) {
        (None, _) => Err(Fault::Silent(ended())),
        _ if is_lost => Err(Fault::Silent(said.join("; "))),
        (Some(_), true) => Err(Fault::Refused(vec![ended()])),
        (Some(_), false) => Err(Fault::Refused(said)),
    }
}

/// Ends jobs; whether they are ended, as they are where there are none. A second Ctrl-C is not for it.
pub(super) fn cancel(words: &[&str]) -> bool {
    let mut command = client("scancel");
    command.arg("--quiet").args(words).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    said_within(&mut command, ASKED).is_ok_and(|said| said.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_in_which_we_run_is_not_the_one_that_is_asked_for() {
        for name in [
            "SLURM_JOB_ID",
            "SLURM_NNODES",
            "SBATCH_WAIT",
            "SBATCH_CLUSTERS",
            "SQUEUE_STATES",
            "SCANCEL_STATE",
        ] {
            assert!(is_of_a_request(OsStr::new(name)), "{name}");
        }
        for name in [
            "SLURM_CONF",
            "SLURM_CLUSTERS",
            "SLURM_JWT",
            "SLURM_QOS",
            "SBATCH_ACCOUNT",
            "PATH",
            "SRUN_CONTAINER",
        ] {
            assert!(!is_of_a_request(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn no_client_gets_a_password_of_the_store() {
        let taken: Vec<_> = client("true")
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name.to_owned())
            .collect();
        assert!(SECRETS.iter().all(|name| taken.iter().any(|it| it == name)), "{taken:?}");
    }

    #[test]
    fn a_client_that_says_nothing_is_silent_and_one_that_says_why_has_refused() {
        let fault = |line: &str| answer(&["sh", "-c", line], ASKED, &|| false).map_err(Fault::said);
        assert_eq!(fault("echo 7; exit 0"), Ok("7\n".to_owned()));
        assert_eq!(fault("printf 'a\n\n b\n' >&2; exit 1"), Err(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(fault("kill -KILL $$"), Err(vec!["sh ended with signal: 9 (SIGKILL)".to_owned()]));
    }
}
