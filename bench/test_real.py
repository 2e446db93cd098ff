"""bench/real without clocks: the table of pairs, the evidence, the scoring and what contradicts itself.

Run with `python3 -m unittest discover bench`.
"""

import sys
import tomllib
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import consistency  # noqa: E402
import realscore  # noqa: E402
from test_causes import CAUSES  # noqa: E402


def side(wall, user=0.0, system=0.0, faults=100, calls=None):
    """What one side's runs showed."""
    return {"wall": wall, "user": user, "system": system, "faults": faults, "calls": calls or {}}


def record(findings=(), verdict="faster", ratio=(0.4, 0.5, 0.6), bound=0.1, experiments=()):
    """A record of 0.2 s for slow and 0.1 s for quick, as far as it is read."""
    low, middle, high = ratio
    results = [
        {"alternative": name, "makespan_s": {"median": seconds}, "bound": {"makespan_s": bound}} for name, seconds in (("slow", 0.2), ("quick", 0.1))
    ]
    compared = {"low": low, "ratio": middle, "high": high, "verdict": verdict}
    return {"levels": [{"load": 1, "results": results, "comparisons": [compared]}], "findings": list(findings), "experiments": list(experiments)}


def finding(cause, seconds, share, **more):
    """A finding about the slow one, as far as it is read."""
    return {"cause": cause, "alternative": "slow", "against": "quick", "seconds": seconds, "share": share, "confirmed": False, **more}


def score(found, cause=("compute",)):
    """The score of a pair with this record."""
    return realscore.score({"pair": {"name": "x", "cause": list(cause)}, "place": "here", "record": found, "failed": None, "not_scored": None})


class Table(unittest.TestCase):
    """everyday.toml is whole."""

    def test_pairs_are_enough_and_complete(self):
        pairs = tomllib.loads((HERE / "everyday.toml").read_text(encoding="utf-8"))["pair"]
        self.assertGreaterEqual(len(pairs), 40)
        self.assertEqual(len({it["name"] for it in pairs}), len(pairs))
        known = {"name", "slow", "quick", "cause", "evidence", "because", "needs", "serve", "options", "prepare"}
        for pair in pairs:
            self.assertLessEqual(set(pair), known, pair["name"])
            self.assertLessEqual(set(pair["cause"]), {*CAUSES, "files"}, pair["name"])
            self.assertLessEqual(set(pair["evidence"]), {*realscore.COMPONENTS, "calls", "faults", "narrower"}, pair["name"])
            self.assertTrue(pair["evidence"] and pair["because"], pair["name"])


class Evidence(unittest.TestCase):
    """A cause is only established where what was seen without whyfaster shows it."""

    def holds(self, wanted, slow, quick):
        return realscore.evidence(wanted, slow, quick) == []

    def test_parts_of_the_difference(self):
        self.assertTrue(self.holds({"user": 0.6}, side(0.2, user=0.17), side(0.1, user=0.09)))
        self.assertFalse(self.holds({"user": 0.6}, side(0.2, system=0.17), side(0.1, system=0.09)))
        self.assertTrue(self.holds({"waits": 0.8}, side(0.2, user=0.05), side(0.1, user=0.05)))

    def test_nothing_is_established_where_there_is_no_difference(self):
        self.assertFalse(self.holds({"user": 0.6}, side(0.1, user=0.1), side(0.099, user=0.099)))

    def test_counts(self):
        wanted = {"calls": {"execve": 20, "clone": 20}, "faults": 5}
        slow = side(0.2, faults=1000, calls={"execve": 40, "clone3": 30, "vfork": 10})
        self.assertTrue(self.holds(wanted, slow, side(0.1, calls={"execve": 2, "clone": 1})))
        self.assertFalse(self.holds(wanted, slow, side(0.1, calls={"execve": 3, "clone": 1})))

    def test_narrower_is_the_same_work_on_fewer_cpus(self):
        wanted = {"narrower": 1.3}
        self.assertTrue(self.holds(wanted, side(0.2, user=0.2), side(0.1, user=0.2)))
        self.assertFalse(self.holds(wanted, side(0.2, user=0.2), side(0.1, user=0.1)))


class Score(unittest.TestCase):
    """Right, wrong, silent."""

    def test_outcomes(self):
        self.assertEqual(score(record([finding("compute", 0.08, 0.8)]))["outcome"], "right")
        self.assertEqual(score(record([finding("disk", 0.08, 0.8), finding("compute", 0.01, 0.1)]))["outcome"], "wrong")
        self.assertEqual(score(record([{"cause": "unexplained"}]))["outcome"], "silent")
        self.assertEqual(score(record(verdict="slower", ratio=(1.1, 1.2, 1.3)))["outcome"], "wrong")

    def test_claims(self):
        rows = [score(record([finding("compute", 0.08, 0.8)])) for _ in range(9)]
        _, data = realscore.report([*rows, score(record())], "here")
        self.assertEqual(set(data["claims"].values()), {"holds"})
        _, data = realscore.report([*rows[:5], score(record()), score(record())], "here")
        self.assertIn("does not hold", data["claims"].values())


class Consistency(unittest.TestCase):
    """What cannot all be true is found, and what can is not."""

    def told(self, expected, found):
        """One sentence that has this, or none at all."""
        said = consistency.contradictions(found)
        if expected is None:
            self.assertEqual(said, [])
        else:
            self.assertTrue(any(expected in it for it in said), said)

    def test_verdicts_findings_and_bounds(self):
        self.told(None, record([finding("compute", 0.08, 0.8)]))
        self.told("0.7 is outside of 0.4 to 0.6", record(ratio=(0.4, 0.7, 0.6)))
        self.told("up to", record(ratio=(0.4, 0.5, 1.1)))
        self.told("takes 0.5000 s of", record([finding("compute", 0.5, 5.0)]))
        self.told("is not 0.0800 s", record([finding("compute", 0.08, 0.1)]))
        self.told("bound", record(bound=0.3))
        self.told("its functions have 120%", record([finding("compute", 0.08, 0.8, functions=[{"share": 0.7}, {"share": 0.5}, {"share": -0.4}])]))
        self.told("outside of", record([finding("compute", 0.08, 0.8, low=0.09, high=0.1)]))

    def test_sums_and_signs(self):
        difference = {"alternative": "quick", "baseline": "slow", "span_s": {"median": -0.1}, "noise_s": 0.005}
        with_rest = lambda rest: [finding("compute", 0.08, 0.8), finding("unexplained", abs(rest) * 0.1, rest)]
        explained = lambda findings: record(findings) | {"differences": [difference]}
        self.told(None, explained(with_rest(0.2)))
        self.told(None, explained([finding("compute", 0.096, 0.96)]))
        self.told("the causes are 80% of the difference", explained([finding("compute", 0.08, 0.8)]))
        against = finding("startup", 0.02, -0.2)
        self.told("told of slow", explained([finding("compute", 0.12, 1.2), against]))
        self.told(None, explained([finding("compute", 0.12, 1.2), against | {"alternative": "quick", "against": "slow"}]))
        account = {"alternative": "slow", "untraced_s": 0.2, "parallelism": 0.5, "critical_path": [{"seconds": 0.15}, {"seconds": 0.05}], "work": [{"seconds": 0.1}]}
        self.told(None, record() | {"accounts": [account]})
        self.told("its path sums to", record() | {"accounts": [account | {"untraced_s": 0.3, "parallelism": None}]})
        self.told("CPUs busy", record() | {"accounts": [account | {"parallelism": 1.5}]})
        self.told("below zero", record() | {"accounts": [account | {"work": [{"seconds": -0.1}], "parallelism": None}]})

    def test_experiments_predictions_and_the_answer(self):
        tried = {"cause": "compute", "alternative": "slow", "predicted_s": 0.08}
        won = lambda low, high: {"won_s": {"median": (low + high) / 2, "low": low, "high": high}}
        confirmed = finding("compute", 0.08, 0.8) | {"confirmed": True}
        self.told("confirmed and refuted", record([confirmed], experiments=[tried | {"outcome": "refuted"}]))
        self.told(None, record([confirmed], experiments=[tried | {"outcome": "confirmed"} | won(0.07, 0.09)]))
        self.told("may have won nothing", record([confirmed], experiments=[tried | {"outcome": "confirmed"} | won(-0.01, 0.09)]))
        self.told("is refuted, and may have won", record(experiments=[tried | {"outcome": "refuted"} | won(0.0, 0.09)]))
        predicted = {"alternative": "slow", "load": 10, "predicted_s": 2.0, "low": 2.1, "high": 3.0}
        self.told("the prediction for 10", record() | {"predictions": [predicted]})
        named = record()
        named["levels"][0]["comparisons"][0] |= {"alternative": "quick", "baseline": "slow"}
        answer = {"slower": "slow", "faster": "quick", "ratio": 2.0}
        said = "'slow' takes 200 ms, 2.00 times as long as 'quick'"
        self.told(None, named | {"answer": answer, "summary": [said]})
        self.told("in the answer", named | {"answer": answer | {"ratio": 2.19}})
        self.told("is said, and the ratio", named | {"answer": answer, "summary": [said.replace("2.00", "2.19")]})
        self.told("the answer calls quick slower", named | {"answer": answer | {"slower": "quick", "faster": "slow"}})
        by_cpu = {"answer": {"slower": "quick", "faster": "slow", "because": {"kind": "cpu_time"}}}
        told = lambda dearer: named | by_cpu | {"differences": [{"alternative": "quick", "baseline": "slow", "span_s": {"median": 0.0}, "dearer": dearer}]}
        self.told("the verdict is decided", told("quick"))
        named["levels"][0]["comparisons"][0]["verdict"] = "undecided"
        self.told(None, told("quick"))
        self.told("not by the rounds", told(None))


if __name__ == "__main__":
    unittest.main()
