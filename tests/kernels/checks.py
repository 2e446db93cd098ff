"""The judge: from what a guest reported to PASS, FAIL or SKIP with a reason. No I/O."""

import dataclasses
import json

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"
INTERRUPTED, UNFIT = 130, 6
# Calls of which no two runs make the same number: a shell's wait may be interrupted by the end of a child, and a woken
# thread finds its lock free or not.
UNSTEADY = {"rt_sigreturn", "futex", "restart_syscall"}
# And on one architecture. Libraries for arm64 are aligned to 64 KiB: the loader maps more than it needs and unmaps what lies before and
# behind, unless the kernel chose, at random, an address that is aligned (_dl_map_segment() in glibc's elf/dl-map-segments.h).
UNSTEADY_ON = {"arm64": {"munmap"}}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What one check came to."""

    check: str
    outcome: str
    why: str = ""
    level: str = ""  # the level that was had, where the check is of one
    tries: int = 1  # the traces that it took until one told of no losses


class Wrong(Exception):
    """What was found is not what must be; the message says it."""


def need(condition, why):
    """Raises Wrong unless the condition holds."""
    if not condition:
        raise Wrong(why)


def last_of(text):
    """The last lines of what a program said, in one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:])[:400] or "it said nothing"


def succeeded(fact):
    """The check's command did what it should; its JSON, if it printed that."""
    need(fact["status"] != 124, "no end within the time limit")
    need(fact["status"] == 0, f"exit status {fact['status']}: {last_of(fact['err'])}")
    need("json" in fact, f"no JSON: {last_of(fact.get('out', ''))}")
    return fact["json"]


def strace_rows(text):
    """What `strace -f -c` counted: (calls, errors) by name."""
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
            rows[words[-1]] = (int(words[3]), int(words[4]) if len(words) == 6 else 0)
    return rows


class Judge:
    """Judges the facts of one boot. `expected_full`: whether the full level must be had by root there."""

    def __init__(self, facts, expected_full, cpus, arch="amd64"):
        self.facts = {fact["check"]: fact for fact in facts}
        self.expected_full, self.cpus = expected_full, cpus
        self.unsteady = UNSTEADY | UNSTEADY_ON.get(arch, set())
        self.promised = promised(self.facts.get("doctor"))

    def verdicts(self, wanted):
        """Of the checks that the guest was to report on; what is missing failed."""
        lacking = [Verdict(name, FAIL, "the guest reported nothing") for name in wanted if name not in self.facts]
        return [self.verdict(name) for name in wanted if name in RULES and name in self.facts] + lacking

    def verdict(self, name):
        """Of one check."""
        judge, *words = RULES[name]
        try:
            outcome = judge(self, self.facts[name], *words)
        except Wrong as wrong:
            return Verdict(name, FAIL, str(wrong))
        except (KeyError, TypeError, IndexError) as missing:
            return Verdict(name, FAIL, f"the report lacks {missing}")
        return Verdict(name, *outcome)

    # ---- one method a kind of check: returns (outcome, why, level, tries), the last two where they mean something, or raises Wrong ----

    def doctor(self, fact):
        """Doctor promises a level, with a reason where it is not the full one, and counts the CPUs."""
        found = succeeded(fact)
        online = found["facts"]["cpus_online"]
        need(online == self.cpus, f"{online} CPUs online, and {self.cpus} are")
        line = finding(found, "trace: full")
        need(line, "no line about the full level")
        if line["mark"] != "ok":
            need(line.get("value"), "no reason is given why there is no full level")
        if self.expected_full:
            need(line["mark"] == "ok", f"full level expected, and doctor says: {line['value']}")
        else:
            need(line["mark"] != "ok", "doctor promises the full level, which this boot cannot have")
        return PASS, "" if line["mark"] == "ok" else line["value"], self.promised

    def auto(self, fact, promise="doctor"):
        """What trace has by itself is what doctor promised to the same user."""
        report = succeeded(fact)
        promised_level = promised(self.facts.get(promise))
        need(report["level"] == promised_level, f"doctor promises {promised_level}, trace has {report['level']}")
        if promise == "doctor" and self.expected_full:
            need(report["level"] == "full", f"full level expected, trace has {report['level']}: {last_of(fact['err'])}")
        self.whole(report)
        return PASS, "", report["level"], report.get("tries", 1)

    def level(self, fact, level):
        """A level that was asked for is had and counts as strace does, or is refused with the reason."""
        if level == "full" and not self.expected_full:
            need(fact["status"] == UNFIT, f"exit status {fact['status']} where the full level cannot be had: {last_of(fact['err'])}")
            need(len(fact["err"].strip()) > 20, "refused without a reason")
            return SKIP, fact["err"].strip().splitlines()[0].removeprefix("error: "), ""
        report = succeeded(fact)
        need(report["level"] == level, f"level {level} was asked for, {report['level']} was had: {last_of(fact['err'])}")
        self.whole(report)
        return PASS, "", level, report.get("tries", 1)

    def whole(self, report):
        """The trace is complete, its accounts agree, and it counted what strace counted."""
        level = report["level"]
        need(report["exit_status"] == 3, f"the command's status is {report['exit_status']}, not 3")
        if level == "rusage":
            need(report["wall_s"] > 0, "no wall time")
            return
        strace = strace_rows(self.facts["strace"].get("out", ""))
        need(len(strace) > 5, f"strace did not count: {last_of(self.facts['strace']['err'])}")
        need(report["complete"], f"not complete in {report.get('tries', 1)} tries: {json.dumps(report['lost'])}")
        made = sum(strace.get(name, (0, 0))[0] for name in ("fork", "vfork", "clone", "clone3"))
        forks = report["processes"]["forks"]
        need(forks == made, f"{forks} forks, strace has {made}")
        need(not report["broken"], f"accounts disagree: {json.dumps(report['broken'])[:300]}")
        if level in ("full", "ptrace"):
            counted = {name: (calls, errors) for name, calls, errors in report["calls"] if calls}
            differ = sorted(n for n in (counted.keys() | strace.keys()) - self.unsteady if counted.get(n) != strace.get(n))
            shown = ", ".join(f"{n} {counted.get(n)} for {strace.get(n)}" for n in differ[:6])
            need(not differ, f"counts differ from strace: {shown}")

    def compare_why(self, fact):
        """A sleep is the cause, and an experiment confirmed it; without the full level the report says why not."""
        found = succeeded(fact)
        need({"faster", "slower"} & set(found["verdicts"]), f"the planted sleep made no difference: {found['verdicts']}")
        if not self.expected_full:
            refused = json.dumps(found["refused"]) if found["refused"] else ""
            need(len(refused) > 20 or "full" in fact["err"], f"no explanation and no reason: {last_of(fact['err'])}")
            return SKIP, f"no why without the full level: {refused[:200]}", ""
        need(found["findings"], f"no finding: {json.dumps(found['refused'])} {last_of(fact['err'])}")
        first = found["findings"][0]
        need(first["cause"] == "sleep", f"the first cause is {first['cause']}, not the planted sleep")
        tried = [row for row in found["experiments"] if row["cause"] == "sleep"]
        need(tried, "no experiment on the sleep")
        need(tried[0]["outcome"] == "confirmed", f"the experiment's outcome is {tried[0]['outcome']}: {tried[0]['sentence']}")
        return PASS, "", "full"

    def compare_load(self, fact):
        """Four copies at once were measured, and compared."""
        found = succeeded(fact)
        loads = {level["load"]: level for level in found["levels"]}
        need(4 in loads, f"loads measured: {sorted(loads)}")
        need(loads[4]["comparisons"], "nothing was compared at load 4")
        return PASS, "", ""

    def prices(self, fact):
        """Rows have a price, or say why they have none."""
        rows = succeeded(fact)["prices"]
        priced = [name for name, price, _ in rows if price is not None]
        bare = [name for name, price, why in rows if price is None and not why]
        need(not bare, f"neither price nor reason: {', '.join(bare[:5])}")
        # Under an emulator, beside others, many a cheap call is lost in the clock's noise, and its row says so.
        need(len(priced) >= len(rows) / 3, f"only {len(priced)} of {len(rows)} rows have a price")
        return PASS, f"{len(priced)} of {len(rows)} rows have a price", ""

    def interrupted(self, fact):
        """Status 130 (who does not end is killed by the guest after some minutes), and nothing is left running."""
        need(fact["status"] == INTERRUPTED, f"exit status {fact['status']}, not 130: {last_of(fact['err'])}")
        need(not fact["out"].strip(), f"left running: {last_of(fact['out'])}")
        return PASS, "", ""

    def user_doctor(self, fact):
        """An ordinary user is not promised the full level."""
        found = succeeded(fact)
        line = finding(found, "trace: full")
        need(line and line["mark"] != "ok", "doctor promises the full level to a user without privileges")
        return PASS, "", promised(fact)

    def capable_follow(self, fact):
        """A user with the capabilities of the full level observes no process of root."""
        need(fact["status"] == UNFIT, f"exit status {fact['status']}: {last_of(fact.get('out', ''))}")
        if not self.expected_full:
            return SKIP, last_of(fact["err"]), ""
        need("another user" in fact["err"] and "(0x" not in fact["err"], f"it said: {last_of(fact['err'])}")
        return PASS, "", ""

    def user_compare(self, fact):
        """An ordinary user's comparison ends with verdicts."""
        found = succeeded(fact)
        need(any(level["comparisons"] for level in found["levels"]), "no verdict")
        return PASS, "", ""


def finding(report, name):
    """A line of doctor."""
    return next((line for line in report["findings"] if line["name"] == name), None)


def promised(fact):
    """The level that doctor promises; None if it could not be asked."""
    report = (fact or {}).get("json")
    if not report:
        return None
    for level in ("full", "unprivileged"):
        line = finding(report, f"trace: {level}")
        if line and line["mark"] == "ok":
            return level
    return "rusage"


RULES = {
    "doctor": (Judge.doctor,),
    "trace auto": (Judge.auto,),
    "trace full": (Judge.level, "full"),
    "trace ptrace": (Judge.level, "ptrace"),
    "trace unprivileged": (Judge.level, "unprivileged"),
    "trace rusage": (Judge.level, "rusage"),
    "compare --why": (Judge.compare_why,),
    "compare --load 4": (Judge.compare_load,),
    "prices --quick": (Judge.prices,),
    "Ctrl-C compare": (Judge.interrupted,),
    "Ctrl-C trace": (Judge.interrupted,),
    "Ctrl-C prices": (Judge.interrupted,),
    "user doctor": (Judge.user_doctor,),
    "user trace": (Judge.auto, "user doctor"),
    "user compare": (Judge.user_compare,),
    "capable trace": (Judge.level, "full"),
    "capable follow": (Judge.capable_follow,),
}
