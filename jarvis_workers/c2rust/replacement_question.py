"""Ask a model whether libraries can replace a function and what it uses: the prompt, and the reading of the answer.

The prompt contains no ids or line numbers, so that it changes only if one of its functions does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.c2rust.dot import quoted
from jarvis_workers.c2rust.function_uses import UseGraph
from jarvis_workers.c2rust.library_replacement import (
    STANDARD,
    FunctionVerdict,
    LibraryPolicy,
    ReplacementAnswer,
    verdict_of,
)
from jarvis_workers.c2rust.symbol import Symbol, SymbolGraph
from jarvis_workers.c2rust.yaml_form import YamlForm
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile

PROMPTS = Path(__file__).parent / "prompts"
RETRIES = 2
MEMBERS_MAX, CODE_LINES, CHILDREN_SHOWN, DOT_EDGES = 200, 80, 2, 40
SIGNATURE_LENGTH = 400

ReadFile = Callable[[bytes], bytes]


class ReplacementQuestion(NamedTuple):
    """A question about the function `root`; names and code are untrusted.  `code` begins with that of the root."""

    root: Symbol
    members: str
    left_out: int
    edges: str
    code: Sequence[str]
    policy: LibraryPolicy
    library: str | None

    @property
    def about(self) -> str:
        """Hash that identifies the question: equal for equal code in every run."""
        facts = (self[1:5], sorted(self.policy.allowed), sorted(self.policy.disabled), self.library)
        return sha256(repr(facts).encode("utf-8", "backslashreplace")).hexdigest()


def replacement_question(
    graph: SymbolGraph, uses: UseGraph, root: int, policy: LibraryPolicy, library: str | None, read: ReadFile
) -> ReplacementQuestion:
    """Return the question about a function; `read` returns the content of a file, empty if there is none."""
    reached = uses.reached([root])
    members = [graph.by_id[number] for number in reached[:MEMBERS_MAX]]
    children = [graph.by_id[number] for number in uses.uses[root][:CHILDREN_SHOWN]]
    return ReplacementQuestion(
        members[0],
        "\n".join(f"{_name(one)} | {' '.join(one.signature.split())[:SIGNATURE_LENGTH]}" for one in members),
        len(reached) - len(members),
        "\n".join(_edge_lines(graph, uses, [one.id for one in members])),
        tuple(text for one in (members[0], *children) if (text := _code(one, read(one.extent.file)))),
        policy,
        library,
    )


def _name(symbol: Symbol) -> str:
    return symbol.qualified_name or symbol.name


def _edge_lines(graph: SymbolGraph, uses: UseGraph, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the edges among functions: as DOT if they are few, else the first MEMBERS_MAX of them as plain lines."""
    inside = set(numbers)
    names = {number: _name(graph.by_id[number]) for number in numbers}
    edges = [(names[number], names[used]) for number in numbers for used in uses.uses[number] if used in inside]
    if 0 < len(edges) <= DOT_EDGES:
        yield "digraph {"
        yield from (f"  {quoted(one)} -> {quoted(other)};" for one, other in edges)
        yield "}"
    elif edges:
        yield from (f"{one} -> {other}" for one, other in edges[:MEMBERS_MAX])


def _code(symbol: Symbol, content: bytes) -> str:
    first, last = symbol.extent.line - 1, symbol.extent.end_line
    lines = content.decode(errors="replace").split("\n")[first:last] if first >= 0 else []
    more = [f"[… {len(lines) - CODE_LINES} lines omitted …]"] if len(lines) > CODE_LINES else []
    return "\n".join([*lines[:CODE_LINES], *more])


def replacer(profile: Profile, marks: Marks, limits: AgentLimits) -> Agent:
    """Return the agent that answers a question, without tools and with at most RETRIES further rounds."""
    definition = Definition(system_prompt=fill_from(PROMPTS, "replace_system"), name="replacer", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, 1 + RETRIES))
    return Agent(
        definition, Toolbox(), profile=profile, marks=marks, form=YamlForm(ReplacementAnswer, "SUMMARY"), limits=limits
    )


def judge_function(agent: Agent, question: ReplacementQuestion) -> Conversation[FunctionVerdict]:
    """Ask the question and return the verdict; without a usable answer, the function is not checked.

    A positive answer does not count if the code contains instructions to a model.
    """
    try:
        result = yield from run_task(agent, _task(agent, question))
    except AgentStopped as stop:
        return FunctionVerdict(id=question.root.id, reason=f"{stop.reason}: {stop}", checked=False)
    verdict = verdict_of(question.root.id, result.report, question.policy)
    rules = sorted({one.rule for one in agent.guard.suspicions if one.level != "warn"})
    if verdict.choice and rules:
        why = f"the code that was read contains instructions to a model ({', '.join(rules)})"
        return FunctionVerdict(id=question.root.id, reason=why)
    return verdict


def _task(agent: Agent, question: ReplacementQuestion) -> str:
    admit = agent.guard.admit
    return fill_from(
        PROMPTS,
        "replace",
        library=question.library,
        allowed=", ".join(dict.fromkeys((*STANDARD, *question.policy.allowed))),
        disabled=", ".join(question.policy.disabled),
        members=admit(question.members),
        left_out=question.left_out,
        edges=admit(question.edges) if question.edges else "",
        code=[admit(text) for text in question.code],
    )
