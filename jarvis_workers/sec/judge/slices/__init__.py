"""Code slices: the parts of a tree that are shown to a model with a question about some of its lines."""

from jarvis_workers.sec.judge.slices.cut import ROOM, Role, Slice, SlicePart, SliceTarget, cut
from jarvis_workers.sec.judge.slices.index import SELECTED, CodeIndex, PlacedTree, SearchTree, is_source
from jarvis_workers.sec.judge.slices.places import VIEWS, CodeRange, SourceFile, View, split_name

__all__ = [
    "ROOM",
    "SELECTED",
    "VIEWS",
    "CodeIndex",
    "CodeRange",
    "PlacedTree",
    "Role",
    "SearchTree",
    "Slice",
    "SlicePart",
    "SliceTarget",
    "SourceFile",
    "View",
    "cut",
    "is_source",
    "split_name",
]
