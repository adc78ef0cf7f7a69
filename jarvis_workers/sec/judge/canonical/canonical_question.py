"""The question about candidates in the view without words, and its answers in the words of the project."""

import re
from dataclasses import dataclass, replace
from typing import Any

from jarvis_workers.sec.assessment import TEXTS, EvidenceQuote, Verdict
from jarvis_workers.sec.cwe import weakness_name
from jarvis_workers.sec.finding import SEEN_BY_MODEL, Candidate
from jarvis_workers.sec.judge.canonical.canonical_code import CanonicalIndex
from jarvis_workers.sec.judge.canonical.renaming import Renaming
from jarvis_workers.sec.judge.question import VerificationQuestion, defect_text
from jarvis_workers.sec.judge.quotes import called_lines
from jarvis_workers.sec.judge.slices import CodeIndex, Slice, SlicePart
from jarvis_workers.sec.judge.verdict import QUOTE_MAX, SeenDefect, short
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.trace import OTHER_CALLERS, OUTSIDE, read_trail, trail_of

# What notes of rules say, and what is shown of them.
NOTES = (
    (re.compile(r" is (true|false)$"), r"the condition is \1"),
    (re.compile(r"^calls "), "calls a function"),
    (re.compile(r"^allocated by "), "allocated"),
    (re.compile(r"\bhas (\d{1,12}) bytes\b"), r"\1 bytes"),
    (re.compile(r"\b(?:is|was) released\b|\bfreed\b"), "released"),
)
FROM_OUTSIDE = "data from outside"
QUESTION = "Is this weakness there: {}?"


@dataclass(frozen=True)
class CanonicalQuestion:
    """A question with replaced names, and the index of the files that it is about."""

    question: VerificationQuestion
    names: Renaming
    index: CodeIndex

    def original(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the names and the lines of the project."""
        texts: dict[str, Any] = {name: self._text(getattr(verdict, name)) for name in (*TEXTS, "analysis")}
        reason = verdict.reason and self._text(verdict.reason)
        evidence = tuple(map(self._evidence, verdict.evidence))
        return verdict._replace(reason=reason, evidence=evidence, **texts)

    def original_defect(self, defect: SeenDefect) -> SeenDefect:
        """Return a defect beside the candidates with the names and the line of the project."""
        place = self._evidence(EvidenceQuote(defect.file, defect.line, defect.quote))
        return SeenDefect(place.file, place.line, place.quote, self._text(defect.description), defect.cwe)

    def _text(self, text: str) -> str:
        return self.names.back(called_lines(text, self.question.index))

    def _evidence(self, quote: EvidenceQuote) -> EvidenceQuote:
        path = self.names.original(quote.file) or quote.file
        file, count = self.index.file(path), sum(bool(line.strip()) for line in quote.quote.split("\n"))
        # Views leave out blank lines.
        written = [line for line in (file.decided[quote.line - 1 :] if file else ()) if line.strip()]
        return EvidenceQuote(path, quote.line, short("\n".join(written[: max(1, count)]), QUOTE_MAX))


def canonical_question(prepared: VerificationQuestion) -> CanonicalQuestion:
    """Return the question with replaced names: about the same lines, without what people and models have said."""
    names = Renaming()
    index = CanonicalIndex(prepared.index, names)
    candidates = {gid: _candidate(one, index) for gid, one in prepared.cluster.candidates}
    patterns = dict.fromkeys(one.pattern for one in candidates.values())
    rules = [RULES_BY_PATTERN[one].verification for one in patterns if one in RULES_BY_PATTERN]
    others = [QUESTION.format(weakness_name(one.cwe)) for one in candidates.values() if one.pattern == SEEN_BY_MODEL]
    cluster = replace(
        prepared.cluster,
        verification="\n".join(dict.fromkeys([*rules, *others])),
        candidates=tuple(candidates.items()),
        claim="",
        reasons=(),
        reports={},
    )
    parts = tuple(_part(part, index) for part in prepared.code.parts)
    texts = {
        number: defect_text([(gid, candidates[gid]) for gid, _ in those], index, cluster)
        for number, those in enumerate(prepared.cluster.defects, 1)
    }
    question = VerificationQuestion(cluster, index, Slice(parts, prepared.code.left_out), texts, ())
    return CanonicalQuestion(question, names, prepared.index)


def _candidate(candidate: Candidate, index: CanonicalIndex) -> Candidate:
    """Return a candidate without the words of others: rules of the project or of other analyzers, and of models."""
    rule = RULES_BY_PATTERN.get(candidate.pattern)
    steps = read_trail(candidate.trail) if candidate.trail else ()
    path = _path(index, candidate.file)
    trail = [(_path(index, step.file), step.line, _note(step.note)) for step in steps]
    description = rule.description if rule else weakness_name(candidate.cwe)
    pattern = candidate.pattern if rule else SEEN_BY_MODEL
    trace = trail_of(trail, path)
    return candidate._replace(file=path, pattern=pattern, description=description, evidence="", trail=trace)


def _note(note: str) -> str:
    """Return what the note of a step says, without the names in it."""
    callers = OTHER_CALLERS.search(note)
    facts = [words.expand(text) for shape, text in NOTES if (words := shape.search(note))]
    outside = [FROM_OUTSIDE] if any(words in note for words in OUTSIDE) else []
    return ", ".join([*outside, *facts[:1]]) + (callers[0] if callers else "")


def _path(index: CanonicalIndex, path: str) -> str:
    file = index.canonical(path)
    return file.path if file else index.names.path(path)


def _part(part: SlicePart, index: CanonicalIndex) -> SlicePart:
    file = index.canonical(part.file.path)
    assert file is not None
    return SlicePart(file, file.at(part.place.first), part.role, part.lines, part.uses)
