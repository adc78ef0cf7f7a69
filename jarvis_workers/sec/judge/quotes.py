"""Check whether a quote is in the file that it names, ignoring white space.

A quote that occurs once in the named file or function counts, whatever its line says; of several occurrences, the one
within REACH lines of the stated line counts.  Files are named as in slices (`a.c#f`, with lines counted from the first
of f), by path, by their last parts, or by the function alone.  A quote may have the line numbers and marks of the view,
backquotes, and ellipses.  It consists of whole lines (except for braces), or is long enough, and contains more than
keywords.  EvidenceQuote of a risk may be quoted from any view, evidence for a dismissal only from the deciding view.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

from jarvis_workers.agents.loop.nonces import LINE_MARKS
from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.agents.tools.reading import blank_comments, short_line
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.judge.lost_quote import Loss, LostQuote
from jarvis_workers.sec.judge.question import VerificationQuestion
from jarvis_workers.sec.judge.slices import VIEWS, CodeIndex, CodeRange, Slice, SourceFile, View, is_source, split_name
from jarvis_workers.sec.judge.slices.keywords import KEYWORDS
from jarvis_workers.sec.judge.verdict import QUOTE_MAX, OtherFinding, Quote, SeenDefect, short

REACH = 3
LETTERS_MIN, LETTERS_OF_A_PART = 3, 8
# The pieces of a quote around an ellipsis, and the lines between two of them.
PIECES_MAX, GAP_LINES = 8, 60
HITS_MAX, PLACES_SHOWN = 60, 6
QUOTED_TEXT_MAX = 4_000
# The reasons for which a quote is not accepted, the most helpful first.
HELPFUL: tuple[Loss, ...] = ("several", "short", "absent", "document", "unknown", "long")
FENCE = re.compile(r"\A\s*(?:```\w*\n|`+)|`+\s*\Z")
NUMBERED = re.compile(rf"^[ \t]*[{re.escape(LINE_MARKS)}]?[ \t]*(?:\d{{1,9}}\|[ \t]?)?", re.MULTILINE)
FOUND = re.compile(r"^[^\s:]{1,400}:\d{1,9}: ", re.MULTILINE)
ESCAPED = re.compile(r"\\([\"\\])")
ELLIPSIS = re.compile(r"\[(?:…|\.\.\.)(?: \d+ characters more)?\]|…|\.\.\.")
BLANKS = re.compile(r"\s+")
WORD = re.compile(r"\w+")
LINE_BEHIND = re.compile(r"(?:\(\))?:(\d{1,7})(?:[-–]\d{1,7})?\Z")
PATH = "A-Za-z0-9_./+~@-"
PLACED_LINE = re.compile(
    rf"(?<![{PATH}])(?P<name>[{PATH}]{{1,400}}#(?:before:)?[^\s:`'\"]{{1,200}}):(?P<line>[0-9]{{1,7}})"
    r"(?:(?P<dash>[-–])(?P<to>[0-9]{1,7}))?(?![0-9])"
    rf"|(?<![{PATH}])(?P<plain>[{PATH}]{{1,400}}\.\w{{1,10}}:[0-9]{{1,7}})"
    r"|(?P<before>(?<![\w:.\])]):|\b[Ll]ines? |第)(?P<more>[0-9]{1,7})(?:(?P<and>[-–])(?P<last>[0-9]{1,7}))?"
    r"(?![0-9A-Za-z_]|\.\d)"
)


@dataclass(frozen=True)
class _Scope:
    """A file that a quote names, the place in it, if it names one, and the lines of the file that it may mean."""

    file: SourceFile
    place: CodeRange | None
    lines: tuple[int, ...]


class _Hits(list[int]):
    """The lines at which a quote begins; `is_short` is true if the quote is somewhere, but identifies no place."""

    is_short = False


def find_quote(index: CodeIndex, about: Slice, quote: Quote, *, dismisses: bool = False) -> EvidenceQuote | LostQuote:
    """Return the evidence that matches a quote; quotes for a dismissal are checked more strictly.

    A quote that identifies no place also counts if it is the whole line that is stated, unless that has only marks.
    """
    result = _match(index, about, quote, dismisses=dismisses)
    if isinstance(result, LostQuote) and result.kind in ("short", "several") and not dismisses:
        stated = stated_place(index, about, quote.file, quote.line)
        is_whole = stated and stated.quote.split() == quote.quote.split() and any(map(str.isalnum, quote.quote))
        return stated if stated and is_whole else result
    return result


def _match(index: CodeIndex, about: Slice, quote: Quote, *, dismisses: bool) -> EvidenceQuote | LostQuote:
    if len(quote.quote) > QUOTED_TEXT_MAX:
        return LostQuote("long")
    scopes = list(_scopes(index, about, quote))
    lost = LostQuote("unknown")
    for scope in scopes:
        if dismisses and not is_source(scope.file.path):
            lost = LostQuote("document")
            continue
        for text in _readings(quote.quote, scope.file, dismisses=dismisses):
            for view in VIEWS[:1] if dismisses else VIEWS:
                hits = _hits(scope.file, view, text)
                if line := _chosen(scope, hits):
                    return EvidenceQuote(scope.file.path, line, short(text, QUOTE_MAX))
                lost = _better(lost, _explained(scope, hits))
    return lost


def stated_place(index: CodeIndex, about: Slice, file: str, line: int) -> EvidenceQuote | None:
    """Return the line of code that a file name and a line mean, whatever was quoted; None if there is none."""
    for scope in _scopes(index, about, Quote(file=file, line=line, quote="")):
        height = len(scope.file.decided)
        inside = range(scope.place.first, scope.place.last + 1) if scope.place else range(1, height + 1)
        for stated in scope.lines:
            if stated in inside and stated <= height:
                return EvidenceQuote(scope.file.path, stated, short(scope.file.decided[stated - 1], QUOTE_MAX))
    return None


def called_lines(text: str, index: CodeIndex) -> str:
    """Convert line references within functions to lines of files: `a.c#f:3` becomes `a.c:40`.

    A line without a place behind such a reference (`:5`, `line 5`) is one of the same function.
    """
    first = 0

    def line_of_file(match: re.Match[str]) -> str:
        nonlocal first
        if match["more"]:
            return f"{match['before']}{_moved(match, 'more', 'and', 'last', first)}" if first else match[0]
        first = 0
        if match["plain"]:
            return match[0]
        path, name = split_name(match["name"])
        file = index.file(path)
        place = file.named(name) if file else None
        if place is None:
            return match[0]
        first = place.first
        return f"{path}:{_moved(match, 'line', 'dash', 'to', first)}"

    return PLACED_LINE.sub(line_of_file, text)


def _moved(match: re.Match[str], line: str, dash: str, to: str, first: int) -> str:
    """Return a line or a range of lines of a function as lines of its file."""
    until = f"{match[dash]}{first + int(match[to]) - 1}" if match[to] else ""
    return f"{first + int(match[line]) - 1}{until}"


def _scopes(index: CodeIndex, about: Slice, quote: Quote) -> Iterator[_Scope]:
    """Yield what a quote may refer to, the most likely first."""
    name, stated = quote.file.strip().strip("`'\"").removeprefix("./"), [quote.line]
    if file := index.file(name):
        yield _scope(about, file, None, stated)
    if behind := LINE_BEHIND.search(name):
        name = name[: behind.start()]
        stated.append(int(behind[1]))
    path, place_name = split_name(name)
    place_name = place_name.removesuffix("()")
    for file in _files(index, about, path):
        yield _scope(about, file, file.named(place_name) if place_name else None, stated)
    if place_name or "/" in name or "." in name:
        return
    function = name.removesuffix("()")
    parts = [(part.file, part.place) for part in about.parts if part.place.name == function]
    near = about.parts[0].file.path if about.parts else ""
    if not parts and (definition := index.definition(function.encode("utf-8", "surrogateescape"), near)):
        parts = [definition]
    for file, place in parts:
        yield _scope(about, file, place, stated)


def _files(index: CodeIndex, about: Slice, path: str) -> Iterator[SourceFile]:
    """Yield the file of a path, or that of which it is the last part: those that are shown, else the only one."""
    if file := index.file(path):
        yield file
        return
    shown = {part.file.path: part.file for part in about.parts if part.file.path.endswith("/" + path)}
    if shown:
        yield from shown.values()
        return
    found = index.paths_ending(path)
    if len(found) == 1 and (file := index.file(found[0])):
        yield file


def _scope(about: Slice, file: SourceFile, place: CodeRange | None, stated: Iterable[int]) -> _Scope:
    """Return a scope; a stated line may be one of the place, of the file, or of a place that is shown."""
    places = [place] if place else [None, *(part.place for part in about.parts if part.file.path == file.path)]
    lines = [line + (one.first - 1 if one else 0) for line in stated for one in (*places, None)]
    return _Scope(file, place, tuple(dict.fromkeys(lines)))


def _readings(quote: str, file: SourceFile, *, dismisses: bool) -> Iterator[str]:
    """Yield what a quote may mean: as it is, without what surrounds it, without the escapes of a second encoding."""
    text = NUMBERED.sub("", FENCE.sub("", quote.strip("\n")))
    forms = [text, FOUND.sub("", text), ESCAPED.sub(r"\1", text), text.strip().strip('"')]
    for form in dict.fromkeys(forms):
        if bare := _without_comments(form, file) if dismisses else form:
            yield bare


def _without_comments(text: str, file: SourceFile) -> str:
    return blank_comments(text.encode("utf-8", "replace"), file.language).decode("utf-8", "replace").rstrip()


def _hits(file: SourceFile, view: View, text: str) -> _Hits:
    """Return the lines of a view at which a quote begins."""
    bare = file.bare(view)
    joined, ends = "".join(bare), list(accumulate(map(len, bare)))
    whole = BLANKS.sub("", escape(text))
    pieces = [piece for piece in map(_bare_piece, ELLIPSIS.split(text)) if piece]
    result = _Hits()
    for needles in [[whole], pieces] if [whole] != pieces else [[whole]]:
        if not needles or not all(needles) or len(needles) > PIECES_MAX:
            continue
        for start, end in _spans(joined, ends, needles):
            first, last = bisect_right(ends, start), bisect_right(ends, end - 1)
            before = joined[ends[first - 1] if first else 0 : start]
            is_whole = not any(map(str.isalnum, before + joined[end : ends[last]]))
            written = " ".join(file.lines(view)[first : last + 1])
            if _says_enough(text, written, KEYWORDS[file.language], is_whole=is_whole):
                result.append(first + 1)
            else:
                result.is_short = True
        if result:
            break
    return result


def _bare_piece(piece: str) -> str:
    bare = BLANKS.sub("", escape(piece))
    return bare if sum(map(str.isalnum, bare)) >= LETTERS_MIN else ""


def _spans(joined: str, ends: Sequence[int], needles: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield at most HITS_MAX spans that begin with the first needle and contain the others in order."""
    start = joined.find(needles[0])
    for _ in range(HITS_MAX):
        if start < 0:
            return
        end = start + len(needles[0])
        for needle in needles[1:]:
            limit = min(bisect_right(ends, end) + GAP_LINES, len(ends) - 1)
            at = joined.find(needle, end, ends[limit])
            end = at + len(needle) if at >= 0 else -1
            if end < 0:
                break
        if end >= 0:
            yield start, end
        start = joined.find(needles[0], start + 1)


def _says_enough(text: str, written: str, keywords: Set[str], *, is_whole: bool) -> bool:
    """Return whether a quote is specific enough; only words that also occur as whole words in the file count."""
    words = {*WORD.findall(text)} & {*WORD.findall(written)} - keywords
    least = LETTERS_MIN if is_whole else LETTERS_OF_A_PART
    telling = words if is_whole else [word for word in words if not word.isdigit()]
    return bool(telling) and sum(letter.isalnum() for letter in text) >= least


def _chosen(scope: _Scope, hits: Sequence[int]) -> int | None:
    """Return the line that a quote means: one near a stated line, or else the only one."""
    inside = _inside(scope, hits)
    for stated in scope.lines:
        near = [line for line in inside if abs(line - stated) <= REACH]
        if near:
            return min(near, key=lambda line: abs(line - stated))
    return inside[0] if len(inside) == 1 else None


def _inside(scope: _Scope, hits: Sequence[int]) -> Sequence[int]:
    """Return the hits in the named place, or all if there are none."""
    place = scope.place
    return [line for line in hits if place and place.first <= line <= place.last] or hits


def _explained(scope: _Scope, hits: _Hits) -> LostQuote:
    """Return why a quote is not accepted, and the lines that help to correct it: its places, or what stands there."""
    if hits:
        return LostQuote("several", _lines(scope.file, _inside(scope, hits)[:PLACES_SHOWN]))
    if hits.is_short:
        return LostQuote("short")
    stated = scope.lines[0]
    near = [line for line in range(stated - 1, stated + 2) if 0 < line <= len(scope.file.decided)]
    return LostQuote("absent", _lines(scope.file, [line for line in near if scope.file.decided[line - 1].strip()]))


def _lines(file: SourceFile, lines: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{file.name_of(line)}: {short_line(file.decided[line - 1]).strip()}" for line in lines)


def _better(one: LostQuote, other: LostQuote) -> LostQuote:
    """Return the explanation that helps more."""
    return min(one, other, key=lambda lost: (HELPFUL.index(lost.kind), -len(lost.lines)))


# A defect that a model sees beside its candidates, placed in the code: a wrong quote does not void what it says.

DESCRIPTION_MAX = 400


def seen_defect(prepared: VerificationQuestion, number: int, other: OtherFinding) -> SeenDefect:
    """Return a defect at its quote, else at the line that the model states, else at its candidate of this number."""
    index, code = prepared.index, prepared.code
    text = short(called_lines(other.description, index), DESCRIPTION_MAX) or f"CWE-{other.cwe}"
    place = find_quote(index, code, other)
    if isinstance(place, LostQuote):
        stated = stated_place(index, code, other.file, other.line)
        if stated is None:
            text = f"{text} (at {short(other.file, DESCRIPTION_MAX)}:{other.line}, which does not exist)"
        place = stated or _place_of(prepared, number)
    return SeenDefect(place.file, place.line, place.quote, text, other.cwe)


def _place_of(prepared: VerificationQuestion, number: int) -> EvidenceQuote:
    defects = prepared.cluster.defects
    _, candidate = defects[number - 1 if 0 < number <= len(defects) else 0][0]
    return EvidenceQuote(candidate.file, candidate.line, candidate.evidence)
