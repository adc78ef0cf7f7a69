"""Write a report as Markdown, for people.

What was not checked stands beside the verdict: a report with gaps never reads as clean.  A rule
is explained once, however often it fired.  What differs between two runs over the same input
stands in the last section alone.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.advice import ADVICE, ALWAYS
from jarvis_workers.sec.report.aside import nothing_changed, nothing_found
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.escape import code, code_cell, prose
from jarvis_workers.sec.report.markdown_verdicts import dismissed_findings, steps, verdict_findings
from jarvis_workers.sec.report.verdicts import MEANS, WORDS, counted, counts, has_verdicts, lead, took, warnings

Body = Mapping[str, Any]
Issues = Sequence[Mapping[str, Any]]
Text = tuple[str, str]

REMARKS = ("unused_suppressions", "suppressions_without_reason")


def render_markdown(body: Body, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report as GitHub-flavoured Markdown; whatever came from the scanned tree is escaped."""
    yield "# Security report"
    for block in _blocks(body, run):
        yield f"\n\n{block}"
    yield "\n"


def _blocks(body: Body, run: Body) -> Iterator[str]:
    summary, issues = body["summary"], body["issues"]
    texts = _texts(issues)
    judged = has_verdicts(summary)
    yield from _verdict(summary)
    yield from _numbers(summary, issues)
    yield from _riskiest(summary, issues)
    if judged:
        yield from verdict_findings(issues)
    yield from _not_checked(summary["not_checked"])
    yield from _rules(issues, texts)
    yield from dismissed_findings(body.get("dismissed", ()), summary) if judged else _findings(issues, texts)
    yield from _suppressions(summary)
    yield from _left_out(summary)
    yield from _advice(summary)
    yield from _run(run)


def _verdict(summary: Body) -> Iterator[str]:
    if has_verdicts(summary):
        first, rest = lead(summary)
        yield f"**{first}** {rest}"
        yield from (f"> **{what}** {prose(means)}" for what, means in warnings(summary))
    else:
        yield _fired(summary)
    yield from _not_listed(summary)
    yield from _set_aside(summary)


def _fired(summary: Body) -> str:
    files = counted(summary["scanned_files"], "file")
    if summary["total"]:
        severe = ", ".join(f"{number:,} {severity}" for severity, number in summary["by_severity"].items())
        return (
            f"**{counted(summary['total'], 'finding')} in {files}: {severe}.** Each is a place where a rule fired; "
            "no model has looked at it, and it may be a false alarm."
        )
    if summary["not_checked"]:
        return f"**Incomplete.** No rule fired in the {files} that were checked, but not everything was."
    if summary["scanned_files"]:
        word, extent = nothing_found(summary)
        return f"**{word}** {extent} in {files}. That is not a proof that there is no fault."
    if revision := nothing_changed(summary):
        return f"**Nothing to check.** No source file has changed since {prose(revision)}."
    return "**Nothing was checked.** No source file was found, so this report says nothing about the code."


def _not_listed(summary: Body) -> Iterator[str]:
    if summary.get("not_listed"):
        yield (
            f"> **Not listed: {counted(summary['not_listed'], 'finding')}.** Those with the highest score are listed "
            "below, and only they are explained and counted there. For the others narrow the scan with "
            "`--min-confidence` or `--include`, or write them all to a file: `jarvis runs export`."
        )
    if gaps := summary["not_checked"]:
        reasons = Counter(gap["reason"] for gap in gaps)
        said = "; ".join(f"{prose(reason)} ({number:,})" for reason, number in sorted(reasons.items())[:10])
        more = "; and others" if len(reasons) > 10 else ""
        known = "Nothing, or not all, is known about them"
        yield f"> **Not checked: {counted(len(gaps), 'file')}.** {known}: {said}{more}. See below."
    if summary["below_min_confidence"]:
        weaker = counted(summary["below_min_confidence"], "weaker finding")
        yield f"Not listed: {weaker}, below the least confidence asked for."


def _set_aside(summary: Body) -> Iterator[str]:
    if baseline := summary.get("baseline"):
        gone = f", {baseline['gone']:,} are gone" if "gone" in baseline else ""
        yield (
            f"Only what is new is listed: {counted(baseline['known'], 'finding')} of the baseline "
            f"{code(baseline['what'])} are still there{gone}."
        )
        if less := baseline.get("not_listed"):
            yield f"> The baseline itself did not list {counted(less, 'finding')}: they count as new."
        if state := baseline.get("state"):
            yield f"> The run over the baseline is {prose(state)}: what it has not checked counts as new."
    if summary.get("suppressed"):
        yield f"Not listed: {counted(summary['suppressed'], 'finding')} that comments in the code suppress."
    if summary.get("judged_false"):
        yield f"Not listed: {counted(summary['judged_false'], 'finding')} that people have judged false."


def _suppressions(summary: Body) -> Iterator[str]:
    unused, silent = (summary.get(name, []) for name in REMARKS)
    if unused:
        yield "## Suppressions that suppress nothing"
        yield "\n".join(f"{_place(found)}: {prose(found['reason'])}" for found in unused)
    if silent:
        yield "## Suppressions without a reason"
        yield "\n".join(map(_place, silent))
    if more := sum(summary.get(f"{name}_not_listed", 0) for name in REMARKS):
        yield f"And {more:,} more suppressions of these kinds."


def _place(found: Body) -> str:
    return f"- {code(found['file'])} line {found['line']}: {code(found['text'])}"


def _numbers(summary: Body, issues: Issues) -> Iterator[str]:
    if not issues:
        return
    yield "## Summary"
    if has_verdicts(summary):
        verdicts = [[f"{number:,}", WORDS[status], MEANS[status]] for status, number in counts(summary).items()]
        yield _table(["findings", "verdict", "means"], verdicts, numbers=False)
    yield _by_category(summary) if summary.get("not_listed") else _by_category_and_severity(summary, issues)
    languages = ", ".join(f"{prose(name)} {number:,}" for name, number in summary["by_language"].items())
    yield f"By language: {languages}. Summed score: {summary['score_sum']:.2f}."


def _by_category(summary: Body) -> str:
    """The listed issues alone cannot say how severe the findings of a category are."""
    totals = [[prose(category), total] for category, total in summary["by_category"].items()]
    return _table(["category", "total"], [*totals, ["**all**", summary["total"]]])


def _by_category_and_severity(summary: Body, issues: Issues) -> str:
    cells = Counter((issue["category"], issue["severity"]) for issue in issues)
    rows = [
        [prose(category), *(cells[category, severity] or "" for severity in WORST_FIRST), total]
        for category, total in summary["by_category"].items()
    ]
    rows.append(["**all**", *(summary["by_severity"].get(severity, "") for severity in WORST_FIRST), summary["total"]])
    return _table(["category", *WORST_FIRST, "total"], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: bool = True) -> str:
    rule = ["---", *("---:" if numbers else "---" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [heads, rule, *rows])


def _riskiest(summary: Body, issues: Issues) -> Iterator[str]:
    if not issues:
        return
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for issue in issues:
        scores[issue["file"]].append(issue["score"])
    yield "## Files most at risk"
    listed = "listed " if summary.get("not_listed") else ""
    yield _table(
        ["file", f"{listed}findings", f"{listed}score"],
        [[code_cell(file), len(scores[file]), f"{sum(scores[file]):.2f}"] for file in summary["top_risk_files"]],
    )


def _not_checked(gaps: Issues) -> Iterator[str]:
    if not gaps:
        return
    files: defaultdict[str, list[str]] = defaultdict(list)
    for gap in gaps:
        files[gap["reason"]].append(gap["file"])
    yield "## Not checked"
    for reason, names in sorted(files.items()):
        yield f"**{prose(reason) or 'no reason given'}** ({counted(len(names), 'file')})"
        yield "\n".join(f"- {code(name)}" for name in names)


def _texts(issues: Issues) -> dict[str, Text]:
    """Give each rule the explanation that most of its findings carry."""
    said: defaultdict[str, Counter[Text]] = defaultdict(Counter)
    for issue in issues:
        said[issue["pattern"]][_text(issue)] += 1
    return {pattern: texts.most_common(1)[0][0] for pattern, texts in said.items()}


def _text(issue: Body) -> Text:
    return issue["description"], issue["suggestion"]


def _rules(issues: Issues, texts: Mapping[str, Text]) -> Iterator[str]:
    if not issues:
        return
    fired: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for issue in issues:
        fired[issue["pattern"]].append(issue)
    yield "## What the rules mean"
    for pattern, found in sorted(fired.items(), key=lambda rule: (-sum(issue["score"] for issue in rule[1]), rule[0])):
        weakness = f", CWE-{found[0]['cwe']}" if found[0]["cwe"] else ""
        yield f"### {code(pattern)}"
        yield f"{counted(len(found), 'finding')}, {prose(found[0]['category'])}{weakness}."
        yield _explained(texts[pattern])


def _explained(text: Text, indent: str = "") -> str:
    why, remedy = map(prose, text)
    return f"{indent}- Why: {why}\n{indent}- What to do: {remedy}"


def _findings(issues: Issues, texts: Mapping[str, Text]) -> Iterator[str]:
    if not issues:
        return
    places: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for issue in issues:
        places[issue["severity"]][issue["file"]].append(_finding(issue, texts[issue["pattern"]]))
    yield "## Findings"
    for severity in WORST_FIRST:
        for number, (file, lines) in enumerate(places[severity].items()):
            if number == 0:
                yield f"### {severity.capitalize()} severity"
            yield f"#### {code(file)}"
            yield "\n".join(lines)


def _finding(issue: Body, usual: Text) -> str:
    line = (
        f"- **{issue['id']}** line {issue['line']}, {code(issue['pattern'])}: {code(issue['evidence'])} "
        f"(confidence {issue['confidence']:.2f}, score {issue['score']:.2f})"
    )
    other = [] if _text(issue) == usual else [_explained(_text(issue), "  ")]
    return "\n".join([line, *other, *steps(issue, "  ")])


def _left_out(summary: Body) -> Iterator[str]:
    if not (summary["left_out"] or summary["excluded"]):
        return
    yield "## Left out"
    if summary["left_out"]:
        yield "\n".join(f"- {counted(number, 'file')}: {prose(why)}" for why, number in summary["left_out"].items())
    if summary["excluded"]:
        yield "Directories that were not entered:"
        yield "\n".join(f"- {code(tree['path'])}: {prose(tree['reason'])}" for tree in summary["excluded"])


def _advice(summary: Body) -> Iterator[str]:
    yield "## Advice"
    meant = [ADVICE[category] for category in summary["by_category"] if category in ADVICE]
    yield "\n".join(f"- {line}" for line in [*meant, *ALWAYS])


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    if not run:
        return
    yield "## Run"
    if asked := [[prose(name), prose(said)] for name, said in took(run)]:
        yield _table(["asking", "took"], asked, numbers=False)
    rows = [[prose(str(name)), code_cell(_written(value))] for name, value in run.items()]
    yield "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)])


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
