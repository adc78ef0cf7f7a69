"""The question about a cluster: its candidates, the trace to each, and the surrounding code.

A request contains nothing specific to the run: candidates are numbered from 1, lines from the first of their function.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from jarvis_workers.agent.untrusted_text import Suspicion
from jarvis_workers.sec.finding import Candidate, severity_of
from jarvis_workers.sec.judge.hidden_text import hidden_in
from jarvis_workers.sec.judge.slices import CodeIndex, Slice, SliceTarget, cut
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.trace import read_trail
from jarvis_workers.tools.tool import Language

GUTTER = re.compile(r"^ +(?=\d+\||\[\d+ lines)")
BLANK_LINE = re.compile(r"\d+\|")
# The blanks that keep the length of an omitted text.
PADDED = re.compile(r"(?<=\[…\]) {2,}")


@dataclass(frozen=True)
class ClusterQuestion:
    """Candidates by gid that share a condition to verify.

    `votes` is the number of conversations if one of the candidates has high severity; `second_look` adds one with
    comments.  `severities` are the configured severities of rules.
    """

    verification: str
    candidates: tuple[tuple[int, Candidate], ...]
    language: Language = "en"
    votes: int = 1
    second_look: bool = False
    severities: Mapping[str, str] = field(default_factory=dict)

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
        return self.severities.get(candidate.pattern) or severity_of(candidate.confidence)


@dataclass(frozen=True)
class VerificationQuestion:
    """A cluster with the material for the model: the code, and a text for each candidate by its number.

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
        ]
        return sha256(json.dumps(texts).encode()).hexdigest()


def prepare(cluster: ClusterQuestion, index: CodeIndex) -> VerificationQuestion:
    """Collect the material for the question; call this in a separate thread, because it reads files."""
    texts = {
        number: _candidate_text(candidate, index, cluster.severity(candidate))
        for number, (_, candidate) in enumerate(cluster.candidates, 1)
    }
    code = cut(index, [_spot(candidate) for _, candidate in cluster.candidates])
    return VerificationQuestion(cluster, index, code, texts, [*code.suspicions(), *hidden_in(code)])


def compact(shown: str) -> str:
    """Return numbered lines of code without padding, and without the blank ones: their numbers are missing."""
    lines = (PADDED.sub(" ", GUTTER.sub("", line)).rstrip() for line in shown.split("\n"))
    return "\n".join(line for line in lines if not BLANK_LINE.fullmatch(line))


def _spot(candidate: Candidate) -> SliceTarget:
    way = read_trail(candidate.trail) if candidate.trail else ()
    return SliceTarget(candidate.file, candidate.line, tuple((step.file, step.line) for step in way))


def _candidate_text(candidate: Candidate, index: CodeIndex, severity: str) -> str:
    """Return the description of a candidate for the model."""
    lines = [
        f"at {_called(index, candidate.file, candidate.line)}",
        f"rule: {candidate.pattern} ({candidate.category}, CWE-{candidate.cwe}, {severity})",
        f"description: {candidate.description}",
        f"line: {_line(index, candidate)}",
    ]
    steps = read_trail(candidate.trail) if candidate.trail else ()
    if steps:
        lines.append("the data-flow path that the scanner found:")
    lines += [f"  {_called(index, step.file, step.line)} {step.note}" for step in steps]
    return "\n".join(lines)


def _called(index: CodeIndex, path: str, line: int) -> str:
    file = index.file(path)
    return file.name_of(line) if file else path


def _line(index: CodeIndex, candidate: Candidate) -> str:
    file = index.file(candidate.file)
    decided = file.decided if file else []
    return decided[candidate.line - 1].strip() if 0 < candidate.line <= len(decided) else "(the line cannot be read)"
