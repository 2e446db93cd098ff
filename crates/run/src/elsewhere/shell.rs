//! What the shell of another machine is told before the program is there.
//!
//! The login shell is told only `exec /bin/sh`, which bash, csh and fish take in the same way; all else comes by standard input. The program is sent
//! only once the script has asked for it: a shell that reads ahead would take a part of it.

/// Exit statuses: there is no room, or the program does not run there.
pub(super) const NO_ROOM: i32 = 90;
pub(super) const NOT_RUN: i32 = 92;

/// How the line begins that says that the shell is there.
pub(super) const HELLO: &str = "whyfaster-far/1\t";

/// The shell that takes the script.
pub(super) const SHELL: &str = "/bin/sh";

/// The line of words that any login shell understands.
pub(super) const START: &str = "exec /bin/sh";

/// Says what machine it is, takes the program, runs it, and takes its directory away, however that ends. Nothing stands behind the last
/// line: it would be taken for the answer.
pub(super) fn script() -> String {
    SCRIPT
        .replace("@HELLO@", HELLO.trim_end())
        .replace("@ROOM@", &NO_ROOM.to_string())
        .replace("@NOT@", &NOT_RUN.to_string())
}

const SCRIPT: &str = r#"
say() { echo "whyfaster-far: $2" >&2; exit "$1"; }
gone() { test -z "$d" || rm -rf "$d" 2>/dev/null || { sleep 3; chmod -R u+rwX "$d" 2>/dev/null; rm -rf "$d"; }; }
far() {
    d=
    printf '@HELLO@\t%s\t%s\t%s\t%s\n' "$(uname -s)" "$(uname -m)" "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" "${WHYFASTER_JOB:-}"
    read -r size && test -n "$size" || exit 0
    umask 077
    trap gone EXIT
    trap 'exit 91' HUP INT TERM PIPE
    d=$(mktemp -d "${TMPDIR:-/tmp}/whyfaster-far-XXXXXX") || say @ROOM@ "no directory can be made in ${TMPDIR:-/tmp}"
    head -c "$size" >"$d/whyfaster" && test "$(wc -c <"$d/whyfaster")" -eq "$size" ||
        say @ROOM@ "no room for the program in $d (it has $size bytes)"
    chmod 700 "$d/whyfaster" && mkdir "$d/work" "$d/tmp" || say @ROOM@ "no room in $d"
    TMPDIR=$d/tmp "$d/whyfaster" __far "$d"
    s=$?
    test $s -ne 126 && test $s -ne 127 || say @NOT@ "$d/whyfaster does not run: $d does not allow programs, or the program is for another system"
    exit $s
}
far
"#;

/// What a machine says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) system: String,
    pub(super) machine: String,
    /// The number that the kernel drew when it started: machines that share it are one. Empty where it cannot be read.
    pub(super) boot: String,
    /// The job of the cluster's engine as which this runs; empty where there is none.
    pub(super) job: String,
}

impl Hello {
    /// From a line; `None` for what a login shell or the machine's own greeting says.
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix(HELLO)?.split('\t').map(|field| field.trim().to_owned());
        let hello = Self {
            system: fields.next()?,
            machine: fields.next()?,
            boot: fields.next()?,
            job: fields.next()?,
        };
        fields.next().is_none().then_some(hello)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_known_by_its_line_and_greetings_are_not() {
        let hello = Hello::of("whyfaster-far/1\tLinux\tx86_64\t0d1e\t7\r").unwrap();
        assert_eq!(
            (hello.system.as_str(), hello.machine.as_str(), hello.boot.as_str()),
            ("Linux", "x86_64", "0d1e")
        );
        assert_eq!(Hello::of("whyfaster-far/1\tLinux\tx86_64\t\t").unwrap().boot, "");
        for line in [
            "Welcome!",
            "whyfaster-far/2\tLinux\tx\ty",
            "whyfaster-far/1\tLinux",
            "whyfaster-far/1\ta\tb\tc\td\te",
        ] {
            assert_eq!(Hello::of(line), None, "{line}");
        }
    }

    #[test]
    fn nothing_stands_behind_the_last_line_of_the_script() {
        assert!(script().ends_with("\n}\nfar\n") && !script().contains('@'));
    }
}
