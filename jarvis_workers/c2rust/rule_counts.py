"""Findings of the rules of `jarvis sec`, counted by category and severity in the C sources and in the crate."""

from typing import NamedTuple


class SeverityCounts(NamedTuple):
    """Findings by severity."""

    high: int = 0
    medium: int = 0
    low: int = 0


class CategoryCounts(NamedTuple):
    """The findings of a category: in the C files whose functions were converted, and in the Rust and C of the crate."""

    category: str
    c: SeverityCounts = SeverityCounts()
    rust: SeverityCounts = SeverityCounts()
    remainder: SeverityCounts = SeverityCounts()
