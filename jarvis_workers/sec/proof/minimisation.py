"""Minimise the input of a proof by delta debugging, and choose benign inputs among those that were tried.

The algorithm is ddmin (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002), over the bytes
of each file, the characters of each argument, the messages to a server and their bytes, and the parts of the longest
literals of a harness. The result depends on what the runs report alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

from jarvis_workers.sec.proof.proof import NORMAL_END, Attempt, ClientMessage, ProofRun

# The literals in the source of a harness that may hold its input: strings, and lists of numbers and characters.

CHARACTER = r"\\x[0-9A-Fa-f]+|\\[0-7]{1,3}|\\.|[^\"\\\n]"
ELEMENT = r"(?:0[xX][0-9A-Fa-f]+|\d+)[uUlL]*|'(?:[^'\\\n]|\\x[0-9A-Fa-f]+|\\[0-7]{1,3}|\\.)'"
# Comments, characters and directives are matched first, so that what is in them is no literal.
LITERAL = re.compile(
    rf"//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*|'(?:[^'\\\n]|\\.)+'|(?<!\w)\"(?P<string>(?:{CHARACTER})*)\""
    rf"|\{{\s*(?P<list>(?:{ELEMENT})(?:\s*,\s*(?:{ELEMENT}))*)\s*,?\s*\}}",
    re.DOTALL | re.MULTILINE,
)
HEX, OCTAL = re.compile(r"\\x([0-9A-Fa-f]{1,2})"), re.compile(r"\\([0-7]{1,2})")
HEX_DIGITS, OCTAL_DIGITS = frozenset("0123456789abcdefABCDEF"), frozenset("01234567")


class HarnessLiteral(NamedTuple):
    """A literal: where its content stands in the code, and its characters, or the elements of a list."""

    start: int
    end: int
    is_list: bool
    parts: tuple[str, ...]


def literals_of(code: str) -> list[HarnessLiteral]:
    """Return the literals of a harness in C, in order; shortening one does not change the number of any."""
    return list(_literals(code))


def with_parts(code: str, number: int, parts: Sequence[str]) -> str:
    """Return the code with other parts of a literal; a list keeps an element."""
    literal = literals_of(code)[number]
    text = ", ".join(parts or ["0"]) if literal.is_list else _joined(parts)
    return code[: literal.start] + text + code[literal.end :]


def _literals(code: str) -> Iterator[HarnessLiteral]:
    for match in LITERAL.finditer(code):
        for name, shape in (("string", CHARACTER), ("list", ELEMENT)):
            if (text := match[name]) is not None:
                parts = tuple(re.findall(shape, text))
                yield HarnessLiteral(match.start(name), match.end(name), name == "list", parts)


def _joined(parts: Sequence[str]) -> str:
    """Return the characters of a string, without an escape that takes in the next one."""
    return "".join(_ended(one, following) for one, following in pairwise([*parts, ""]))


def _ended(part: str, following: str) -> str:
    """Return a character as an escape of three octal digits, which is the longest, if it needs an end."""
    for shape, base, digits in ((HEX, 16, HEX_DIGITS), (OCTAL, 8, OCTAL_DIGITS)):
        if following in digits and (match := shape.fullmatch(part)):
            return f"\\{int(match[1], base):03o}"
    return part


RUNS_MAX = 150
# A harness is compiled anew for each of its runs.
BUILDS_MAX = 30
# A run of a server that does not fail takes seconds.
SERVER_RUNS_MAX = 40
LITERALS_MAX, LITERAL_LEAST = 2, 8
BENIGN_MAX = 5
BENIGN_BYTES = 64_000

Content = TypeVar("Content", bytes, str, tuple[str, ...], tuple[ClientMessage, ...])


class ObservedRun(NamedTuple):
    """An attempt and its run without a patch."""

    attempt: Attempt
    run: ProofRun

    @property
    def result(self) -> tuple[str, str]:
        """What a user sees of the run: how it ended, and the end of its output."""
        return self.run.ended, self.run.output


class _RunsSpent(Exception):
    """No run is left."""


@dataclass
class Minimisation:
    """The smallest attempt so far; `left` is the number of runs that may follow.

    With `literals`, the literals of a harness are shortened as well.
    """

    attempt: Attempt
    fires: Callable[[Attempt], bool]
    left: int = RUNS_MAX
    literals: bool = False

    def run(self) -> Attempt:
        """Return the smallest attempt that still fires, after a bounded number of runs."""
        with suppress(_RunsSpent):
            if self.attempt.client:
                self._shorten_messages(self.attempt.client.messages)
                return self.attempt
            for number, file in enumerate(self.attempt.files):
                _ddmin(file.content, partial(self._try_file, number))
            for number, word in enumerate(self.attempt.args):
                _ddmin(word, partial(self._try_argument, number))
            if self.literals:
                self._shorten_literals()
        return self.attempt

    def _shorten_messages(self, messages: tuple[ClientMessage, ...]) -> None:
        """Leave out messages, then shorten the others, long ones first; arguments and files configure the server."""
        self.left = min(self.left, SERVER_RUNS_MAX)
        _ddmin(messages, self._try_messages)
        for number in range(len(self._messages)):
            self._repeat_less(number)
        for number in sorted(range(len(self._messages)), key=lambda one: -len(self._messages[one].content)):
            _ddmin(self._messages[number].content, partial(self._try_message, number))

    def _repeat_less(self, number: int) -> None:
        """Halve how often a message is sent, as long as that suffices."""
        while (times := self._messages[number].repeat) > 1:
            messages = list(self._messages)
            messages[number] = messages[number]._replace(repeat=times // 2)
            if not self._try_messages(tuple(messages)):
                return

    @property
    def _messages(self) -> tuple[ClientMessage, ...]:
        return self.attempt.client.messages if self.attempt.client else ()

    def _try_message(self, number: int, content: bytes) -> bool:
        messages = list(self._messages)
        messages[number] = messages[number]._replace(content=content)
        return self._try_messages(tuple(messages))

    def _try_messages(self, messages: tuple[ClientMessage, ...]) -> bool:
        assert self.attempt.client
        return self._try(replace(self.attempt, client=replace(self.attempt.client, messages=messages)))

    def _shorten_literals(self) -> None:
        self.left = min(self.left, BUILDS_MAX)
        numbered = [(len(one.parts), number) for number, one in enumerate(literals_of(self.attempt.code))]
        longest = sorted((one for one in numbered if one[0] >= LITERAL_LEAST), key=lambda one: (-one[0], one[1]))
        for _, number in longest[:LITERALS_MAX]:
            _ddmin(literals_of(self.attempt.code)[number].parts, partial(self._try_literal, number))

    def _try_literal(self, number: int, parts: tuple[str, ...]) -> bool:
        return self._try(replace(self.attempt, code=with_parts(self.attempt.code, number, parts)))

    def _try_file(self, number: int, content: bytes) -> bool:
        files = list(self.attempt.files)
        files[number] = files[number]._replace(content=content)
        return self._try(replace(self.attempt, files=tuple(files)))

    def _try_argument(self, number: int, text: str) -> bool:
        words = list(self.attempt.args)
        words[number] = text
        return self._try(replace(self.attempt, args=tuple(words)))

    def _try(self, smaller: Attempt) -> bool:
        if not self.left:
            raise _RunsSpent
        self.left -= 1
        if not self.fires(smaller):
            return False
        self.attempt = smaller
        return True


def emptied(attempt: Attempt) -> Attempt:
    """Return an attempt with empty files and arguments, or without messages to a server."""
    if attempt.client:
        return replace(attempt, client=replace(attempt.client, messages=()))
    files = tuple(file._replace(content=b"") for file in attempt.files)
    return replace(attempt, files=files, args=("",) * len(attempt.args))


def benign_runs(observed: Sequence[ObservedRun], nothing: ProofRun) -> list[ObservedRun]:
    """Return runs of several sizes that no sanitizer stops, and whose result differs from that of an empty input.

    `nothing` is the run with the empty input. Only the results of programs can be seen.
    """
    empty = nothing.ended, nothing.output
    found = [one for one in observed if _is_benign(one) and one.result != empty]
    found.sort(key=lambda one: (_size(one.attempt), one.attempt.args, one.attempt.files))
    last = len(found) - 1
    if last < BENIGN_MAX:
        return found
    return [found[last * number // (BENIGN_MAX - 1)] for number in range(BENIGN_MAX)]


def _is_benign(one: ObservedRun) -> bool:
    is_program, run = one.attempt.way == "program", one.run
    return is_program and not run.errors and run.ended == NORMAL_END and _size(one.attempt) <= BENIGN_BYTES


def _size(attempt: Attempt) -> int:
    return sum(len(file.content) for file in attempt.files) + sum(map(len, attempt.args))


def _ddmin(content: Content, fires: Callable[[Content], bool]) -> None:
    """Reduce a content, as far as `fires` accepts it."""
    if not content or fires(content[:0]):
        return
    pieces = 2
    while len(content) > 1:
        size = -(-len(content) // pieces)
        smaller = next((one for one in _reductions(content, size) if fires(one)), None)
        if smaller is not None:
            pieces = 2 if len(smaller) <= size else max(pieces - 1, 2)
            content = smaller
        elif size == 1:
            return
        else:
            pieces = min(pieces * 2, len(content))


def _reductions(content: Content, size: int) -> Iterator[Content]:
    """Yield the pieces of a content, then what remains without each."""
    starts = range(0, len(content), size)
    yield from (content[start : start + size] for start in starts)
    if len(starts) > 2:
        yield from (content[:start] + content[start + size :] for start in starts)
