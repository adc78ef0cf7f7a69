"""The question about a cluster: its candidates, the trace to each, and the surrounding code.

A request contains nothing specific to the run: candidates are numbered from 1, lines from the first of their function.
"""

import json
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from jarvis_workers.agents.loop.untrusted_text import Suspicion
from jarvis_workers.agents.tools.tool import Language
from jarvis_workers.sec.finding import FOUND_BY_MODEL, Candidate, Numbered, defect_of
from jarvis_workers.sec.judge.hidden_text import hidden_in
from jarvis_workers.sec.judge.slices import ROOM, CodeIndex, Slice, SliceTarget, cut
from jarvis_workers.sec.judge.triage_reasons import TriageReason
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.trace import other_callers, read_trail, without_callers

PLACES_MAX = 12
# The characters of a slice around more places than other runs than those that prove ask about at once.
MANY_SPOTS, LARGE_ROOM = 8, 36_000


@dataclass(frozen=True)
class ClusterQuestion:
    """Candidates by gid that share a condition to verify; those of one defect get one verdict.

    `votes` is the number of conversations if one of the candidates has high severity; `second_look` adds one with
    comments; with `escalates`, what stays open is asked of a stronger model.  `severities` are the configured
    severities of rules.  `claim` is what a person says against the candidates, `reasons` what
    people said about findings nearby: something to check, not evidence.  `notes` state the user's threat model.
    `reports` are what models have said of the same defects, by gid.
    """

    verification: str
    candidates: tuple[tuple[int, Candidate], ...]
    language: Language = "en"
    votes: int = 1
    second_look: bool = False
    escalates: bool = False
    severities: Mapping[str, str] = field(default_factory=dict)
    claim: str = ""
    notes: str = ""
    reasons: tuple[TriageReason, ...] = ()
    reports: Mapping[int, Sequence[str]] = field(default_factory=dict)

    @property
    def condition(self) -> str:
        """The condition for the prompt: that of the rules, since a model would word it differently in each run.

        The condition of a cluster that no model has formed begins with that of its rule; it is used as it is.
        """
        patterns = dict.fromkeys(candidate.pattern for _, candidate in self.candidates)
        rules = [RULES_BY_PATTERN[pattern].verification for pattern in patterns if pattern in RULES_BY_PATTERN]
        if len(rules) < len(patterns) or self.verification.startswith(tuple(rules)):
            return self.verification
        return "\n".join(dict.fromkeys(rules))

    def severity(self, candidate: Candidate) -> str:
        return candidate.severity_under(self.severities)

    @property
    def defects(self) -> list[list[Numbered]]:
        """The candidates of each defect: the one in the file and line of its sink first, then by confidence."""
        defects: defaultdict[Hashable, list[Numbered]] = defaultdict(list)
        for gid, candidate in self.candidates:
            defects[defect_of(candidate).key].append((gid, candidate))
        return [sorted(those, key=_closest_first) for those in defects.values()]


@dataclass(frozen=True)
class VerificationQuestion:
    """A cluster with the material for the model: the code, and a text for each defect by its number.

    `suspicions` are prompt injections found in that code, including those not shown.
    """

    cluster: ClusterQuestion
    index: CodeIndex
    code: Slice
    texts: Mapping[int, str]
    suspicions: Sequence[Suspicion]

    @property
    def about(self) -> str:
        """Hash of the question, independent of the run, the location and the time."""
        cluster = self.cluster
        texts = [
            cluster.condition,
            cluster.language,
            *self.texts.values(),
            *(part.text() for part in self.code.parts),
            *(text for text in (cluster.claim, cluster.notes, *(one.text for one in cluster.reasons)) if text),
        ]
        return sha256(json.dumps(texts).encode()).hexdigest()


def prepare(cluster: ClusterQuestion, index: CodeIndex) -> VerificationQuestion:
    """Collect the material for the question; call this in a separate thread, because it reads files."""
    defects = cluster.defects
    texts = {number: defect_text(those, index, cluster) for number, those in enumerate(defects, 1)}
    spots = [_spot(those[0][1]) for those in defects]
    code = cut(index, spots, ROOM if len(spots) <= MANY_SPOTS else LARGE_ROOM)
    return VerificationQuestion(cluster, index, code, texts, [*code.suspicions(), *hidden_in(code)])


def _closest_first(numbered: Numbered) -> tuple[bool, float, int]:
    gid, candidate = numbered
    return defect_of(candidate).sink != (candidate.file, candidate.line), -candidate.confidence, gid


def _spot(candidate: Candidate) -> SliceTarget:
    way = read_trail(candidate.trail) if candidate.trail else ()
    return SliceTarget(candidate.file, candidate.line, tuple((step.file, step.line) for step in way))


def defect_text(numbered: Sequence[Numbered], index: CodeIndex, cluster: ClusterQuestion) -> str:
    """Return the description of a defect for the model: its first candidate, and the places of all."""
    candidate, *others = [one for _, one in numbered]
    reports = dict.fromkeys(text for gid, _ in numbered for text in cluster.reports.get(gid, ()))
    lines = [
        f"at {_called(index, candidate.file, candidate.line)}",
        f"rule: {candidate.pattern} ({candidate.category}, CWE-{candidate.cwe}, {cluster.severity(candidate)})",
        f"description: {candidate.description}",
        *(f"a model also reports it, a risk if this holds: {text}" for text in reports),
        f"line: {_line(index, candidate)}",
    ]
    steps = read_trail(candidate.trail) if candidate.trail else ()
    if steps:
        is_named = candidate.pattern in FOUND_BY_MODEL
        lines.append("what a model names as the cause:" if is_named else "the data-flow path that the scanner found:")
    lines += [f"  {_called(index, step.file, step.line)} {without_callers(step.note)}" for step in steps]
    places = [_called(index, candidate.file, line) for line in _other_lines(candidate)]
    places += [_called(index, one.file, line) for one in others for line in (one.line, *_other_lines(one))]
    return "\n".join([*lines, *_places(list(dict.fromkeys(places)))])


def _other_lines(candidate: Candidate) -> tuple[int, ...]:
    return other_callers(read_trail(candidate.trail)[-1].note) if candidate.trail else ()


def _places(places: Sequence[str]) -> list[str]:
    """Return a sentence that lists the other places of a defect, since one verdict holds for all of them."""
    if not places:
        return []
    more = [f"and {len(places) - PLACES_MAX} more"] if len(places) > PLACES_MAX else []
    listed = ", ".join([*places[:PLACES_MAX], *more])
    return [f"the same defect is reached from {listed}; there is a risk if it happens from any of these places"]


def _called(index: CodeIndex, path: str, line: int) -> str:
    file = index.file(path)
    return file.name_of(line) if file else path


def _line(index: CodeIndex, candidate: Candidate) -> str:
    file = index.file(candidate.file)
    decided = file.decided if file else []
    return decided[candidate.line - 1].strip() if 0 < candidate.line <= len(decided) else "(the line cannot be read)"
