"""Say what the findings come to: verdict, numbers, charts, rules, and what was not looked at.

What was not checked stands beside the verdict: a report with gaps never reads as clean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.advice import ADVICE, ALWAYS
from jarvis_workers.sec.report.aside import nothing_changed, nothing_found
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.html import judged
from jarvis_workers.sec.report.html.card import cwe_link
from jarvis_workers.sec.report.html.charts import Bar, bars, link_to, ring
from jarvis_workers.sec.report.html.markup import Html, markup
from jarvis_workers.sec.report.verdicts import WORDS, counted, counts, has_verdicts

Body = Mapping[str, Any]
Issues = Sequence[Mapping[str, Any]]

AS_THEY_ARE: Mapping[str, str] = {}
REASONS = 3
# A page that names a million files opens in no browser; the JSON report names them all.
NAMES_MAX = 5_000


def verdict(summary: Body) -> Iterator[Html]:
    """Yield what a reader must know before any number."""
    if summary["not_checked"]:
        yield _not_checked(summary["not_checked"])
    if has_verdicts(summary):
        yield from judged.found(summary)
    else:
        yield markup('<p class="lead">{said}</p>', said=_found(summary))
    if summary.get("not_listed"):
        yield markup(
            '<p class="notice"><b>Not listed: {found}.</b> Those with the highest score are listed, and the charts of '
            "files and rules count only them. For the others narrow the scan, or write them all to a file: "
            "<code>jarvis runs export</code></p>",
            found=counted(summary["not_listed"], "finding"),
        )
    if summary["below_min_confidence"]:
        yield markup(
            '<p class="aside">Not listed: {found}, below the least confidence asked for.</p>',
            found=counted(summary["below_min_confidence"], "weaker finding"),
        )


def _not_checked(missing: Issues) -> Html:
    reasons = Counter(gap["reason"] for gap in missing).most_common()
    said = [f"{reason} ({number:,})" for reason, number in reasons[:REASONS]]
    return markup(
        '<p class="notice bad" role="alert"><b>Not checked: {files}.</b> What is in them is not known, or not in full: '
        '{why}. <a href="#not-checked">See which</a></p>',
        files=counted(len(missing), "file"),
        why="; ".join([*said, *(["and others"] if len(reasons) > REASONS else [])]),
    )


def _found(summary: Body) -> Html:
    files = counted(summary["scanned_files"], "file")
    if summary["total"]:
        return markup(
            "<b>{found} in {files}.</b> Each is a place where a rule fired, and may be a false alarm. Begin with those "
            "of high severity.",
            found=counted(summary["total"], "finding"),
            files=files,
        )
    if summary["not_checked"]:
        return markup("<b>Incomplete.</b> No rule fired in {files}, but not everything was checked.", files=files)
    if summary["scanned_files"]:
        word, extent = nothing_found(summary)
        said = "<b>{word}</b> {extent} in {files}. That is not a proof that there is no fault."
        return markup(said, word=word, extent=extent, files=files)
    if revision := nothing_changed(summary):
        return markup("<b>Nothing to check.</b> No source file has changed since {revision}.", revision=revision)
    return markup("<b>Nothing was checked.</b> No source file was found, so this report says nothing about the code.")


def numbers(summary: Body, issues: Issues) -> Iterator[Html]:
    """Yield the key numbers; those of a verdict or a severity are links."""
    if has_verdicts(summary):
        there = {"confirmed": 0, "review": 0, "undecided": 0} | counts(summary)
        for status, count in there.items():
            yield _number(WORDS[status].capitalize(), count, kind=status, href=link_to(status=status))
    else:
        yield _number("Findings", summary["total"], href="#findings")
        for severity in WORST_FIRST:
            count = summary["by_severity"].get(severity, 0)
            yield _number(severity.capitalize(), count, kind=severity, href=link_to(severity=severity))
    yield _number("Rules that fired", len({issue["pattern"] for issue in issues}), href="#rules")
    yield _number("Files checked", summary["scanned_files"])
    missing = len(summary["not_checked"])
    yield _number("Not checked", missing, kind="bad" if missing else "", href="#not-checked" if missing else None)


def _number(label: str, number: int, *, kind: str = "", href: str | None = None) -> Html:
    inner = markup("<b>{number}</b><span>{label}</span>", number=f"{number:,}", label=label)
    if href is None:
        return markup('<div class="tile {kind}">{inner}</div>', kind=kind, inner=inner)
    return markup('<a class="tile {kind}" href="{href}">{inner}</a>', kind=kind, href=href, inner=inner)


def charts(summary: Body, issues: Issues) -> Iterator[Html]:
    """Yield the panels of charts; the listed findings alone tell severities apart."""
    if not issues:
        return
    part = " (listed)" if summary.get("not_listed") else ""
    if has_verdicts(summary):
        verdicts = counts(summary)
        yield _panel("By verdict", [ring(verdicts), _legend("status", verdicts, WORDS)], "narrow")
    else:
        severities = summary["by_severity"]
        yield _panel("By severity", [ring(severities), _legend("severity", severities)], "narrow")
    yield _panel("By category", [bars(_categories(summary, issues), "findings by category")])
    yield _panel(
        f"Files most at risk{part}", [bars(_riskiest(summary, issues), "summed score by file")], "", "summed score"
    )


def _panel(title: str, inside: Sequence[Html], kind: str = "", unit: str = "findings") -> Html:
    return markup(
        '<section class="panel {kind}"><h2>{title} <small>{unit}</small></h2>{inside}</section>',
        kind=kind,
        title=title,
        unit=unit,
        inside=inside,
    )


def _legend(chosen: str, numbers: Mapping[str, int], words: Mapping[str, str] = AS_THEY_ARE) -> Html:
    whole = sum(numbers.values())
    return markup(
        '<ul class="legend">{lines}</ul>',
        lines=[
            markup(
                '<li><a href="{href}"><i class="{name}"></i>{word}<b>{count}</b><span>{share}</span></a></li>',
                href=link_to(**{chosen: name}),
                name=name,
                word=words.get(name, name),
                count=f"{count:,}",
                share=f"{count / whole:.0%}",
            )
            for name, count in numbers.items()
        ],
    )


def _categories(summary: Body, issues: Issues) -> list[Bar]:
    severities: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for issue in issues:
        severities[issue["category"]][issue["severity"]] += 1
    return [
        Bar(
            category,
            f"{number:,}",
            [("plain", number)] if summary.get("not_listed") else _worst_first(severities[category]),
            {"category": category},
        )
        for category, number in summary["by_category"].items()
    ]


def _riskiest(summary: Body, issues: Issues) -> list[Bar]:
    scores: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for issue in issues:
        scores[issue["file"]][issue["severity"]] += issue["score"]
    return [
        Bar(file, f"{sum(scores[file].values()):,.1f}", _worst_first(scores[file]), {"file": file})
        for file in summary["top_risk_files"]
    ]


def _worst_first(sizes: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(severity, sizes[severity]) for severity in WORST_FIRST if severity in sizes]


def rules(issues: Issues) -> Iterator[Html]:
    """Yield a row for each rule that fired, the weightiest first."""
    fired: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for issue in issues:
        fired[issue["pattern"]].append(issue)
    for pattern, found in sorted(fired.items(), key=lambda rule: (-sum(issue["score"] for issue in rule[1]), rule[0])):
        severities = Counter(issue["severity"] for issue in found)
        yield markup(
            '<tr><th scope="row"><a href="{href}">{rule}</a></th><td>{category}</td><td>{cwe}</td>{counts}'
            "<td>{total}</td></tr>",
            href=link_to(rule=pattern),
            rule=pattern,
            category=found[0]["category"],
            cwe=cwe_link(found[0]["cwe"]),
            counts=[markup("<td>{count}</td>", count=severities[severity] or "") for severity in WORST_FIRST],
            total=f"{len(found):,}",
        )


def gaps(summary: Body) -> Iterator[Html]:
    """Yield what was not checked and what was left out, by name as far as that can be read."""
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for gap in summary["not_checked"]:
        missing[gap["reason"]].append(gap["file"])
    if missing:
        yield markup(
            '<section id="not-checked"><h2>Not checked</h2>{groups}</section>',
            groups=[_names(f"{reason or 'no reason given'}", names) for reason, names in sorted(missing.items())],
        )
    trees: defaultdict[str, list[str]] = defaultdict(list)
    for tree in summary["excluded"]:
        trees[tree["reason"]].append(tree["path"])
    if summary["left_out"] or trees:
        yield markup(
            '<section id="left-out"><h2>Left out</h2>{counts}{trees}</section>',
            counts=[
                markup("<p>{files}: {why}</p>", files=counted(number, "file"), why=why)
                for why, number in summary["left_out"].items()
            ],
            trees=[_names(f"not entered: {reason}", names, "tree") for reason, names in sorted(trees.items())],
        )


def _names(title: str, names: Sequence[str], noun: str = "file") -> Html:
    more = len(names) - NAMES_MAX
    return markup(
        "<details><summary>{title} <small>{count}</small></summary><ul class=names>{names}</ul>{more}</details>",
        title=title,
        count=counted(len(names), noun),
        names=[markup("<li>{name}</li>", name=name) for name in names[:NAMES_MAX]],
        more=markup("<p>and {more}: the JSON report names them all</p>", more=counted(more, noun)) if more > 0 else "",
    )


def advice(summary: Body) -> Iterator[Html]:
    """Yield what to do beyond mending each finding."""
    meant = [ADVICE[category] for category in summary["by_category"] if category in ADVICE]
    return (markup("<li>{line}</li>", line=_with_code(line)) for line in [*meant, *ALWAYS])


def _with_code(text: str) -> Iterator[Html]:
    """Set what stands between backticks as code."""
    for number, part in enumerate(text.split("`")):
        yield markup("<code>{part}</code>" if number % 2 else "{part}", part=part)
