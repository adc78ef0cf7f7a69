"""Units and graphs of small artificial projects."""

from collections.abc import Iterable
from dataclasses import replace

from jarvis_workers.source.clang.unit import Category, Diagnostic, Extent, Reference, ReferenceKind, Unit, UnitSymbol

KINDS: dict[Category, str] = {"function": "function", "type": "struct", "global": "variable", "macro": "macro"}


def symbol(
    name: str,
    file: str = "a.c",
    line: int = 1,
    *,
    category: Category = "function",
    key: str = "",
    defined: bool = True,
    facts: tuple[str, ...] = (),
) -> UnitSymbol:
    """Return a symbol of one line whose key is its name, unless another one is given."""
    return UnitSymbol(
        key=key or f"c:@{category[0]}@{name}",
        category=category,
        kind=KINDS[category],
        name=name,
        qualified_name=name,
        extent=Extent(file.encode("utf-8", "surrogateescape"), line, 1, line, 10),
        language="c",
        signature=f"void {name}(void)" if category == "function" else "",
        return_type="void" if category == "function" else "",
        source_hash=f"{file}:{line}",
        is_definition=defined,
        facts=facts,
    )


def static(name: str, file: str, line: int = 1) -> UnitSymbol:
    return symbol(name, file, line, key=f"{file}#c:@F@{name}", facts=("internal",))


def calls(caller: UnitSymbol, *callees: UnitSymbol, kind: ReferenceKind = "call") -> list[Reference]:
    return [Reference(caller.key, callee.key, kind) for callee in callees]


def unit(
    file: str,
    symbols: Iterable[UnitSymbol],
    references: Iterable[Reference] = (),
    *,
    externals: Iterable[tuple[str, str]] = (),
    error: str = "",
) -> Unit:
    diagnostics = (Diagnostic("error", file.encode(), 1, 1, error),) if error else ()
    return Unit(
        file=file.encode("utf-8", "surrogateescape"),
        language="c",
        arguments_hash=f"arguments of {file}",
        symbols=tuple(symbols),
        references=tuple(references),
        externals=tuple(externals),
        diagnostics=diagnostics,
    )


def declared(definition: UnitSymbol, file: str = "a.h", line: int = 1) -> UnitSymbol:
    """Return a declaration of a symbol that is defined elsewhere."""
    return replace(definition, extent=Extent(file.encode(), line, 1, line, 10), is_definition=False)
