"""Render a symbol graph as one HTML file: search, neighbourhood of a symbol, files, cycles, roots, translation order.

The page loads nothing and works without a server.  Its content security policy allows its style and script by hash, so
that a browser runs nothing else, whatever the names in the graph contain.  A notice at the top lists units that were
not checked.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, get_args

from jarvis_workers.c2rust.conversion import BY_MODEL
from jarvis_workers.c2rust.report.body import ScanBody, UncheckedUnit, lines_of, scan_body
from jarvis_workers.c2rust.report.text import not_checked_line
from jarvis_workers.c2rust.report.wording import english
from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.escape import visible
from jarvis_workers.markup import Html, markup, page_head, script_data, written
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.unit import Category, ReferenceKind
from jarvis_workers.words import Words, worded

# The graph as compact JSON for the page's script: columns instead of objects, edges in compressed sparse rows.

CATEGORIES: tuple[Category, ...] = get_args(Category)
EDGE_KINDS: tuple[ReferenceKind, ...] = get_args(ReferenceKind)
# Longer names and signatures are cut: they are for reading.
TEXT_MAX = 500


class _Table(dict[Hashable, int]):
    """Map that assigns the next number to each new value."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]


def graph_data(
    graph: SymbolGraph,
    order: Sequence[OrderStep],
    roots: Iterable[int],
    conversion: Mapping[str, Any] | None = None,
    translations: Mapping[str, str] | None = None,
) -> Html:
    """Return the JSON of a graph with its order and roots, its conversion, and translations of the script's texts."""
    index = {symbol.id: place for place, symbol in enumerate(graph.symbols)}
    files, kinds, facts, outside = _Table(), _Table(), _Table(), _Table()
    functions = {name for one in graph.symbols if one.category == "function" for name in (one.name, one.qualified_name)}
    columns = {
        "name": [_text(symbol.qualified_name or symbol.name) for symbol in graph.symbols],
        "file": [files[visible(shown(symbol.extent.file))] for symbol in graph.symbols],
        "line": [symbol.extent.line for symbol in graph.symbols],
        "lines": [lines_of(symbol) for symbol in graph.symbols],
        "category": "".join(str(CATEGORIES.index(symbol.category)) for symbol in graph.symbols),
        "kind": [kinds[symbol.kind] for symbol in graph.symbols],
        "signature": _sparse(index, graph.symbols, lambda one: _text(one.signature)),
        "facts": _sparse(index, graph.symbols, lambda one: [facts[visible(fact)] for fact in one.facts]),
        "outside": _sparse(
            index, graph.symbols, lambda one: [outside[_text(name)] for name in one.calls if name not in functions]
        ),
        "incomplete": [index[symbol.id] for symbol in graph.symbols if not symbol.complete],
    }
    return script_data(
        {
            **columns,
            **_edges(graph.edges, index),
            **{name: value for name, value in (("conversion", conversion), ("say", translations)) if value},
            "files": list(files),
            "categories": CATEGORIES,
            "kinds": [visible(str(kind)) for kind in kinds],
            "edgeKinds": EDGE_KINDS,
            "factNames": list(facts),
            "outsideNames": list(outside),
            "roots": [index[number] for number in roots],
            "order": [_step(step, index) for step in order],
        }
    )


def _step(step: OrderStep, index: Mapping[int, int]) -> int | list[int]:
    numbers = [index[number] for number in step.ids]
    return numbers[0] if len(numbers) == 1 else numbers


def _text(text: str) -> str:
    return visible(text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…")


def _sparse(index: Mapping[int, int], symbols: Iterable[Symbol], value: Any) -> dict[int, Any]:
    """Return the non-empty values by symbol number."""
    return {index[symbol.id]: found for symbol in symbols if (found := value(symbol))}


def _edges(edges: Iterable[Edge], index: Mapping[int, int]) -> dict[str, Any]:
    """Return edges as the out-degree of each caller, the concatenated callees, and one digit per edge for its kind."""
    rows = defaultdict[int, list[tuple[int, int]]](list)
    for caller, callee, kind in edges:
        rows[index[caller]].append((index[callee], EDGE_KINDS.index(kind)))
    flat = [target for caller in range(len(index)) for target in rows.get(caller, ())]
    return {
        "degrees": [len(rows.get(caller, ())) for caller in range(len(index))],
        "callees": [callee for callee, _ in flat],
        "edgeKind": "".join(str(kind) for _, kind in flat),
    }


# Parts of the one script of the page, in their order.
SCRIPTS = ("model.js", "lists.js", "pictures.js", "views.js", "conversion.js", "page.js")
# Units listed in the page; the JSON report has all.
UNCHECKED_MAX = 500
# The tiles of a conversion, with the states of conversion.js.
ACCEPTED = {
    "mechanical": "In Rust",
    "translated": "Translated by the model",
    "replaced": "Replaced by a library",
    "forwarded": "With Rust signature",
}
STATES = {"refused": "Not supported", "not_checked": "Not checked", "different": "Different"}
# Kinds and facts of symbols that are words; keywords and names of attributes stay as they are.
SYMBOL_WORDS = (
    *("function", "variable", "macro", "struct", "union", "enum", "class", "method", "constructor", "destructor"),
    *("function template", "class template", "class template specialization", "type alias", "type alias template"),
    *("internal", "variadic", "indirect calls", "static locals", "computed goto", "inline asm", "statement expression"),
    *("generic selection", "thread local", "no prototype", "k and r", "asm label", "bit fields", "flexible array"),
    *("anonymous members", "not translatable", "function like", "empty", "complex", "vector", "atomic", "vla"),
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The text of a page besides the graph: the project's name, short facts, and what is missing from the graph.

    `details` are texts such as the path of the project and the time of the scan.  `units` counts all translation units,
    including those not checked.  `failures` are lines shown prominently.
    """

    title: str
    details: Sequence[str] = ()
    units: int = 0
    not_checked: Sequence[UncheckedUnit] = ()
    warnings: Sequence[str] = ()
    failures: Sequence[str] = ()


def render_page(
    graph: SymbolGraph,
    order: Sequence[OrderStep],
    roots: Iterable[int],
    facts: PageFacts,
    conversion: Mapping[str, Any] | None = None,
    say: Words = english,
) -> bytes:
    """Return the page as UTF-8; equal arguments produce equal bytes.

    With a `conversion`, as `conversion_data` returns it, the page shows the state of each function.
    """
    entries = tuple(roots)
    body = scan_body(graph, order, entries, units=facts.units, not_checked=facts.not_checked, warnings=facts.warnings)
    kind = say("conversion to Rust") if conversion else say("symbol graph")
    style, script = _asset("page.css"), "".join(map(_asset, SCRIPTS))
    page = Template(worded(_asset("page.html"), say)).substitute(
        head=page_head(say("{name}: {kind}", name=facts.title, kind=kind), style, script, language=say.code),
        kind=written(kind),
        name=written(facts.title),
        details=written(markup("<li>{detail}</li>", detail=detail) for detail in facts.details if detail),
        notices=written([*_failures(facts), *_notices(body, say)]),
        tiles=written(_tiles(body, conversion, say)),
        data=graph_data(graph, order, entries, conversion, say.of_script(script, SYMBOL_WORDS)),
        script=script,
    )
    return page.encode()


@cache
def _asset(name: str) -> str:
    """Return the text of a resource file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def _failures(facts: PageFacts) -> Iterator[Html]:
    yield from (markup('<p class="notice bad" role="alert">{line}</p>', line=line) for line in facts.failures)


def _notices(body: ScanBody, say: Words) -> Iterator[Html]:
    if body.not_checked:
        units = (
            markup("<li><code>{file}</code> {reason}</li>", file=unit.file, reason=unit.reason)
            for unit in body.not_checked[:UNCHECKED_MAX]
        )
        rest = len(body.not_checked) - UNCHECKED_MAX
        yield markup(
            '<details class="notice bad" id="not-checked" data-units="{number}"><summary>{text}</summary>'
            "<ul>{units}{more}</ul></details>",
            number=len(body.not_checked),
            text=not_checked_line(body, say),
            units=list(units),
            more=markup("<li>{more}</li>", more=say("and {number} more", number=f"{rest:,}")) if rest > 0 else "",
        )
    yield from (markup('<p class="notice">{warning}</p>', warning=warning) for warning in body.warnings)


def _tiles(body: ScanBody, conversion: Mapping[str, Any] | None, say: Words) -> Iterator[Html]:
    symbols, edges = body.symbols, body.edges
    counts = Counter(one["cause"] or one["state"] for one in conversion["functions"].values()) if conversion else {}
    by_model = {state: ACCEPTED[state] for state in BY_MODEL if counts.get(state)}
    states = {**by_model, conversion["accepted"]: ACCEPTED[conversion["accepted"]], **STATES} if conversion else {}
    for state, label in states.items():
        yield _tile(say(label), counts[state], f"view=conversion&state={state}")
    numbers = (
        (say("Functions"), symbols.get("function", 0), "view=symbols&category=function"),
        (say("Function lines"), body.lines, "view=symbols&category=function&sort=lines"),
        (say("Files"), body.files, "view=files"),
        (say("Calls"), edges.get("call", 0), "view=symbols&category=function&sort=users"),
        (say("Roots"), len(body.roots), "view=roots"),
        (say("Cycles"), len(body.cycles), "view=cycles"),
        (say("Types"), symbols.get("type", 0), "view=symbols&category=type"),
        (say("Globals"), symbols.get("global", 0), "view=symbols&category=global"),
        (say("Macros"), symbols.get("macro", 0), "view=symbols&category=macro"),
    )
    for label, number, target in numbers[: len(numbers) - len(counts and STATES)]:
        yield _tile(label, number, target)


def _tile(label: str, number: int, target: str) -> Html:
    tile = '<a class="tile" href="#{target}"><b>{number}</b><span>{label}</span></a>'
    return markup(tile, target=target, number=f"{number:,}", label=label)
