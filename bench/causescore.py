"""How bench/causes scores what whyfaster says about a pair. Pure: from a record to a row and, over all rows, to claims."""

import math
import statistics

import benchlib

WITHIN = 0.15
PATH_WITHIN = 0.005
WORK_WITHIN = 0.02
RIGHT_FIRST = 0.95
PREDICTION_WITHIN = 0.10
LOADS = (10, 100)
# The same command's CPU time may differ by this factor between its slow and its quick runs, where it is not too short to tell.
STEADY = 4 / 3
STEADY_FROM_S = 0.02


def medians(record, load):
    """Median makespans of the two alternatives at a load; None where one has none."""
    found = [benchlib.makespans(record, side, load) for side in (0, 1)]
    return [statistics.median(values) if values else None for values in found]


def lowest(record):
    """The lowest load that was measured."""
    return min((batch["load"] for batch in record["batches"]), default=1)


def difference(record):
    """Seconds that b takes longer than a, untraced, at the lowest load: the median over the rounds."""
    load = lowest(record)
    a, b = (benchlib.makespans(record, side, load) for side in (0, 1))
    return statistics.median(y - x for x, y in zip(a, b)) if a and b else None


def first_part(record):
    """The part that the first cause alone has of the difference of a and b: medians over the rounds of one comparison."""
    a, b, first = (benchlib.makespans(record, side, lowest(record)) for side in (0, 1, 2))
    return statistics.median(z - x for x, z in zip(a, first)) / statistics.median(y - x for x, y in zip(a, b))


def unsteady(record):
    """Whether the CPUs were not as fast all the time: the same command's CPU time, its slower fifth against its quicker fifth."""
    for side in (0, 1):
        copies = [batch["copies"] for batch in benchlib.batches(record, side, lowest(record))]
        spent = sorted((sum(it["user_s"]) + sum(it["system_s"])) / len(it["user_s"]) for it in copies)
        if len(spent) > 4 and statistics.median(spent) >= STEADY_FROM_S:
            quick, slow = spent[len(spent) // 5], spent[-1 - len(spent) // 5]
            if slow > quick * STEADY:
                return True
    return False


def truth(result):
    """Seconds of the (first) planted cause."""
    pair = result["pair"]
    if "by_design_ms" in pair:
        return pair["by_design_ms"] / 1000
    if "first" in pair:
        return result["first_s"]
    # Which of the two is slower is part of what a pair plants: the cause makes the slower one slow.
    return abs(difference(result["record"]))


def planted(pair):
    """The causes that were planted, the largest first."""
    return [pair[key] for key in ("cause", "then") if key in pair]


def found(record):
    """The findings but the rest that has no cause."""
    return [finding for finding in record.get("findings", []) if finding["cause"] != "unexplained"]


def sums(record):
    """The largest relative errors: critical path against wall time, work against CPU time; over all traced runs."""
    path, work = [], []
    for traced in record.get("traced", []):
        report = traced["report"]
        if report["wall_s"] > 0 and report["critical_path"]:
            path.append(abs(sum(row["seconds"] for row in report["critical_path"]) / report["wall_s"] - 1))
        cpu = sum(row["running_s"] for row in report["commands"])
        if cpu > 0 and report["work"]:
            work.append(abs(sum(row["seconds"] for row in report["work"]) / cpu - 1))
    for account in record.get("accounts", []):
        if account["untraced_s"] > 0 and account["critical_path"]:
            path.append(abs(sum(row["seconds"] for row in account["critical_path"]) / account["untraced_s"] - 1))
    return max(path, default=None), max(work, default=None)


def predictions(record):
    """Relative errors of what was predicted for the high loads and measured then."""
    rows = [p for p in record.get("predictions", []) if p["load"] in LOADS and p["measured_s"]]
    return [abs(p["predicted_s"] / p["measured_s"] - 1) for p in rows]


def crossover_off(record):
    """By how many levels of the ladder the predicted crossover misses the measured one; None: nothing was predicted.

    A crossover is the first level whose winner is another than at the lowest; behind the last level: there is none.
    """
    names = [alternative["name"] for alternative in record["plan"]["alternatives"]]
    told = {(p["alternative"], p["load"]): p["predicted_s"] for p in record.get("predictions", [])}
    loads = sorted({batch["load"] for batch in record["batches"]})
    if not any(load in LOADS for _, load in told):
        return None

    def flip(times):
        slower = [b > a for a, b in (times(load) for load in loads)]
        return next((i for i, it in enumerate(slower) if it != slower[0]), len(loads))

    def predicted(load):
        here = medians(record, load)
        return [told.get((name, load), measured) for name, measured in zip(names, here)]

    return abs(flip(lambda load: medians(record, load)) - flip(predicted))


def confirmations(record, causes):
    """How many experiments claim to confirm, how many of them rightly, and how many deny a cause that was planted."""
    said = [(it["cause"], it["outcome"]) for it in record.get("experiments", [])]
    confirmed = [cause for cause, outcome in said if outcome == "confirmed"]
    denied = [cause for cause, outcome in said if outcome == "refuted" and cause in causes]
    return len(confirmed), sum(cause in causes for cause in confirmed), len(denied)


def score(result):
    """What became of one pair."""
    pair, record = result["pair"], result["record"]
    row = {"name": pair["name"], "planted": planted(pair), "wrong": result["wrong"], "not_measured": result.get("not_measured")}
    row |= {"times": result.get("times", 1), "unsteady": record is not None and unsteady(record)}
    row |= {"first": None, "right": None, "truth_s": None, "seconds": None, "off": None, "within": None, "findings": None}
    if record is None:
        return row | {"text": row["wrong"] or f"not measured: {row['not_measured']}"}
    findings = found(record)
    confirmed, rightly, denied = confirmations(record, row["planted"])
    path, work = sums(record)
    row |= {
        "difference_s": difference(record), "findings": [[f["cause"], f["seconds"]] for f in findings], "refused": record.get("refused"),
        "confirmed": confirmed, "confirmed_rightly": rightly, "denied": denied, "path_off": path, "work_off": work,
        "prediction_off": predictions(record), "crossover_off": crossover_off(record) if "loads" in pair else None,
        "first": findings[0]["cause"] if findings else None,
    }
    if not row["planted"]:
        row["right"] = not findings
    else:
        row["truth_s"] = truth(result)
        row["right"] = row["first"] == row["planted"][0]
        mine = [f["seconds"] for f in findings if f["cause"] == row["planted"][0]]
        if mine and row["truth_s"]:
            row["seconds"] = mine[0]
            row["off"] = mine[0] / row["truth_s"] - 1
            row["within"] = abs(row["off"]) <= WITHIN
        else:
            row["within"] = False
        if len(row["planted"]) > 1:
            row["second_found"] = row["planted"][1] in [f["cause"] for f in findings[1:]]
    return row | {"text": "right" if row["right"] else f"wrong: {row['first'] or record.get('refused') or 'no finding'}"}


def cells(row):
    """A row of the table."""
    what = ", then ".join(row["planted"]) or "nothing"
    if row["findings"] is None:
        return [row["name"], what, row["text"], "", "", "", "", ""]
    share = lambda value, digits: "" if value is None else f"{value * 100:.{digits}f}%"
    said = row["first"] or "no finding"
    first = said if row["right"] else f"{said} (wrong)"
    seconds = [benchlib.ms(row[key]) if row[key] is not None else "" for key in ("truth_s", "seconds")]
    confirmed = f"{row['confirmed_rightly']}/{row['confirmed']}" if row["confirmed"] else ""
    return [row["name"], what, first, *seconds, share(row["off"], 0), confirmed, f"{share(row['path_off'], 2)} {share(row['work_off'], 2)}".strip()]


def part(count, of):
    """A share in words."""
    return f"{count} of {of}" + (f" ({count / of * 100:.0f}%)" if of else "")


def outcome(holds):
    """A claim's verdict; None decides nothing."""
    return "not measured" if holds is None else "holds" if holds else "does not hold"


def every(values, limit):
    """Whether all that were measured are at most the limit. A pair without a difference is not traced, so it has none."""
    there = [value for value in values if value is not None]
    return None if not there else all(value <= limit for value in there)


def worst(values):
    """The worst of those that were measured, in words."""
    there = [value for value in values if value is not None]
    return f" (of {len(there)} pairs: worst {max(there) * 100:.3f}%)" if there else ""


def report(scores):
    """The table, the claims, the data."""
    ran = [row for row in scores if row["not_measured"] is None]
    caused = [row for row in ran if row["planted"]]
    same = [row for row in ran if not row["planted"]]
    right = sum(bool(row["right"]) for row in caused)
    within = sum(bool(row["within"]) for row in caused)
    quiet = sum(bool(row["right"]) for row in same)
    measured = [row for row in ran if row["findings"] is not None]
    confirmed, rightly = (sum(row[key] for row in measured) for key in ("confirmed", "confirmed_rightly"))
    paths, works = ([row[key] for row in measured] for key in ("path_off", "work_off"))
    errors = [error for row in measured for error in row["prediction_off"]]
    crossovers = [row["crossover_off"] for row in measured if row["crossover_off"] is not None]
    claims = {
        f"the right cause first, in {RIGHT_FIRST * 100:.0f}% ({part(right, len(caused))})": outcome(right >= RIGHT_FIRST * len(caused) if caused else None),
        f"its seconds within {WITHIN * 100:.0f}% ({part(within, len(caused))})": outcome(within >= RIGHT_FIRST * len(caused) if caused else None),
        f"no finding on A against A ({part(quiet, len(same))})": outcome(quiet == len(same) if same else None),
        f"what is confirmed is right ({part(rightly, confirmed)})": outcome(rightly == confirmed if confirmed else None),
        f"critical path sums to wall time within {PATH_WITHIN * 100}%{worst(paths)}": outcome(every(paths, PATH_WITHIN)),
        f"work sums to CPU time within {WORK_WITHIN * 100:.0f}%{worst(works)}": outcome(every(works, WORK_WITHIN)),
        f"predictions at {' and '.join(map(str, LOADS))} copies: median error under {PREDICTION_WITHIN * 100:.0f}%" + median_text(errors): outcome(statistics.median(errors) < PREDICTION_WITHIN if errors else None),
        f"predicted crossover within one level ({part(sum(it <= 1 for it in crossovers), len(crossovers))})": outcome(every(crossovers, 1)),
    }
    head = ["pair", "planted", "first finding", "planted ms", "found ms", "off", "confirmed", "sums off by"]
    lines = [benchlib.table(head, [cells(row) for row in scores]), ""]
    lines += [f"{row['name']}: {row['text']}" for row in scores if row["findings"] is None]
    lines += [f"{row['name']}: also found {listed(row)}" for row in measured if len(row["findings"] or []) > 1]
    again = [row["name"] for row in scores if row["times"] > 1]
    left = [row["name"] for row in scores if row["unsteady"]]
    lines += [f"measured again, for the CPUs were not steady: {', '.join(again)}"] if again else []
    lines += [f"and not steady in what is scored: {', '.join(left)}"] if left else []
    denied = sum(row["denied"] for row in measured)
    lines += ["", f"experiments that denied a planted cause: {denied}", ""] if denied else [""]
    lines += [f"{claim}: {verdict}" for claim, verdict in claims.items()]
    score_line = f"score: right first {part(right, len(caused))}, seconds {part(within, len(caused))}, A against A {part(quiet, len(same))}, confirmed {part(rightly, confirmed)}"
    return "\n".join([*lines, score_line]), {"rows": scores, "claims": claims, "score": score_line}


def median_text(errors):
    """The median error in words, if there is one."""
    if not errors:
        return ""
    return f" (of {len(errors)}: median {statistics.median(errors) * 100:.1f}%, worst {math.fabs(max(errors)) * 100:.0f}%)"


def listed(row):
    """The findings behind the first."""
    return ", ".join(f"{cause} {seconds * 1000:.1f} ms" for cause, seconds in row["findings"][1:])
