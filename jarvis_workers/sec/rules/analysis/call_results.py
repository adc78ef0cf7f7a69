"""Classification of how the code uses the result of a call, from a bounded window of masked text."""

import re
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.mentions import (
    BRANCHES,
    DECLARED_BEFORE,
    ONLY_TYPE,
    WORD_AT_END,
    ends_in_branch,
    is_declaration,
    last_word,
    statement_before,
)
from jarvis_workers.source.lazy_regex import lazy

TARGET_MAX = 128
LEFT, RIGHT = 256, 64
TARGET = lazy(rb"((?:\*\s*)*[A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+|\s*\[[^][;{}]{0,64}\])*)\s*\Z")
CAST = lazy(
    rb"(?:\(\s*(?:const\s+|struct\s+|unsigned\s+|enum\s+)*\w+(?:::\w+)*(?:\s+\w+)*[\s*]*\)|_cast\s*<[^<>;]{1,64}>\s*\()\s*\Z"
)
VOID_CAST = lazy(rb"\(\s*void\s*\)\s*\Z")
COMPARED = lazy(rb"\s*(?:[=!<>]=|[<>](?![<>])|&&|\|\||\?)")
# The head of a `for` up to its condition.
IN_CONDITION = lazy(rb"\bfor\s*+\((?>[^;{}()]|\([^()]*+\))*+;\s*+\Z")
STATEMENT_WORD = lazy(rb"\b(?:else|do)\s*\Z")


class ResultUse(NamedTuple):
    """Use of the result of a call.

    `kind` is "assigned" (to `target`), "tested", "returned", "passed", "ignored", "voided" (a cast to void) or "other".
    An assignment within a condition is "assigned" and `tested` is true.
    """

    kind: str
    target: bytes = b""
    tested: bool = False


def result_of(text: bytes, start: int, end: int | None) -> ResultUse:
    """Classify the result of the call whose name begins at `start` and whose `)` ends at `end`."""
    before = text[max(0, start - LEFT) : start].rstrip()
    if before.endswith(b"::"):
        before = before[:-2].rstrip().removesuffix(b"std").rstrip()
    if before.endswith(b")") and VOID_CAST.search(before):
        return ResultUse("voided")
    before = _without_casts(before)
    if before.endswith(b"=") and before[-2:-1] not in (b"=", b"!", b"<", b">"):
        target = _target(before)
        name = _target_name(before[: target.start()], target[1]) if target else b""
        return ResultUse("assigned", name, tested=_is_tested(text, end, before))
    compared = end is not None and COMPARED.match(text, end) is not None
    return ResultUse(_fate(before, compared=compared))


def _without_casts(before: bytes) -> bytes:
    while before.endswith((b")", b"(")) and (cast := CAST.search(before)):
        rest = before[: cast.start()].rstrip()
        if before.endswith(b"("):
            rest = rest.rstrip(b"_abcdefghijklmnopqrstuvwxyz").rstrip()
        elif last_word(rest) in BRANCHES:
            return before
        before = rest
    return before


def _target(before: bytes) -> re.Match[bytes] | None:
    """Return the assignment target before the `=` that ends the text, within its statement."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"), len(before) - TARGET_MAX)
    return TARGET.search(before, edge + 1, len(before) - 1)


def _target_name(before: bytes, expression: bytes) -> bytes:
    """Remove the stars of a declaration: `char *p = f()` assigns to `p`, but `*p = f()` to `*p`."""
    squeezed = _squeezed(expression)
    statement = statement_before(before).rstrip()
    if squeezed[:1] == b"*" and (statement.endswith(b",") or WORD_AT_END.search(statement)):
        declared = is_declaration(statement + b" *") or DECLARED_BEFORE.match(statement)
        return squeezed.lstrip(b"*") if declared else squeezed
    return squeezed


def _squeezed(expression: bytes) -> bytes:
    return b"".join(expression.split())


def _fate(before: bytes, *, compared: bool) -> str:
    word = last_word(before)
    if word == b"return":
        return "returned"
    if compared or before.endswith((b"!", b"==", b"!=", b"&&", b"||", b"<", b">", b"<=", b">=")):
        return "tested"
    if before.endswith((b"(", b",")):
        return "tested" if last_word(before[:-1]) in BRANCHES else "passed"
    if before.endswith(b";") and IN_CONDITION.search(before):
        return "tested"
    return "ignored" if _is_statement(before) else "other"


def _is_tested(text: bytes, end: int | None, before: bytes) -> bool:
    """Return whether an assignment is tested: `if ((p = f()) == NULL)`, `if (!(p = f()))`, `while ((p = f()))`."""
    if end is None:
        return False
    after = text[end : end + RIGHT].lstrip()
    if after[:1] != b")":
        return COMPARED.match(after) is not None
    target = _target(before)
    head = before[: target.start()].rstrip() if target else b""
    if head.endswith(b"=") and (other := _target(head)):
        head = head[: other.start()].rstrip()
    if not head.endswith(b"("):
        opened = head.rpartition(b"(")
        declared = ONLY_TYPE.match(opened[2].lstrip() + b" ")
        return declared is not None and last_word(opened[0]) in (b"if", b"while")
    if COMPARED.match(after[1:]) or head[:-1].rstrip().endswith((b"!", b"&&", b"||", b"(")):
        return True
    return last_word(head[:-1]) in BRANCHES


def _is_statement(before: bytes) -> bool:
    """Return whether a statement begins after this text; the `:` of a conditional expression does not begin one."""
    if before.endswith(b":") and b"?" in statement_before(before):
        return False
    if not before or before[-1:] in b";{}:" or STATEMENT_WORD.search(before[-16:]):
        return True
    return before.endswith(b")") and ends_in_branch(before)
