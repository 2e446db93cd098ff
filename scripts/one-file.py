#!/usr/bin/env python3
"""Whether a program is one file that needs nothing: static, at most 25 MB, and quick to start.

Usage: scripts/one-file.py FILE

How long it takes to start is judged as a ratio to a static C program that does nothing, both started in turns: a machine that is
slow at the moment is slow for both.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_BYTES = 25_000_000
# 2 on an idle machine.
MOST_RATIO = 10
STARTS = 40


def output(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needs(program):
    """What the file asks its system for: an interpreter, shared libraries."""
    lines = output("readelf", "--wide", "--program-headers", "--dynamic", program).splitlines()
    return [line.strip() for line in lines if "(NEEDED)" in line or line.split()[:1] == ["INTERP"]]


def start(command):
    """Milliseconds from the call to the end."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - began)


def starts(program):
    """The quickest start of an empty program and of this one: what was in the way made the others longer, never shorter."""
    with tempfile.TemporaryDirectory() as directory:
        empty = os.path.join(directory, "empty")
        source = "int main(void) { return 0; }"
        subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", empty], input=source, text=True, check=True)
        times = [(start([empty]), start([program, "--version"])) for _ in range(STARTS)]
    return min(empty for empty, _ in times), min(own for _, own in times)


def main():
    """Prints what was found; returns the exit status."""
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    program = os.path.abspath(sys.argv[1])
    wrong = [f"not static: {line}" for line in needs(program)]
    size = Path(program).stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"too large: {size} bytes, at most {MOST_BYTES}")
    empty, own = starts(program)
    if own > MOST_RATIO * empty:
        wrong.append(f"slow to start: {own:.1f} ms, an empty program takes {empty:.1f} ms")
    print(f"{sys.argv[1]}: {size / 1e6:.1f} MB, starts in {own:.1f} ms (an empty static program: {empty:.1f} ms)")
    for line in wrong:
        print(f"{sys.argv[1]}: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
