"""Whether the checks that a dismissal quotes stand on every way to the finding in its function, by its syntax.

A check in a branch that does not contain the finding, or that a `goto` jumps over, is bypassed. Loops count as
executed, and what decides within a condition is not looked at: a check that is passed need not be right.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.dataflow import ir, is_cpp
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.dataflow.ir.decode import function as decode
from jarvis_workers.dataflow.queries.ast_queries import BODIES, JUMPS
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.finding import Candidate, defect_of
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.slices.places import SourceFile
from jarvis_workers.source.functions import Function
from jarvis_workers.source.grammar_files import base_language, c_text

# The branches around a statement: the line of the branching statement, and the number of the branch.
Branches = tuple[tuple[int, int], ...]


@dataclass
class _Flow:
    """The places of a function by line."""

    statements: list[tuple[int, Branches]] = field(default_factory=list)
    checks: dict[int, Branches] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    jumps: list[tuple[int, str]] = field(default_factory=list)

    def bypasses(self, check: int, sink: int) -> bool:
        """Return whether a way to the finding leaves a check out; False where no statement begins at its line."""
        outer = self.checks[check]
        inner = [around for line, around in self.statements if line == sink]
        if inner and not any(around[: len(outer)] == outer for around in inner):
            return True
        return any(start < check < self.labels.get(label, 0) <= sink for start, label in self.jumps)


def bypassed_checks(index: CodeIndex, candidate: Candidate, quotes: Collection[EvidenceQuote]) -> list[int]:
    """Return the lines of the checks that are quoted from the function of a candidate in C or C++, if all are bypassed.

    None is if one of them is behind the candidate: the result of a call is checked after it.
    """
    path, line = defect_of(candidate).sink or (candidate.file, candidate.line)
    own, file = [one for one in quotes if one.file == path], index.file(path)
    if not own or file is None or base_language(file.language) != "c/cpp":
        return []
    flow = _flow(file, line)
    if flow is None:
        return []
    quoted = {one.line + more for one in own for more in range(one.quote.count("\n") + 1)}
    checks = sorted(quoted.intersection(flow.checks))
    return checks if all(check <= line and flow.bypasses(check, line) for check in checks) else []


def _flow(file: SourceFile, line: int) -> _Flow | None:
    """Return the places of the function around a line, or None outside of functions and in one that is not read."""

    def is_around(function: Function, _: bytes) -> bool:
        return file.line_of(function.start) <= line <= file.line_of(function.body[1])

    content = c_text(file.content, file.language)
    lowered = model(content, file.masked, is_around, header=False, language=file.language, cpp=is_cpp(file.path))
    around = (one for one in map(decode, lowered["functions"]) if one.line <= line <= one.end)
    function = next(around, None)
    if function is None or function.partial:
        return None
    flow = _Flow()
    _visit(function.body, (), flow)
    return flow


def _visit(body: Sequence[Any], around: Branches, flow: _Flow) -> None:
    for statement in body:
        flow.statements.append((statement.line, around))
        match statement:
            case ir.LabelStmt(_, line, label):
                flow.labels[label] = line
            case ir.GotoStmt(_, line, label):
                flow.jumps.append((line, label))
            case ir.IfStmt() | ir.LoopStmt() | ir.SwitchStmt():
                flow.checks.setdefault(statement.line, around)
        for number, nested in _branches(statement):
            _visit(nested, around if number is None else (*around, (statement.line, number)), flow)


def _branches(statement: Any) -> Iterator[tuple[int | None, Sequence[Any]]]:
    """Yield the nested statements with the number of their branch, None if it is always taken.

    A group of cases that the one before it falls into is no branch of its own.
    """
    bodies = BODIES.get(type(statement))
    number, is_branching = 0, isinstance(statement, ir.IfStmt | ir.SwitchStmt | ir.TryStmt)
    for nested in bodies(statement) if bodies else ():
        yield (number if is_branching else None), nested
        number += not isinstance(statement, ir.SwitchStmt) or not nested or isinstance(nested[-1], JUMPS)
