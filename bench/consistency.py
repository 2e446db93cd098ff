"""What a record says that cannot all be true: sums, signs, ratios and the order of bounds. Pure: from a record to sentences."""

import re

import benchlib

# A cause may be this much larger than the difference that it explains before the two contradict each other.
SLACK = 1.15
# Numbers that are rounded for readers differ by up to this part.
ROUNDED = 0.02
# Sums of parts that are medians of their own.
SUMS = 0.01


def findings(record):
    """The causes but the rest that has none."""
    return [it for it in record.get("findings", []) if it["cause"] != "unexplained"]


def verdict(record):
    """The comparison at the lowest load; None where there is none."""
    return benchlib.comparison(record, min((level["load"] for level in record["levels"]), default=1))


def medians(record):
    """The median makespan of each alternative at the lowest load, by name."""
    level = min(record["levels"], key=lambda it: it["load"], default={"results": []})
    return {it["alternative"]: it["makespan_s"]["median"] for it in level["results"]}


def outside(what, value, low, high):
    """Whether a value is outside of its own interval, as a list of sentences."""
    ends = (low is None or low <= value) and (high is None or value <= high) and (low is None or high is None or low <= high)
    return [] if ends else [f"{what}: {value} is outside of {low} to {high}"]


def of_verdict(record):
    """The verdict against its own interval."""
    compared = verdict(record)
    if compared is None:
        return ["no comparison"]
    low, ratio, high = compared["low"], compared["ratio"], compared["high"]
    wrong = outside("the ratio", ratio, low, high)
    if compared["verdict"] == "faster" and high is not None and high > 1:
        wrong.append(f"faster, but up to {high:.3f} times the time")
    if compared["verdict"] == "slower" and low is not None and low < 1:
        wrong.append(f"slower, but down to {low:.3f} times the time")
    return wrong


def of_findings(record):
    """Each cause against the times of the two, and its own numbers."""
    wrong = []
    times = medians(record)
    for it in findings(record):
        if it["seconds"] is not None and it["alternative"] in times and it.get("against") in times:
            gap = times[it["alternative"]] - times[it["against"]]
            spent = times[it["alternative"]]
            if it["seconds"] > SLACK * spent:
                wrong.append(f"{it['cause']} takes {it['seconds']:.4f} s of the {spent:.4f} s that {it['alternative']} takes")
            if gap > 0 and it["share"] is not None and abs(it["share"] * gap - it["seconds"]) > 0.5 * abs(it["seconds"]) + 0.002:
                wrong.append(f"{it['cause']}: {it['share']:.0%} of {gap:.4f} s is not {it['seconds']:.4f} s")
        wrong += outside(it["cause"], it["seconds"], it.get("low"), it.get("high"))
        shares = [f["share"] for f in it.get("functions", []) if f["share"] > 0]
        if sum(shares) > 1 + 1e-6:
            wrong.append(f"{it['cause']}: its functions have {sum(shares):.0%} of it")
    return wrong


def pair_of(difference):
    """The names of the two that differ."""
    return {difference["alternative"], difference["baseline"]}


def of_differences(record):
    """The causes of a difference sum to it but for the noise, on the side that their sign says."""
    wrong = []
    for difference in record.get("differences", []):
        of = [it for it in record.get("findings", []) if {it["alternative"], it.get("against")} == pair_of(difference)]
        whole = difference["span_s"]["median"]
        if not of or not whole:
            continue
        shares = sum(it["share"] for it in of)
        noise = (difference.get("noise_s") or 0) / abs(whole)
        if abs(1 - shares) > noise + SUMS:
            wrong.append(f"the causes are {shares:.0%} of the difference, and the noise is {noise:.0%}")
        slower = difference["alternative"] if whole > 0 else difference["baseline"]
        for it in of:
            if (it["alternative"] == slower) != (it["share"] > 0) and abs(it["share"]) > SUMS:
                wrong.append(f"{it['cause']} is {it['share']:.0%} of why {slower} is slower, told of {it['alternative']}")
            if abs(abs(it["share"] * whole) - it["seconds"]) > SUMS * abs(whole):
                wrong.append(f"{it['cause']}: {it['share']:.0%} of {abs(whole):.4f} s is not {it['seconds']:.4f} s")
    return wrong


def of_accounts(record):
    """The parts of an account sum to its time."""
    wrong = []
    for it in record.get("accounts", []):
        rows = it.get("critical_path", [])
        path = sum(row["seconds"] for row in rows)
        if rows and abs(path - it["untraced_s"]) > SUMS * it["untraced_s"]:
            wrong.append(f"{it['alternative']}: its path sums to {path:.4f} s, not {it['untraced_s']:.4f} s")
        if any(row["seconds"] < 0 for row in [*rows, *it.get("work", [])]):
            wrong.append(f"{it['alternative']}: a part of its account is below zero")
        work = sum(row["seconds"] for row in it.get("work", []))
        if it.get("parallelism") and it.get("work") and abs(work / it["untraced_s"] - it["parallelism"]) > SUMS * it["parallelism"]:
            wrong.append(f"{it['alternative']}: its work makes {work / it['untraced_s']:.2f} CPUs busy, not {it['parallelism']:.2f}")
    return wrong


def of_experiments(record):
    """What an experiment decided follows from its interval, and agrees with its finding."""
    wrong = []
    for it in record.get("experiments", []):
        said = [f for f in findings(record) if f["cause"] == it["cause"] and f["alternative"] == it["alternative"]]
        if it["outcome"] == "refuted" and said and said[0]["confirmed"]:
            wrong.append(f"{it['cause']} is confirmed and refuted")
        won = it.get("won_s")
        if not won:
            continue
        wrong += outside(f"what the experiment on {it['cause']} won", won["median"], won["low"], won["high"])
        if it["outcome"] == "confirmed" and (won["low"] is None or won["low"] <= 0):
            wrong.append(f"{it['cause']} is confirmed, and may have won nothing ({won['low']})")
        if it["outcome"] == "refuted" and (won["high"] is None or won["high"] > it["predicted_s"]):
            wrong.append(f"{it['cause']} is refuted, and may have won {won['high']} s of {it['predicted_s']} s")
    return wrong


def of_levels(record):
    """Bounds lie below what was measured, and predictions within their own ends."""
    wrong = []
    for level in record["levels"]:
        for it in level["results"]:
            if it["bound"] and it["bound"]["makespan_s"] > it["makespan_s"]["median"] * SLACK:
                wrong.append(f"{it['alternative']}: its bound of {it['bound']['makespan_s']:.4f} s is above the {it['makespan_s']['median']:.4f} s measured with {level['load']}")
            wrong += outside(f"{it['alternative']} with {level['load']}", it["makespan_s"]["median"], it["makespan_s"].get("low"), it["makespan_s"].get("high"))
    for it in record.get("predictions", []):
        wrong += outside(f"{it['alternative']}: the prediction for {it['load']}", it["predicted_s"], it["low"], it["high"])
    return wrong


def of_answer(record):
    """The sentences name one ratio, which is the verdict's, and the slower one is the one that it calls so."""
    answer, compared = record.get("answer"), verdict(record)
    if not answer or compared is None:
        return []
    wrong = []
    ratio = max(compared["ratio"], 1 / compared["ratio"])
    of_pair = {answer["slower"], answer["faster"]} == {compared["alternative"], compared["baseline"]}
    if of_pair and answer.get("ratio") is not None and abs(answer["ratio"] / ratio - 1) > ROUNDED:
        wrong.append(f"{answer['ratio']:.3f} times in the answer, {ratio:.3f} in the verdict")
    if answer.get("because", {}).get("kind") == "cpu_time":
        # Nobody knows which is slower: the one is named that needs more CPU time.
        dearer = {it.get("dearer") for it in record["differences"] if pair_of(it) == {answer["slower"], answer["faster"]}}
        decided = compared["verdict"] != "undecided"
        wrong += ["the verdict is decided, and the answer says it is not"] if of_pair and decided else []
        return wrong + ([] if dearer == {answer["slower"]} else [f"{answer['slower']} is said to need more CPU time, and not by the rounds"])
    slower = compared["alternative"] if compared["ratio"] > 1 else compared["baseline"]
    if of_pair and answer["slower"] != slower:
        wrong.append(f"the answer calls {answer['slower']} slower, the verdict {slower}")
    told = [float(it) for text in record.get("summary", []) for it in re.findall(r"([0-9]+(?:\.[0-9]+)?) times as long", text)]
    wrong += [f"'{it} times as long' is said, and the ratio is {ratio:.3f}" for it in told if of_pair and abs(it / ratio - 1) > ROUNDED]
    return wrong


def contradictions(record):
    """What the record says that cannot all be true."""
    if verdict(record) is None:
        return ["no comparison"]
    parts = (of_verdict, of_findings, of_differences, of_accounts, of_experiments, of_levels, of_answer)
    return [text for part in parts for text in part(record)]
