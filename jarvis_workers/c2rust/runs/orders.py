"""Recompute the translation order of a project and write its file."""

from collections.abc import Collection
from pathlib import Path

from jarvis_workers.c2rust.order_reader import compute_order
from jarvis_workers.c2rust.runs.project_files import ORDER, ProjectSymbols, Words, delayed_entries, write_file
from jarvis_workers.c2rust.symbol_lines import order_lines


def write_new_order(project: ProjectSymbols, delayed: Collection[str] | None = None, say: Words | None = None) -> Path:
    """Write translation_order.jsonl; `delayed` are the entries to order last, by default those of the environment."""
    steps = compute_order(project.symbols, delayed_entries() if delayed is None else delayed)
    return write_file(project.root, ORDER, order_lines(project.graph, steps), say)
