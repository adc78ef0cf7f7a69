"""The gate `function`: a patch repairs functions; it does not remove, disable or hide their code.

The code is compared without comments, literals and `#if 0` parts, so that what is commented out counts as removed.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from jarvis_workers.agents.tools.reading import blank_comments
from jarvis_workers.sec.fix.gates import FUNCTION, Changes, PatchGateResult, failed, passed
from jarvis_workers.sec.fix.result import FixResult
from jarvis_workers.sec.suppressions import MARKS
from jarvis_workers.source.functions import functions
from jarvis_workers.source.grammar_files import c_text
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import mask

# A fix of these may only remove code: double free, use after free, free of what is not the start of a heap block.
REMOVABLE = frozenset({415, 416, 590, 761, 825})
CONDITIONAL = lazy(rb"^\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else)\b|^\s*#!?\[\s*cfg")
PRAGMA = lazy(rb"^\s*#\s*(?:pragma|undef|line)\b|\bno_sanitize|\b__asm__|\basm\b|^\s*#!?\[\s*allow")
DEFINE = lazy(rb"^\s*#\s*define\s+(\w+)")
CONSTANT = lazy(
    rb"\bif\s*(?:\(\s*!?\s*(?:0|1|true|false)\s*\)|(?:true|false)\b)|&&\s*(?:0|false)\b|\|\|\s*(?:1|true)\b"
)
JUMP = lazy(rb"\s*(?:return|goto|throw|exit|_exit|abort|longjmp|panic!|unreachable!|std::process::exit)\b")
LABEL = lazy(rb"\s*(?:case\b[^;]*|\w+)\s*:")
CALL = lazy(rb"\b(?!(?:return|if|while|for|switch|sizeof)\b)\w+\s*\(")
CONTROL = lazy(rb"(?:\s*(?:(?:else|if|while|for|switch|do)\b|(?:case\b[^;:]*|default)\s*:))*")
SEPARATOR = lazy(rb"[{};]")
PARENTHESES = lazy(rb"\([^()]*\)")
NESTED_MAX = 20
COMPARED_MAX = 4_000_000


class CodeDifference(NamedTuple):
    """The lines of code that a change adds and removes, without comments; `raw` are the added lines as they are.

    With `changed`, the code differs, maybe only in the order of its lines.
    """

    added: tuple[bytes, ...]
    removed: tuple[bytes, ...]
    raw: tuple[bytes, ...]
    changed: bool


def check_function(changes: Changes, cwe: int, protected: Mapping[str, Sequence[bytes]]) -> PatchGateResult:
    """Return the result of the gate `function`; `protected` are the lines that earlier patches added, by file."""
    differences = dict[str, CodeDifference]()
    for path, (before, after) in sorted(changes.items()):
        if before is None or after is None:
            continue
        language = language_of(path.encode("utf-8", "surrogateescape")) or "c/cpp"
        differences[path] = difference = code_difference(before, after, language)
        why = _hidden(difference, before) or _reverted(difference, before, protected.get(path, ()))
        why = why or next(_damaged(before, after, language), "")
        if why:
            return failed(FUNCTION, f"{path}: {why}")
    if not any(one.changed for one in differences.values()):
        return failed(FUNCTION, "the patch changes comments and white space only")
    adds, removes = (any(getattr(one, name) for one in differences.values()) for name in ("added", "removed"))
    if removes and not adds and cwe not in REMOVABLE:
        return failed(FUNCTION, "the patch only removes code; repair it, so that valid input still works")
    return passed(FUNCTION)


def code_difference(before: bytes, after: bytes, language: str) -> CodeDifference:
    """Return the lines of code that a change adds and removes."""
    old, new = (_code_lines(content, language) for content in (before, after))
    added, removed = Counter(new), Counter(old)
    raw = [line.strip() for _, line in _added_lines(before, after)]
    return CodeDifference(
        tuple((added - removed).elements()), tuple((removed - added).elements()), tuple(raw), old != new
    )


def protected_lines(earlier: Iterable[FixResult]) -> Mapping[str, Sequence[bytes]]:
    """Return the lines of code that earlier patches added, by file."""
    lines = defaultdict[str, list[bytes]](list)
    for result in earlier:
        for path, file in result.files.items():
            language = language_of(os.fsencode(path)) or result.finding.language
            lines[path] += code_difference(file.before, file.after, language).added
    return lines


def _code_lines(content: bytes, language: str) -> list[bytes]:
    """Return the lines with code or rules, with their literals but without comments and code disabled by `#if 0`."""
    code = c_text(content, language)
    texts = blank_comments(content, language), blank_comments(code, language), mask(content, language).text
    lines = zip(*([line.strip() for line in text.split(b"\n")] for text in texts), strict=True)
    return [b" ".join(shown.split()) for shown, of_c, masked in lines if masked or (shown and not of_c)]


def _added_lines(before: bytes, after: bytes) -> Iterator[tuple[int, bytes]]:
    old, new = before.split(b"\n"), after.split(b"\n")
    if len(old) * len(new) > COMPARED_MAX:
        existing = Counter(old)
        yield from ((number, line) for number, line in enumerate(new) if not existing[line])
        return
    for kind, _, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind in ("insert", "replace"):
            yield from ((number, new[number]) for number in range(first, last))


def _hidden(difference: CodeDifference, before: bytes) -> str:
    """Return how a change hides code from the compiler or from the rules, or ""."""
    for line in difference.raw:
        text = line.decode("utf-8", "replace")
        if any(mark in line for mark in MARKS):
            return f"a comment must not silence the rule: {text}"
        if CONDITIONAL.search(line):
            return f"a fix must not make code conditional at compile time: {text}"
        if PRAGMA.search(line):
            return f"a fix must not change how the code is compiled: {text}"
        if (name := DEFINE.search(line)) and re.search(rb"\b%b\b" % re.escape(name[1]), before):
            return f"a fix must not redefine a name that the file uses: {text}"
    for line in difference.added:
        if CONSTANT.search(line):
            return f"a constant condition disables code: {line.decode('utf-8', 'replace')}"
    return ""


def _reverted(difference: CodeDifference, before: bytes, protected: Sequence[bytes]) -> str:
    """Return which line of an earlier patch is removed, or ""; a line that is elsewhere as well says nothing."""
    counts = Counter(b" ".join(line.split()) for line in before.split(b"\n")) if protected else Counter[bytes]()
    lost = next((line for line in difference.removed if 0 < counts[line] <= protected.count(line)), None)
    return f"it reverts another patch, which added: {lost.decode('utf-8', 'replace')}" if lost else ""


class _Body(NamedTuple):
    """A function: its number of statements, whether any of them does something, and whether one ends it too early."""

    statements: int
    works: bool
    cut: bool


def _damaged(before: bytes, after: bytes, language: str) -> Iterator[str]:
    """Yield what is wrong with the functions of a changed file."""
    old, new = _bodies(before, language), _bodies(after, language)
    for name, bodies in old.items():
        text = name.decode("utf-8", "replace")
        left = new.get(name, [])
        if len(left) < len(bodies):
            yield f"function {text} is removed"
            continue
        had, has = (sum(body.statements for body in some) for some in (bodies, left))
        if has * 2 < had:
            yield f"function {text} loses {had - has} of its {had} statements"
        if sum(body.works for body in left) < sum(body.works for body in bodies):
            yield f"function {text} does nothing any more, so that it refuses every input"
        if sum(body.cut for body in left) > sum(body.cut for body in bodies):
            yield f"function {text} always ends before the rest of its code, so that it refuses every input"


def _bodies(content: bytes, language: str) -> dict[bytes, list[_Body]]:
    code = mask(content, language).text
    bodies = dict[bytes, list[_Body]]()
    for function in functions(code, language):
        text = code[slice(*function.body)]
        parts = list(_parts(text))
        works = any(one.ends == b";" and (CALL.search(one.code) or not JUMP.match(_last(one.plain))) for one in parts)
        bodies.setdefault(function.name, []).append(_Body(text.count(b";"), works, _is_cut(parts)))
    return bodies


class _CodePiece(NamedTuple):
    """A piece of code up to a semicolon or a brace, also `plain`, without parentheses; `depth` counts open braces."""

    code: bytes
    plain: bytes
    ends: bytes
    depth: int


def _parts(body: bytes) -> Iterator[_CodePiece]:
    plain = body
    for _ in range(NESTED_MAX):
        plain, changed = PARENTHESES.subn(lambda group: b" " * len(group[0]), plain)
        if not changed:
            break
    depth = start = 0
    for match in SEPARATOR.finditer(plain):
        ends = match[0]
        yield _CodePiece(body[start : match.start()], plain[start : match.start()], ends, depth)
        depth += {b"{": 1, b"}": -1}.get(ends, 0)
        start = match.end()


def _last(plain: bytes) -> bytes:
    """Return the statement that follows the conditions and labels of a piece of code."""
    return CONTROL.sub(b"", plain)


def _is_cut(parts: Sequence[_CodePiece]) -> bool:
    """Return whether a function ends unconditionally before its last statement."""
    ended = False
    for part in parts:
        if ended and part.plain.strip():
            if not LABEL.match(part.plain):
                return True
            ended = False
        if part.ends == b";" and part.depth == 0 and JUMP.match(part.plain):
            ended = True
    return False
