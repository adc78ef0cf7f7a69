"""Test rules on examples whose comments mark the lines on which a rule must fire or must not fire.

`ruleid: a` and `ok: a, b` apply to their own line or, on a line without code, to the next line with code. `todoruleid:`
and `todook:` mark known deviations, where a rule may or may not fire.  Flow rules analyse the example alone, as if no
other file defined its functions.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from jarvis_workers.dataflow import FlowHit, analyze, summarize
from jarvis_workers.dataflow.calls.function_models import function_models
from jarvis_workers.dataflow.calls.taint_rules import names_in, taint_rule
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.scanner import Hit, Scanner, source_text
from jarvis_workers.source.lex import comments, mask

MARK = re.compile(rb"\b(ruleid|ok|todoruleid|todook):[ \t]*([a-z][a-z0-9_]*(?:[ \t]*,[ \t]*[a-z][a-z0-9_]*)*)")
BODY = {"c/cpp": "void example(void)\n{\n%s\n}\n", "rust": "fn example() {\n%s\n}\n"}


class Failure(NamedTuple):
    """A line on which a rule does not behave as marked."""

    line: int
    pattern: str
    what: str


class Tried(NamedTuple):
    """Result for a file: the number of marks, the marked rules, and the failures."""

    marks: int
    rules: frozenset[str]
    failures: tuple[Failure, ...]


def try_examples(
    scanner: Scanner, content: bytes, language: str, subjects: Collection[str] = (), *, test: bool = False
) -> Tried:
    """Compare marks and hits, for the rules that the file marks and for `subjects` on every line."""
    marks = set(_marks(content, language))
    patterns = {rule.pattern for rule in scanner.rules}
    wrong = {
        Failure(line, rule, "unknown rule") for kind, rule, line in marks if kind == "ruleid" and rule not in patterns
    }
    marks = {mark for mark in marks if mark[1] in patterns}
    judged = {*subjects, *(rule for _, rule, _ in marks)}
    fired = {(hit.pattern, hit.line) for hit in _hits(scanner, content, language, test=test)}
    expected = {(rule, line) for kind, rule, line in marks if kind == "ruleid"}
    free = {(rule, line) for kind, rule, line in marks if kind.startswith("todo")}
    wrong |= {Failure(line, rule, "missed") for rule, line in expected - fired - free}
    wrong |= {Failure(line, rule, "unexpected") for rule, line in fired - expected - free if rule in judged}
    return Tried(len(marks), frozenset(rule for _, rule, _ in marks), tuple(sorted(wrong)))


def try_own(rule: Rule) -> list[str]:
    """Return the failures of the two examples that a rule contains."""
    scanner = Scanner(rules=[rule])
    bad, good = (_surest(scanner, code, rule.language) for code in (rule.bad, rule.good))
    wrong = []
    if rule.bad and not bad:
        wrong.append("the rule does not fire on its bad example")
    if rule.good and good and good >= bad:
        wrong.append("the rule fires on its good example with at least the confidence of the bad one")
    return wrong


def _surest(scanner: Scanner, code: str, language: str) -> float:
    """Return the highest confidence for the code, tested unchanged and as a function body; 0 if nothing fires."""
    shapes = (code, BODY[language] % code)
    return max((hit.confidence for shape in shapes for hit in _hits(scanner, shape.encode(), language)), default=0.0)


def _hits(scanner: Scanner, content: bytes, language: str, *, test: bool = False) -> Iterator[Hit | FlowHit]:
    yield from scanner.scan(content, language=language, test=test).hits
    flow = {rule.pattern for rule in scanner.rules if rule.check is None}
    # Whether a header is C or C++ is detected from its code.
    path = "example.rs" if language == "rust" else "example.h"
    rows = [rule.taint for rule in scanner.rules if rule.taint is not None]
    own = [taint_rule(row) for row in rows if row["mode"] == "taint"]
    models = function_models(row for row in rows if row["mode"] == "model")
    text = source_text(content, language)
    names = names_in(own) | {name.encode() for name in models.names}
    model = summarize(text, language=language, header=False, test=test, path=path, names=names) if flow else None
    if model is not None:
        exports = model["exports"]

        def lookup(name: str, /, *, near: str | None = None) -> list[tuple[str, Any]]:
            return [(path, exports[name])] if name in exports else []

        hits, _ = analyze(model, lookup, test=test, rules=own, models=models)
        yield from (hit for hit in hits if hit.pattern in flow)


def _marks(content: bytes, language: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, the rule and the line of each mark."""
    content = source_text(content, language)
    code = [bool(line.strip()) for line in mask(content, language).text.split(b"\n")]
    for start, end in comments(content, language):
        for mark in MARK.finditer(content, start, end):
            line = content.count(b"\n", 0, mark.start())
            target = next((number for number in range(line, len(code)) if code[number]), line)
            for rule in mark[2].split(b","):
                yield mark[1].decode(), rule.strip().decode(), target + 1
