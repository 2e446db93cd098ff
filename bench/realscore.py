"""How bench/real scores what whyfaster says about a pair of everyday commands. Pure: from records and counts to rows and claims."""

import benchlib

RIGHT_FIRST = 0.90
SILENT = 0.10
# The slow one must be this much slower for there to be something to explain.
LEAST = 1.05
# A cause may be this much larger than the difference that it explains before the two contradict each other.
SLACK = 1.15


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


# ---- what a record says ----


def findings(record):
    """The causes but the rest that has none."""
    return [it for it in record.get("findings", []) if it["cause"] != "unexplained"]


def verdict(record):
    """The comparison at the lowest load."""
    return benchlib.comparison(record, min((level["load"] for level in record["levels"]), default=1))


def contradictions(record):
    """What the record says that cannot all be true."""
    wrong = []
    compared = verdict(record)
    if compared is None:
        return ["no comparison"]
    low, ratio, high = compared["low"], compared["ratio"], compared["high"]
    if low is not None and high is not None and not low <= ratio <= high:
        wrong.append(f"the ratio {ratio:.3f} is outside of its interval {low:.3f} to {high:.3f}")
    if compared["verdict"] == "faster" and high is not None and high > 1:
        wrong.append(f"faster, but up to {high:.3f} times the time")
    if compared["verdict"] == "slower" and low is not None and low < 1:
        wrong.append(f"slower, but down to {low:.3f} times the time")
    times = medians(record)
    for it in findings(record):
        if it["seconds"] is not None and it["alternative"] in times and it.get("against") in times:
            gap = times[it["alternative"]] - times[it["against"]]
            spent = times[it["alternative"]]
            if it["seconds"] > SLACK * spent:
                wrong.append(f"{it['cause']} takes {it['seconds']:.4f} s of the {spent:.4f} s that {it['alternative']} takes")
            if gap > 0 and it["share"] is not None and abs(it["share"] * gap - it["seconds"]) > 0.5 * abs(it["seconds"]) + 0.002:
                wrong.append(f"{it['cause']}: {it['share']:.0%} of {gap:.4f} s is not {it['seconds']:.4f} s")
        if it.get("low") is not None and it.get("high") is not None and not it["low"] <= it["seconds"] <= it["high"]:
            wrong.append(f"{it['cause']}: {it['seconds']} is outside of {it['low']} to {it['high']}")
    for it in record.get("experiments", []):
        said = [f for f in findings(record) if f["cause"] == it["cause"] and f["alternative"] == it["alternative"]]
        if it["outcome"] == "refuted" and said and said[0]["confirmed"]:
            wrong.append(f"{it['cause']} is confirmed and refuted")
    for level in record["levels"]:
        for it in level["results"]:
            if it["bound"] and it["bound"]["makespan_s"] > it["makespan_s"]["median"] * SLACK:
                wrong.append(f"{it['alternative']}: its bound of {it['bound']['makespan_s']:.4f} s is above the {it['makespan_s']['median']:.4f} s measured with {level['load']}")
    return wrong


def medians(record):
    """The median makespan of each alternative at the lowest load, by name."""
    level = min(record["levels"], key=lambda it: it["load"], default={"results": []})
    return {it["alternative"]: it["makespan_s"]["median"] for it in level["results"]}


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


def report(scores, places):
    """The table, the claims, the data."""
    lines = [benchlib.table(["pair", "machine", "established", "said first", "outcome", ""], [[it["name"], it["place"], " or ".join(it["cause"]), it["said"] or "", it["outcome"], it.get("why") or ""] for it in scores])]
    claims = {}
    for place in places:
        ran = [it for it in scores if it["place"] == place and it["outcome"] != "not scored"]
        if not ran:
            continue
        count = lambda outcome: sum(it["outcome"] == outcome for it in ran)
        spoke = len(ran) - count("silent")
        contradicted = sum(bool(it["contradictions"]) for it in ran)
        outcome = lambda holds: "holds" if holds else "does not hold"
        claims[f"{place}: the right cause first in {count('right')} of {spoke} that it explained (aim {RIGHT_FIRST:.0%})"] = outcome(spoke > 0 and count("right") >= RIGHT_FIRST * spoke)
        claims[f"{place}: silent on {count('silent')} of {len(ran)} (aim at most {SILENT:.0%})"] = outcome(count("silent") <= SILENT * len(ran))
        claims[f"{place}: {contradicted} of {len(ran)} records contradict themselves (aim none)"] = outcome(contradicted == 0)
    for it in scores:
        lines += [f"{it['name']} ({it['place']}): {text}" for text in it["contradictions"]]
    lines += ["", *(f"{claim}: {outcome}" for claim, outcome in claims.items())]
    return "\n".join(lines), {"claims": claims, "scores": scores}
