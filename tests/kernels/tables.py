"""The table of kernels and checks, for the screen and for the book."""

import datetime
import shutil
import subprocess

from checks import FAIL, PASS, RULES, SKIP

CELLS = {PASS: "yes", FAIL: "FAIL", SKIP: "no"}


def cell(verdicts, check):
    """One check of one boot: the level where there is one."""
    found = next((verdict for verdict in verdicts if verdict.check == check), None)
    if found is None:
        return "-"
    return found.level if found.outcome == PASS and found.level else CELLS[found.outcome]


def grid(rows):
    """The head, and a row for every boot."""
    checks = [check for check in RULES if any(v.check == check for _, verdicts in rows for v in verdicts)]
    return ["", *checks], [[boot.name, *(cell(verdicts, check) for check in checks)] for boot, verdicts in rows]


def screen(rows):
    """Turned, because kernels are fewer than checks."""
    head, body = grid(rows)
    lines = list(zip(head, *body))
    widths = [max(len(line[column]) for line in lines) for column in range(len(body) + 1)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines)


def book(rows, whyfaster):
    """Markdown, with what a reader needs to repeat it."""
    return ""
