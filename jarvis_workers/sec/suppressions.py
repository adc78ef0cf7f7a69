"""Parse the comments that suppress findings: our own, and those for other tools that the code already contains.

`jarvis-ignore[rule, rule]: reason` applies to its own line or, on a line of its own, to the next line with code;
without brackets it applies to every rule.  The others have the meaning of their tool: `nosemgrep`, `NOLINT` (NEXTLINE,
BEGIN and END), `cppcheck-suppress` (-begin, -end, -file) and `Flawfinder: ignore`.  A check named there counts if it is
one of our rules or is in FOREIGN.  Of globs only `*` counts: one such as `bugprone-*` means the checks of another tool.
Our own comments get a remark if they give no reason, suppress nothing or name an unknown rule.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import comments

# Patterns that may start a suppression, to be matched by an engine: no two can overlap.
OWN_MARK = b"jarvis-ignore"
MARKS = (
    OWN_MARK,
    b"NOLINT",
    b"nosem",
    b"NOSEM",
    b"cppcheck-suppress",
    b"lawfinder:",
    b"FLAWFINDER:",
    b"ITS4:",
    b"RATS:",
)
REMARKS_MAX = 100
TEXT_MAX = 200
# Limits on the search for code around a comment and on the part of its line that is read, since hostile files have
# thousands of comments.
REACH = 4_096
BLOCKS_DEEP = 16
WITHOUT_REASON = "gives no reason"
NOTHING_FIRES = "no rule fires here"
NO_RULE = "no such rule: "

SPACE = rb"[ \t\r\f\v]*+"
OURS = lazy(rb"jarvis-ignore(?![\w-])(?>\[(?P<rules>[^\]\n]{0,500})\])?+(?:" + SPACE + rb":(?P<reason>[^\n]*+))?")
NOLINT = lazy(rb"NOLINT(?P<kind>NEXTLINE|BEGIN|END)?(?![A-Za-z])(?:\((?P<rules>[^)\n]{0,500})\))?")
NOSEM = lazy(rb"nosem(?:grep)?(?!\w)(?:[:=]\s?(?P<rules>[^\n]{1,500}))?", re.IGNORECASE)
CPPCHECK = lazy(
    rb"cppcheck-suppress(?:-(?P<kind>begin|end|file|macro))?(?![\w-])"
    + SPACE
    + rb"(?:\[(?P<many>[^\]\n]{0,500})\]|(?P<one>[\w*-]+))?"
)
FLAWFINDER = lazy(rb"(?:flawfinder|its4|rats):" + SPACE + rb"ignore\b", re.IGNORECASE)
COMMENT_STARTS = lazy(rb"/[/*][/*!<\s]{0,64}+")
CODE = lazy(rb"\S")
PARTED = re.compile(r"[,\s]+")
EVERY = "*"

# Checks of other tools that are equivalent to our rules, in lower case; for semgrep, the last component.
FOREIGN: Mapping[str, tuple[str, ...]] = {
    "bugprone-unsafe-functions": ("unsafe_api", "boundary_funcs"),
    "cert-msc24-c": ("unsafe_api",),
    "clang-analyzer-security.insecureapi.gets": ("unsafe_api",),
    "clang-analyzer-security.insecureapi.strcpy": ("unsafe_api",),
    "clang-analyzer-security.insecureapi.deprecatedorunsafebufferhandling": ("unsafe_api", "boundary_funcs"),
    "clang-analyzer-security.insecureapi.mktemp": ("insecure_tmpfile",),
    "clang-analyzer-security.insecureapi.rand": ("rand_insecure",),
    "clang-diagnostic-format-nonliteral": ("format_string",),
    "clang-diagnostic-format-security": ("format_string",),
    "bugprone-command-processor": ("command_execution",),
    "cert-env33-c": ("command_execution",),
    "bugprone-unchecked-string-to-number-conversion": ("atoi_family",),
    "cert-err34-c": ("atoi_family",),
    "cert-msc30-c": ("rand_insecure",),
    "cert-msc50-cpp": ("rand_insecure",),
    "misc-predictable-rand": ("rand_insecure",),
    "concurrency-mt-unsafe": ("strtok_nonreentrant", "time_apis_not_threadsafe"),
    "bugprone-suspicious-realloc-usage": ("realloc_assign_back",),
    "bugprone-not-null-terminated-result": ("strncpy_no_nul",),
    "clang-analyzer-core.nulldereference": ("possible_null_deref", "malloc_no_null_check"),
    "cert-err33-c": ("unchecked_io",),
    "allocacalled": ("alloca_unbounded",),
    "deallocuse": ("uaf_suspect",),
    "doublefree": ("double_free_and_free_non_heap",),
    "getscalled": ("unsafe_api",),
    "invalidscanf": ("scanf_no_width",),
    "memleakonrealloc": ("realloc_assign_back",),
    "mismatchallocdealloc": ("malloc_free_mismatch",),
    "nullpointer": ("possible_null_deref",),
    "nullpointeroutofmemory": ("possible_null_deref", "malloc_no_null_check"),
    "uninitvar": ("uninitialized_ptr_use",),
    "insecure-use-gets-fn": ("unsafe_api",),
    "insecure-use-printf-fn": ("format_string",),
    "insecure-use-scanf-fn": ("scanf_no_width",),
    "insecure-use-strcat-fn": ("unsafe_api",),
    "insecure-use-string-copy-fn": ("unsafe_api",),
    "insecure-use-strtok-fn": ("strtok_nonreentrant",),
    "unsafe-usage": ("unsafe",),
}


class SuppressionComment(NamedTuple):
    """A comment at `line` that applies to the lines `first` to `last`; `rules` is None if it applies to all rules."""

    line: int
    first: int
    last: int
    rules: frozenset[str] | None
    text: str
    reason: str
    ours: bool


class Remark(NamedTuple):
    """A remark on a suppression that suppresses nothing, names an unknown rule, or gives no reason."""

    line: int
    text: str
    says: str


class _Mark(NamedTuple):
    """A possible suppression in a comment, which spans the lines `lines`."""

    content: bytes
    at: int
    line: int
    comment: tuple[int, int]
    lines: tuple[int, int]

    @property
    def text(self) -> bytes:
        """The text from the mark to the end of its line within the comment."""
        rest = self.content[self.at : min(self.comment[1], self.at + REACH)].partition(b"\n")[0]
        return rest.removesuffix(b"*/").rstrip()

    @property
    def starts_comment(self) -> bool:
        start = COMMENT_STARTS.match(self.content, self.comment[0])
        return start is not None and start.end() == self.at


def suppressions(content: bytes, text: bytes, language: str, marks: Sequence[int]) -> list[SuppressionComment]:
    """Return the suppressions at the offsets in `marks` that are in a comment; `text` is the masked content.

    For a suppression beyond the end of the masked text, the line range is arbitrary.
    """
    comments: list[SuppressionComment] = []
    open_blocks: list[tuple[bytes, _Mark]] = []
    for mark in _in_comments(content, language, marks):
        for read in (_jarvis_ignore, _nolint, _nosem, _cppcheck, _flawfinder):
            comments += read(mark, text, open_blocks)
    return comments


def judge(
    places: Sequence[tuple[str, int]],
    comments: Sequence[SuppressionComment],
    rule_ids: Collection[str],
    judged: Collection[str],
) -> tuple[list[str | None], list[Remark]]:
    """Return the suppression reason or None for each (rule, line), sorted by line, and remarks on the suppressions.

    `rule_ids` are all existing rules, `judged` those of this scan.
    """
    verdicts, used = silence(places, comments)
    return verdicts, _remarks(comments, used, rule_ids, judged)


def silence(
    places: Sequence[tuple[str, int]], comments: Sequence[SuppressionComment]
) -> tuple[list[str | None], set[SuppressionComment]]:
    """Return the suppression reason or None for each (rule, line), sorted by line, and the suppressions used."""
    verdicts: list[str | None] = []
    used: set[SuppressionComment] = set()
    waiting = sorted(comments, key=lambda one: one.first, reverse=True)
    active: list[SuppressionComment] = []
    for rule, line in places:
        while waiting and waiting[-1].first <= line:
            active.append(waiting.pop())
        active = [one for one in active if one.last >= line]
        speaking = [one for one in active if one.rules is None or rule in one.rules]
        used.update(speaking)
        verdicts.append(speaking[0].reason or speaking[0].text if speaking else None)
    return verdicts, used


def _remarks(
    comments: Sequence[SuppressionComment],
    used: Collection[SuppressionComment],
    rule_ids: Collection[str],
    judged: Collection[str],
) -> list[Remark]:
    remarks = []
    for one in comments:
        if not one.ours:
            continue
        strangers = sorted((one.rules or frozenset()) - set(rule_ids))
        if strangers:
            remarks.append(Remark(one.line, one.text, NO_RULE + ", ".join(strangers)))
        elif one not in used and (one.rules is None or one.rules <= set(judged)):
            remarks.append(Remark(one.line, one.text, NOTHING_FIRES))
        if not one.reason:
            remarks.append(Remark(one.line, one.text, WITHOUT_REASON))
    if len(remarks) > REMARKS_MAX:
        more = len(remarks) - REMARKS_MAX
        remarks[REMARKS_MAX:] = [Remark(remarks[REMARKS_MAX].line, f"{more} more in this file", "not listed")]
    return remarks


def _in_comments(content: bytes, language: str, marks: Sequence[int]) -> Iterator[_Mark]:
    spans = comments(content, language)
    comment = 0, 0
    line, counted = 1, 0
    for at in marks:
        while comment[1] <= at:
            comment = next(spans, (len(content), len(content) + 1))
            if comment[1] > at >= comment[0]:
                first = line + content.count(b"\n", counted, comment[0])
                lines = first, first + content.count(b"\n", *comment)
        if comment[0] <= at:
            line += content.count(b"\n", counted, at)
            counted = at
            yield _Mark(content, at, line, comment, lines)


Blocks = list[tuple[bytes, _Mark]]


def _jarvis_ignore(mark: _Mark, text: bytes, _: Blocks) -> Iterator[SuppressionComment]:
    match = OURS.match(mark.content, mark.at, mark.at + len(mark.text))
    if match is None or mark.content[mark.at - 1 : mark.at].isalnum():
        return
    if match["rules"] is None and match["reason"] is None and len(match[0].rstrip()) < len(mark.text):
        return
    named = None if match["rules"] is None else _names(match["rules"])
    first, last = _lines(mark, text, beyond_blanks=True)
    yield SuppressionComment(
        mark.line, first, last, named, _shown(mark.text), _shown(match["reason"] or b""), ours=True
    )


def _nolint(mark: _Mark, _: bytes, blocks: Blocks) -> Iterator[SuppressionComment]:
    match = NOLINT.match(mark.content, mark.at, mark.comment[1])
    if match is None:
        return
    kind, named = match["kind"], match["rules"] or b""
    rules = None if match["rules"] is None else _foreign(named)
    if kind in (b"BEGIN", b"END"):
        yield from _block(mark, rules, b"NOLINT" + b"".join(named.split()), blocks, begins=kind == b"BEGIN")
    else:
        line = mark.line + (kind == b"NEXTLINE")
        yield _theirs(mark, line, line, rules)


def _nosem(mark: _Mark, text: bytes, _: Blocks) -> Iterator[SuppressionComment]:
    match = NOSEM.match(mark.content, mark.at, mark.at + len(mark.text))
    if match is None or mark.content[mark.at - 1 : mark.at].isalnum():
        return
    yield _theirs(mark, *_lines(mark, text), None if match["rules"] is None else _foreign(match["rules"]))


def _cppcheck(mark: _Mark, text: bytes, blocks: Blocks) -> Iterator[SuppressionComment]:
    match = CPPCHECK.match(mark.content, mark.at, mark.at + len(mark.text))
    if match is None or not mark.starts_comment:
        return
    named, kind = match["many"] if match["one"] is None else match["one"], match["kind"]
    rules = None if named is None else _foreign(named)
    if kind in (b"begin", b"end"):
        yield from _block(mark, rules, b"cppcheck" + b"".join((named or b"").split()), blocks, begins=kind == b"begin")
    elif kind == b"file":
        yield _theirs(mark, 1, len(mark.content) + 1, rules)
    elif kind is None:
        yield _theirs(mark, *_lines(mark, text, beyond_blanks=True), rules)


def _flawfinder(mark: _Mark, text: bytes, _: Blocks) -> Iterator[SuppressionComment]:
    # The engine matches the word without its first letter, whose case varies.
    at = mark.at - (mark.content[mark.at : mark.at + 1] == b"l")
    if FLAWFINDER.match(mark.content, at, mark.comment[1]) and mark._replace(at=at).starts_comment:
        yield _theirs(mark._replace(at=at), *_lines(mark, text), None)


def _block(
    mark: _Mark, rules: frozenset[str] | None, key: bytes, blocks: Blocks, *, begins: bool
) -> Iterator[SuppressionComment]:
    """Match the begin and end of a block, as clang-tidy does: blocks nest, and unmatched ones have no effect."""
    if begins and len(blocks) < BLOCKS_DEEP:
        blocks.append((key, mark))
    elif not begins and blocks and blocks[-1][0] == key:
        begin = blocks.pop()[1]
        yield _theirs(begin, begin.line, mark.line, rules)


def _theirs(mark: _Mark, first: int, last: int, rules: frozenset[str] | None) -> SuppressionComment:
    return SuppressionComment(mark.line, first, last, rules, _shown(mark.text), "", ours=False)


def _lines(mark: _Mark, text: bytes, *, beyond_blanks: bool = False) -> tuple[int, int]:
    """Return the lines that a comment applies to: its own line if that has code, else a line below it.

    With `beyond_blanks` this is the next line with code, otherwise the very next line.
    """
    (start, end), (first, last) = mark.comment, mark.lines
    if text[max(0, start - REACH) : start].rpartition(b"\n")[2].strip():
        return first, first
    if text[end : end + REACH].partition(b"\n")[0].strip():
        return last, last
    code = CODE.search(text, end, end + REACH) if beyond_blanks else None
    following = last + mark.content.count(b"\n", end, code.start()) if code else last + 1
    return following, following


def _names(listed: bytes) -> frozenset[str]:
    return frozenset(name for name in PARTED.split(_shown(listed)) if name)


def _foreign(listed: bytes) -> frozenset[str] | None:
    """Return our rules for a list of another tool's checks; None if the list suppresses all rules."""
    rules: set[str] = set()
    for name in _names(listed):
        if name == EVERY:
            return None
        rule_id = name.removeprefix("jarvis-").rpartition(".")[2]
        rules.update(
            (name.removeprefix("jarvis-"), rule_id), FOREIGN.get(name.lower(), ()), FOREIGN.get(rule_id.lower(), ())
        )
    return frozenset(rules)


def _shown(part: bytes) -> str:
    return plain(part[: 4 * TEXT_MAX].decode("utf-8", "backslashreplace").replace("\t", " ")).strip()[:TEXT_MAX]
