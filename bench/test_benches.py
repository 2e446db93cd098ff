"""The benches without clocks: reading, statistics, and each bench end to end with stand-ins for the two programs.

Run with `python3 -m unittest discover bench`.
"""

import contextlib
import io
import importlib.machinery
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import benchlib  # noqa: E402
import neighbours  # noqa: E402


def load_script(name):
    """A bench as a module; benches have no suffix."""
    loader = importlib.machinery.SourceFileLoader(f"bench_{name}", str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def record(load=1, makespans=(0.1, 0.2, 0.3), verdict="same"):
    """A record as `whyfaster compare --json` writes it, as far as the benches read it."""
    arms = [{"alternative": 0}, "hidden_copy", {"alternative": 1}]
    batches = [{"load": load, "arm": arm, "makespan_s": s} for s in makespans for arm in arms]
    compared = {"alternative": "other", "baseline": "one", "ratio": 1.01, "low": 0.99, "high": 1.02, "verdict": verdict}
    return {"schema": "whyfaster/1", "batches": batches, "levels": [{"load": load, "comparisons": [compared]}], "not_measured": []}


STAND_IN = """#!{python}
import json, sys
words = sys.argv[1:]
def after(option, default):
    return words[words.index(option) + 1] if option in words else default
runs = int(after("--runs", "10"))
times = [0.1 + 0.001 * (n % 5) for n in range(runs)]
if words[:3] == ["compare", "-N", "--json"]:
    load = int(after("--load", "1"))
    arms = [{{"alternative": 0}}, "hidden_copy", {{"alternative": 1}}]
    copies = dict(user_s=[0.05] * load, system_s=[0.01] * load)
    batches = [dict(load=load, arm=arm, makespan_s=t, copies=copies) for t in times for arm in arms]
    one = dict(ratio=1.01, low=0.99, high=1.02, verdict="same", alternative="other", baseline="one")
    json.dump(dict(batches=batches, levels=[dict(load=load, comparisons=[one])], not_measured=[]), sys.stdout)
else:
    commands = [w for w in words if w.startswith(("sh -c", "true", "sleep")) or "/spin " in w]
    cpu = dict(user=0.05, system=0.01)
    results = [dict(command=c, mean=0.102 + 0.01 * n, stddev=0.001, times=[t + 0.01 * n for t in times], **cpu)
               for n, c in enumerate(commands)]
    json.dump(dict(results=results), open(after("--export-json", None), "w"))
"""


class Studies(unittest.TestCase):
    def run_of(self, *outcomes, took_s=60.0, left_open=0):
        return {"claims": dict(enumerate(outcomes, 1)), "left_open": left_open, "took_s": took_s}

    def test_a_claim_that_flips_is_found_and_one_that_is_open_does_not_flip(self):
        studies = load_script("studies")
        steady = [self.run_of("holds", "undecided"), self.run_of("holds", "does_not_hold")]
        text, data = studies.report({"pipes": steady}, usual_size=False)
        self.assertEqual(list(data["claims"].values()), ["holds"], text)
        text, data = studies.report({"pipes": [*steady, self.run_of("does_not_hold", "undecided")]}, usual_size=False)
        self.assertEqual(data["claims"], {"1 of 2 claims hold in one run and do not hold in another (aim none)": "does not hold"})
        self.assertIn("decided: 4 of 6", text)

    def test_the_demo_has_its_seconds_and_leaves_no_claim_open(self):
        studies = load_script("studies")
        said = lambda *runs: list(studies.report({"pipes": runs, "threads": []}, usual_size=True)[1]["claims"].values())
        self.assertEqual(said(self.run_of("holds"), self.run_of("undecided", took_s=89.0)), ["holds"] * 3)
        self.assertEqual(said(self.run_of("holds", took_s=91.0)), ["holds", "does not hold", "holds"])
        self.assertEqual(said(self.run_of("undecided", left_open=1)), ["holds", "holds", "does not hold"])

    def test_no_run_proves_nothing(self):
        _, data = load_script("studies").report({"pipes": []}, usual_size=True)
        self.assertEqual(list(data["claims"].values()), ["does not hold"])


class Reading(unittest.TestCase):
    def test_only_the_alternatives_own_batches_count(self):
        found = record(load=1, makespans=(0.5, 0.25))
        found["batches"].append({"load": 10, "arm": {"alternative": 0}, "makespan_s": 9.0})
        self.assertEqual(benchlib.makespans(found), [0.5, 0.25])
        self.assertEqual(benchlib.makespans(found, load=10), [9.0])
        self.assertEqual(benchlib.makespans(found, alternative=2), [])

    def test_the_comparison_is_the_one_of_its_level(self):
        self.assertEqual(benchlib.comparison(record())["verdict"], "same")
        self.assertIsNone(benchlib.comparison(record(load=10)))

    def test_hyperfines_summary(self):
        one, other = {"mean": 1.0, "stddev": 0.03}, {"mean": 1.1, "stddev": 0.044}
        ratio, deviation = benchlib.hyperfine_ratio(one, other)
        self.assertAlmostEqual(ratio, 1.1)
        self.assertAlmostEqual(deviation, 1.1 * (0.03**2 + 0.04**2) ** 0.5)
        for pair in ((one, other), (other, one)):
            self.assertTrue(benchlib.hyperfine_claims_a_difference(*pair))
        self.assertFalse(benchlib.hyperfine_claims_a_difference(one, {"mean": 1.04, "stddev": 0.04}))

    def test_a_failing_program_ends_the_bench_with_its_words(self):
        with self.assertRaises(SystemExit) as caught:
            benchlib.run(["sh", "-c", "echo the reason >&2; exit 3"])
        self.assertIn("the reason", str(caught.exception))
        self.assertIn("exit status 3", str(caught.exception))


class Statistics(unittest.TestCase):
    def test_quantiles(self):
        self.assertEqual(benchlib.quantile([3, 1, 2], 0.5), 2)
        self.assertEqual(benchlib.quantile([1, 2], 0.25), 1.25)
        self.assertEqual(benchlib.quantile([7], 0.95), 7)
        self.assertAlmostEqual(benchlib.width(range(101)), 90)

    def test_welch_against_known_values(self):
        # p of t = 2 at 10 degrees of freedom, and of the normal limit at 1.96 (tables of the t distribution).
        self.assertAlmostEqual(benchlib.incomplete_beta(5, 0.5, 10 / 14), 0.07338803, places=7)
        self.assertAlmostEqual(benchlib.incomplete_beta(5e5, 0.5, 1e6 / (1e6 + 1.959964**2)), 0.05, places=5)
        same = [1.0, 2.0, 3.0]
        self.assertAlmostEqual(benchlib.welch_p(same, same), 1.0)
        self.assertLess(benchlib.welch_p([1.0, 1.1, 0.9, 1.0], [2.0, 2.1, 1.9, 2.0]), 1e-4)
        self.assertEqual(benchlib.welch_p([1.0, 1.0], [1.0, 1.0]), 1.0)

    def test_welch_calls_no_more_than_its_rate_on_equal_samples(self):
        draws = random.Random(1)
        samples = [[[draws.gauss(0, 1) for _ in range(20)] for _ in range(2)] for _ in range(1000)]
        alarms = sum(benchlib.welch_p(one, other) < 0.05 for one, other in samples)
        self.assertTrue(30 <= alarms <= 70, alarms)

    def test_a_planted_ratio_lies_in_its_interval(self):
        draws = random.Random(2)
        blocks = [([draws.gauss(1.2, 0.05) for _ in range(5)], [draws.gauss(1.0, 0.05) for _ in range(5)]) for _ in range(40)]
        found = benchlib.ratio_interval(blocks, statistics.fmean, 1)
        self.assertTrue(found["low"] < 1.2 < found["high"], found)
        self.assertEqual(benchlib.not_above(found, 0.02), "does not hold")
        self.assertEqual(found, benchlib.ratio_interval(blocks, statistics.fmean, 1), "the seed decides")

    def test_what_not_above_means(self):
        for low, high, expected in ((0.8, 0.9, "holds"), (0.9, 1.01, "holds"), (0.9, 1.2, "undecided"), (1.1, 1.2, "does not hold")):
            self.assertEqual(benchlib.not_above({"low": low, "high": high}, 0.02), expected)
        self.assertEqual(benchlib.not_above({"low": None, "high": None}, 0.02), "undecided")

    def test_no_spread_at_all_is_not_measured_and_not_zero(self):
        found = benchlib.ratio_interval([([1.0, 2.0], [1.0, 1.0])], statistics.stdev, 1)
        self.assertIsNone(found["ratio"])
        self.assertEqual(benchlib.show(found), "not measured")

    def test_the_interval_of_a_share(self):
        low, high = benchlib.share_interval(2, 40)
        self.assertAlmostEqual(low, 0.0138, places=3)
        self.assertAlmostEqual(high, 0.1650, places=3)


class Neighbours(unittest.TestCase):
    def test_one_a_cpu_and_none_afterwards(self):
        with neighbours.Neighbours(1) as found:
            self.assertEqual(len(found.processes), len(os.sched_getaffinity(0)))
            self.assertTrue(found.all_run())
        self.assertTrue(all(process.poll() is not None for process in found.processes))

    def test_they_end_when_the_bench_is_killed(self):
        bench = (
            "import os, signal, neighbours\n"
            "found = neighbours.Neighbours(1).__enter__()\n"
            "print(*[p.pid for p in found.processes], flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        environment = os.environ | {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        # Files, not pipes: the neighbours inherit what the bench has, and a pipe would wait for them.
        with tempfile.TemporaryFile() as output:
            subprocess.run([sys.executable, "-c", bench], env=environment, stdout=output, check=False)
            output.seek(0)
            pids = [int(pid) for pid in output.read().split()]
        self.assertTrue(pids)
        deadline = time.monotonic() + 60
        while any(runs(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse([pid for pid in pids if runs(pid)])


def runs(pid):
    """Whether a process runs; a zombie that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class EndToEnd(unittest.TestCase):
    def bench(self, name, *more):
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "stand-in"
            program.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
            program.chmod(0o755)
            words = [HERE / name, "--quick", "--seed", "7", "--whyfaster", program, "--hyperfine", program, *more]
            environment = os.environ | {"BENCH_OUT": directory, "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            data = json.loads((Path(directory) / f"{name}.json").read_text(encoding="utf-8"))
        self.assertEqual((data["bench"], data["seed"], data["quick"]), (name, 7, True))
        failed = "does not hold" in data["claims"].values()
        self.assertEqual(done.returncode, 1 if failed else 0)
        return done.stdout, data

    def test_launch(self):
        text, data = self.bench("launch")
        for name in ("true", "true beside neighbours", "sleep 0.1", "busy 100 ms"):
            # Both stand-ins tell the same times.
            for statistic in ("median", "p5", "IQR", "p95-p5", "system", "user+system"):
                self.assertAlmostEqual(data["results"][name]["ratios"][statistic]["ratio"], 1.0)
                self.assertEqual(data["claims"][f"{name}: {statistic} not above"], "holds")
            self.assertIn(name, text)
        text, data = self.bench("launch", "--repetitions", "3")
        self.assertEqual(len(data["results"]), 2 * 3)
        self.assertIn("true beside neighbours: system at most hyperfine's in 3 of 3 (3 holds, 0 undecided, 0 does not hold)", text)

    def test_noise(self):
        text, data = self.bench("noise")
        self.assertEqual(len(data["trials"]), 4)
        self.assertEqual(data["summary"]["whyfaster, verdict"]["count"], 0)
        self.assertAlmostEqual(data["summary"]["whyfaster, verdict"]["error_max"], 0.01)
        self.assertEqual(data["summary"]["hyperfine, summary"]["count"], 4)
        self.assertEqual(data["summary"]["hyperfine, Welch t"]["count"], 4)
        self.assertIn("median error, whyfaster over hyperfine", text)

    def test_verdict(self):
        text, data = self.bench("verdict")
        self.assertEqual(len(data["answers"]), 2 * 2 * 2, "two pairs, two places, two programs")
        self.assertEqual({answer["effect"] for answer in data["answers"]}, {0, 30})
        self.assertIn("median time to the answer", text)
        verdict = load_script("verdict")
        undecided = record(verdict="undecided")
        compared = undecided["levels"][0]["comparisons"][0]
        for work, told in [(None, ("undecided", False)), ((1.02, 1.05, 1.08), ("slower", True)), ((0.98, 1.01, 1.04), ("undecided", False))]:
            compared["work"] = work and dict(zip(("low", "ratio", "high"), work))
            with unittest.mock.patch.object(benchlib, "compare", return_value=(undecided, 1.0)):
                answer = verdict.by_whyfaster("whyfaster", "true", "true")
            self.assertEqual((answer["verdict"], answer["by_work"]), told)
        right = verdict.right
        self.assertTrue(right(0, {"verdict": "same", "within": 0.02}))
        self.assertFalse(right(0, {"verdict": "slower", "within": None}))
        self.assertTrue(right(2, {"verdict": "same", "within": 0.03}))
        self.assertFalse(right(5, {"verdict": "same", "within": 0.03}))
        self.assertFalse(right(5, {"verdict": "faster", "within": None}))
        self.assertFalse(right(5, {"verdict": "undecided", "within": None}))

    def test_load(self):
        text, data = self.bench("load")
        self.assertEqual(data["copies"], 50)
        self.assertEqual(data["times_s"]["whyfaster makespan"], [0.1] * 3)
        self.assertIn("whyfaster makespan over xargs", data["ratios"])
        self.assertIn("50 copies", text)

    def test_missing_programs_are_said(self):
        with contextlib.redirect_stderr(io.StringIO()) as stderr, self.assertRaises(SystemExit):
            with unittest.mock.patch.dict(os.environ, clear=True):
                benchlib.parser("x").parse_args([])
        self.assertIn("--whyfaster", stderr.getvalue())


class Prices(unittest.TestCase):
    """What bench/prices reads out of its peers, from lines that they really print."""

    def setUp(self):
        self.prices = load_script("prices")

    def test_peers_are_read(self):
        vdso = "stress-ng: metrc: [1] vdso   43.47 nanosecs per call (excluding test overhead) (geometric mean)\n"
        self.assertEqual(self.prices.number(self.prices.STRESS_NG, 1)(vdso), 43.47)
        self.assertAlmostEqual(self.prices.number(self.prices.PERF, 1e3)("       0.105150 usecs/op\n        9510223 ops/sec\n"), 105.15)
        hackbench = "Running in threaded mode with 1 groups\nTime: 0.025\n"
        self.assertAlmostEqual(self.prices.number(self.prices.HACKBENCH, 1e9 / 20000)(hackbench), 1250.0)
        self.assertIsNone(self.prices.number(self.prices.HACKBENCH, 1)("no such line"))
        self.assertEqual(self.prices.median_of_runs(10)("100\n300\n200\n"), 20)

    def test_a_ratio_that_is_off_says_why_and_a_missing_peer_is_not_measured(self):
        cause = self.prices.Cause("because", lambda _: None)
        peer = self.prices.Peer("p", ("getppid", "libc"), ["true"], lambda _: None, cause)
        for without, verdict in [(1.02, "all of it"), (0.8, "a part of it"), (0.6, "that is not it"), (None, "not tried")]:
            found, row = self.prices.judge(peer, [(100.0, 200.0, without), (110.0, 200.0, without)])
            self.assertEqual((found["why"], row[4]), ("because", "0.53"))
            self.assertTrue(found["verdict"].startswith(verdict), found["verdict"])
        found, _ = self.prices.judge(peer, [(100.0, 100.0, 2.0)])
        self.assertNotIn("why", found)
        unknown = self.prices.Peer("p", ("getppid", "libc"), ["true"], lambda _: None)
        self.assertEqual(self.prices.judge(unknown, [(1.0, 2.0, None)])[0]["why"], "no reason is known")
        self.assertEqual(self.prices.judge(peer, [])[1][4], "not measured")

    def test_a_cause_is_taken_away_as_it_says(self):
        prices = {("a", "x"): {"median_ns": 30.0, "floor_ns": 20.0}, ("b", "y"): {"median_ns": 2.0, "floor_ns": 2.0}}
        floor = self.prices.Cause("short", None, ours="floor_ns")
        self.assertEqual(floor.without(("a", "x"), prices, 40.0, 25.0), 0.8)
        beside = self.prices.Cause("loop", None, beside=("b", "y"))
        self.assertEqual(beside.without(("a", "x"), prices, 40.0, 12.0), 1.0)
        self.assertIsNone(beside.without(("a", "x"), {("a", "x"): prices["a", "x"]}, 40.0, 12.0))
        switches = self.prices.Cause("crowd", self.prices.number(self.prices.SWITCHES, 0.1), ["true"], switches=True)
        self.assertIsNotNone(switches.found("true", ""))
        self.assertTrue(switches.verdict(2.0, 0.06).startswith("so it is") and switches.verdict(2.0, 0.9).startswith("that is not"))


class Trace(unittest.TestCase):
    """How bench/trace makes ratios and judges them."""

    def setUp(self):
        self.trace = load_script("trace")

    def row(self, load, tool, ratio, low, high):
        return {"load": load, "tool": tool, "ratio": ratio, "low": low, "high": high, "ratios": [low, ratio, high]}

    def test_a_slow_tool_is_beside_an_untraced_run_of_its_own_size(self):
        load = self.trace.Load("dd", "dd count=@", 1000, 10, "blocks")
        fast, slow = self.trace.Tool("whyfaster", ["w"], False), self.trace.Tool("strace -f -c", ["s"], True)
        times = {("untraced", 1000): 2.5, ("untraced", 10): 0.02, ("strace -f -c", 10): 2.0, ("not followed", 1000): 2.75}
        times |= {("launched", 1000): 2.0, ("whyfaster", 1000): 3.0}
        block = {key: {"whole": value, "wall": value} for key, value in times.items()}
        self.assertEqual(self.trace.ratios(load, fast, [block], "wall"), ([1.5], 1000))
        self.assertEqual(self.trace.ratios(load, fast, [block], "whole"), ([1.2], 1000))
        self.assertEqual(self.trace.ratios(load, slow, [block], "wall"), ([100.0], 10))
        self.assertEqual(self.trace.ratios(load, self.trace.Tool("not followed", [], False, ["w"]), [block], "wall"), ([1.1], 1000))
        self.assertEqual(load.command(10), "dd count=10")
        self.assertIn("10 blocks (smaller)", self.trace.row(load, slow, [block])[1])

    def test_aims_are_judged_by_the_spread(self):
        rows = [
            self.row("dd", "whyfaster", 1.85, 1.8, 1.88),
            self.row("dd", "whyfaster --count-only", 1.7, 1.65, 1.75),
            self.row("dd", "not followed (count-only)", 1.5, 1.4, 1.6),
            self.row("dd", "strace -f -c", 201.0, 151.0, 401.0),
            self.row("xargs", "whyfaster", 1.04, 1.0, 1.1),
        ]
        claims = self.trace.judge(rows)
        self.assertEqual(claims["dd: at most 1.9 times untraced"], "holds")
        self.assertEqual(claims["dd, only counting: at most 1.6 times untraced"], "does not hold")
        self.assertEqual(claims["xargs: at most 1.05 times untraced"], "undecided (1.040)")
        self.assertEqual(claims["dd: at most a tenth of what strace adds (0.004, 0.002 to 0.005)"], "holds")
        # The limit of what is missed, where it was measured.
        limits = self.trace.limits(rows, claims)
        self.assertEqual(limits, {"dd, only counting: at most 1.6 times untraced": "not followed (count-only): 1.500, 1.400 to 1.600"})

    def stand_in(self, directory):
        """What follows any command: its own number goes into a file."""
        return ["sh", "-c", f'echo $$ >{directory}/pid; exec "$@"', "stand-in"]

    def pid(self, directory):
        return int((Path(directory) / "pid").read_text(encoding="utf-8"))

    def test_another_command_is_followed_for_as_long_as_the_block(self):
        with tempfile.TemporaryDirectory() as directory:
            with self.trace.following(self.stand_in(directory)), self.trace.following([]):
                self.assertTrue(runs(self.pid(directory)))
            self.assertFalse(runs(self.pid(directory)))
            with self.assertRaises(KeyboardInterrupt), self.trace.following(self.stand_in(directory)):
                raise KeyboardInterrupt
            self.assertFalse(runs(self.pid(directory)))
        with self.assertRaisesRegex(SystemExit, "follows nothing\nno privileges"):
            with self.trace.following(["sh", "-c", "echo no privileges >&2"]):
                self.fail("nothing is followed")

    def test_what_follows_ends_when_the_bench_is_killed(self):
        bench = (
            "import os, signal, sys, test_benches\n"
            "with test_benches.load_script('trace').following(sys.argv[1:]):\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        environment = os.environ | {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        with tempfile.TemporaryDirectory() as directory:
            words = [sys.executable, "-c", bench, *self.stand_in(directory)]
            self.assertEqual(subprocess.run(words, env=environment, check=False).returncode, -9)
            deadline = time.monotonic() + 60
            while runs(self.pid(directory)) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertFalse(runs(self.pid(directory)))

    def test_the_generated_project_compiles_and_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            project = self.trace.make_project(directory)
            compile_load = self.trace.loads(project, True)[-1]
            subprocess.run(["sh", "-c", compile_load.command(1)], check=True, capture_output=True)
            self.assertTrue((project / "out").exists())


class Screen(unittest.TestCase):
    """The bench of the time from measuring to the answer."""

    def test_a_moment_with_nanoseconds_is_read(self):
        found = load_script("screen").since_epoch("2026-01-02T03:04:05.123456789Z")
        self.assertAlmostEqual(found, 1767323045.123456789, places=6)
        self.assertEqual(load_script("screen").since_epoch("1970-01-01T00:00:02Z"), 2.0)

    def test_a_median_above_its_aim_fails(self):
        bench = load_script("screen")
        text, data = bench.summarise({"screen": [0.01, 0.06, 0.07], "page": [0.1, 0.2, 9.0]}, 1000)
        self.assertEqual(set(data["claims"].values()), {"holds", "does not hold"})
        self.assertIn("screen within 50 ms: does not hold", text)


if __name__ == "__main__":
    unittest.main()
