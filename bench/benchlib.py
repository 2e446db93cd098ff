"""What the benches share: running the two programs, reading what they say, and statistics over slices.

Only the standard library. The statistics stand here and not in the program that is judged, so that a mistake there
cannot hide itself here.
"""

import argparse
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOOTSTRAP_DRAWS = 2000


# ---- running ----


def parser(description, programs=("whyfaster", "hyperfine")):
    """The options that every bench has. Paths come from the environment when `bench/run` calls."""
    found = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    for name in programs:
        path = os.environ.get(name.upper())
        found.add_argument(f"--{name}", default=path, required=path is None, metavar="PATH", help=f"the {name} to run")
    found.add_argument("--quick", action="store_true", help="few repetitions: shows that the bench works, proves nothing")
    found.add_argument("--seed", type=int, default=None, help="seed of the random order [default: a fresh one]")
    found.add_argument("--json", metavar="FILE", help="where the JSON goes [default: BENCH_OUT/NAME.json, else stdout]")
    return found


def begin(arguments):
    """Makes SIGTERM end the bench like Ctrl-C, so that `finally` runs; returns the source of the random order."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(2**32)
    return random.Random(arguments.seed)


def run(words):
    """Runs a command to its end; returns its standard output and the seconds it took. A failure ends the bench."""
    began = time.monotonic()
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"cannot run {words[0]}: {error}")
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode} from {' '.join(words)}\n{done.stderr.strip()}")
    return done.stdout, took


def compare(whyfaster, options, *commands):
    """The record of `whyfaster compare -N`, and the seconds that the whole invocation took."""
    output, took = run([whyfaster, "compare", "-N", "--json", *options, *commands])
    return json.loads(output), took


def hyperfine(path, options, *commands):
    """The results of `hyperfine -N`, one entry per command."""
    with tempfile.TemporaryDirectory(prefix="whyfaster-bench-") as directory:
        file = Path(directory) / "out.json"
        run([path, "-N", "--style", "none", "--export-json", str(file), *options, *commands])
        return json.loads(file.read_text(encoding="utf-8"))["results"]


def busy_command(seconds):
    """A command without children that computes for about this long on this machine."""
    loop = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
    probe = 20_000
    each = min(run(["sh", "-c", loop.format(probe)])[1] for _ in range(5)) / probe
    return f"sh -c '{loop.format(max(1, round(seconds / each)))}'"


class Progress:
    """How far the bench is, on standard error, between runs."""

    def __init__(self, steps):
        self.steps = steps
        self.done = 0
        self.began = time.monotonic()

    def step(self, what):
        """One more step is done."""
        self.done += 1
        spent = time.monotonic() - self.began
        left = spent / self.done * (self.steps - self.done)
        print(f"{self.done}/{self.steps} {what}, about {left:.0f} s left", file=sys.stderr, flush=True)


# ---- reading ----


def batches(record, alternative, load):
    """The timed batches of one alternative at one load; the hidden copy of the baseline is none of them."""
    return [b for b in record["batches"] if b["arm"] == {"alternative": alternative} and b["load"] == load]


def makespans(record, alternative=0, load=1):
    """The makespans of these batches, seconds."""
    return [batch["makespan_s"] for batch in batches(record, alternative, load)]


def comparison(record, load=1):
    """The comparison at this load of a record with two alternatives; None if the level was not compared."""
    levels = [level for level in record["levels"] if level["load"] == load]
    found = [c for level in levels for c in level["comparisons"]]
    return found[0] if found else None


def hyperfine_ratio(baseline, other):
    """Ratio of means and its propagated standard deviation, as in hyperfine's summary."""
    ratio = other["mean"] / baseline["mean"]
    spread = [(result["stddev"] or 0.0) / result["mean"] for result in (baseline, other)]
    return ratio, ratio * math.hypot(*spread)


def hyperfine_claims_a_difference(baseline, other):
    """Whether the summary's interval (slower over faster, plus or minus one deviation) leaves 1 out."""
    faster, slower = sorted((baseline, other), key=lambda result: result["mean"])
    ratio, deviation = hyperfine_ratio(faster, slower)
    return ratio - deviation > 1.0


# ---- statistics ----


def quantile(values, share):
    """Linear interpolation between order statistics."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def width(values):
    """From the 5th to the 95th percentile."""
    return quantile(values, 0.95) - quantile(values, 0.05)


def ratio_interval(blocks, statistic, seed):
    """Ratio of a statistic, ours over theirs, with a 95% bootstrap interval.

    A block is (our values, their values) measured next to each other. Whole blocks are drawn, because what disturbs
    the machine lasts longer than a run.
    """

    def ratio(drawn):
        ours = statistic([value for mine, _ in drawn for value in mine])
        theirs = statistic([value for _, other in drawn for value in other])
        return ours / theirs if theirs > 0 else None

    draws = random.Random(seed)
    found = [ratio(draws.choices(blocks, k=len(blocks))) for _ in range(BOOTSTRAP_DRAWS)]
    found = [value for value in found if value is not None]
    interval = (quantile(found, 0.025), quantile(found, 0.975)) if len(blocks) > 1 and found else (None, None)
    return {"ratio": ratio(blocks), "low": interval[0], "high": interval[1]}


def not_above(found, tolerance):
    """Whether a ratio is at most 1: up to the tolerance it holds, wholly above 1 it does not."""
    if found["low"] is None:
        return "undecided"
    if found["high"] <= 1.0 + tolerance:
        return "holds"
    return "does not hold" if found["low"] > 1.0 else "undecided"


def welch_p(one, other):
    """Two-sided p of Welch's t test."""
    parts = [statistics.variance(values) / len(values) for values in (one, other)]
    total = sum(parts)
    difference = statistics.fmean(one) - statistics.fmean(other)
    if total == 0:
        return 1.0 if difference == 0 else 0.0
    freedom = total**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other)))
    t_squared = difference**2 / total
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t_squared))


def incomplete_beta(a, b, x):
    """The regularised incomplete beta function by its continued fraction (Lentz; Numerical Recipes, section 6.4)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    ) / a
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1)) or tiny)
    result = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1.0 + numerator * d) or tiny)
            c = (1.0 + numerator / c) or tiny
            result *= c * d
        if abs(c * d - 1.0) < 1e-14:
            break
    return front * result


def share_interval(count, total):
    """Wilson's 95% interval of a share."""
    if total == 0:
        return 0.0, 1.0
    z = 1.959964
    share = count / total
    centre = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (centre - half) / (1 + z * z / total), (centre + half) / (1 + z * z / total)


# ---- writing ----


def table(head, rows):
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    cells = [[cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in cells)


def show(found):
    """A ratio with its interval."""
    if found["ratio"] is None:
        return "not measured"
    if found["low"] is None:
        return f"{found['ratio']:.3f}"
    return f"{found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def ms(seconds):
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.3f}"


def finish(name, arguments, text, data):
    """Prints the table, keeps the JSON, and returns the exit status: 1 if a claim does not hold."""
    if arguments.quick:
        print("--quick: this shows that the bench works; its numbers prove nothing")
    print(text)
    out = os.environ.get("BENCH_OUT")
    file = arguments.json or (str(Path(out) / f"{name}.json") if out else "-")
    document = json.dumps({"bench": name, "quick": arguments.quick, "seed": arguments.seed, **data}, indent=1)
    if file == "-":
        print(document)
    else:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(document + "\n", encoding="utf-8")
    return 1 if "does not hold" in data.get("claims", {}).values() else 0
