"""The tool calls of a verification, and what is hidden in the code that they have shown to the model."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jarvis_workers.agents.loop.effects import Conversation, RunTool, Want, intercept
from jarvis_workers.agents.loop.untrusted_text import Suspicion
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sec.assessment import ReproScript
from jarvis_workers.sec.judge.hidden_text import WORDS_MIN, has_prose, hidden_text
from jarvis_workers.sec.judge.reading_tools import READ, SEARCH, shows_comments
from jarvis_workers.sec.judge.slices import CodeIndex, SourceFile, is_source, split_name
from jarvis_workers.sec.judge.verdict import short
from jarvis_workers.sec.proof.run_tool import OUTPUT_TITLE, RUN_PROOF

RUN = "execute_script"
COMMANDS_MAX, SCRIPT_MAX = 20, 8_000
# The end of the name of a line that a search has found; a path may contain it, too.
LINE_NUMBER = re.compile(r":(\d{1,9})(?=: )")

T = TypeVar("T")


@dataclass
class ToolCalls:
    """Tool calls of a conversation, and the lines that its searches have found.

    `saw_prose` is set if a program of the tree, run in an attempt, has written some: it is text that no view shows.
    """

    calls: list[RunTool] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    saw_prose: bool = False

    def record(self, talk: Conversation[T]) -> Conversation[T]:
        """Forward a conversation unchanged, and record its tool calls."""

        def perform(want: Want) -> Conversation[Any]:
            answer = yield want
            if isinstance(want, RunTool):
                self.calls.append(want)
                if want.name == SEARCH and isinstance(answer, ToolOutcome):
                    self.lines += answer.stdout.split("\n")
                if want.name == RUN_PROOF and isinstance(answer, ToolOutcome):
                    self.see_output(answer.stdout)
            return answer

        return intercept(talk, perform)

    def see_output(self, report: str) -> None:
        """Note what a program has written, according to the report on an attempt."""
        self.saw_prose |= has_prose(report.partition(OUTPUT_TITLE)[2])

    @property
    def commands(self) -> tuple[ReproScript, ...]:
        ran = [call.arguments for call in self.calls if call.name == RUN][:COMMANDS_MAX]
        scripts = ((str(one.get("interpreter", "bash")), short(str(one["script_content"]), SCRIPT_MAX)) for one in ran)
        return tuple(ReproScript(*one) for one in scripts)

    @property
    def saw_raw(self) -> bool:
        """Whether the model has seen text that the deciding view omits."""
        return self.saw_prose or any(shows_comments(call.name, call.arguments) for call in self.calls)

    def hidden_text(self, index: CodeIndex) -> Iterator[Suspicion]:
        """Yield what is hidden in the code that was read, or found by a search."""
        for path in {str(call.arguments.get("path", "")) for call in self.calls if call.name == READ}:
            name, place = split_name(path)
            if (file := index.file(name)) and is_source(name):
                lines = file.named(place)
                yield from hidden_text(file, [(lines.first, lines.last) if lines else (1, len(file.raw))])
        found: defaultdict[SourceFile, set[int]] = defaultdict(set)
        for line in self.lines:
            for file, number in _places(index, line):
                found[file].add(number)
        for file, numbers in found.items():
            yield from hidden_text(file, _ranges(numbers))


def _places(index: CodeIndex, line: str) -> Iterator[tuple[SourceFile, int]]:
    """Yield the file and the line that a line of a search names; several if a path looks like the name of a line."""
    for number in LINE_NUMBER.finditer(line):
        name, place = split_name(line[: number.start()])
        if is_source(name) and (file := index.file(name)) and (lines := file.named(place)):
            yield file, lines.first + int(number[1]) - 1


def _ranges(numbers: set[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last lines that contain all prose of which a line was found: its words may stand one a line."""
    beside, first, last = WORDS_MIN - 1, 0, 0
    for number in sorted(numbers):
        if last and number - beside > last + 1:
            yield first, last
            first = 0
        first, last = first or max(number - beside, 1), number + beside
    if last:
        yield first, last
