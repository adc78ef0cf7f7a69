"""Which candidates are the same defect: of the same kind of weakness (CWE), at the same place.

Reports of models are the same on a line. Analyzers report one defect at different lines: a leak where memory is
allocated, where the last pointer to it ends, or at the return; so alerts are compared by what they name, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from jarvis_workers.sec.finding import FOREIGN, Candidate
from jarvis_workers.sec.trace import TraceLocation, read_trail

OUT_OF_BOUNDS = frozenset((118, 119, 129, 130, 131, 135, 170, 193, 466, 468, 785, 786, 788, 805, 806, 823))
RESOURCES = frozenset((400, 404, 770))
CLASSES = (
    OUT_OF_BOUNDS | {125, 126, 127},
    OUT_OF_BOUNDS | {120, 121, 122, 123, 124, 676, 787},
    frozenset((415, 825, 1341)),
    frozenset((416, 562, 672, 825)),
    frozenset((590, 761, 762, 763)),
    frozenset((252, 253, 476, 690)),
    frozenset((128, 190, 191, 680, 682, 1335)),
    frozenset((192, 194, 195, 196, 197, 681, 682, 839)),
    frozenset((456, 457, 665, 824, 908, 909)),
    frozenset((704, 843)),
    RESOURCES | {401, 771, 772, 775},
    RESOURCES | {789},
    RESOURCES | {674},
    RESOURCES | {834, 835},
    frozenset((77, 78, 88)),
    frozenset((22, 23, 24, 36, 73)),
    frozenset((59, 61, 62, 363, 367)),
    frozenset((362, 364, 366, 367, 479, 662)),
    frozenset((276, 377, 378, 379, 732)),
    frozenset((326, 327, 328, 330, 338)),
)


def is_same_weakness(one: int, other: int) -> bool:
    """Return whether two numbers of the CWE list name the same kind of error; 0 is unknown, and the same as nothing."""
    return one > 0 < other and (one == other or any(one in alike and other in alike for alike in CLASSES))


def is_same_defect(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates are the same defect; if one has no CWE, they are if they have the same words."""
    if (one.file, one.line) != (other.file, other.line):
        return False
    if one.cwe and other.cwe:
        return is_same_weakness(one.cwe, other.cwe)
    return one.description == other.description


def merged_reports(
    reports: Iterable[tuple[int, Candidate]],
    standing: Iterable[tuple[int, Candidate]],
) -> Mapping[int, int]:
    """Return which reports repeat a defect: the key of each, and that of the candidate which stays.

    Those that stay are `standing`, and the first report of every other defect.
    """
    by_place = defaultdict[tuple[str, int], list[tuple[int, Candidate]]](list)
    for key, candidate in standing:
        by_place[candidate.file, candidate.line].append((key, candidate))
    merged = dict[int, int]()
    for key, report in reports:
        there = by_place[report.file, report.line]
        into = next((other for other, candidate in there if is_same_defect(report, candidate)), None)
        if into is None:
            there.append((key, report))
        else:
            merged[key] = into
    return merged


# Alerts of other analyzers: kinds of weaknesses that follow from what has happened to an object before, and the steps
# of a trace that say what: where it was allocated, released, made NULL or declared.
LEAKED = frozenset((401, 404, 771, 772, 775))
RELEASED = frozenset((415, 416, 590, 672, 761, 762, 763, 825, 910, 1341))
ORIGINS = (
    (LEAKED, r"allocat|opened|acquired|may return NULL"),
    (
        frozenset((415, 416, 562, 672, 825, 910, 1341)),
        r"releas|freed|call to .?free|\bdelet|closed|moved|\bends\b|temporary|destroyed|changes by|is set$",
    ),
    (frozenset((476, 690)), r"may return null|returns? (?:of )?null|allocated|null pointer value"),
    (frozenset((456, 457, 665, 824, 908, 909)), r"declared|region created|without an initial"),
    (frozenset((674,)), r"recursive call"),
)
UNREAD = frozenset((252, 253))
CALL = re.compile(r"call(?:s|ing) ", re.IGNORECASE)
RETURN = re.compile(r"returning (?:from|to) |return of |returning; |returned ", re.IGNORECASE)
REALLOC = re.compile(r"realloc", re.IGNORECASE)
SAME_LINE, SAME_ORIGIN, SAME_OBJECT = 1, 2, 3
# Lines between two alerts that name the same object.
NEAR = 2
# A long trace has names in as many blocks of lines at most, and a place as many alerts that are compared.
BLOCK_LINES, BLOCKS_MAX, COMPARED_MAX = 32, 8, 20
QUOTED = re.compile(r"[‘'`]([^‘’'`]{1,120})[’']")
LOADED = re.compile(r"loaded from (?:variable|field) '([^']{1,120})'")
LISTED = re.compile(r": ([A-Za-z_][\w.>\[\]-]{0,100})$")
BLOCK = re.compile(r"the block of (\w{1,100}) ends")
OBJECT = re.compile(r"[*&(\s]*([A-Za-z_]\w*(?:(?:->|\.|::)[A-Za-z_]\w*|\[[^\]]{0,40}\])*)(?P<rest>.?)")
INDEX, SSA = re.compile(r"\[[^\]]*\]"), re.compile(r"_\d+(?= \+|$)")
NO_OBJECTS = frozenset(
    (
        *("NULL", "this", "what", "the", "nothing", "refers", "true", "false", "unknown", "delete", "new"),
        *("malloc", "calloc", "realloc", "free", "strdup", "fopen", "fclose"),
        *("int", "char", "unsigned", "long", "struct", "void", "const", "size_t"),
    )
)


class _Facts(NamedTuple):
    """What an alert, or a candidate of a rule, says of its defect, beside its weakness and line."""

    candidate: Candidate
    names: frozenset[str]
    origins: frozenset[int]
    first: int
    last: int

    @property
    def places(self) -> frozenset[int]:
        return self.origins | {self.candidate.line}


def merged_alerts(
    alerts: Iterable[tuple[int, Candidate]], standing: Iterable[tuple[int, Candidate]]
) -> Mapping[int, int]:
    """Return which alerts repeat a defect: the key of each, and that of the candidate which stays.

    Those that stay are `standing`, which are never merged, and the first alert of every other defect. What two of them
    repeat is one defect.
    """
    there = defaultdict[tuple[str, str, int], list[tuple[int, _Facts]]](list)
    facts_of = {key: _facts(candidate) for key, candidate in standing}
    ours, merged = frozenset(facts_of), dict[int, int]()
    for key, facts in facts_of.items():
        _add(there, key, facts)
    for key, candidate in alerts:
        facts = facts_of[key] = _facts(candidate)
        ranks = dict[int, int]()
        for other, others in (one for place in _keys(facts) for one in there[place][:COMPARED_MAX]):
            rank, root = _agreement(facts, others), _root(other, merged)
            if rank and not _are_apart(facts, facts_of[root]):
                ranks[root] = min(rank, ranks.get(root, rank))
        if ranks:
            into = merged[key] = min(ranks, key=lambda root: (root not in ours, ranks[root], root))
            for root in ranks.keys() - ours - {into}:
                if not _are_apart(facts_of[root], facts_of[into]):
                    merged[root] = into
        if not ranks or ranks[into] == SAME_LINE:
            _add(there, key, facts)
    return {key: _root(key, merged) for key in merged}


def _add(there: dict[tuple[str, str, int], list[tuple[int, _Facts]]], key: int, facts: _Facts) -> None:
    for place in _keys(facts):
        there[place].append((key, facts))


def _root(key: int, merged: Mapping[int, int]) -> int:
    while key in merged:
        key = merged[key]
    return key


def _agreement(one: _Facts, other: _Facts) -> int:
    """Return how two alerts speak of one defect: on one line, of one origin, or of one object; 0 if they do not."""
    first, second = one.candidate, other.candidate
    # A second release is a use after the first one for gcc (-Wuse-after-free).
    is_release = first.line == second.line and {first.cwe, second.cwe} == {415, 416}
    is_same = is_release or _is_same_kind(first.cwe, second.cwe)
    if first.file != second.file or not is_same or _are_apart(one, other):
        return 0
    if first.line == second.line:
        return SAME_LINE
    if one.origins & other.places or other.origins & one.places:
        return SAME_ORIGIN
    is_near = one.first - NEAR <= other.last and other.first - NEAR <= one.last
    return SAME_OBJECT if is_near and _share_object(one, other) and _origin(first.cwe) else 0


def _is_same_kind(one: int, other: int) -> bool:
    """Return whether weaknesses are of one class: a result that nobody reads is no NULL that somebody uses."""
    return is_same_weakness(one, other) and (one in UNREAD) == (other in UNREAD)


def _are_apart(one: _Facts, other: _Facts) -> bool:
    """Return whether two alerts speak of different objects, or of memory that was allocated at different places."""
    first, second = one.candidate, other.candidate
    # A line releases or uses one object; it may be known by two names.
    is_aliased = first.line == second.line and first.cwe in RELEASED
    if one.names and other.names and not is_aliased and not _share_object(one, other):
        return True
    if first.cwe not in LEAKED:
        return False
    # What realloc leaves when it fails is another leak.
    if bool(REALLOC.search(first.description)) != bool(REALLOC.search(second.description)):
        return True
    return bool(one.origins and other.origins and not one.origins & other.origins)


def _share_object(one: _Facts, other: _Facts) -> bool:
    """Return whether two alerts name the same object: `a.b` is named as `b` by some, where it is a member."""
    return not one.names.isdisjoint(other.names) or any(
        name.endswith(f".{another}") or another.endswith(f".{name}") for name in one.names for another in other.names
    )


@cache
def _origin(cwe: int) -> "re.Pattern[str] | None":
    return next((re.compile(words, re.IGNORECASE) for weaknesses, words in ORIGINS if cwe in weaknesses), None)


def _keys(facts: _Facts) -> Iterator[tuple[str, str, int]]:
    """Yield where alerts about the same defect meet: at places, and at names in blocks of lines."""
    file = facts.candidate.file
    yield from ((file, "", place) for place in sorted(facts.places))
    blocks = range((facts.first - NEAR) // BLOCK_LINES, (facts.last + NEAR) // BLOCK_LINES + 1)
    yield from ((file, name.rpartition(".")[2], block) for name in sorted(facts.names) for block in blocks[:BLOCKS_MAX])


def _facts(candidate: Candidate) -> _Facts:
    trail, ours = read_trail(candidate.trail) if candidate.trail else (), FOREIGN not in candidate.pattern
    place = candidate.file, candidate.line
    # What follows the call that a finding of ours is at is in the called function.
    calls = [at for at, step in enumerate(trail) if ours and CALL.match(step.note) and (step.file, step.line) == place]
    words = _origin(candidate.cwe)
    before = _last_function(trail[: calls[0]] if calls else trail[:-1], candidate.file)
    sources = [step for step in before if words and words.search(step.note)][: 1 if ours else None]
    origins = frozenset(step.line for step in sources)
    ends = [step.line for step in trail[-1:] if step.file == candidate.file and not calls]
    names = _names(candidate, [step.note for step in (*sources, *trail[-1:])])
    lines = [candidate.line, *origins, *ends]
    return _Facts(candidate, frozenset(names), origins, min(lines), max(lines))


def _last_function(steps: Sequence[TraceLocation], file: str) -> list[TraceLocation]:
    """Return the steps in the function of the last one; rules of ours do not say where a called function returns."""
    result, depth = list[TraceLocation](), 0
    for step in reversed(steps):
        depth += bool(RETURN.match(step.note))
        if CALL.match(step.note):
            if not depth:
                break
            depth -= 1
        elif depth < 2 and step.file == file and (not depth or RETURN.match(step.note)):
            result.append(step)
    return result[::-1]


def _names(candidate: Candidate, notes: Sequence[str]) -> Iterator[str]:
    """Yield the objects that a candidate names: an analyzer in quotes, a rule of ours at the start of a step."""
    text = candidate.description
    if FOREIGN not in candidate.pattern:
        texts = [*notes, *(found[1] for note in notes for found in BLOCK.finditer(note))]
    elif loaded := LOADED.search(text):
        texts = [loaded[1]]
    else:
        texts = [found[1] for pattern in (QUOTED, LISTED) for found in pattern.finditer(text.rstrip("."))]
    for one in texts:
        found = OBJECT.match(SSA.sub("", one))
        if found and found["rest"] in ("", " ", ")"):
            name = INDEX.sub("", found[1]).replace("->", ".").removeprefix("__builtin_")
            if name not in NO_OBJECTS and not re.search(rf"\b{re.escape(name)}\s*\(", candidate.evidence):
                yield name
