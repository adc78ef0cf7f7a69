"""Overview of the findings: verdict, numbers, charts, rules, and unchecked files.

Unchecked files are shown beside the verdict, so that a report with gaps never looks clean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.markup import Html, markup
from jarvis_workers.sec.report.advice import ADVICE, ALWAYS
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.defect_groups import total_text
from jarvis_workers.sec.report.exclusions import is_import, no_findings, nothing_changed
from jarvis_workers.sec.report.fired_rules import rule_of
from jarvis_workers.sec.report.html import verdict_summary
from jarvis_workers.sec.report.html.card import cwe_link
from jarvis_workers.sec.report.html.charts import Bar, bars, link_to, ring
from jarvis_workers.sec.report.stage_parts import NameList, gap_lists, sections
from jarvis_workers.sec.report.verdicts import OPEN, WORDS, capital, counts, has_verdicts
from jarvis_workers.sec.report_document import Issue, Summary
from jarvis_workers.words import Words

REASONS = 3
# No browser opens a page with a million file names; the JSON report has them all.
NAMES_MAX = 5_000


def verdict(summary: Summary, run: Mapping[str, Any], say: Words) -> Iterator[Html]:
    """Yield the verdict and the warnings that precede all numbers."""
    if summary.not_checked:
        yield _not_checked(summary, say)
    if has_verdicts(summary):
        yield from verdict_summary.verdict_counts(summary, say)
    else:
        yield markup('<p class="lead">{said}</p>', said=_headline(summary, run, say))
    if summary.not_listed:
        text = say(
            "<b>Not listed: {found}.</b> Only the highest-scoring findings are listed and counted in the charts. "
            "To see the others, narrow the scan, or export all findings: <code>jarvis runs export</code>"
        )
        yield markup('<p class="notice">{said}</p>', said=markup(text, found=say.count(summary.not_listed, "finding")))
    if summary.below_min_confidence:
        weaker = say.count(summary.below_min_confidence, "weaker finding")
        note = say("Not listed: {findings} below --min-confidence.", findings=weaker)
        yield markup('<p class="aside">{said}</p>', said=note)


def _not_checked(summary: Summary, say: Words) -> Html:
    reasons = Counter(gap.reason for gap in summary.not_checked).most_common()
    reasons_text = [f"{reason} ({number:,})" for reason, number in reasons[:REASONS]]
    text = "<b>Not checked: {files}.</b> Scanned only partly or not at all: {why}."
    why = "; ".join([*reasons_text, *([say("and others")] if len(reasons) > REASONS else [])])
    return markup(
        '<p class="notice bad" role="alert">{said} <a href="#not-checked">{see}</a></p>',
        said=markup(say(text), files=say.count(summary.files_not_checked, "file"), why=why),
        see=say("See which"),
    )


def _headline(summary: Summary, run: Mapping[str, Any], say: Words) -> Html:
    files = say.count(summary.scanned_files, "file")
    if summary.total:
        text = (
            "<b>{found} in {files}.</b> Each is a location flagged by a rule, and may be a false positive. "
            "Start with high severity."
        )
        return markup(say(text), found=total_text(summary, say), files=files)
    if summary.not_checked:
        text = "<b>Incomplete.</b> No rule fired in {files}, but not everything was checked."
        return markup(say(text), files=files)
    if summary.scanned_files:
        word, extent = map(say, no_findings(summary, run))
        text = "<b>{word}</b> {extent} in {files}. This does not prove that the code is free of defects."
        return markup(say(text), word=word, extent=extent, files=files)
    if revision := nothing_changed(summary):
        return markup(say("<b>Nothing to check.</b> No source file has changed since {revision}."), revision=revision)
    if is_import(run):
        return markup(say("The reports have no findings in this tree."))
    text = "<b>Nothing was checked.</b> No source file was found, so this report makes no statement about the code."
    return markup(say(text))


def numbers(summary: Summary, issues: Sequence[Issue], say: Words) -> Iterator[Html]:
    """Yield the key numbers; numbers for a verdict or a severity are links."""
    if has_verdicts(summary):
        there = {"confirmed": 0, "review": 0, "undecided": 0} | counts(summary)
        for status, count in sorted(there.items(), key=lambda one: (*OPEN, one[0]).index(one[0])):
            yield _number(capital(say(WORDS[status])), count, kind=status, href=link_to(status=status))
    else:
        # Of a scan that is not complete, 0 is not the number of findings.
        least = None if summary.not_checked else 0
        yield _number(say("Findings"), summary.total or least, href="#findings")
        for severity in WORST_FIRST:
            number = summary.by_severity.get(severity) or least
            yield _number(capital(say(severity)), number, kind=severity, href=link_to(severity=severity))
    yield _rules_fired(summary, issues, say)
    yield _number(say("Files checked"), summary.scanned_files)
    missing = summary.files_not_checked
    kind, href = ("bad", "#not-checked") if missing else ("", None)
    yield _number(say("Not checked"), missing, kind=kind, href=href)


def _rules_fired(summary: Summary, issues: Sequence[Issue], say: Words) -> Html:
    """Return the number of rules that fired; for an older report, count the rules of the listed findings."""
    listed = len(set(map(rule_of, issues)))
    if summary.not_listed and summary.rules_fired is None:
        return _number(say("Rules that fired (listed)"), listed, href="#rules")
    return _number(
        say("Rules that fired"), listed if summary.rules_fired is None else summary.rules_fired, href="#rules"
    )


def _number(label: str, number: int | None, *, kind: str = "", href: str | None = None) -> Html:
    inner = markup("<b>{number}</b><span>{label}</span>", number="–" if number is None else f"{number:,}", label=label)
    if href is None:
        return markup('<div class="tile {kind}">{inner}</div>', kind=kind, inner=inner)
    return markup('<a class="tile {kind}" href="{href}">{inner}</a>', kind=kind, href=href, inner=inner)


def charts(summary: Summary, issues: Sequence[Issue], say: Words) -> Iterator[Html]:
    """Yield the chart panels; severities within a category or file cover listed findings only."""
    if not issues:
        return
    if has_verdicts(summary):
        verdicts = counts(summary)
        words = {status: say(WORDS[status]) for status in verdicts}
        drawn = [ring(verdicts, words, say("findings")), _legend("status", verdicts, words)]
        yield _panel((say("By verdict"), say("findings")), drawn, "narrow")
    else:
        severities = summary.by_severity
        words = {severity: say(severity) for severity in severities}
        drawn = [ring(severities, words, say("findings")), _legend("severity", severities, words)]
        yield _panel((say("By severity"), say("findings")), drawn, "narrow")
    categories = bars(_categories(summary, issues), say("findings by category"))
    yield _panel((say("By category"), say("findings")), [categories])
    files = bars(_riskiest(summary, issues), say("total score by file"))
    listed = say("Highest-risk files (listed)") if summary.not_listed else say("Highest-risk files")
    yield _panel((listed, say("total score")), [files])


def _panel(titles: tuple[str, str], inside: Sequence[Html], kind: str = "") -> Html:
    title, unit = titles
    return markup(
        '<section class="panel {kind}"><h2>{title} <small>{unit}</small></h2>{inside}</section>',
        kind=kind,
        title=title,
        unit=unit,
        inside=inside,
    )


def _legend(chosen: str, numbers: Mapping[str, int], words: Mapping[str, str]) -> Html:
    whole = sum(numbers.values())
    return markup(
        '<ul class="legend">{lines}</ul>',
        lines=[
            markup(
                '<li><a href="{href}" tabindex="-1"><i class="{name}"></i>{word}<b>{count}</b>'
                "<span>{share}</span></a></li>",
                href=link_to(**{chosen: name}),
                name=name,
                word=words[name],
                count=f"{count:,}",
                share=f"{count / whole:.0%}",
            )
            for name, count in numbers.items()
        ],
    )


def _categories(summary: Summary, issues: Sequence[Issue]) -> list[Bar]:
    severities: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for issue in issues:
        severities[issue.candidate.category][issue.severity] += 1
    return [
        Bar(
            category,
            f"{number:,}",
            [("plain", number)] if summary.not_listed else _worst_first(severities[category]),
            {"category": category},
        )
        for category, number in summary.by_category.items()
    ]


def _riskiest(summary: Summary, issues: Sequence[Issue]) -> list[Bar]:
    scores: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for issue in issues:
        scores[issue.candidate.file][issue.severity] += issue.score
    return [
        Bar(file, f"{sum(scores[file].values()):,.1f}", _worst_first(scores[file]), {"file": file})
        for file in summary.top_risk_files
    ]


def _worst_first(sizes: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(severity, sizes[severity]) for severity in WORST_FIRST if severity in sizes]


def rules_title(summary: Summary, say: Words) -> str:
    """Return the title of the table of rules, which covers listed findings only."""
    return say("Rules that fired (listed)") if summary.not_listed else say("Rules that fired")


def rules(issues: Sequence[Issue], say: Words) -> Iterator[Html]:
    """Yield a row for each rule that fired, the highest total score first."""
    fired: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        fired[rule_of(issue)].append(issue)
    for rule, group in sorted(fired.items(), key=lambda one: (-sum(issue.score for issue in one[1]), one[0])):
        severities = Counter(issue.severity for issue in group)
        yield markup(
            '<tr><th scope="row"><a href="{href}">{rule}</a></th><td>{category}</td><td>{cwe}</td>{counts}'
            "<td>{total}</td></tr>",
            href=link_to(rule=rule),
            rule=rule,
            category=group[0].candidate.category,
            cwe=cwe_link(group[0].candidate.cwe, say),
            counts=[markup("<td>{count}</td>", count=severities[severity] or "") for severity in WORST_FIRST],
            total=f"{len(group):,}",
        )


def file_lists(summary: Summary, say: Words) -> Iterator[Html]:
    """Yield the lists of files that were not checked or left out, and those of stages.

    Each has a readable number of names.
    """
    if summary.not_checked:
        yield _section("not-checked", say("Not checked"), gap_lists(summary.not_checked, say), say)
    trees: defaultdict[str, list[str]] = defaultdict(list)
    for tree in summary.excluded:
        trees[tree.reason].append(tree.path)
    if summary.left_out or trees:
        yield markup(
            '<section id="left-out"><h2>{title}</h2>{counts}{trees}</section>',
            title=say("Excluded"),
            counts=[
                markup("<p>{files}: {why}</p>", files=say.count(number, "file"), why=why)
                for why, number in summary.left_out.items()
            ],
            trees=[
                _names(NameList(say("skipped: {reason}", reason=reason), "tree", names), say)
                for reason, names in sorted(trees.items())
            ],
        )
    yield from (_section(*section, say) for section in sections(summary, say))


def _section(name: str, title: str, lists: Sequence[NameList], say: Words) -> Html:
    return markup(
        '<section id="{name}"><h2>{title}</h2>{lists}</section>',
        name=name,
        title=title,
        lists=[_names(one, say) for one in lists],
    )


def _names(listed: NameList, say: Words) -> Html:
    title, noun, names = listed
    more = len(names) - NAMES_MAX
    rest = say("and {more} more: see the JSON report", more=say.count(more, noun))
    return markup(
        "<details><summary>{title} <small>{count}</small></summary><ul class=names>{names}</ul>{more}</details>",
        title=title,
        count=say.count(len(names), noun),
        names=[markup("<li>{name}</li>", name=name) for name in names[:NAMES_MAX]],
        more=markup("<p>{rest}</p>", rest=rest) if more > 0 else "",
    )


def advice(summary: Summary, say: Words) -> Iterator[Html]:
    """Yield advice beyond the fix of each finding."""
    texts = [ADVICE[category] for category in summary.by_category if category in ADVICE]
    return (markup("<li>{line}</li>", line=_with_code(say(line))) for line in [*texts, *ALWAYS])


def _with_code(text: str) -> Iterator[Html]:
    """Render text between backticks as code."""
    for number, part in enumerate(text.split("`")):
        yield markup("<code>{part}</code>" if number % 2 else "{part}", part=part)
