"""Read symbols.jsonl, including files that were edited by users or written by the original scanner.

Unknown fields, and references to symbols that were removed, are ignored with a warning; an invalid line is an error
with its number. In older files, references are names, or are only in `refs` or `calls`.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jarvis_workers.c2rust.library_replacement import LibraryReplacement
from jarvis_workers.c2rust.order import order_by_depth, translation_order
from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.constraints import located
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, leaves_the_root, listing, plain, shown
from jarvis_workers.source.clang.unit import Category, CParameter, Extent, Language, ReferenceKind

# Written by the original's scanner, not needed here.
_IGNORED = frozenset({"created_at", "updated_at", "underlying_type"})
_CPP = frozenset({"cpp", "cxx", "cc"})
_KINDS: Mapping[Category, ReferenceKind] = {"type": "type", "global": "global", "macro": "macro"}
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SymbolFile:
    """The contents of a file; if no line has references, the edges are those of calls by name."""

    graph: SymbolGraph
    warnings: tuple[str, ...] = ()
    has_references: bool = True


class ParameterLine(BaseModel):
    """An element of `params`."""

    name: str = ""
    type: str = ""


def _language(value: object) -> object:
    return "c++" if isinstance(value, str) and value.lower() in _CPP else value


class SymbolLine(BaseModel):
    """A line; `ref` are ids or, in older files, names."""

    model_config = ConfigDict(extra="allow")

    id: int = Field(ge=0)
    key: str = ""
    category: Category = "function"
    kind: str = ""
    name: str
    qualified_name: str = ""
    signature: str = ""
    return_type: str = ""
    params: tuple[ParameterLine, ...] = ()
    ref: tuple[int | str, ...] | None = Field(default=None, validation_alias=AliasChoices("ref", "refs"))
    calls: tuple[str, ...] | None = None
    language: Annotated[Language, BeforeValidator(_language)] = "c"
    file: str = ""
    start_line: int = Field(default=0, ge=0)
    start_col: int = Field(default=0, ge=0)
    end_line: int = Field(default=0, ge=0)
    end_col: int = Field(default=0, ge=0)
    compile_args_hash: str = ""
    source_hash: str = ""
    facts: tuple[str, ...] = ()
    complete: bool = True
    lib_replacement: LibraryReplacement | None = None

    @property
    def references(self) -> tuple[int | str, ...]:
        """The symbols that it uses: none if libraries replace it."""
        return () if self.lib_replacement else (self.calls or ()) if self.ref is None else self.ref


def read_symbols(lines: Iterable[str], file: str, root: bytes = b"") -> SymbolFile:
    """Return the symbols in a file; absolute paths below `root` become relative.

    Raises UsageError with the file and the number of an invalid line.
    """
    read = sorted(_checked(lines, file), key=lambda line: line.id)
    symbols = tuple(_symbol(line, root) for line in read)
    names = _Names(symbols)
    edges: set[Edge] = set()
    missing: set[str] = set()
    for line, symbol in zip(read, symbols, strict=True):
        for reference in line.references:
            if target := names.target(reference, symbol):
                edges.add(Edge(symbol.id, target.id, _kind(target, line)))
            elif line.ref is not None:
                missing.add(str(reference))
    warnings = [f"{file}: {warning}" for warning in _warnings(read, missing)]
    return SymbolFile(SymbolGraph(symbols, tuple(sorted(edges))), tuple(warnings), _has_references(read))


def _checked(lines: Iterable[str], file: str) -> Iterator[SymbolLine]:
    numbers: dict[int, int] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        line = _parsed(text, f"{file}:{number}")
        if line.id in numbers:
            raise UsageError(f"{file}:{number}: id {line.id} is already used on line {numbers[line.id]}")
        numbers[line.id] = number
        yield line


def _parsed(text: str, place: str) -> SymbolLine:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise UsageError(f"{place}: not a JSON object")
    try:
        line = SymbolLine.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        raise UsageError(f"{place}: {located(error.errors()[0])}") from error
    path = from_shown(line.file)
    if path and not path.startswith(b"/") and leaves_the_root(path):
        raise UsageError(f"{place}: file: {line.file!r} is not below the project root")
    return line


def _symbol(line: SymbolLine, root: bytes) -> Symbol:
    path = from_shown(line.file).removeprefix(root.rstrip(b"/") + b"/" if root else b"")
    return Symbol(
        id=line.id,
        key=line.key or f"{shown(path)}#{line.category}#{line.qualified_name or line.name}",
        category=line.category,
        kind=line.kind or line.category,
        name=line.name,
        qualified_name=line.qualified_name or line.name,
        extent=Extent(path, line.start_line, line.start_col, line.end_line, line.end_col),
        language=line.language,
        signature=line.signature,
        return_type=line.return_type,
        parameters=tuple(CParameter(one.name, one.type) for one in line.params),
        source_hash=line.source_hash,
        facts=line.facts,
        calls=tuple(sorted({*line.calls})) if line.calls else (),
        complete=line.complete,
        arguments_hash=line.compile_args_hash,
        replacement=line.lib_replacement,
    )


class _Names:
    """Resolves references: ids, or names, for which a symbol in the same file is preferred."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._ids: dict[int, Symbol] = {}
        self._named: defaultdict[str, list[Symbol]] = defaultdict(list)
        for symbol in symbols:
            self._ids[symbol.id] = symbol
            for name in {symbol.name, symbol.qualified_name}:
                self._named[name].append(symbol)

    def target(self, reference: int | str, source: Symbol) -> Symbol | None:
        if isinstance(reference, int):
            return self._ids.get(reference)
        candidates = self._named.get(reference, [])
        return min(candidates, key=lambda one: (one.extent.file != source.extent.file, one.id), default=None)


def _kind(target: Symbol, line: SymbolLine) -> ReferenceKind:
    """Return the kind of a reference: "address" for a function that is not in `calls`."""
    if target.category != "function":
        return _KINDS[target.category]
    return "call" if line.calls is None or {target.name, target.qualified_name} & {*line.calls} else "address"


def _has_references(read: Sequence[SymbolLine]) -> bool:
    return not read or any(line.ref is not None for line in read)


def _warnings(read: Sequence[SymbolLine], missing: set[str]) -> Iterator[str]:
    unknown = {name for line in read for name in line.model_extra or ()} - _IGNORED
    if unknown:
        yield f"unknown fields are ignored: {_some(unknown)}"
    if missing:
        yield f"references to symbols that are not in the file are ignored: {_some(missing)}"
    if not _has_references(read):
        yield 'no symbol has the field "ref": calls are matched by name, and ordered by depth'


def _some(names: set[str]) -> str:
    return listing([plain(name) for name in sorted(names)], _NAMES_SHOWN)


# Read translation_order.jsonl, which a user may have edited, or recompute the order.


class TranslationOrder(NamedTuple):
    """The steps of an order; `reason` explains why a file was not used, and is empty if it was."""

    steps: tuple[OrderStep, ...]
    reason: str = ""


class OrderLine(BaseModel):
    """A line of the file; the older form lacks `items`."""

    model_config = ConfigDict(extra="ignore")

    ids: tuple[int, ...] = Field(min_length=1)
    items: tuple[dict[str, object], ...] | None = None


def read_order(lines: Iterable[str] | None, symbols: SymbolFile, delayed: Collection[str] = ()) -> TranslationOrder:
    """Return the order in a file, or a new order if the file is missing (None), empty or invalid, or does not match."""
    steps, reason = _parse(lines) if lines is not None else ((), "is missing")
    if reason := reason or _misfit(steps, symbols.graph):
        return TranslationOrder(compute_order(symbols, delayed), reason)
    return TranslationOrder(steps)


def compute_order(symbols: SymbolFile, delayed: Collection[str] = ()) -> tuple[OrderStep, ...]:
    """Compute the order of symbols, by the depth of their calls if the file has no references."""
    compute = translation_order if symbols.has_references else order_by_depth
    return tuple(compute(symbols.graph, delayed))


def _parse(lines: Iterable[str]) -> TranslationOrder:
    steps = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = OrderLine.model_validate(json.loads(text))
        except (ValueError, RecursionError):
            return TranslationOrder((), f"has an invalid step on line {number}")
        if line.items is None:
            return TranslationOrder((), f'has an older format, without "items" (line {number})')
        steps.append(OrderStep(line.ids))
    return TranslationOrder(tuple(steps), "" if steps else "is empty")


def _misfit(steps: Iterable[OrderStep], graph: SymbolGraph) -> str:
    """Return why the steps do not match the symbols, or an empty string."""
    count = Counter(number for step in steps for number in step.ids)
    if unknown := sorted(count.keys() - graph.by_id.keys()):
        return f"contains ids of unknown symbols, such as {unknown[0]}"
    if twice := sorted(number for number, times in count.items() if times > 1):
        return f"contains id {twice[0]} more than once"
    functions = {symbol.id for symbol in graph.symbols if symbol.category == "function"}
    if left_out := sorted(functions - count.keys()):
        return f"lacks functions, such as {plain(graph.by_id[left_out[0]].name)} (id {left_out[0]})"
    return ""
