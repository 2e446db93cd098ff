"""What the last boots came to, kept from run to run: a run may try one kernel, and the book's table shows all."""

import dataclasses
import fcntl
import json
from pathlib import Path

from checks import Verdict

FILE = Path(__file__).resolve().parent.parent.parent / "target" / "kernels" / "results.json"


def load():
    """By boot: its release, and by check the verdict with the day and the program."""
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def keep(boot, release, verdicts, day, program):
    """Puts the verdicts of one boot over what was known of these checks."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with FILE.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load()
        merge(known, boot, release, verdicts, day, program)
        part = FILE.with_suffix(".new")
        part.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        part.rename(FILE)


def merge(known, boot, release, verdicts, day, program):
    """The same in memory."""
    row = known.setdefault(boot.name, {"checks": {}})
    row["release"] = release or row.get("release", "-")
    # What an earlier boot did not come to is over; this one says anew if it did not either.
    for check in ("boot", "facts", "strace"):
        row["checks"].pop(check, None)
    for verdict in verdicts:
        row["checks"][verdict.check] = {**dataclasses.asdict(verdict), "day": day, "program": program}


def verdicts(row):
    """The verdicts of a boot that was kept, by check."""
    names = {field.name for field in dataclasses.fields(Verdict)}
    return {check: Verdict(**{name: found[name] for name in names & found.keys()}) for check, found in row["checks"].items()}


def span(rows, key):
    """All values of `day` or `program` in these rows."""
    return sorted({found[key] for row in rows for found in row["checks"].values()})
