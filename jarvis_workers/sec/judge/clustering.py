"""Cluster the candidates of a batch, each cluster with the condition that decides all of its candidates.

A cluster is a root cause, or else a function: its candidates share a slice of the code.  Only a function with more
candidates than fit into one conversation is clustered by a model.

The model sees candidates numbered from 1.  An answer with a repeated or an unknown number is rejected and requested
again; a candidate that an answer omits becomes a cluster of its own, and so do all candidates if no answer arrives:
every gid is in exactly one cluster, regardless of the model's answer.  A request contains no gid, and line numbers only
relative to a function, so that it does not change when other parts of the file or tree are edited.  For the same
reason the model's words stay out of the questions that verify its clusters.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, Note
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.agents.tools.reading import blank_comments
from jarvis_workers.agents.tools.tool import Language, Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.paths import listing, plain
from jarvis_workers.sec.finding import FOUND_BY_MODEL, Candidate, Numbered, Place, defect_of
from jarvis_workers.sec.judge.batching import is_plain, kind_of
from jarvis_workers.source.functions import functions
from jarvis_workers.source.lex import mask

PROMPTS = Path(__file__).parent / "prompts"
RETRIES = 2
VERIFICATION_MAX = 1_000
FILES_NAMED = 20
# Maximum number of candidates per verification conversation, further limited by the size of an answer.
VERIFIED_AT_ONCE = 8
# The code is most of a question, and a proof needs no report: in a run that proves.
INVESTIGATED_AT_ONCE = 12
TOKENS_OF_A_VERDICT = 400

Conditions = Mapping[str, str]
CLAIM = "The code at the line of the candidate has the defect that its description claims, and it can be triggered."
NO_CONDITIONS: Mapping[str, str] = MappingProxyType({})


class Cluster(NamedTuple):
    """Candidates, and the condition under which they are real defects."""

    verification: str
    gids: tuple[int, ...]


class LocatedCandidate(NamedTuple):
    """A candidate and its function, with the line counted from the function's first; "" and 0 outside functions."""

    gid: int
    candidate: Candidate
    function: str = ""
    line: int = 0

    @property
    def scope(self) -> Hashable:
        """The function, identified by its first line; outside of functions the rule and the sink."""
        return (self.candidate.line - self.line) if self.function else kind_of(self.candidate)


class Question(NamedTuple):
    """A question to the model: the batch, its description, and the condition to verify for each rule."""

    batch: Sequence[LocatedCandidate]
    findings: str
    conditions: Conditions
    language: Language = "en"

    @property
    def about(self) -> str:
        """Hash that identifies the question: equal for equal candidates in every run."""
        return sha256(f"{self.language}\0{self.findings}".encode("utf-8", "surrogatepass")).hexdigest()


class Group(BaseModel):
    """A cluster as a model returns it."""

    model_config = ConfigDict(frozen=True)

    verification: str = Field(default="", description="the condition to verify")
    gids: list[int] = Field(description="the numbers of its findings")


def without_model(numbered: Sequence[Numbered], conditions: Conditions, shared: str = "") -> list[Cluster] | None:
    """Return the clusters of a batch that needs neither model nor code, else None; `shared` is what files share."""
    if not (shared or len(numbered) == 1):
        return None
    return [Cluster(question_text(numbered, conditions, shared), tuple(gid for gid, _ in numbered))]


def fits(group: Sequence[LocatedCandidate], profile: Profile) -> bool:
    """Return whether candidates need no model: one conversation verifies all, or they have the same rule and sink.

    Those that a model reports need none: each has a claim of its own, whatever cluster it is in.
    """
    by_rules = [one.candidate for one in group if one.candidate.pattern not in FOUND_BY_MODEL]
    defects = {defect_of(one).key for one in by_rules}
    return len(defects) <= verdicts_at_once(profile) or is_plain(by_rules)


def question_text(numbered: Sequence[Numbered], conditions: Conditions, shared: str = "") -> str:
    """Return the condition to verify for candidates, from their rules; `shared` is what several files share."""
    texts = {one.pattern: condition_of(one, conditions) for _, one in numbered}
    if len(texts) == 1:
        text = next(iter(texts.values()))
    else:
        text = "\n".join(f"{pattern}: {condition}" for pattern, condition in texts.items())
    return f"{text} {_together(shared, numbered)}" if shared else text


def locate(numbered: Sequence[Numbered], content: bytes) -> list[LocatedCandidate]:
    """Find the functions that contain candidates of one file, given its content."""
    spans = list(_spans(content, numbered[0][1].language)) if numbered else []
    return [_located(gid, candidate, spans) for gid, candidate in numbered]


def question_of(
    batch: Sequence[LocatedCandidate],
    conditions: Conditions,
    language: Language = "en",
    severities: Mapping[str, str] = NO_CONDITIONS,
) -> Question:
    """Return the question about candidates of one file; `severities` are the configured severities of rules."""
    patterns = dict.fromkeys(located.candidate.pattern for located in batch)
    lines = [f"file: {plain(batch[0].candidate.file)}", "", "what the rules detect:"]
    lines += [f"{pattern}: {plain(conditions.get(pattern) or '-')}" for pattern in patterns]
    lines += [
        "",
        "findings:",
        *(f"{at}. {_candidate_line(located, severities)}" for at, located in enumerate(batch, 1)),
    ]
    return Question(batch, "\n".join(lines), conditions, language)


def clusterer(question: Question, profile: Profile, marks: Marks, limits: AgentLimits) -> Agent:
    """Return the agent that answers the question, without tools and with at most RETRIES further rounds."""
    definition = Definition(
        system_prompt=fill_from(PROMPTS, "cluster_system", language=question.language),
        name="clusterer",
        language=question.language,
    )
    form = form_of(len(question.batch))
    limits = replace(limits, rounds=min(limits.rounds, 1 + RETRIES))
    return Agent(definition, Toolbox(), profile=profile, marks=marks, form=form, limits=limits)


def cluster(agent: Agent, question: Question) -> Conversation[list[Cluster]]:
    """Ask the question and return the clusters, by gid; without an answer, each candidate is one cluster."""
    findings = agent.guard.admit(question.findings)
    task = fill_from(PROMPTS, "cluster", count=len(question.batch), findings=findings, language=question.language)
    try:
        result = yield from run_task(agent, task)
    except AgentStopped as stop:
        yield Note(
            "candidates are not clustered", {"file": question.batch[0].candidate.file, "why": f"{stop.reason}: {stop}"}
        )
        return settle(question, ())
    return settle(question, result.report)


def cluster_all(questions: Sequence[tuple[Agent, Question]]) -> Conversation[list[Cluster]]:
    """Ask several questions, each with its agent, and return all clusters."""
    clusters = []
    for agent, question in questions:
        clusters += yield from cluster(agent, question)
    return clusters


def form_of(count: int) -> ReportForm:
    """Return the report form for clusters of candidates numbered from 1 to `count`."""

    def check(groups: list[Group]) -> list[Group]:
        seen: set[int] = set()
        for number in (number for group in groups for number in group.gids):
            if not 1 <= number <= count:
                raise ValueError(f"there is no finding {number}; they are numbered from 1 to {count}")
            if number in seen:
                raise ValueError(f"finding {number} is listed twice; each belongs to exactly one cluster")
            seen.add(number)
        return groups

    return ReportForm(Annotated[list[Group], AfterValidator(check)], tag="CLUSTERS")


def settle(question: Question, groups: Iterable[Group]) -> list[Cluster]:
    """Return clusters that contain each candidate once: the model's clusters, then one for each omitted candidate."""
    left = dict(enumerate(question.batch, 1))
    clusters = []
    for group in groups:
        members = [left.pop(number) for number in sorted(group.gids) if number in left]
        if members:
            says = " ".join(escape(group.verification).split())[:VERIFICATION_MAX]
            clusters.append(_cluster(members, says or condition_of(members[0].candidate, question.conditions)))
    clusters += [_cluster([located], condition_of(located.candidate, question.conditions)) for located in left.values()]
    return sorted(clusters, key=lambda cluster: cluster.gids)


def _cluster(members: Sequence[LocatedCandidate], verification: str) -> Cluster:
    return Cluster(verification, tuple(located.gid for located in members))


def verdicts_at_once(profile: Profile, most: int = VERIFIED_AT_ONCE) -> int:
    """Return the number of verdicts, at most `most`, that fit into one answer."""
    return min(most, max(1, profile.answer_tokens // TOKENS_OF_A_VERDICT))


def verified_together(
    numbered: Sequence[Numbered], conditions: Conditions, profile: Profile, shared: str = "", *, by_source: bool = False
) -> Iterator[Cluster]:
    """Split the candidates of a cluster into parts, each for a conversation whose report fits into one answer.

    A part has the condition of its rules.  Candidates of one defect need one verdict and stay together; with
    `by_source`, so do those whose root causes begin at one line, as far as they fit.
    """
    defects: defaultdict[Hashable, list[Numbered]] = defaultdict(list)
    for gid, candidate in numbered:
        defects[defect_of(candidate).key].append((gid, candidate))
    those = list(defects.values())
    most = verdicts_at_once(profile, INVESTIGATED_AT_ONCE if by_source else VERIFIED_AT_ONCE)
    for some in _filled(those, most) if by_source else (those[at : at + most] for at in range(0, len(those), most)):
        part = sorted(chain(*some), key=itemgetter(0))
        yield Cluster(question_text(part, conditions, shared), tuple(gid for gid, _ in part))


def _filled(defects: Sequence[list[Numbered]], most: int) -> Iterator[list[list[Numbered]]]:
    """Yield parts of at most `most` defects, which divide those of one source only if there are more of them."""
    sources: defaultdict[Place, list[list[Numbered]]] = defaultdict(list)
    for those in defects:
        sources[defect_of(those[0][1]).cause.source].append(those)
    part: list[list[Numbered]] = []
    for group in sources.values():
        if part and len(part) + len(group) > most:
            yield part
            part = []
        part += group
        while len(part) > most:
            yield part[:most]
            part = part[most:]
    yield part


def condition_of(candidate: Candidate, conditions: Conditions) -> str:
    """Return the condition to verify for a candidate; each that a model reports has a claim of its own."""
    if candidate.pattern in FOUND_BY_MODEL:
        return CLAIM
    return conditions.get(candidate.pattern) or candidate.description


def _together(shared: str, numbered: Sequence[Numbered]) -> str:
    """Return a sentence that describes what the candidates of several files have in common, with the file names."""
    files = list(dict.fromkeys(candidate.file for _, candidate in numbered))
    return escape(f"All go through {shared}, in {listing(files, FILES_NAMED)}.")


def _spans(content: bytes, language: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line of each function, and its name."""
    text = mask(content, language).text
    line, at = 1, 0
    for function in functions(text, language):
        line += text.count(b"\n", at, function.start)
        at = function.start
        last = line + text.count(b"\n", at, function.body[1])
        yield line, last, function.name.decode("utf-8", "backslashreplace")


def _located(gid: int, candidate: Candidate, spans: Sequence[tuple[int, int, str]]) -> LocatedCandidate:
    place = bisect_right(spans, candidate.line, key=lambda span: span[0]) - 1
    if place < 0 or candidate.line > spans[place][1]:
        return LocatedCandidate(gid, candidate)
    return LocatedCandidate(gid, candidate, spans[place][2], candidate.line - spans[place][0] + 1)


def _candidate_line(located: LocatedCandidate, severities: Mapping[str, str]) -> str:
    candidate = located.candidate
    where = {"function": located.function, "line": located.line} if located.function else {}
    fields = {
        "language": candidate.language,
        "category": candidate.category,
        "pattern": candidate.pattern,
        **where,
        "confidence": candidate.confidence,
        "severity": candidate.severity_under(severities),
        "evidence": _code(candidate),
    }
    return "; ".join(f"{name}: {plain(str(value))}" for name, value in fields.items())


def _code(candidate: Candidate) -> str:
    """Return the evidence without comments, which are claims rather than proof."""
    blanked = blank_comments(candidate.evidence.encode("utf-8", "surrogatepass"), candidate.language)
    return " ".join(blanked.decode("utf-8", "surrogatepass").split())
