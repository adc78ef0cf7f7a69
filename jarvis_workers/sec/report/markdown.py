"""Render a report as Markdown, for people.

Unchecked files are shown beside the verdict, so that a report with gaps never looks clean.  A rule is explained once,
no matter how often it fired.  Differences between two runs over the same input are limited to the last section.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.escape import code, code_cell, prose
from jarvis_workers.sec.report.advice import ADVICE, ALWAYS
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.defect_groups import defect_groups, total_text
from jarvis_workers.sec.report.exclusions import ignored_by_git, is_import, no_findings, nothing_changed
from jarvis_workers.sec.report.fired_rules import rule_of, rule_texts
from jarvis_workers.sec.report.i18n import words_of
from jarvis_workers.sec.report.markdown_verdicts import (
    Text,
    dismissed_findings,
    explained,
    finding_label,
    same_root_cause,
    steps,
    verdict_findings,
)
from jarvis_workers.sec.report.scope_notes import scope_notes
from jarvis_workers.sec.report.stage_parts import NameList, gap_lists, sections, sentences
from jarvis_workers.sec.report.verdicts import (
    MEANS,
    WORDS,
    analyzers_texts,
    capital,
    counts,
    has_verdicts,
    lead,
    listed_findings,
    model_usage_facts,
    urgency,
    warnings,
    witness_texts,
)
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap, Summary, SuppressionRemark
from jarvis_workers.words import Words

Part = Mapping[str, Any]


def render_markdown(body: ReportBody, run: Part) -> Iterator[str]:
    """Yield the report as GitHub-flavoured Markdown; text from the scanned tree is escaped."""
    say = words_of(run)
    yield say("# Security report")
    for block in _blocks(body, run, say):
        yield f"\n\n{block}"
    yield "\n"


def _blocks(body: ReportBody, run: Part, say: Words) -> Iterator[str]:
    issues = listed_findings(body)
    summary, texts = body.summary, _texts(issues, say)
    judged = has_verdicts(summary)
    yield from _verdict(summary, run, say)
    yield from (f"> {prose(note)}" for note in scope_notes(run, say))
    if judged:
        yield from verdict_findings(issues, say, body.patches)
    yield from _numbers(summary, issues, say)
    yield from _riskiest(summary, issues, say)
    yield from _not_checked(summary.not_checked, say)
    yield from _rules(issues, texts, say)
    yield from dismissed_findings(body.dismissed, summary, say) if judged else _findings(issues, texts, say)
    yield from _suppressions(summary, say)
    yield from _left_out(summary, say)
    for _, title, lists in sections(summary, say):
        yield f"## {title}"
        yield from _lists(lists, say)
    yield from _advice(summary, say)
    yield from _run(run, say)


def _verdict(summary: Summary, run: Part, say: Words) -> Iterator[str]:
    if has_verdicts(summary):
        first, rest = lead(summary, say)
        yield f"**{first}** {rest}"
        yield from sentences(summary, say, prose)
        yield from (f"> **{what}** {prose(means)}" for what, means in warnings(summary, say))
    else:
        yield _fired(summary, run, say)
    yield from _not_listed(summary, say)
    yield from _set_aside(summary, say)


def _fired(summary: Summary, run: Part, say: Words) -> str:
    files = say.count(summary.scanned_files, "file")
    if summary.total:
        return say(
            "**{findings} in {files}: {severe}.** Each is a location flagged by a rule; no model has verified "
            "it, and it may be a false positive.",
            findings=total_text(summary, say),
            files=files,
            severe=", ".join(f"{number:,} {say(severity)}" for severity, number in summary.by_severity.items()),
        )
    if summary.not_checked:
        text = "**Incomplete.** No rule fired in the {files} checked; other files were not checked."
        return say(text, files=files)
    if summary.scanned_files:
        word, extent = map(say, no_findings(summary, run))
        text = "**{word}** {extent} in {files}. This does not prove that the code is free of defects."
        return say(text, word=word, extent=extent, files=files)
    if revision := nothing_changed(summary):
        text = "**Nothing to check.** No source file has changed since {revision}."
        return say(text, revision=prose(revision))
    if is_import(run):
        return say("The reports have no findings in this tree.")
    return say("**Nothing was checked.** No source file was found, so this report makes no statement about the code.")


def _not_listed(summary: Summary, say: Words) -> Iterator[str]:
    if summary.not_listed:
        yield say(
            "> **Not listed: {findings}.** Only the highest-scoring findings are listed, explained and counted below. "
            "To see the others, narrow the scan with `--min-confidence` or `--include`, or export all findings: "
            "`jarvis runs export`.",
            findings=say.count(summary.not_listed, "finding"),
        )
    if gaps := summary.not_checked:
        reasons = Counter(gap.reason for gap in gaps)
        parts = [f"{prose(reason)} ({number:,})" for reason, number in sorted(reasons.items())[:10]]
        more = [say("and others")] if len(reasons) > 10 else []
        yield say(
            "> **Not checked: {files}.** Scanned only partly or not at all: {reasons}. See below.",
            files=say.count(summary.files_not_checked, "file"),
            reasons="; ".join([*parts, *more]),
        )
    if summary.below_min_confidence:
        weaker = say.count(summary.below_min_confidence, "weaker finding")
        yield say("Not listed: {findings} below --min-confidence.", findings=weaker)


def _set_aside(summary: Summary, say: Words) -> Iterator[str]:
    if baseline := summary.baseline:
        fixed = say(", {number} no longer found", number=f"{baseline.gone:,}") if baseline.gone is not None else ""
        yield say(
            "Only new findings are listed: {findings} of the baseline {baseline} still exist{gone}.",
            findings=say.count(baseline.known, "finding"),
            baseline=code(baseline.what),
            gone=fixed,
        )
        if less := baseline.not_listed:
            text = "> The baseline itself did not list {findings}: they count as new."
            yield say(text, findings=say.count(less, "finding"))
        if state := baseline.state:
            text = "> The run over the baseline is {state}: findings in files that it did not check count as new."
            yield say(text, state=prose(state))
    if quiet := summary.suppressed:
        text = "Not listed: {findings} suppressed by comments in the code."
        yield say(text, findings=say.count(quiet, "finding"))
    if false := summary.judged_false:
        text = "Not listed: {findings} marked false in triage."
        yield say(text, findings=say.count(false, "finding"))
    if accepted := summary.judged_wontfix:
        text = "Not listed: {findings} marked won't fix in triage."
        yield say(text, findings=say.count(accepted, "finding"))
    if later := summary.judged_later:
        yield say("Postponed in triage, and still listed: {findings}.", findings=say.count(later, "finding"))
    if ignored := ignored_by_git(summary, say):
        yield say("Excluded by .gitignore: {ignored}.", ignored=ignored)


def _suppressions(summary: Summary, say: Words) -> Iterator[str]:
    unused, silent = summary.unused_suppressions, summary.suppressions_without_reason
    if unused:
        yield say("## Unused suppressions")
        yield "\n".join(f"{_place(remark, say)}: {prose(remark.reason or '')}" for remark in unused)
    if silent:
        yield say("## Suppressions without a reason")
        yield "\n".join(_place(remark, say) for remark in silent)
    if more := summary.unused_suppressions_not_listed + summary.suppressions_without_reason_not_listed:
        yield say("And {number} more suppressions of these kinds.", number=f"{more:,}")


def _place(remark: SuppressionRemark, say: Words) -> str:
    place = say("{file} line {line}", file=code(remark.file), line=remark.line)
    return f"- {place}: {code(remark.text)}"


def _numbers(summary: Summary, issues: Sequence[Issue], say: Words) -> Iterator[str]:
    if not issues:
        return
    yield say("## Summary")
    if has_verdicts(summary):
        there = counts(summary).items()
        verdicts = [[f"{number:,}", say(WORDS[status]), say(MEANS[status])] for status, number in there]
        yield _table([say("findings"), say("verdict"), say("means")], verdicts, numbers=False)
    yield _by_category(summary, say) if summary.not_listed else _by_category_and_severity(summary, issues, say)
    yield say(
        "By language: {languages}. Total score: {score}.",
        languages=", ".join(f"{prose(name)} {number:,}" for name, number in summary.by_language.items()),
        score=f"{summary.score_sum:.2f}",
    )
    yield from map(prose, analyzers_texts(summary, say))


def _by_category(summary: Summary, say: Words) -> str:
    """Return the table of categories, without severities, since these are known for listed issues only."""
    totals = [[prose(category), total] for category, total in summary.by_category.items()]
    return _table([say("category"), say("total")], [*totals, [f"**{say('all')}**", summary.total]])


def _by_category_and_severity(summary: Summary, issues: Sequence[Issue], say: Words) -> str:
    cells = Counter((issue.candidate.category, issue.severity) for issue in issues)
    rows = [
        [prose(category), *(cells[category, severity] or "" for severity in WORST_FIRST), total]
        for category, total in summary.by_category.items()
    ]
    totals = [summary.by_severity.get(severity, "") for severity in WORST_FIRST]
    rows.append([f"**{say('all')}**", *totals, summary.total])
    return _table([say("category"), *map(say, WORST_FIRST), say("total")], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: bool = True) -> str:
    rule = ["---", *("---:" if numbers else "---" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [heads, rule, *rows])


def _riskiest(summary: Summary, issues: Sequence[Issue], say: Words) -> Iterator[str]:
    if not issues:
        return
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for issue in issues:
        scores[issue.candidate.file].append(issue.score)
    yield say("## Highest-risk files")
    heads = ("listed findings", "listed score") if summary.not_listed else ("findings", "score")
    yield _table(
        [say("file"), *map(say, heads)],
        [[code_cell(file), len(scores[file]), f"{sum(scores[file]):.2f}"] for file in summary.top_risk_files],
    )


def _not_checked(gaps: Sequence[ReportGap], say: Words) -> Iterator[str]:
    if not gaps:
        return
    yield say("## Not checked")
    yield from _lists(gap_lists(gaps, say), say)


def _lists(lists: Sequence[NameList], say: Words) -> Iterator[str]:
    for title, noun, names in lists:
        yield f"**{prose(title)}** ({say.count(len(names), noun)})"
        yield "\n".join(f"- {code(name)}" for name in names)


def _texts(issues: Sequence[Issue], say: Words) -> dict[str, Text]:
    """Return for each rule the most common explanation among its findings."""
    counts: defaultdict[str, Counter[Text]] = defaultdict(Counter)
    for issue in issues:
        counts[rule_of(issue)][rule_texts(issue, say)] += 1
    return {rule: texts.most_common(1)[0][0] for rule, texts in counts.items()}


def _text(issue: Issue) -> Text:
    return issue.candidate.description, issue.candidate.suggestion


def _rules(issues: Sequence[Issue], texts: Mapping[str, Text], say: Words) -> Iterator[str]:
    if not issues:
        return
    fired: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        fired[rule_of(issue)].append(issue)
    yield say("## Rules")
    for rule, group in sorted(fired.items(), key=lambda one: (-sum(issue.score for issue in one[1]), one[0])):
        weakness = say(", CWE-{number}", number=group[0].candidate.cwe) if group[0].candidate.cwe else ""
        about = prose(group[0].candidate.category) + weakness
        yield f"### {code(rule)}"
        yield say("{findings}, {about}.", findings=say.count(len(group), "finding"), about=about)
        yield explained(texts[rule], say)


def _findings(issues: Sequence[Issue], texts: Mapping[str, Text], say: Words) -> Iterator[str]:
    if not issues:
        return
    places: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for issue, others in defect_groups(issues, urgency):
        lines = [_finding(issue, texts[rule_of(issue)], say), *same_root_cause(others, say)]
        places[issue.severity][issue.candidate.file].append("\n".join(lines))
    yield say("## Findings")
    for severity in WORST_FIRST:
        for number, (file, lines) in enumerate(places[severity].items()):
            if number == 0:
                yield say("### {severity} severity", severity=capital(say(severity)))
            yield f"#### {code(file)}"
            yield "\n".join(lines)


def _finding(issue: Issue, usual: Text, say: Words) -> str:
    line = say(
        "- **{id}** line {line}, {rule}: {evidence} (confidence {confidence}, score {score})",
        id=issue.id,
        line=issue.candidate.line,
        rule=finding_label(issue),
        evidence=code(issue.candidate.evidence),
        confidence=f"{issue.candidate.confidence:.2f}",
        score=f"{issue.score:.2f}",
    )
    other = [] if _text(issue) == usual else [explained(_text(issue), say, "  ")]
    also = [f"  - {say('Also reported: {text}', text=prose(text))}" for text in witness_texts(issue, say)]
    return "\n".join([line, *other, *also, *steps(issue, say, "  ")])


def _left_out(summary: Summary, say: Words) -> Iterator[str]:
    if not (summary.left_out or summary.excluded):
        return
    yield say("## Excluded")
    if summary.left_out:
        left = [f"- {say.count(number, 'file')}: {prose(why)}" for why, number in summary.left_out.items()]
        yield "\n".join(left)
    if summary.excluded:
        yield say("Skipped directories:")
        yield "\n".join(f"- {code(tree.path)}: {prose(tree.reason)}" for tree in summary.excluded)


def _advice(summary: Summary, say: Words) -> Iterator[str]:
    yield say("## Advice")
    texts = [ADVICE[category] for category in summary.by_category if category in ADVICE]
    yield "\n".join(f"- {say(line)}" for line in [*texts, *ALWAYS])


def _run(run: Part, say: Words) -> Iterator[str]:
    if not run:
        return
    yield say("## Run")
    if facts := [[prose(name), prose(text)] for name, text in model_usage_facts(run, say)]:
        yield _table([say("model use"), say("usage")], facts, numbers=False)
    rows = [[prose(str(name)), code_cell(_written(value))] for name, value in run.items()]
    yield "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)])


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
