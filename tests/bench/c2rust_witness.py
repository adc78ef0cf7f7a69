"""Compare the graphs of C libraries with a second source: the symbols and relocations of unoptimized objects.

    python -m tests.bench.c2rust_witness TREES [NAME …]

TREES has a directory per library of LIBRARIES.  Each is built with its own build system and a recording compiler
(c2rust_recorder.py), and libclang parses the recorded compilations. Functions of the project are compared by file and
name, calls between them by caller and callee.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.source.clang.read import read_unit
from jarvis_workers.source.clang.unit import Unit, parser_arguments
from jarvis_workers.toolchain.headers import builtin_headers
from tests.bench.c2rust_objects import NamedCall, ObjectCode, calls_of_dump, read_object
from tests.bench.c2rust_recording import LIBRARIES, Compilation, record_build

FOLDED = "under a constant condition, removed by gcc at -O0"
FOR_CLANG = "compiled for clang, whose __GNUC__ is 4, but not for gcc"
# Differences that no dump of gcc shows, by library and callee.
EXPLAINED = {
    # sizeof(n) >= sizeof(size_t) && … ? luaM_toobig(L) : 0, of a smaller type.
    ("lua", "luaM_toobig"): FOLDED,
    # (time_t)t == t || luaL_argerror(…), of the same type.
    ("lua", "luaL_argerror"): FOLDED,
    # GCC_VERSION>=5004000 has __builtin_sub_overflow instead.
    ("redis-full", "luaM_toobig"): FOLDED,
    ("sqlite3", "sqlite3AddInt64"): FOR_CLANG,
}


class FunctionName(NamedTuple):
    """A function by its file relative to the root, and its name."""

    file: str
    name: str


class CallEdge(NamedTuple):
    caller: FunctionName
    callee: FunctionName


class CodeView(NamedTuple):
    """The functions of a project and the direct calls between them, according to one source."""

    functions: frozenset[FunctionName]
    calls: frozenset[CallEdge]


class Comparison(NamedTuple):
    """The functions and calls of the graph (`ours`) and of the objects (`theirs`);

    `unreachable` are calls that gcc removes.
    """

    library: str
    units: Sequence[Unit]
    not_compiled: Sequence[Compilation]
    ours: CodeView
    theirs: CodeView
    unreachable: frozenset[CallEdge]

    @property
    def agreements(self) -> tuple[float, float, float, float]:
        """The percentages of our functions in the objects and of theirs in the graph, and the same for calls."""
        functions, calls = (self.ours.functions, self.theirs.functions), (self.ours.calls, self.theirs.calls)
        return (_share(*functions), _share(*functions[::-1]), _share(*calls), _share(*calls[::-1]))

    def reason(self, edge: CallEdge) -> str:
        """Return why a call is only in the graph, or ""."""
        if edge in self.unreachable:
            return "unreachable, removed by gcc at -O0"
        if not self.theirs.functions.issuperset(edge):
            return FOR_CLANG
        return EXPLAINED.get((self.library, edge.callee.name), "")

    @property
    def unexplained(self) -> list[CallEdge]:
        ours = [edge for edge in self.ours.calls - self.theirs.calls if not self.reason(edge)]
        return sorted([*ours, *(self.theirs.calls - self.ours.calls)])


def _share(one: frozenset[object], other: frozenset[object]) -> float:
    return 100 * len(one & other) / max(1, len(one))


def compare(name: str, tree: Path, work: Path) -> Comparison:
    """Build a copy of the library `name` below `work` and compare."""
    root = Path(os.path.realpath(work)) / name
    shutil.copytree(tree, root, symlinks=True)
    compilations = record_build(root, name, work)
    units = list(read_units(root, compilations))
    compiled = [one for one in compilations if one.object.exists()]
    objects = [disassembled(one.object) for one in compiled]
    dumps = [calls_of_dump(one.dump.read_text(errors="replace")) for one in compiled]
    return Comparison(
        name,
        units,
        [one for one in compilations if one.code],
        graph_view(link_units(units)),
        object_view(root, objects),
        object_view(root, [code._replace(calls=calls) for code, calls in zip(objects, dumps, strict=True)]).calls,
    )


def read_units(root: Path, compilations: list[Compilation]) -> Iterator[Unit]:
    """Parse the compilations; those with equal arguments for clang are parsed once."""
    headers = builtin_headers(None)
    parsed = set[tuple[bytes, tuple[bytes, ...]]]()
    for one in compilations:
        parsing = (one.command.file, tuple(parser_arguments(bytes(root), one.command, headers)))
        if parsing not in parsed:
            parsed.add(parsing)
            yield read_unit(root, one.command, headers)


def disassembled(path: Path) -> ObjectCode:
    symbols, disassembly = (
        subprocess.run([*words, path], check=True, capture_output=True, text=True).stdout
        for words in (["readelf", "-sW"], ["objdump", "-dlrw", "--no-show-raw-insn"])
    )
    return read_object(symbols, disassembly)


def object_view(root: Path, objects: list[ObjectCode]) -> CodeView:
    """Resolve the calls of objects as the linker does: functions of the same object first, then those of any."""
    named = [{name: _named(root, file, name) for name, file in code.files.items()} for code in objects]
    exported = defaultdict[str, set[FunctionName]](set)
    for code, names in zip(objects, named, strict=True):
        for name in names.keys() - code.local:
            exported[name] |= {names[name]}
    calls = {
        CallEdge(names[call.caller], target)
        for code, names in zip(objects, named, strict=True)
        for call in code.calls
        if call.caller in names
        for target in _targets(call, names, exported)
    }
    functions = frozenset(function for names in named for function in names.values() if _inside(function))
    return CodeView(functions, frozenset(edge for edge in calls if all(map(_inside, edge))))


def _targets(
    call: NamedCall, names: dict[str, FunctionName], exported: dict[str, set[FunctionName]]
) -> list[FunctionName]:
    """Return the callee: the first by file, as in a graph, since objects do not record which program they belong to."""
    return [names[call.callee]] if call.callee in names else sorted(exported.get(call.callee, ()))[:1]


def _named(root: Path, file: str, name: str) -> FunctionName:
    return FunctionName(os.path.relpath(os.path.realpath(file), root), name)


def _inside(function: FunctionName) -> bool:
    return not function.file.startswith("../")


def graph_view(graph: SymbolGraph) -> CodeView:
    names = {
        symbol.id: FunctionName(os.fsdecode(symbol.extent.file), symbol.name)
        for symbol in graph.symbols
        if symbol.category == "function"
    }
    calls = [edge for edge in graph.edges if edge.kind == "call" and edge.caller in names]
    return CodeView(
        frozenset(names.values()), frozenset(CallEdge(names[edge.caller], names[edge.callee]) for edge in calls)
    )


def lines(found: Comparison) -> Iterator[str]:
    """Yield a table row of the comparison, then the differences."""
    sizes = [len(view[part]) for part in (0, 1) for view in (found.ours, found.theirs)]
    errors = [unit for unit in found.units if unit.errors]
    shares = " | ".join(f"{share:.2f}" for share in found.agreements)
    counts = " | ".join(str(number) for number in (len(found.units), len(errors), *sizes))
    yield f"| {found.library} | {counts} | {shares} |"
    yield from (f"  error: {unit.errors[0]}" for unit in errors)
    yield from (f"  not compiled: {one.command}" for one in found.not_compiled)
    for title, one, other in (("only ours", found.ours, found.theirs), ("only theirs", found.theirs, found.ours)):
        yield from (
            f"  {title}: {function.file} {function.name}" for function in sorted(one.functions - other.functions)
        )
        for edge in sorted(one.calls - other.calls):
            reason = "not explained" if edge in found.unexplained else found.reason(edge)
            yield f"  {title}: {edge.caller.file} {edge.caller.name} -> {edge.callee.file} {edge.callee.name}: {reason}"


def main() -> None:
    trees, names = Path(sys.argv[1]), sys.argv[2:] or list(LIBRARIES)
    print("| library | units | errors | functions | of objects | calls | of objects | agreement |")
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            print(*lines(compare(name, trees / name, Path(work))), sep="\n", flush=True)


if __name__ == "__main__":
    main()
