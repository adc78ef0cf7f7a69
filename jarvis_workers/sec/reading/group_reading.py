"""Have a model read a group of files, and check what it reports (`hypotheses`).

Items whose quotes do not stand in the code are sent back once; those that still do not stand are part of the result, as
text. The request contains nothing of the run: a group has the same question as long as its files, the hints in them,
the definitions they use and the map of the project stay the same.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, Reason, early_end
from jarvis_workers.agents.loop.loop import CALLS_MAX, run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import Language
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.judge.investigation import OPEN_BENCH, BenchState
from jarvis_workers.sec.judge.lost_quote import LostQuote
from jarvis_workers.sec.judge.quotes import called_lines, find_quote
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.judge.report_fields import INSTRUCTED
from jarvis_workers.sec.judge.slices import CodeIndex, Slice
from jarvis_workers.sec.judge.slices.keywords import KEYWORD_BYTES
from jarvis_workers.sec.judge.slices.places import offsets_of
from jarvis_workers.sec.judge.verdict import Quote
from jarvis_workers.sec.proof.proving import attempt_rules
from jarvis_workers.sec.reading.hypotheses import (
    FORM,
    SHOWN_FORM,
    CheckedItems,
    Hypothesis,
    HypothesisItem,
    ItemProblem,
    check,
    distinct,
    unresolved,
    with_shared_causes,
)
from jarvis_workers.sec.reading.numbered_code import code_text, shown_lines
from jarvis_workers.sec.reading.outside_definitions import PlacedLines, outside_definitions

# The functions that the pieces of a group call, and that are not part of the tree: nobody can look them up.

# No member of a structure or a namespace, and no method.
CALLED = re.compile(rb"(?<![\w.>:])([A-Za-z_]\w{1,80}+)[ \t]*+\(")
# In C++, what looks like a call may be a cast, a constructor, or a method that is inherited.
CPP = re.compile(rb"\bnamespace\s+\w|\btemplate\s*<|^\s*class\s+\w", re.MULTILINE)
SHOWN_MAX = 40


def absent_functions(index: CodeIndex, pieces: Sequence[PlacedLines]) -> list[str]:
    """Return the names that C code calls most often and that nothing in the tree defines, in alphabetical order.

    The commonest functions of the C library are left out.
    """
    if not index.is_whole:
        return []
    count = Counter[bytes]()
    near = dict[bytes, str]()
    for piece in pieces:
        for name in _called(piece):
            near.setdefault(name, piece.file.path)
            count[name] += 1
    often = sorted(count, key=lambda name: (-count[name], name))
    absent = [name for name in often if not _is_defined(index, name, near[name])]
    return sorted(name.decode() for name in absent[:SHOWN_MAX])


def _called(piece: PlacedLines) -> Iterator[bytes]:
    if piece.file.language != "c/cpp" or CPP.search(piece.file.masked):
        return iter(())
    keywords = KEYWORD_BYTES[piece.file.language]
    names = CALLED.findall(piece.file.masked, *offsets_of(piece.file, piece.first, piece.last))
    return (name for name in names if name not in keywords and name.decode() not in LIBRARY)


def _is_defined(index: CodeIndex, name: bytes, near: str) -> bool:
    return index.definition(name, near) is not None or bool(index.meanings(name, near))


PROMPTS = Path(__file__).parent / "prompts"
ROUNDS, TOOL_CALLS = 10, 20
# The share of the context window that the output of a tool takes, so that the outputs of several calls fit, too.
OUTPUT_PARTS = 16
# Items that are sent back, and that the message names.
SENT_BACK_MAX = 40
# The tokens of an item in an answer.
ITEM_TOKENS = 200
NO_SLICE = Slice(())
NO_BENCH = BenchState({})
NONE_STANDS = "nothing that the reader reported stands in the code"
LOOKED_UP = "(I wanted to look up more.)"


@dataclass(frozen=True)
class GroupQuestion:
    """The question about one of `groups` groups; `room` is for its files and the definitions from other files.

    What is of at least the severity `shows` is to be shown by an attempt; `built` says that a command builds the code.
    The tool `open_proof_bench` is then at hand, though not for the model.
    """

    index: CodeIndex
    pieces: tuple[PlacedLines, ...]
    project: str
    hints: str
    room: int
    groups: int = 1
    language: Language = "en"
    notes: str = ""
    shows: str | None = None
    built: bool = False

    @cached_property
    def code(self) -> str:
        return "\n\n".join(code_text(*piece) for piece in self.pieces)

    @cached_property
    def definitions(self) -> str:
        """The types, macros and variables of other files, as far as there is room."""
        used = sum(line.tokens for piece in self.pieces for line in shown_lines(*piece))
        return outside_definitions(self.index, self.pieces, self.room - used)

    @cached_property
    def absent(self) -> str:
        """The functions that the files call and that the tree does not have."""
        return ", ".join(absent_functions(self.index, self.pieces))

    @property
    def names(self) -> str:
        """The paths of the files, one a line."""
        return "\n".join(dict.fromkeys(piece.file.path for piece in self.pieces))

    @property
    def about(self) -> str:
        """Hash of the question, independent of the run, the location and the time."""
        texts = [self.project, self.hints, self.code, self.definitions, self.absent, self.notes]
        parts = [self.language, *texts, self.groups > 1, *([self.shows, self.built] if self.shows else [])]
        return sha256(json.dumps(parts).encode()).hexdigest()

    def cut_lines(self) -> dict[str, int]:
        """Return the number of lines that are too long to be shown whole, by path."""
        count = dict[str, int]()
        for piece in self.pieces:
            if cut := sum(line.is_cut for line in shown_lines(*piece)):
                count[piece.file.path] = count.get(piece.file.path, 0) + cut
        return count


@dataclass(frozen=True)
class ReadingResult:
    """What a reader has said of a group.

    `unusable` are items whose quotes do not stand in the code, `surplus` are the items beyond the limit, as text,
    `look_at` names code that the reader wanted to see. `reason` says why the group does not count as read.
    """

    hypotheses: tuple[Hypothesis, ...] = ()
    unusable: tuple[ItemProblem, ...] = ()
    surplus: tuple[str, ...] = ()
    look_at: tuple[str, ...] = ()
    reason: str | None = None


class GroupReading:
    """The conversation about a group; `agent` has its tools, `stopped` is the reason of an early end."""

    def __init__(
        self, question: GroupQuestion, *, profile: Profile, marks: Marks, limits: AgentLimits | None = None
    ) -> None:
        limits = limits or AgentLimits()
        output = min(limits.output_tokens, profile.context // OUTPUT_PARTS)
        limits = replace(limits, rounds=min(limits.rounds, ROUNDS), tool_calls=TOOL_CALLS, output_tokens=output)
        most = max(profile.answer_tokens // ITEM_TOKENS, 1)
        system = fill_from(
            PROMPTS,
            "read_system",
            language=question.language,
            most=most,
            calls=CALLS_MAX,
            notes=question.notes,
            shows=question.shows,
            rules=attempt_rules(built=question.built) if question.shows else "",
        )
        about = Definition(system, name="Jarvis reader", auto_complete=False, language=question.language)
        tools = reading_toolbox(question.index)
        form = SHOWN_FORM if question.shows else FORM
        self.agent = Agent(about, tools, profile=profile, marks=marks, form=form, limits=limits)
        self.stopped: str | None = None
        self._question = question

    def run(self) -> Conversation[ReadingResult]:
        """Return the hypotheses that stand; raises nothing."""
        items: Sequence[HypothesisItem] = ()
        checked, again, problems = CheckedItems((), ()), CheckedItems((), ()), tuple[ItemProblem, ...]()
        reason = None
        try:
            result = yield from self._first_report()
            items = result.report or ()
            checked = self._check(items)
            if problems := checked.problems:
                result = yield from run_task(self.agent, self._correction(problems))
                again = self._check(more := result.report or ())
                problems, items = tuple(unresolved(problems, more, again)), [*items, *more]
                stand = distinct([*checked.hypotheses, *again.hypotheses])
                checked = checked._replace(hypotheses=stand, surplus=(*checked.surplus, *again.surplus))
        except AgentStopped as stop:
            self.stopped, reason = stop.reason, early_end(stop)
        if checked.hypotheses:
            reason = None
        elif reason is None:
            reason = NONE_STANDS if again.problems else self._instructions()
        look_at = tuple(dict.fromkeys(place for item in items for place in item.look_at))
        return ReadingResult(with_shared_causes(checked.hypotheses), problems, checked.surplus, look_at, reason)

    def _first_report(self) -> Conversation[TaskResult]:
        """Return the first report; a reader that only looks things up is asked for it once."""
        bench = NO_BENCH
        if self._question.shows:
            outcome = yield RunTool(OPEN_BENCH, {}, untimed=True)
            bench = BenchState.from_text(outcome.stdout)
        try:
            return (yield from run_task(self.agent, self._task(bench)))
        except AgentStopped as stop:
            if stop.reason not in (Reason.TOOL_CALLS, Reason.REPEATED):
                raise
        self.agent.session.close_turn(LOOKED_UP)
        return (yield from run_task(self.agent, fill_from(PROMPTS, "read_end")))

    def _check(self, items: Sequence[HypothesisItem]) -> CheckedItems:
        checked = check(items, self._find, self._line)
        return checked._replace(hypotheses=tuple(map(self._with_lines, checked.hypotheses)))

    def _with_lines(self, one: Hypothesis) -> Hypothesis:
        """Return a hypothesis whose texts name lines of files."""
        index = self._question.index
        texts = called_lines(one.description, index), called_lines(one.suggestion, index)
        cause = one.cause and one.cause._replace(missing=called_lines(one.cause.missing, index))
        return one._replace(description=texts[0], suggestion=texts[1], cause=cause)

    def _find(self, item: HypothesisItem) -> EvidenceQuote | LostQuote:
        quote = Quote(file=item.file, line=item.line, quote=item.quote)
        return find_quote(self._question.index, NO_SLICE, quote)

    def _line(self, path: str, line: int) -> str:
        file = self._question.index.file(path)
        return file.decided[line - 1] if file and 0 < line <= len(file.decided) else ""

    def _instructions(self) -> str | None:
        """Return that the code may have told the model to report nothing, if it contains a prompt injection."""
        parts = [one for piece in self._question.pieces for one in piece.file.suspicions(piece.first, piece.last)]
        rules = sorted({one.rule for one in (*parts, *self.agent.guard.suspicions) if one.level != "warn"})
        return INSTRUCTED.format(rules=", ".join(rules)) if rules else None

    def _task(self, bench: BenchState) -> str:
        question, guard = self._question, self.agent.guard
        texts = {"names": question.names, "project": question.project, "hints": question.hints}
        texts |= {"code": question.code, "definitions": question.definitions, "absent": question.absent}
        texts["targets"] = bench.targets
        admitted = {name: guard.admit(text) if text else "" for name, text in texts.items()}
        return fill_from(PROMPTS, "read", groups=question.groups, blocked=bench.blocked, **admitted)

    def _correction(self, problems: Sequence[ItemProblem]) -> str:
        """Return the message about items that cannot be used; it names them by what the model itself has written."""
        shown = problems[:SENT_BACK_MAX]
        return fill_from(PROMPTS, "read_again", problems=shown, more=len(problems) - len(shown))
