"""The table of kernels and checks, for the screen and for the book. No I/O."""

from checks import FAIL, PASS, RULES, SKIP

WORDS = {PASS: "yes", FAIL: "fails", SKIP: "not there", None: "-"}
# The columns of the book, and the checks that each takes together.
COLUMNS = {
    "doctor promises": ("doctor",),
    "trace has": ("trace auto",),
    "full": ("trace full",),
    "ptrace": ("trace ptrace",),
    "unprivileged": ("trace unprivileged",),
    "rusage": ("trace rusage",),
    "compare --why": ("compare --why",),
    "compare --load 4": ("compare --load 4",),
    "prices": ("prices --quick",),
    "Ctrl-C": ("Ctrl-C compare", "Ctrl-C trace", "Ctrl-C prices"),
    "ordinary user": ("user doctor", "user trace", "user compare"),
    "user with the capabilities": ("capable trace", "capable follow"),
}
# Columns whose cell is the level that was had; elsewhere it was asked for.
LEVELS = ("doctor promises", "trace has")


def together(verdicts, checks):
    """The worst outcome of these checks; None if none of them was made."""
    outcomes = {verdicts[check].outcome for check in checks if check in verdicts}
    return next((outcome for outcome in (FAIL, SKIP, PASS) if outcome in outcomes), None)


def cell(verdicts, column):
    """One cell of the book's table."""
    checks = COLUMNS[column]
    outcome = together(verdicts, checks)
    words = verdicts[checks[0]].level if outcome == PASS and column in LEVELS else WORDS[outcome]
    tries = max((verdicts[check].tries for check in checks if check in verdicts), default=1)
    return words if tries == 1 else f"{words} (try {tries})"


def screen(rows):
    """Rows are (name, verdicts by check). Turned, because kernels are fewer than checks."""
    checks = [check for check in RULES if any(check in verdicts for _, verdicts in rows)]
    lines = [["", *(name for name, _ in rows)]]
    for check in checks:
        found = [verdicts.get(check) for _, verdicts in rows]
        lines.append([check, *(v.level if v and v.level else WORDS[v.outcome if v else None] for v in found)])
    for line, check in zip(lines[1:], checks):
        for column, (_, verdicts) in enumerate(rows, 1):
            if check in verdicts and verdicts[check].outcome == FAIL:
                line[column] = "FAIL"
    widths = [max(len(line[column]) for line in lines) for column in range(len(rows) + 1)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines)


def markdown(head, lines):
    """A table."""
    return "\n".join(["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)]) + "\n"


def book(kernels, conditions, about):
    """The page. Kernels and conditions are (words of the first column, verdicts by check); `about` is its first paragraph."""
    head = ["", *COLUMNS]

    def body(rows):
        return [[*first, *(cell(verdicts, column) for column in COLUMNS)] for first, verdicts in rows]

    parts = ["# Kernels that were tried\n", about, markdown(["kernel", "its release", *COLUMNS], body(kernels))]
    parts.append(
        "Every cell is a boot's outcome: *yes*, or the level; *not there*: the level cannot be had, and the program said why; *fails*: see "
        "below; *-*: not tried; *try 2*: the trace before it said that records were lost, so its counts could not be compared. Counts of the "
        "levels full and ptrace equal those of `strace -f -c` in the same guest, the number of processes that of all levels but rusage. The "
        "explanation of *compare --why* is confirmed by an experiment. *Ctrl-C* is 130 and no process left, in compare, trace and prices. "
        "The *ordinary user* has no capability.\n"
    )
    if conditions:
        parts += ["## Under special conditions\n", markdown(["condition", "kernel", *head[1:]], body(conditions))]
    for title, outcome in (("Why a level is not there", SKIP), ("What fails", FAIL)):
        found = {}
        for first, verdicts in [*kernels, *conditions]:
            for check, verdict in verdicts.items():
                if verdict.outcome == outcome:
                    found.setdefault((check, verdict.why), []).append(" ".join(first))
        if found:
            parts.append(f"## {title}\n")
            parts.append("".join(f"- {check}, {'; '.join(who)}: {why.replace('|', '/')}\n" for (check, why), who in found.items()))
    return "\n".join(parts)
