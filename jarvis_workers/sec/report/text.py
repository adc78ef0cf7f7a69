"""Render a report as compact text: one line per finding, as compilers and linters do, and a summary at the end.

    src/list.c:40:5: high: Unbounded string copy [unsafe_api]
        strcpy(name, entry->name);

A line is a sequence of spans, each with a role that a terminal can colour; without colour the text is the same.  Text
from the scanned tree is made printable and kept on one line.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Any, NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.report.defect_groups import DefectGroup, defect_groups, places_of, total_text
from jarvis_workers.sec.report.exclusions import is_import, no_findings, nothing_changed
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.i18n import words_of
from jarvis_workers.sec.report.patches import patch_summary
from jarvis_workers.sec.report.proof_inputs import input_text
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.scope_notes import scope_notes
from jarvis_workers.sec.report.stage_parts import sections, sentences
from jarvis_workers.sec.report.verdicts import (
    PROOF_STATES,
    REAL,
    WORDS,
    analyzers_texts,
    counts,
    has_verdicts,
    lead,
    listed_findings,
    urgency,
    warnings,
    witness_texts,
)
from jarvis_workers.sec.report_document import (
    BaselineSummary,
    Issue,
    ReportBody,
    ReportPatch,
    Summary,
    SuppressionRemark,
)
from jarvis_workers.sec.severity import is_at_least
from jarvis_workers.words import ENGLISH, Words

Part = Mapping[str, Any]

MESSAGE_MAX = 160
INPUT_MAX = 120
RULES_MAX = 8
PLACES_MAX = 8
INDENT = "    "
# Joins words that must not be separated at the end of a line; text from the scanned tree never contains it.
GLUE = "\x00"
REMARKS = {
    "unused_suppressions": "Unused suppressions:",
    "suppressions_without_reason": "Suppressions without a reason:",
}
# Reasons that apply to files which are obviously not source code.
NO_SOURCES = (".git",)
# Findings that the report does not list, by their number in the summary.
ASIDE = {
    "below_min_confidence": "below --min-confidence",
    "suppressed": "suppressed by comments",
    "judged_false": "marked false in triage",
    "judged_wontfix": "marked won't fix in triage",
    "dismissed": "dismissed by the model",
    "not_listed": "not listed (report limit)",
}


class Span(NamedTuple):
    """A part of a line; `role` is "path", a severity, "rule", "code", "alarm", "strong" or "" for plain text."""

    text: str
    role: str = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Limits on the parts of a report that are written.

    `prefix` is prepended to file names.  Findings below the severity `least` are not listed; unless `low`, those of low
    severity that nobody confirmed are only counted.  With `concise` there is neither code nor summary.  At most `most`
    findings are listed, the worst, and at most `names` files of each kind; None means no limit.  Lines of code are cut
    at `width` columns, and lines of the summary are wrapped there.
    """

    prefix: str = ""
    least: str | None = None
    low: bool = True
    concise: bool = False
    most: int | None = None
    names: int | None = None
    width: int | None = None


WHOLE = TextOptions()


def render_text(body: ReportBody, run: Part, options: TextOptions = WHOLE) -> Iterator[str]:
    """Yield the lines of a report without colour."""
    for line in text_lines(body, run, options):
        yield "".join(span.text for span in line) + "\n"


def text_lines(body: ReportBody, run: Part, options: TextOptions = WHOLE) -> Iterator[Line]:
    """Yield the lines of a report."""
    say, body = words_of(run), below(options.prefix, body)
    listed, hidden, low = _chosen(listed_findings(body), options)
    groups = [DefectGroup(issue) for issue in listed] if options.concise else defect_groups(listed, urgency)
    for number, (_, those) in enumerate(groupby(groups, key=lambda group: group.issue.candidate.file)):
        if number and not options.concise:
            yield ()
        for issue, others in those:
            yield _finding(issue, finding_title(issue, body.titles), say)
            if not options.concise:
                yield _code(issue.candidate.evidence, options)
                yield from _proof(issue, body.patches, options, say)
                yield from _places(issue, others, options, say)
    if not options.concise:
        if listed:
            yield ()
        if low:
            yield (Span(say("{number} of low severity not listed: -v", number=f"{low:,}")),)
        for note in scope_notes(run, say):
            yield from _wrapped((Span(note),), options.width)
        for line in _summary(body, run, hidden, options, say):
            yield from _wrapped(line, options.width)


def _wrapped(line: Line, width: int | None) -> Iterator[Line]:
    """Wrap a line of the summary between words if it exceeds the width of the terminal."""
    if not line:
        yield line
        return
    text, role = line[0]
    if width is None or len(text) < width:
        yield (Span(text.replace(GLUE, " "), role),)
        return
    margin = INDENT if text.startswith(INDENT) else ""
    more = wrap(
        text.strip(), max(20, width - 1), initial_indent=margin, subsequent_indent=f"{margin}  ", break_on_hyphens=False
    )
    yield from ((Span(part.replace(GLUE, " "), role),) for part in more)


def _chosen(issues: Sequence[Issue], options: TextOptions) -> tuple[list[Issue], int, int]:
    """Return the findings to list, the worst first, the number of others, and that of those of low severity."""
    fitting = [issue for issue in issues if options.least is None or is_at_least(issue.severity, options.least)]
    listed = fitting if options.low else [issue for issue in fitting if not _is_low(issue)]
    low = len(fitting) - len(listed)
    if options.most is None or len(listed) <= options.most:
        return listed, 0, low
    return listed[: options.most], len(listed) - options.most, low


def _is_low(issue: Issue) -> bool:
    return issue.severity == "low" and issue.status == "heuristic"


def _finding(issue: Issue, title: str, say: Words) -> Line:
    column = f":{issue.candidate.column}" if issue.candidate.column else ""
    return (
        Span(f"{plain(issue.candidate.file)}:{issue.candidate.line}{column}:", "path"),
        Span(" "),
        Span(f"{say(issue.severity)}:", issue.severity),
        Span(f" {_message(issue, title, say)} "),
        Span(f"[{plain(issue.candidate.pattern)}{_weakness(issue)}]", "rule"),
    )


def _weakness(issue: Issue) -> str:
    """Return the weakness of what a model has found, which its rule does not say."""
    return f", CWE-{issue.candidate.cwe}" if issue.candidate.cwe and issue.candidate.pattern in WITHOUT_RULE else ""


def _message(issue: Issue, title: str, say: Words) -> str:
    """Return the title of the rule or, if a model was asked, the verdict and its reason."""
    title, status = plain(title), issue.status
    if status == "heuristic":
        return title
    verdict = issue.opinion
    why = (verdict.consequences if status in REAL else verdict.reason) or ""
    reason = f" ({_short(why)})" if why else ""
    exposure = f" ({plain(verdict.exposure)})" if verdict.exposure else ""
    return f"{say(WORDS.get(status, status))}{exposure}: {title}{reason}"


def _short(text: str) -> str:
    whole = plain(" ".join(text.split()))
    return whole if len(whole) <= MESSAGE_MAX else f"{whole[:MESSAGE_MAX]}…"


def _code(text: str, options: TextOptions) -> Line:
    code = plain(" ".join(text.split()))
    room = None if options.width is None else max(20, options.width - len(INDENT))
    return (Span(INDENT + (code if room is None or len(code) <= room else f"{code[: room - 1]}…"), "code"),)


def _proof(issue: Issue, patches: Mapping[str, ReportPatch], options: TextOptions, say: Words) -> Iterator[Line]:
    """Yield the command of a proof, its error and its input, and what the gates said of the patch."""
    if issue.status == "proved" and (proof := issue.proof):
        yield _code(f"{say(PROOF_STATES['proved'])} {'; '.join([proof.command, *proof.stack[:1]])}", options)
        for source in proof.sources[:1]:
            yield _code(f"{say('Input:')} {source.name}: {input_text(source, INPUT_MAX)}", options)
    if patch := patches.get(issue.id):
        yield _code(f"{say('Patch:')} {patch_summary(patch, say)}", options)


def _places(issue: Issue, others: Sequence[Issue], options: TextOptions, say: Words) -> Iterator[Line]:
    """Yield what other analyzers say of a finding, and the other places of its root cause."""
    also = [say("Also reported: {text}", text=plain(text)) for text in witness_texts(issue, say)]
    yield from (line for text in also for line in _wrapped((Span(INDENT + text),), options.width))
    if not others:
        return
    listed = [f"{plain(file)}:{','.join(map(str, lines))}" for file, lines in places_of(others, PLACES_MAX)]
    more = len({issue.candidate.file for issue in others}) - len(listed)
    listed += [say("{number} more", number=f"{more:,}")] if more else []
    text = say("Same root cause: {places}", places=", ".join(part.replace(" ", GLUE) for part in listed))
    yield from _wrapped((Span(f"{INDENT}{text}"),), options.width)


def _summary(body: ReportBody, run: Part, hidden: int, options: TextOptions, say: Words) -> Iterator[Line]:
    summary = body.summary
    if hidden:
        yield (Span(say("Listed: the {shown} worst; {hidden} more.", shown=f"{options.most:,}", hidden=f"{hidden:,}")),)
    yield from _by_rule(body.issues, summary, say)
    yield from ((Span(plain(text)),) for text in analyzers_texts(summary, say))
    yield from _set_aside(summary, options, say)
    yield from _unproved(body.issues, say)
    if summary.reading:
        yield (Span(lead(summary, say)[1]),)
    yield from ((Span(text),) for text in sentences(summary, say, plain))
    for title, noun, names in (one for section in sections(summary, say) for one in section.lists):
        yield (Span(f"{title}: {say.count(len(names), noun)}"),)
        yield from ((Span(f"{INDENT}{name}"),) for name in _names(names, options, say))
    yield from _alarms(summary, options, say)
    yield _total(summary, run, say)


def _by_rule(issues: Sequence[Issue], summary: Summary, say: Words) -> Iterator[Line]:
    fired = Counter(issue.candidate.pattern for issue in issues).most_common()
    if len(issues) <= RULES_MAX or len(fired) < 2:
        return
    parts = [f"{plain(pattern)}{GLUE}{number:,}" for pattern, number in fired[:RULES_MAX]]
    more = [say("{number} more", number=f"{len(fired) - RULES_MAX:,}")] if len(fired) > RULES_MAX else []
    label = say("Rules of the listed findings:") if summary.not_listed else say("Rules:")
    yield (Span(f"{label} {', '.join([*parts, *more])}"),)


def _set_aside(summary: Summary, options: TextOptions, say: Words) -> Iterator[Line]:
    """Yield the findings and files that the report excludes, with the reasons."""
    parts = [f"{number:,} {say(what)}" for name, what in ASIDE.items() if (number := getattr(summary, name))]
    if parts:
        yield (Span(f"{say('Excluded:')} {', '.join(parts)}"),)
    if baseline := summary.baseline:
        fixed = say(", {number} no longer found", number=f"{baseline.gone:,}") if baseline.gone is not None else ""
        what, count = plain(baseline.what), f"{baseline.known:,}"
        yield (Span(say("Known to the baseline {baseline}: {known}", baseline=what, known=count) + fixed),)
        yield from _baseline_limits(baseline, say)
    for name, label in REMARKS.items():
        yield from _remarks(name, say(label), summary, options, say)
    left = [f"{say.count(number, 'file')} {plain(why)}" for why, number in summary.left_out.items()]
    trees = [tree for tree in summary.excluded if tree.path.rpartition("/")[2] not in NO_SOURCES]
    left += _names([f"{tree.path}/ ({tree.reason})" for tree in trees], options, say)
    if left:
        yield (Span(f"{say('Excluded:')} {', '.join(left)}"),)


def _baseline_limits(baseline: BaselineSummary, say: Words) -> Iterator[Line]:
    """Yield the limits of the baseline, which make existing findings count as new."""
    if less := baseline.not_listed:
        text = "> The baseline itself did not list {findings}: they count as new."
        yield (Span(say(text, findings=say.count(less, "finding")).removeprefix("> "), "alarm"),)
    if state := baseline.state:
        text = "> The run over the baseline is {state}: findings in files that it did not check count as new."
        yield (Span(say(text, state=plain(state)).removeprefix("> "), "alarm"),)


def _remarks(name: str, label: str, summary: Summary, options: TextOptions, say: Words) -> Iterator[Line]:
    """Yield the suppression comments that suppress nothing or give no reason."""
    remarks: Sequence[SuppressionRemark] = getattr(summary, name)
    if not remarks:
        return
    number = len(remarks) + getattr(summary, f"{name}_not_listed")
    yield (Span(f"{label} {number:,}"),)
    whys = (f" ({remark.reason})" if remark.reason else "" for remark in remarks)
    shown = (f"{one.file}:{one.line}: {_short(one.text)}{why}" for one, why in zip(remarks, whys, strict=True))
    yield from ((Span(f"{INDENT}{line}"),) for line in _names(list(shown), options, say))


def _unproved(issues: Sequence[Issue], say: Words) -> Iterator[Line]:
    """Yield the number of findings that agents tried in vain to prove."""
    if number := sum(one.proof is not None and one.proof.state == "failed" for one in issues):
        text = "Confirmed, but not proved by execution: {findings}. Other report formats have the reasons."
        yield (Span(say(text, findings=say.count(number, "finding"))),)


def _names(names: Sequence[str], options: TextOptions, say: Words) -> list[str]:
    cut = [*map(plain, names[: options.names])]
    hidden = len(names) - len(cut)
    return cut + ([say("{number} more", number=f"{hidden:,}")] if hidden else [])


def _alarms(summary: Summary, options: TextOptions, say: Words) -> Iterator[Line]:
    """Yield prominent warnings about files that were not checked and findings without a verdict."""
    yield from ((Span(f"{what} {plain(means)}", "alarm"),) for what, means in warnings(summary, say))
    if gaps := summary.not_checked:
        files = say.count(summary.files_not_checked, "file")
        yield (Span(say("NOT CHECKED, in whole or in part: {files}", files=files), "alarm"),)
        for name in _names([f"{gap.file}: {gap.reason}" for gap in gaps], options, say):
            yield (Span(f"{INDENT}{name}"),)


def total_line(summary: Summary, run: Part, say: Words = ENGLISH) -> str:
    """Return a line with the number of findings, possibly none, and the number of files."""
    return "".join(span.text for span in _total(summary, run, say))


def _total(summary: Summary, run: Part, say: Words) -> Line:
    files = say.count(summary.scanned_files, "file")
    if summary.total:
        severe = ", ".join(f"{number:,} {say(severity)}" for severity, number in summary.by_severity.items())
        judged = ", ".join(f"{number:,} {say(WORDS[one])}" for one, number in counts(summary).items())
        verdicts = f" ({judged})" if has_verdicts(summary) else ""
        count = total_text(summary, say, is_new=summary.baseline is not None)
        text = say("{findings} in {files}: {severe}", findings=count, files=files, severe=severe)
        return (Span(text + verdicts, "strong"),)
    if summary.not_checked:
        return (Span(say("INCOMPLETE: no findings in the {files} checked", files=files), "alarm"),)
    if summary.scanned_files:
        word, extent = map(say, no_findings(summary, run))
        return (Span(say("{word} {extent} in {files}.", word=word, extent=extent, files=files), "strong"),)
    if revision := nothing_changed(summary):
        return (
            Span(say("Nothing to check: no file has changed since {revision}.", revision=plain(revision)), "strong"),
        )
    if is_import(run):
        return (Span(say("The reports have no findings in this tree."), "strong"),)
    return (Span(say("NOTHING WAS CHECKED: no source file was found."), "alarm"),)
