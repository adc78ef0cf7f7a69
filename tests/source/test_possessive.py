"""Possessive groups match the same on every Python; before CPython 3.11.5 only those with an atomic body do.

`(?:ab?c)*+` then goes on where a failed attempt has left off (python/cpython#106052, #100061); `(?>ab?c)*+` goes back.
"""

import gc
import importlib
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import jarvis_workers
from jarvis_workers.source.lazy_regex import _LazyPattern

ROOT = Path(jarvis_workers.__file__).parent
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]*\})\+")
SAMPLES = sorted((Path(__file__).parents[1] / "data" / "rules").glob("*.*"))[::6]
SNIPPETS = 120
# What the patterns look at, in every order: most attempts get far before they fail.
WORDS = rb"""\ / // /* */ * " ' ( ) [ ] { } < > , ; : :: = == + - -> . & | ! ? # 0 8 0x1F a b if for struct const void
    int char buf len p->next x[1] free( sizeof new delete define A_MACRO R"x( )x" u8" L' impl Send ::""".split()
WORDS += [b"\n", b"\r\n", b"\\\n", b"  "]


@cache
def patterns() -> tuple[re.Pattern[bytes], ...]:
    """Return the compiled patterns of all modules that write a possessive group."""
    for file in sorted(ROOT.rglob("*.py")):
        if POSSESSIVE_GROUP.search(file.read_text()):
            parts = file.relative_to(ROOT.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    gc.unfreeze()  # what a client of models has frozen would not be listed
    made = {(found.pattern, found.flags): found for found in list(gc.get_objects()) if isinstance(found, re.Pattern)}
    deferred = [re.compile(*found._arguments) for found in gc.get_objects() if type(found) is _LazyPattern]
    made |= {(found.pattern, found.flags): found for found in deferred}
    return tuple(found for found in made.values() if isinstance(found.pattern, bytes) and any(possessive_groups(found)))


def possessive_groups(pattern: re.Pattern[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the least count and the body of each possessive repeat over more than one character."""
    for operator, operand in _operations(_parser.parse(pattern.pattern, _given_flags(pattern))):
        if operator is _constants.POSSESSIVE_REPEAT and not _compiler._simple(operand[2]):
            yield operand[0], operand[2]


def reference(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    """Return the same pattern with `(?>X)*+` compiled as `(?>(?:X)*)`, which the manual defines it by."""
    tree = _parser.parse(pattern.pattern, _given_flags(pattern))
    _rewrite(tree)
    compiled: re.Pattern[bytes] = _compiler.compile(tree, pattern.flags)
    return compiled


def _given_flags(pattern: re.Pattern[Any]) -> int:
    return pattern.flags & ~re.UNICODE


def _operations(tree: Any) -> Iterator[tuple[Any, Any]]:
    for operator, operand in tree:
        yield operator, operand
        for inner in _subpatterns(operand):
            yield from _operations(inner)


def _rewrite(tree: Any) -> None:
    for index, (operator, operand) in enumerate(tree.data):
        for inner in _subpatterns(operand):
            _rewrite(inner)
        if operator is _constants.POSSESSIVE_REPEAT and not _compiler._simple(operand[2]):
            greedy = _parser.SubPattern(tree.state, [(_constants.MAX_REPEAT, operand)])
            tree.data[index] = (_constants.ATOMIC_GROUP, greedy)


def _subpatterns(operand: object) -> Iterator[Any]:
    if isinstance(operand, _parser.SubPattern):
        yield operand
    elif isinstance(operand, tuple | list):
        for inner in operand:
            yield from _subpatterns(inner)


def _texts(pattern: re.Pattern[bytes]) -> Iterator[bytes]:
    chosen = random.Random(pattern.pattern)
    for _ in range(SNIPPETS):
        yield chosen.choice((b"", b" ")).join(chosen.choices(WORDS, k=chosen.randint(1, 14)))
    for sample in SAMPLES:
        content = sample.read_bytes()
        start = chosen.randrange(len(content))
        yield content[start : start + 200]


@pytest.mark.slow
def test_the_patterns_of_every_module_are_looked_at() -> None:
    assert len(patterns()) >= 60


@pytest.mark.slow
def test_possessive_groups_repeat_an_atomic_body_at_least_0_or_1_times() -> None:
    unsafe = [
        pattern.pattern
        for pattern in patterns()
        for least, body in possessive_groups(pattern)
        if least > 1 or len(body) != 1 or body[0][0] is not _constants.ATOMIC_GROUP
    ]

    assert not unsafe, "write (?>...)*+ in place of (?:...)*+"


@pytest.mark.slow
def test_possessive_groups_match_as_the_atomic_groups_that_define_them() -> None:
    for pattern in patterns():
        defined = reference(pattern)
        for text in _texts(pattern):
            expected = [(found.span(), found.regs) for found in defined.finditer(text)]
            assert [(found.span(), found.regs) for found in pattern.finditer(text)] == expected, (pattern.pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        (rb"(?>ab?c)*+", b"a", 0),
        (rb"(?>ab?c)*+", b"acab", 2),
        (rb"(?>(?!C).)++", b"ABC", 2),
        (rb"(?>a(?:b|bc)d)?+", b"abc", 0),
        (rb"(?>\s*+,\s*+\w++){0,3}+", b" ,a , ", 3),
    ],
)
def test_a_failed_repetition_moves_nothing(pattern: bytes, text: bytes, end: int) -> None:
    found = re.match(pattern, text)

    assert found
    assert found.end() == end
