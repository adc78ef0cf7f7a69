"""Read small C sources in tests."""

import os
from pathlib import Path

from jarvis_workers.source.clang.read import read_unit
from jarvis_workers.source.clang.unit import CompileCommand, Unit, UnitSymbol
from jarvis_workers.toolchain.headers import builtin_headers


class ReadUnit:
    """A unit, with access to symbols and references by name."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.by_key = {symbol.key: symbol for symbol in unit.symbols}
        self._names = {key: symbol.name for key, symbol in self.by_key.items()} | dict(unit.externals)

    def symbol(self, name: str) -> UnitSymbol:
        """Return the only symbol with a name."""
        (symbol,) = [symbol for symbol in self.unit.symbols if symbol.name == name]
        return symbol

    def facts(self, name: str) -> set[str]:
        return set(self.symbol(name).facts)

    def uses(self, name: str) -> dict[str, set[str]]:
        """Return the names that a symbol refers to, by kind of reference."""
        uses: dict[str, set[str]] = {}
        for one in self.unit.references:
            if self._names[one.source] == name:
                uses.setdefault(one.kind, set()).add(self._names[one.target])
        return uses

    def calls(self, name: str) -> set[str]:
        return self.uses(name).get("call", set())

    @property
    def names(self) -> list[str]:
        return [symbol.name for symbol in self.unit.symbols]


def read_files(root: Path, files: dict[str | bytes, str | bytes], *arguments: str) -> ReadUnit:
    """Write files below the root, and read the first of them."""
    for name, words in files.items():
        path = root / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(words if isinstance(words, bytes) else words.encode())
    return read_file(root, next(iter(files)), *arguments)


def read_file(root: Path, file: str | bytes, *arguments: str, directory: bytes = b"") -> ReadUnit:
    command = CompileCommand(os.fsencode(file), directory, arguments)
    return ReadUnit(read_unit(root, command, builtin_headers(None)))


def read_source(root: Path, source: str, *arguments: str) -> ReadUnit:
    """Read a source file "unit.c"."""
    return read_files(root, {"unit.c": source}, *arguments)
