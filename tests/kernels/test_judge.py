"""The judge calls wrong what is wrong. Run by `make kernels`; by hand: python3 -m unittest discover -s tests/kernels"""

import copy
import unittest

import catalogue
import machine
import tables
from checks import FAIL, PASS, SKIP, Judge, Verdict, strace_rows

STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 66.33   10.802379      450099        24        11 wait4
 13.45    2.189878        6822       321           read
 10.00    0.100000          10         5           vfork
  1.00    0.010000          10         2           clone3
  1.00    0.010000          10         9         1 openat
  1.00    0.010000          10         7           close
------ ----------- ----------- --------- --------- ------------------
100.00   13.102257       28483       368        12 total
"""


def doctor(mark="ok", cpus=2):
    """What doctor reports."""
    full = {"name": "trace: full", "mark": mark, "value": "every call" if mark == "ok" else "not to be had: a reason"}
    plain = {"name": "trace: unprivileged", "mark": "ok", "value": "forks"}
    return {"check": "doctor", "status": 0, "err": "", "json": {"facts": {"cpus_online": cpus}, "findings": [full, plain]}}


def trace(check="trace full", level="full"):
    """A trace that is as strace says."""
    calls = [["wait4", 24, 11], ["read", 321, 0], ["vfork", 5, 0], ["clone3", 2, 0], ["openat", 9, 1], ["close", 7, 0]]
    report = {"level": level, "exit_status": 3, "wall_s": 1.0, "complete": True, "lost": {}, "broken": [], "calls": calls}
    report["processes"] = {"forks": 7}
    return {"check": check, "status": 0, "err": "", "json": report}


def strace():
    """What strace reports."""
    return {"check": "strace", "status": 3, "err": "", "out": STRACE}


def judged(*facts, full=True, name="trace full"):
    """The verdict on one of these facts."""
    return {v.check: v for v in Judge(facts, full, 2).verdicts([fact["check"] for fact in facts])}[name]


class TheJudge(unittest.TestCase):
    """One kind of check a test."""

    def test_straces_table_is_read(self):
        self.assertEqual(strace_rows(STRACE)["wait4"], (24, 11))
        self.assertEqual(strace_rows(STRACE)["read"], (321, 0))
        self.assertNotIn("total", strace_rows(STRACE))

    def test_a_trace_must_be_what_strace_counted(self):
        self.assertEqual(judged(doctor(), strace(), trace()).outcome, PASS)
        for spoil in (
            lambda report: report["calls"][1].__setitem__(1, 320),
            lambda report: report["calls"][4].__setitem__(2, 0),
            lambda report: report["calls"].pop(),
            lambda report: report["processes"].__setitem__("forks", 6),
            lambda report: report.__setitem__("level", "unprivileged"),
            lambda report: report.__setitem__("complete", False),
            lambda report: report.__setitem__("exit_status", 0),
            lambda report: report["broken"].append({"what": "running time"}),
            lambda report: report.pop("calls"),
        ):
            spoiled = copy.deepcopy(trace())
            spoil(spoiled["json"])
            self.assertEqual(judged(doctor(), strace(), spoiled).outcome, FAIL, spoiled)

    def test_a_call_that_varies_on_one_architecture_is_judged_on_the_others(self):
        more = trace()
        more["json"]["calls"].append(["munmap", 2, 0])
        facts = [doctor(), strace(), more]
        self.assertEqual(judged(*facts).outcome, FAIL)
        self.assertEqual(Judge(facts, True, 2, "arm64").verdicts(["trace full"])[0].outcome, PASS)

    def test_a_level_that_cannot_be_had_is_refused_with_a_reason(self):
        refused = {"check": "trace full", "status": 6, "err": "error: the full level is not to be had here: no BTF", "out": ""}
        self.assertEqual(judged(refused, full=False).outcome, SKIP)
        self.assertEqual(judged(refused).outcome, FAIL)
        self.assertEqual(judged({**refused, "err": ""}, full=False).outcome, FAIL)
        self.assertEqual(judged({**refused, "status": 1}, full=False).outcome, FAIL)

    def test_doctor_promises_what_is_there(self):
        self.assertEqual(judged(doctor(), name="doctor").level, "full")
        self.assertEqual(judged(doctor("note"), name="doctor").outcome, FAIL)
        self.assertEqual(judged(doctor("note"), full=False, name="doctor").level, "unprivileged")
        self.assertEqual(judged(doctor(), full=False, name="doctor").outcome, FAIL)
        self.assertEqual(judged(doctor(cpus=8), name="doctor").outcome, FAIL)
        auto = trace("trace auto", "unprivileged")
        self.assertEqual(judged(doctor(), strace(), auto, name="trace auto").outcome, FAIL)
        self.assertEqual(judged(doctor("note"), strace(), auto, full=False, name="trace auto").outcome, PASS)

    def test_a_sleep_is_explained_and_confirmed_or_refused_for_want_of_the_level(self):
        report = {"refused": None, "verdicts": ["faster"], "findings": [{"cause": "sleep"}]}
        report["experiments"] = [{"cause": "sleep", "outcome": "confirmed", "sentence": ""}]
        name = "compare --why"

        def made(**spoiled):
            return {"check": name, "status": 0, "err": "", "json": {**report, **spoiled}}

        self.assertEqual(judged(made(), name=name).outcome, PASS)
        for spoiled in (
            {"verdicts": ["same"]},
            {"findings": []},
            {"findings": [{"cause": "startup"}]},
            {"experiments": []},
            {"experiments": [{"cause": "sleep", "outcome": "refuted", "sentence": ""}]},
        ):
            self.assertEqual(judged(made(**spoiled), name=name).outcome, FAIL, spoiled)
        self.assertEqual(judged(made(refused="needs BTF: a kernel with it gives it"), full=False, name=name).outcome, SKIP)
        self.assertEqual(judged(made(), full=False, name=name).outcome, FAIL)

    def test_an_interrupted_run_leaves_nothing(self):
        ended = {"check": "Ctrl-C trace", "status": 130, "seconds": 4, "err": "", "out": ""}
        self.assertEqual(judged(ended, name="Ctrl-C trace").outcome, PASS)
        for spoiled in ({"status": 0}, {"status": 137}, {"out": "31 92 sleep 33\n"}):
            self.assertEqual(judged({**ended, **spoiled}, name="Ctrl-C trace").outcome, FAIL)

    def test_what_was_not_reported_failed(self):
        found = Judge([doctor()], True, 2).verdicts(["doctor", "strace", "trace full"])
        self.assertEqual([v.outcome for v in found], [PASS, FAIL, FAIL])


class TheRest(unittest.TestCase):
    """Lines, names and cells."""

    def test_noise_on_the_line_is_no_report(self):
        self.assertIsNone(machine.parsed(b"SeaBIOS (version 1.16.2)\r"))
        self.assertIsNone(machine.parsed(b"17"))
        self.assertEqual(machine.parsed(b'{"end":true}'), {"end": True})

    def test_every_check_has_a_rule_and_every_condition_a_place(self):
        reports = {name for names in catalogue.REPORTS.values() for name in names}
        self.assertEqual(reports - {"facts", "strace"}, set(tables.RULES))
        self.assertEqual({check for checks in tables.COLUMNS.values() for check in checks}, set(tables.RULES))
        for condition in catalogue.CONDITIONS:
            self.assertLessEqual({name for name, _ in condition.settings}, set(catalogue.ORDINARY))
        self.assertEqual(catalogue.other("debian-arm64:6.12").arch, "arm64")
        cpus = [catalogue.other(words).cpu for words in ("debian:6.1", "debian:6.18", "debian:7.2", "debian-arm64:6.1")]
        self.assertEqual(cpus, ["max,-cx16", "max", "max", "max"])

    def test_the_worst_of_a_cell_is_shown(self):
        verdicts = {"Ctrl-C trace": Verdict("Ctrl-C trace", FAIL, "left"), "Ctrl-C compare": Verdict("Ctrl-C compare", PASS)}
        self.assertEqual(tables.cell(verdicts, "Ctrl-C"), "fails")
        self.assertEqual(tables.cell(verdicts, "prices"), "-")
        page = tables.book([(("debian:6.1", "6.1.0"), verdicts)], [], "About.\n")
        again = trace()
        again["json"]["tries"] = 2
        tried = judged(doctor(), strace(), again)
        self.assertEqual(tables.cell({"trace full": tried}, "full"), "yes (try 2)")
        self.assertIn("- Ctrl-C trace, debian:6.1 6.1.0: left", page)


if __name__ == "__main__":
    unittest.main()
