"""How bench/real scores what whyfaster says about a pair of everyday commands. Pure: from records and counts to rows and claims."""

import benchlib
from consistency import contradictions, findings, verdict

RIGHT_FIRST = 0.90
SILENT = 0.10
# The slow one must be this much slower for there to be something to explain.
LEAST = 1.05


# ---- evidence ----


def part(slow, quick, of):
    """The part of the difference in wall time that a component has; None where the slow one is not slower."""
    gap = slow["wall"] - quick["wall"]
    return (of(slow) - of(quick)) / gap if gap > 0 else None


COMPONENTS = {
    "user": lambda it: it["user"],
    "system": lambda it: it["system"],
    "cpu": lambda it: it["user"] + it["system"],
    "waits": lambda it: it["wall"] - it["user"] - it["system"],
}


def times_as_many(slow, quick):
    """How many times as many; nothing counts as one."""
    return slow / max(quick, 1)


def evidence(wanted, slow, quick):
    """What of the evidence does not hold, in words; empty: all of it holds.

    `slow` and `quick`: medians of wall, user and system time in seconds and of faults, and `calls` by name.
    """
    missed = []
    if slow["wall"] < LEAST * quick["wall"]:
        missed.append(f"{slow['wall']:.4f} s are not {LEAST} times {quick['wall']:.4f} s")
    for name, least in wanted.items():
        if name == "calls":
            for call, times in least.items():
                count = lambda side: sum(n for key, n in side["calls"].items() if key == call or (call == "clone" and key in ("clone3", "fork", "vfork")))
                found = times_as_many(count(slow), count(quick))
                if found < times:
                    missed.append(f"{found:.1f} times as many {call}, not {times}")
        elif name == "faults":
            found = times_as_many(slow["faults"], quick["faults"])
            if found < least:
                missed.append(f"{found:.1f} times as many page faults, not {least}")
        elif name == "narrower":
            work = COMPONENTS["cpu"](slow) / COMPONENTS["cpu"](quick)
            busy = (COMPONENTS["cpu"](quick) / quick["wall"]) / (COMPONENTS["cpu"](slow) / slow["wall"])
            if not 0.75 <= work <= 1.25:
                missed.append(f"{work:.2f} times the CPU time, so not the same work")
            if busy < least:
                missed.append(f"{busy:.2f} times fewer CPUs busy, not {least}")
        else:
            found = part(slow, quick, COMPONENTS[name])
            if found is None or found < least:
                missed.append("no part of no difference" if found is None else f"{name} is {found:.0%} of the difference, not {least:.0%}")
    return missed


def score(result):
    """What became of one pair: right, wrong, silent, or not scored with the reason."""
    pair, record = result["pair"], result["record"]
    row = {"name": pair["name"], "place": result["place"], "cause": pair["cause"], "said": None, "outcome": None, "contradictions": []}
    if result["not_scored"]:
        return row | {"outcome": "not scored", "why": result["not_scored"]}
    if record is None:
        return row | {"outcome": "wrong", "why": result["failed"], "contradictions": [result["failed"]]}
    found = findings(record)
    row["said"] = found[0]["cause"] if found else None
    row["contradictions"] = contradictions(record)
    compared = verdict(record)
    # "slow" comes first on the command line: the other one is faster.
    if compared is not None and compared["verdict"] == "slower":
        return row | {"outcome": "wrong", "why": "the quick one is called slower"}
    if not found:
        return row | {"outcome": "silent", "why": record.get("refused") or (compared or {}).get("verdict")}
    right = found[0]["cause"] in pair["cause"]
    return row | {"outcome": "right" if right else "wrong", "why": "" if right else f"{found[0]['cause']}, for {' or '.join(pair['cause'])}"}


# ---- claims ----


def report(scores, where):
    """The table, the claims, the data."""
    lines = [benchlib.table(["pair", "established", "said first", "outcome", ""], [[it["name"], " or ".join(it["cause"]), it["said"] or "", it["outcome"], it.get("why") or ""] for it in scores])]
    claims = {}
    ran = [it for it in scores if it["outcome"] != "not scored"]
    if ran:
        count = lambda outcome: sum(it["outcome"] == outcome for it in ran)
        spoke = len(ran) - count("silent")
        contradicted = sum(bool(it["contradictions"]) for it in ran)
        outcome = lambda holds: "holds" if holds else "does not hold"
        claims[f"{where}: the right cause first in {count('right')} of {spoke} that it explained (aim {RIGHT_FIRST:.0%})"] = outcome(spoke > 0 and count("right") >= RIGHT_FIRST * spoke)
        claims[f"{where}: silent on {count('silent')} of {len(ran)} (aim at most {SILENT:.0%})"] = outcome(count("silent") <= SILENT * len(ran))
        claims[f"{where}: {contradicted} of {len(ran)} records contradict themselves (aim none)"] = outcome(contradicted == 0)
    for it in scores:
        lines += [f"{it['name']} ({it['place']}): {text}" for text in it["contradictions"]]
    lines += ["", *(f"{claim}: {outcome}" for claim, outcome in claims.items())]
    return "\n".join(lines), {"claims": claims, "scores": scores}
