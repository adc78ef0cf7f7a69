"""Group the pieces of a tree so that a reader sees together what calls each other, and choose the groups to read.

Pieces are merged along the names that one defines and another uses, the strongest link first (Kruskal's algorithm with
a limit on the size of a component); what is left is filled up in the order of the paths. The result depends on nothing
but the pieces.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.sec.judge.cost_model import reading_usage
from jarvis_workers.sec.reading.file_facts import FilePiece

# A name that more pieces define, or that more of them use, links nothing.
DEFINITIONS_MAX, USERS_MAX = 3, 200
WEIGHT = 1_000


class ReadingGroup(NamedTuple):
    """Pieces that one reader sees, in the order of their paths."""

    pieces: tuple[FilePiece, ...]

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def cost(self) -> int:
        """The tokens that reading the group is estimated to take, questions and answers together."""
        return reading_usage(self.tokens).total

    @property
    def files(self) -> list[str]:
        """The paths of the pieces, each once."""
        return list(dict.fromkeys(piece.path for piece in self.pieces))

    @property
    def rank(self) -> tuple[bool, float, str, int]:
        """Sort key: what does most with outside data for its size first, generated and minified code last."""
        first, exposure = self.pieces[0], sum(piece.exposure for piece in self.pieces)
        return first.is_late, -round(exposure / max(self.tokens, 1), 9), first.path, first.first


class ChosenGroups(NamedTuple):
    """The groups to read, the most exposed first, and the paths of files that are not read or not read to their end."""

    groups: tuple[ReadingGroup, ...]
    left_out: tuple[str, ...] = ()


def choose(groups: Iterable[ReadingGroup], most: int | None) -> ChosenGroups:
    """Choose the groups that `most` tokens pay for, None for all: in order, passing over those that cost too much.

    One group is chosen in any case.
    """
    chosen: list[ReadingGroup] = []
    left_out: list[str] = []
    spent = 0
    for one in sorted(groups, key=lambda one: one.rank):
        if most is None or not chosen or spent + one.cost <= most:
            chosen.append(one)
            spent += one.cost
        else:
            left_out += one.files
    return ChosenGroups(tuple(chosen), tuple(sorted(dict.fromkeys(left_out))))


def group(pieces: Iterable[FilePiece], room: int) -> list[ReadingGroup]:
    """Return groups of at most `room` tokens; a larger piece is a group of its own."""
    ordered = sorted(pieces, key=lambda piece: (piece.is_late, piece.path, piece.first))
    forest = _Forest(ordered, room)
    for one, other in _links(ordered):
        forest.merge(one, other)
    before: int | None = None
    for root in forest.roots():
        before = root if before is None or not forest.merge(before, root) else forest.root(before)
    return [ReadingGroup(tuple(ordered[place] for place in members)) for members in forest.components()]


class _Forest:
    """Disjoint sets of pieces with a limit on their tokens; generated files are not mixed with others."""

    def __init__(self, pieces: Sequence[FilePiece], room: int) -> None:
        self._pieces, self._room = pieces, room
        self._parents = list(range(len(pieces)))
        self._tokens = [piece.tokens for piece in pieces]

    def root(self, place: int) -> int:
        """Return the first member of a piece's set."""
        while (parent := self._parents[place]) != place:
            self._parents[place] = self._parents[parent]
            place = parent
        return place

    def merge(self, one: int, other: int) -> bool:
        """Merge two sets if the result is not too large; return whether they are one now."""
        one, other = sorted((self.root(one), self.root(other)))
        if one == other:
            return True
        together = self._tokens[one] + self._tokens[other]
        if together > self._room or self._pieces[one].is_late != self._pieces[other].is_late:
            return False
        self._parents[other], self._tokens[one] = one, together
        return True

    def roots(self) -> list[int]:
        """Return the first member of each set, in order."""
        return [place for place, parent in enumerate(self._parents) if place == parent]

    def components(self) -> list[list[int]]:
        """Return the members of each set, in order."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(len(self._parents)):
            members[self.root(place)].append(place)
        return list(members.values())


def _links(pieces: Sequence[FilePiece]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of pieces of which one uses names of the other, those with the most and rarest names first."""
    defining: defaultdict[str, list[int]] = defaultdict(list)
    using: defaultdict[str, list[int]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        for name in piece.defines:
            defining[name].append(place)
        for name in piece.uses:
            using[name].append(place)
    weights: defaultdict[tuple[int, int], int] = defaultdict(int)
    for name, places in defining.items():
        users = using.get(name, [])
        if len(places) > DEFINITIONS_MAX or len(users) > USERS_MAX:
            continue
        for place in places:
            for user in users:
                if place != user:
                    weights[min(place, user), max(place, user)] += WEIGHT // (len(users) * len(places))
    yield from sorted(weights, key=lambda pair: (-weights[pair], pair))
