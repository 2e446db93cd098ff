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

    def test_contradictions(self):
        told = lambda found: realscore.contradictions(found)
        self.assertEqual(told(record([finding("compute", 0.08, 0.8)])), [])
        self.assertIn("outside of its interval", told(record(ratio=(0.4, 0.7, 0.6)))[0])
        self.assertIn("up to", told(record(ratio=(0.4, 0.5, 1.1)))[0])
        self.assertIn("takes 0.5000 s of", told(record([finding("compute", 0.5, 5.0)]))[0])
        self.assertIn("is not 0.0800 s", told(record([finding("compute", 0.08, 0.1)]))[0])
        self.assertIn("bound", told(record(bound=0.3))[0])
        refuted = [{"cause": "compute", "alternative": "slow", "outcome": "refuted"}]
        self.assertIn("confirmed and refuted", told(record([finding("compute", 0.08, 0.8) | {"confirmed": True}], experiments=refuted))[0])

    def test_claims(self):
        rows = [score(record([finding("compute", 0.08, 0.8)])) for _ in range(9)]
        _, data = realscore.report([*rows, score(record())], ["here"])
        self.assertEqual(set(data["claims"].values()), {"holds"})
        _, data = realscore.report([*rows[:5], score(record()), score(record())], ["here"])
        self.assertIn("does not hold", data["claims"].values())


if __name__ == "__main__":
    unittest.main()
