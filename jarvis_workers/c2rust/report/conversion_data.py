"""The conversion of a project as JSON, for the page that shows its graph."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.c2rust.conversion import Conversion
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.escape import visible
from jarvis_workers.paths import shown

# Longer functions are cut: the page is for reading.
TEXT_MAX = 20_000


def conversion_data(
    graph: SymbolGraph, conversion: Conversion, c_texts: Mapping[str, str], rust_texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the states of functions by symbol number, the tests, and the texts of functions by slot."""
    numbers = {
        (shown(symbol.extent.file), symbol.extent.line, symbol.name): place
        for place, symbol in enumerate(graph.symbols)
        if symbol.category == "function"
    }
    functions = {}
    for one in conversion.functions:
        number = numbers.get((one.file, one.line, one.name))
        if number is not None:
            functions[number] = {
                "state": one.state,
                "cause": one.cause,
                "proof": one.proof,
                "reason": visible(one.reason or one.not_translated),
                "lines": (one.lines_run, one.lines),
                "gates": [(gate, passed, visible(detail)) for gate, passed, detail, _ in one.gates],
                "issues": [visible(f"{review.topic}, {issue}") for review in one.reviews for issue in review.issues],
                "c": _text(c_texts.get(one.slot, "")),
                "rust": _text(rust_texts.get(one.slot, "")),
            }
    return {
        "accepted": conversion.accepted,
        "functions": functions,
        "suites": [{"command": visible(suite.command), "passed": suite.passed} for suite in conversion.suites],
    }


def _text(text: str) -> str:
    cut = text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}\n…"
    return "\n".join(visible(line.replace("\t", "    ")) for line in cut.split("\n"))
