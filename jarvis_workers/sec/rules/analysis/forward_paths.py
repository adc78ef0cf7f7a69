"""Follow the control flow forward from an offset: find the spans of text that may run after it, and how likely each is.

Blocks are entered and left; the `else` of a taken branch and the code after a jump are skipped; a forward `goto` is
followed, but the back edge of a loop never is.  The text is masked; only braces and a few keywords are read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.source.lazy_regex import lazy

STEPS_MAX = 300
CHAIN_MAX = 16
LEAPS_MAX = 2
NEAR_MAX = 512
LABELS_MAX = 16
LEFT = 512
TOKENS = (
    rb"[{}]|#[ \t]*+(?P<directive>if|el|endif)"
    rb"|\b(?:(?P<jump>(?:return|goto|break|continue|throw|co_return)\b"
    rb"|(?:[A-Z]\w*_)?RETURN(?>_(?!IF|ON|UNLESS|WHEN)[A-Z]++)*+(?=[ \t]*+[;(]))"
    rb"|(?P<label>case|default)\b"
    rb"|(?P<ends>_?exit|_Exit|quick_exit|abort|die(?:_\w{1,16}+)?|fatal\w{0,16}+|panic\w{0,16}+|err|errx|BUG|__builtin_unreachable|unreachable|"
    rb"siglongjmp|longjmp|usage%b)(?=[ \t]*+\())"
)
TOKEN = lazy(TOKENS % b"")
DIRECTIVE = lazy(rb"#[ \t]*+(?P<directive>if|el|endif)")
BRACE = lazy(rb"[{}]")
EDGE = lazy(rb"[;{}()]")
FIRST_OF_ELSE = lazy(rb"#[ \t]*+el[^\n]*+\n[^;{}#]*+\Z")
LABEL = lazy(rb"[A-Za-z_]\w*+\Z")
PARENTHESIS = lazy(rb"[()]")
ELSE = lazy(rb"\s*+(?>#[^\n]*+\n\s*+)*+\belse\b")
HEAD = lazy(rb"\s*+(?:if\s*+(?:constexpr\s*+)?|for\s*+|while\s*+|switch\s*+)\(")
BRANCH_WORD = lazy(rb"\b(?:if|for|while|switch|constexpr|likely|unlikely|\w*(?:for_?each|FOR_?EACH)\w*)\s*\Z")
ALONE = lazy(rb"\b(?:else|do)\s*\Z")


class Stretch(NamedTuple):
    """A span of the text; `inner` counts the blocks entered to reach it, `left` the blocks exited."""

    start: int
    end: int
    inner: int
    left: int


def token_pattern(ends: Sequence[bytes]) -> bytes:
    """Return the pattern of the tokens, among them calls of the functions and macros `ends`, which do not return."""
    return TOKENS % b"".join(b"|" + re.escape(name) for name in ends)


def straight(text: bytes, start: int, end: int, tokens: re.Pattern[bytes] | None = None) -> Iterator[Stretch]:
    """Yield the spans that may run between the statement containing `start` and the end of the function at `end`.

    `tokens` has a pattern of `token_pattern`, if some functions or macros of the file do not return.
    """
    tokens = tokens or TOKEN
    walk = _ForwardWalk(text, start, end, tokens)
    walk.left = int(is_conditional(text, start))
    if walk.left:
        walk.at = _behind_semicolon(text, start, end)
        yield Stretch(start, walk.at, 0, 0)
        if _jumps(text, start, walk.at, tokens):
            return
        walk.at = _behind_else(text, walk.at, end)
    for _ in range(STEPS_MAX):
        near = _near(text, walk.at, end)
        step = tokens.search(text, walk.at, near)
        behind = step.end() if step else near
        yield Stretch(walk.at, behind, walk.inner, walk.left)
        walk.at = behind
        rest = walk.take(step) if step else None
        if rest:
            yield rest
        if walk.over or walk.at >= end:
            return


def _near(text: bytes, at: int, end: int) -> int:
    """Return the end of a nearby statement, a limit that suffices for most callers."""
    if end - at <= NEAR_MAX:
        return end
    return text.rfind(b";", at, at + NEAR_MAX) + 1 or at + NEAR_MAX


def _jumps(text: bytes, start: int, end: int, tokens: re.Pattern[bytes]) -> bool:
    step = tokens.search(text, start, end)
    return step is not None and bool(step["jump"] or step["ends"])


def branch_has_ended(text: bytes, at: int, end: int) -> bool:
    """Return whether `at` is in a branch of an `#if` that has ended before `end`, so that other builds have another."""
    depth = 0
    for step in DIRECTIVE.finditer(text, at, end):
        depth += 1 if step["directive"] == b"if" else 0
        if depth == 0:
            return True
        depth -= 1 if step["directive"] == b"endif" else 0
    return False


def is_conditional(text: bytes, at: int) -> bool:
    """Return whether the statement around `at` belongs to an `if`, `else` or loop without braces."""
    at = _at_first_branch(text, at)
    window = text[max(0, at - LEFT) : at]
    edge = max(window.rfind(b";"), window.rfind(b"{"), window.rfind(b"}"))
    if window.find(b"(", edge + 1) < 0 and window.find(b")", edge + 1) < 0:
        return edge >= 0 and ELSE.match(window, edge + 1) is not None
    closed: list[int] = []
    for mark in reversed(list(EDGE.finditer(window))):
        if mark[0] == b")":
            closed.append(mark.end())
        elif mark[0] == b"(":
            if not closed:
                continue
            closed.pop()
            if not closed and BRANCH_WORD.search(window, max(0, mark.start() - 32), mark.start()):
                return True
        elif not closed:
            return ELSE.match(window, mark.end()) is not None
    return False


def _at_first_branch(text: bytes, at: int) -> int:
    """Return the offset of the `#if` if the statement at `at` is the first after its `#else`, otherwise `at`."""
    window = text[max(0, at - LEFT) : at]
    other = FIRST_OF_ELSE.search(window)
    opens = window.rfind(b"#if", 0, other.start()) if other else -1
    return at - len(window) + opens if opens >= 0 else at


class _ForwardWalk:
    """State of the walk: its position, and whether it is over."""

    def __init__(self, text: bytes, start: int, end: int, tokens: re.Pattern[bytes]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = start
        self.end = end
        self.inner = 0
        self.left = 0
        self.branches = 0
        self.leaps = 0
        self.jumped = 0
        self.elses: set[int] = set()
        self.over = False

    def take(self, step: re.Match[bytes]) -> Stretch | None:
        """Process a brace, a keyword or a directive, and return the part of its statement that still runs."""
        if step[0] == b"{":
            self.inner += 1
            if self._is_other_branch(step.start()):
                self.elses.add(self.inner)
        elif step[0] == b"}":
            self._close()
        elif step["directive"]:
            self._branch(step["directive"])
        elif step["label"]:
            self.over = self.inner == 0
        elif self._is_other_branch(step.start()) or not _is_guarded(self.text, step.start()):
            return self._jump(step["jump"])
        else:
            self.jumped = _behind_semicolon(self.text, self.at, self.end)
        return None

    def _close(self) -> None:
        self.elses.discard(self.inner)
        if self.inner:
            self.inner -= 1
            return
        self.left += 1
        self.at = _behind_else(self.text, self.at, self.end)

    def _branch(self, word: bytes) -> None:
        """Skip the `#else` branch if the walk began in the `#if` branch, since it belongs to other builds."""
        if word == b"if":
            self.branches += 1
        elif word == b"endif":
            self.branches = max(0, self.branches - 1)
        elif self.branches == 0:
            self.at = _behind_endif(self.text, self.at, self.end)

    def _jump(self, word: bytes | None) -> Stretch:
        begin, self.at = self.at, _behind_semicolon(self.text, self.at, self.end)
        rest = Stretch(begin, self.at, self.inner, self.left)
        if self.inner:
            self._leave_block()
        elif word == b"goto" and self.leaps < LEAPS_MAX:
            self._leap(self.text[begin : self.at - 1].strip())
        else:
            self.over = True
        return rest

    def _leap(self, label: bytes) -> None:
        """Continue after a label further down."""
        self.leaps += 1
        self.left += 1
        self.at = _behind_label(self.text, label, self.at, self.end)
        self.over = self.at == self.end

    def _leave_block(self) -> None:
        """Skip the code after a jump, up to the end of its block or the next label."""
        depth = 0
        for step in self.tokens.finditer(self.text, self.at, self.end):
            if step[0] == b"{":
                depth += 1
            elif step[0] == b"}":
                depth -= 1
            if depth < 0 or (depth == 0 and step["label"]):
                self.at = step.start()
                break
        else:
            self.at = self.end
        if depth < 0:
            self._after_block()

    def _after_block(self) -> None:
        """Skip the code after an `if` whose branches both jump."""
        self.jumped = self.at + 1
        if self.inner not in self.elses:
            return
        self.at += 1
        self._close()
        if self.inner:
            self._leave_block()
        else:
            self.over = True

    def _is_other_branch(self, at: int) -> bool:
        """Return whether the block at `at` is the `else` of an `if` whose own block ended with a jump."""
        return self.jumped > 0 and self.text[self.jumped : at].strip() == b"else"


def _is_guarded(text: bytes, at: int) -> bool:
    """Return whether a jump belongs to an `if` or `else` without braces."""
    before = text[max(0, at - LEFT) : at].rstrip()
    return before.endswith(b")") or ALONE.search(before) is not None


def _behind_else(text: bytes, at: int, end: int) -> int:
    """Return the offset after an `else` and its statement, or `at` if there is none."""
    match = ELSE.match(text, at, end)
    return _behind_statement(text, match.end(), end) if match else at


def _behind_statement(text: bytes, at: int, end: int) -> int:
    for _ in range(CHAIN_MAX):
        at = _behind_space(text, at, end)
        if text[at : at + 1] == b"{":
            at = _behind_pair(text, at, end, BRACE)
        elif head := HEAD.match(text, at, end):
            at = _behind_pair(text, head.end() - 1, end, PARENTHESIS)
            continue
        else:
            at = _behind_semicolon(text, at, end)
        match = ELSE.match(text, at, end)
        if match is None:
            return at
        at = match.end()
    return end


def _behind_label(text: bytes, label: bytes, at: int, end: int) -> int:
    """Return the offset after a label further down, or `end`."""
    for _ in range(LABELS_MAX if LABEL.match(label) else 0):
        at = text.find(label, at, end)
        if at < 0:
            break
        before = text[max(0, at - LEFT) : at].rstrip(b" \t")
        behind = text[at + len(label) : at + len(label) + 16].lstrip()
        if before[-1:] in b"\n;}{" and behind[:1] == b":" and behind[1:2] != b":":
            return text.find(b":", at) + 1
        at += len(label)
    return end


def _behind_semicolon(text: bytes, at: int, end: int) -> int:
    stop = text.find(b";", at, end)
    return stop + 1 if stop >= 0 else end


def _behind_space(text: bytes, at: int, end: int) -> int:
    while at < end and text[at] in b" \t\r\n":
        at += 1
    return at


def _behind_pair(text: bytes, at: int, end: int, marks: re.Pattern[bytes]) -> int:
    depth = 0
    for mark in marks.finditer(text, at, end):
        depth += 1 if mark[0] in b"({" else -1
        if depth == 0:
            return mark.end()
    return end


def _behind_endif(text: bytes, at: int, end: int) -> int:
    depth = 0
    for step in DIRECTIVE.finditer(text, at, end):
        if step["directive"] == b"if":
            depth += 1
        elif step["directive"] == b"endif":
            if depth == 0:
                return step.end()
            depth -= 1
    return end
