"""Build the first prompts of jobs, and look up whether their answers are cached.

No model is called. Marks are derived from the secret of the store, so that a repeated prompt has the same hash.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.agents.conversations.counting_runtime import FirstRequest
from jarvis_workers.agents.loop.effects import Ask, Conversation, RunTool, Want
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolOutcome, execute_script
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, estimate_request, reply_from
from jarvis_workers.models.platforms.request import RequestWriter
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import best_tier
from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.judge import question
from jarvis_workers.sec.judge.clustering import Cluster, Conditions, Question, cluster, clusterer
from jarvis_workers.sec.judge.cost_model import first_request
from jarvis_workers.sec.judge.investigation import BenchState
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.triage_reasons import TriageReason
from jarvis_workers.sec.judge.verification import Verification
from jarvis_workers.sec.judge.vote_result import votes_of
from jarvis_workers.sec.reading.group_reading import GroupReading
from jarvis_workers.sec.stages.cluster_file import divide, look
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.proof_questions import NoBench, investigation_of
from jarvis_workers.sec.stages.reader_questions import question_of as reader_question
from jarvis_workers.sec.stages.reading_plan import ReadingPlan

SAMPLE = 400
NO_REQUEST = FirstRequest(0, is_cached=True)


@dataclass(frozen=True)
class Plan:
    """The plan of a run: its options for clustering and verification, and the model of its group.

    A large number of verifications is represented by about `sample` of them. `severities` are overrides by rule, which
    an estimate copies from the scan.
    """

    options: JudgeOptions
    model: ModelGroup
    sample: int = SAMPLE
    severities: Mapping[str, str] = field(default_factory=dict)


class PlannedClusters(NamedTuple):
    """Clusters with the request to the model that makes them, None if it takes none.

    Of a request whose answer is not cached only the candidates are known.
    """

    clusters: Sequence[Cluster]
    request: FirstRequest | None = None
    unclustered: Sequence[Numbered] = ()


class DryRun:
    """Builds the first requests for a tree; `find` returns a cached answer by the hash of its request."""

    def __init__(self, root: Path, plan: Plan, secret: bytes, find: Callable[[str], str | None]) -> None:
        self._root, self._plan, self._secret, self._find = root, plan, secret, find
        self._index = CodeIndex(DirectoryTree(root))
        self._profile = plan.model.quirks
        self._has_sandbox = best_tier() != Tier.C
        scripts = [execute_script(_never)] if self._has_sandbox else []
        self._tools = reading_toolbox(self._index, *scripts)

    def cluster(self, file: str, numbered: Sequence[Numbered], conditions: Conditions) -> list[PlannedClusters]:
        """Return the clusters of a batch, as far as they are known, with the request that each takes."""
        located = look(self._root, file, numbered)
        clusters, questions = divide(located, conditions, self._plan.options, self._profile)
        return [PlannedClusters(clusters), *map(self._ask, questions)]

    def _ask(self, question: Question) -> PlannedClusters:
        """Return the clusters of a question to a model if the answer is cached, else its candidates."""
        numbered = [(one.gid, one.candidate) for one in question.batch]
        marks = make_marks(self._secret, question.about)
        talk = cluster(clusterer(question, self._profile, marks, self._plan.options.agent_limits), question)
        first: ModelRequest | None = None
        try:
            want = next(talk)
            while True:
                reply = self._recall(want.request) if isinstance(want, Ask) else None
                if isinstance(want, Ask):
                    first = first or want.request
                    if reply is None:
                        return PlannedClusters([], FirstRequest(estimate_request(first)), numbered)
                want = talk.send(reply)
        except StopIteration as end:
            return PlannedClusters(end.value, FirstRequest(estimate_request(first) if first else 0, is_cached=True))

    def verify(
        self, one: Cluster, candidates: Mapping[int, Candidate], reasons: tuple[TriageReason, ...] = ()
    ) -> FirstRequest:
        """Return the first request for a cluster; `reasons` are those of people on findings nearby."""
        options, severities = self._plan.options, self._plan.severities
        question_text = question.ClusterQuestion(
            one.verification,
            tuple((gid, candidates[gid]) for gid in one.gids),
            options.lang,
            votes=options.votes,
            second_look=options.second_look,
            severities=severities,
            notes=options.notes,
            reasons=reasons,
        )
        prepared = question.prepare(question_text, self._index)
        marks = make_marks(self._secret, prepared.about)
        profiles = (self._profile, self._profile, self._profile)
        judging = replace(options, rules=replace(options.rules, severity=severities))
        runs = options.prove and self._has_sandbox
        verification = Verification(
            prepared,
            self._tools,
            profiles=profiles,
            marks=marks,
            limits=options.agent_limits,
            investigation=investigation_of(prepared, judging, NoBench()) if runs else None,
        )
        return self._first(verification.run(), votes_of(question_text) + options.second_look)

    def read(self, plan: ReadingPlan, place: int, findings: Sequence[Candidate]) -> FirstRequest:
        """Return the first request of a reader of a group; `findings` are those of the rules in its files."""
        options = self._plan.options
        groups = plan.groups[place]
        prepared = reader_question(self._index, plan, groups, findings, options, runs=self._has_sandbox)
        marks, limits = make_marks(self._secret, prepared.about), options.agent_limits
        return self._first(GroupReading(prepared, profile=self._profile, marks=marks, limits=limits).run())

    def _first(self, talk: Conversation[Any], times: int = 1) -> FirstRequest:
        request = first_request(talk, _opened)
        if request is None:
            return NO_REQUEST
        return FirstRequest(estimate_request(request), self._recall(request) is not None, times)

    def _recall(self, request: ModelRequest) -> Reply | None:
        text = self._find(RequestWriter(self._plan.model.model, self._profile).write(request).key)
        return None if text is None else reply_from(json.loads(text)).remembered()


def _opened(want: Want) -> ToolOutcome | None:
    """Return the result of opening the bench, which a dry run does not do."""
    return ToolOutcome(stdout=BenchState({}).to_text()) if isinstance(want, RunTool) else None


def _never(interpreter: str, script: str) -> ToolOutcome:
    """Return an error, since no script runs before a model has been called."""
    return ToolOutcome("error", stderr=f"{interpreter} is not available in a dry run ({len(script)} characters)")
