"""Code slices: the parts of a tree that are shown to a model with a question about some of its lines."""

from jarvis_workers.sec.judge.slices.cut import ROOM, Role, Slice, SlicePart, SliceTarget, cut
from jarvis_workers.sec.judge.slices.index import CodeIndex, PlacedTree
from jarvis_workers.sec.judge.slices.places import VIEWS, SourceFile, View, split_name

__all__ = [
    "ROOM",
    "VIEWS",
    "CodeIndex",
    "PlacedTree",
    "Role",
    "Slice",
    "SlicePart",
    "SliceTarget",
    "SourceFile",
    "View",
    "cut",
    "split_name",
]
