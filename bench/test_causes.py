"""bench/causes without clocks: the table of pairs, the scoring, and one run end to end with a stand-in for whyfaster.

Run with `python3 -m unittest discover bench`.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import causescore  # noqa: E402
import plantedlib  # noqa: E402

CAUSES = "processes path_search startup small_io pipe_copy overlap compute page_faults disk lock sleep cpu_contention misplacement share network".split()


def finding(cause, seconds):
    """A finding as a record has it, as far as it is read."""
    return {"cause": cause, "seconds": seconds}


def record(findings=(), a=0.1, b=0.2, loads=(1,), **more):
    """A record of two alternatives, as far as it is read."""
    batches = [
        {"load": load, "arm": {"alternative": side}, "makespan_s": seconds * load + noise, "copies": {"user_s": [seconds] * load, "system_s": [0.0] * load}}
        for load in loads for side, seconds in ((0, a), (1, b)) for noise in (0.0, 0.001, 0.002)
    ]
    return {"plan": {"alternatives": [{"name": "a"}, {"name": "b"}]}, "batches": batches, "findings": list(findings), **more}


def score(pair, found, first_s=None):
    """The score of a pair with this record."""
    return causescore.score({"pair": {"name": "x", "a": "", "b": "", **pair}, "record": found, "first_s": first_s, "wrong": None})


class Table(unittest.TestCase):
    """planted/pairs.json is whole."""

    def setUp(self):
        self.pairs = plantedlib.pairs()

    def test_every_cause_is_planted_twice_or_more_and_the_quick_ones_cover_them(self):
        alone = [p for p in self.pairs if "then" not in p and "cause" in p]
        for cause in CAUSES:
            self.assertGreaterEqual(sum(p["cause"] == cause for p in alone), 2, cause)
            self.assertTrue(any(p.get("quick") for p in alone if p["cause"] == cause), cause)
        self.assertEqual({p["cause"] for p in alone}, set(CAUSES))
        self.assertGreaterEqual(len(self.pairs), 30)
        self.assertGreaterEqual(sum("cause" not in p for p in self.pairs), 3)

    def test_names_are_unique_and_keys_known(self):
        names = [p["name"] for p in self.pairs]
        self.assertEqual(len(names), len(set(names)))
        known = {"name", "cause", "then", "by_design_ms", "a", "b", "first", "env", "beside", "needs", "loads", "quick"}
        for pair in self.pairs:
            self.assertLessEqual(set(pair), known, pair["name"])
            self.assertEqual("cause" in pair, pair["a"] != pair["b"], pair["name"])
            if "then" in pair:
                self.assertTrue("first" in pair or "by_design_ms" in pair, pair["name"])

    def test_every_program_that_a_command_names_is_there(self):
        there = {source.stem for source in plantedlib.HERE.glob("*.c")} | {"light", "heavy"}
        used = {name for pair in self.pairs for name in re.findall(r"\{bin\}/(\w+)", pair["a"] + pair["b"] + pair.get("first", ""))}
        self.assertLessEqual(used, there)


class Scoring(unittest.TestCase):
    """causescore."""

    def test_the_planted_size_is_the_design_or_the_untraced_difference(self):
        row = score({"cause": "compute"}, record([finding("compute", 0.11)]))
        self.assertEqual((row["right"], row["within"]), (True, True))
        self.assertAlmostEqual(row["truth_s"], 0.1)
        row = score({"cause": "sleep", "by_design_ms": 50}, record([finding("sleep", 0.06)]))
        self.assertEqual((row["right"], row["within"], row["truth_s"]), (True, False, 0.05))
        row = score({"cause": "overlap"}, record([finding("overlap", 0.1)], a=0.3, b=0.2))
        self.assertAlmostEqual(row["truth_s"], 0.1)

    def test_the_first_of_two_causes_has_a_truth_of_its_own(self):
        two = {"cause": "network", "then": "sleep", "first": "x"}
        row = score(two, record([finding("network", 0.07), finding("sleep", 0.03)]), first_s=0.07)
        self.assertEqual((row["right"], row["within"], row["second_found"]), (True, True, True))
        row = score(two, record([finding("sleep", 0.07), finding("network", 0.03)]), first_s=0.07)
        self.assertEqual((row["right"], row["within"], row["seconds"]), (False, False, 0.03))

    def test_the_first_cause_is_a_part_of_the_difference_of_both(self):
        alone = record(a=0.1, b=0.2)
        alone["batches"] += [{**batch, "arm": {"alternative": 2}, "makespan_s": batch["makespan_s"] - 0.02} for batch in alone["batches"][3:]]
        self.assertAlmostEqual(causescore.first_part(alone), 0.8)

    def test_cpus_that_are_not_steady_are_told(self):
        def spends(*seconds, load=1):
            copies = [{"user_s": [it / 2] * load, "system_s": [it / 2] * load} for it in seconds]
            return {"batches": [{"load": load, "arm": {"alternative": 1}, "copies": it} for it in copies]}
        self.assertFalse(causescore.unsteady(spends(0.1, 0.1, 0.11, 0.12, 0.3)))
        self.assertTrue(causescore.unsteady(spends(0.1, 0.1, 0.11, 0.2, 0.2)))
        self.assertTrue(causescore.unsteady(spends(0.1, 0.1, 0.11, 0.2, 0.2, load=4)))
        # Too short, or too few, to tell.
        self.assertFalse(causescore.unsteady(spends(0.01, 0.01, 0.011, 0.02, 0.02)))
        self.assertFalse(causescore.unsteady(spends(0.1, 0.2)))
        found = spends(0.1, 0.1, 0.11, 0.2, 0.2)
        found["batches"] = [{**batch, "arm": {"alternative": side}, "makespan_s": 0.1} for batch in found["batches"] for side in (0, 1)]
        row = causescore.score({"pair": {"name": "x"}, "record": found, "wrong": None, "times": 3})
        text, _ = causescore.report([row])
        self.assertIn("measured again, for the CPUs were not steady: x", text)
        self.assertIn("and not steady in what is scored: x", text)

    def test_a_against_a_is_right_without_a_finding(self):
        self.assertTrue(score({}, record(a=0.1, b=0.1))["right"])
        self.assertTrue(score({}, record([finding("unexplained", 0.1)]))["right"])
        self.assertFalse(score({}, record([finding("disk", 0.001)], a=0.1, b=0.1))["right"])

    def test_no_record_is_not_right_and_no_zero(self):
        row = causescore.score({"pair": {"name": "x", "cause": "disk"}, "record": None, "first_s": None, "wrong": "it crashed"})
        self.assertEqual((row["right"], row["text"]), (None, "it crashed"))
        text, data = causescore.report([row])
        self.assertIn("0 of 1", data["score"])
        self.assertIn("it crashed", text)
        skipped = causescore.score({"pair": {"name": "x", "cause": "disk"}, "record": None, "first_s": None, "wrong": None, "not_measured": "no disk"})
        self.assertIn("0 of 0", causescore.report([skipped])[1]["score"])

    def test_confirmations_count_only_for_what_was_planted(self):
        said = [{"cause": "sleep", "outcome": "confirmed"}, {"cause": "disk", "outcome": "confirmed"}, {"cause": "sleep", "outcome": "refuted"}]
        self.assertEqual(causescore.confirmations({"experiments": said}, ["sleep"]), (2, 1, 1))

    def test_sums_take_the_worst(self):
        report = {"wall_s": 1.0, "critical_path": [{"seconds": 0.6}, {"seconds": 0.41}], "commands": [{"running_s": 2.0}], "work": [{"seconds": 1.9}]}
        path, work = causescore.sums({"traced": [{"report": report}], "accounts": []})
        self.assertAlmostEqual(path, 0.01)
        self.assertAlmostEqual(work, 0.05)
        self.assertEqual(causescore.sums({}), (None, None))

    def test_predictions_and_the_level_of_the_crossover(self):
        def told(b_at_100):
            return [{"alternative": name, "load": load, "predicted_s": s, "measured_s": m} for name, load, s, m in (
                ("a", 10, 1.1, 1.0), ("b", 10, 2.0, 2.0), ("a", 100, 10.0, 10.0), ("b", 100, b_at_100, 20.0))]
        found = record(loads=(1, 10, 100), predictions=told(20.0))
        self.assertAlmostEqual(max(causescore.predictions(found)), 0.1)
        self.assertEqual(causescore.crossover_off(found), 0)
        # A flip at the last level is one level from none.
        self.assertEqual(causescore.crossover_off(record(loads=(1, 10, 100), predictions=told(5.0))), 1)
        self.assertIsNone(causescore.crossover_off(record(loads=(1, 10, 100))))

    def test_claims_need_what_they_are_about(self):
        good = score({"cause": "compute"}, record([finding("compute", 0.1)]))
        claims = causescore.report([good])[1]["claims"]
        self.assertEqual(claims["the right cause first, in 95% (1 of 1 (100%))"], "holds")
        self.assertEqual(claims["no finding on A against A (0 of 0)"], "not measured")
        bad = score({"cause": "compute"}, record([finding("disk", 0.1)]))
        self.assertIn("does not hold", causescore.report([good, bad])[1]["claims"].values())


STAND_IN = """#!{python}
import json, sys
words = sys.argv[1:]
assert words[:2] == ["compare", "--json"] and "--why" in words and words.count("--command-name") == 2, words
print({record!r})
"""


TALKS_AT_ITS_END = """#!{python}
import pathlib, signal, sys, time

if "compare" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("x" * 1_000_000)))
    pathlib.Path("{began}").touch()
    time.sleep(600)
"""


class EndToEnd(unittest.TestCase):
    """The bench with a stand-in that finds computing everywhere."""

    def test_it_builds_runs_resumes_and_cleans_up(self):
        with tempfile.TemporaryDirectory() as scratch:
            program = Path(scratch) / "whyfaster"
            text = json.dumps(record([finding("compute", 0.1)]))
            program.write_text(STAND_IN.format(python=sys.executable, record=text), encoding="utf-8")
            program.chmod(0o755)
            words = [sys.executable, str(HERE / "causes"), "--whyfaster", str(program), "--only", "computing, 40 ms", "half a CPU", "--seed", "1"]
            environment = {"PATH": "/usr/bin:/bin", "BENCH_OUT": scratch, "TMPDIR": scratch}
            for more in ([], ["--resume"]):
                done = subprocess.run([*words, *more], env=environment, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("right first 1 of", done.stdout)
                document = json.loads((Path(scratch) / "causes.json").read_text(encoding="utf-8"))
                self.assertTrue(document["rows"][0]["right"])
                self.assertEqual(list((Path(scratch) / "causes").glob("*.part")), [])
            self.assertEqual(list(Path(scratch).glob("whyfaster-causes-*")), [])

    def test_it_ends_when_told_though_much_is_still_to_be_read(self):
        with tempfile.TemporaryDirectory() as scratch:
            program, began = Path(scratch) / "whyfaster", Path(scratch) / "began"
            program.write_text(TALKS_AT_ITS_END.format(python=sys.executable, began=began), encoding="utf-8")
            program.chmod(0o755)
            words = [sys.executable, str(HERE / "causes"), "--whyfaster", str(program), "--only", "computing, 40 ms"]
            environment = {"PATH": "/usr/bin:/bin", "BENCH_OUT": scratch, "TMPDIR": scratch}
            with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bench:
                while not began.exists():
                    self.assertIsNone(bench.poll(), "it ended before whyfaster began")
                    time.sleep(0.01)
                bench.terminate()
                try:
                    self.assertEqual(bench.wait(timeout=60), 143)
                finally:
                    # Where it waits for ever, so would this test.
                    bench.kill()


if __name__ == "__main__":
    unittest.main()
