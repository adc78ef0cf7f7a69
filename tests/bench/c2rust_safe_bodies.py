"""Hand-written safe bodies for a library: `python -m tests.bench.c2rust_safe_bodies TREE`.

TREE is a library of c2rust_projects.COMMANDS with bodies in tests/data/c2rust.  A scripted model answers with them in
`jarvis c2rust transpile`, which runs with its default options.  Then the crate is examined without the product: its
unsafe code by c2rust_unsafe_blocks, the operations in it by rustc.  The tests run as programs of the crate, and in C,
linked with its static library.  Prints a line per function, and at the end what is missing, with exit code 1:

- a function with a Rust signature that is not translated;
- unsafe code in a function whose signature and types hold no raw pointer, other than in its shim;
- an unsafe block with no operation or several, or without SAFETY comment, or an operation outside of blocks;
- a test that fails, or a difference between the report and the second counter.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, run
from typing import Any, NamedTuple

from jarvis_workers.source.rust.rust_items import RustItem, read_items
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import HEAD, task_of, with_reviews
from tests.bench.c2rust_projects import COMMANDS
from tests.bench.c2rust_unsafe_blocks import Block, blocks_of, sources, unsafe_code_lines, unsafe_operations
from tests.chaos.conversations import set_model

BODIES = Path(__file__).parents[1] / "data" / "c2rust"
WORD = re.compile(r"\w+")
RAW = re.compile(r"\*(?:const|mut)\b")
TYPES = re.compile(r"^Types \(.*\n\n((?:[^\s\w].*\n)+)", re.MULTILINE)
FUNCTION = re.compile(r"^(?:pub\S* )?(?:unsafe )?fn rust_(\w+)\(.*?^\}$", re.MULTILINE | re.DOTALL)
# Where the report does not count.
GENERATED = ("types.rs", "c.rs", "golden_tests.rs")


class Planned(NamedTuple):
    """A function that the model was asked about, and whether its signature or its types hold a raw pointer."""

    head: str
    is_raw: bool


class UnsafeCode(NamedTuple):
    """The unsafe code in the body of a function: blocks, their lines, blocks that are wrong, operations outside."""

    blocks: int
    lines: int
    wrong: int
    outside: int


def bodies_of(text: str) -> dict[str, str]:
    """Return the functions `rust_NAME` by name; each has the other items that it mentions inside its body."""
    items = list(read_items(text))
    shared = {_name(one): one for one in items if not one.name.startswith("rust_")}
    return {one.name[5:]: _complete(one, shared) for one in items if one.name.startswith("rust_")}


def _name(item: RustItem) -> str:
    """Return the name that an item defines; for `use`, that of what it imports."""
    return item.name if item.kind != "use" else WORD.findall(item.text)[-1]


def _complete(function: RustItem, shared: Mapping[str, RustItem]) -> str:
    mentioned, new = set[str](), WORD.findall(function.text)
    while names := {one for one in new if one in shared} - mentioned:
        mentioned |= names
        new = [word for one in names for word in WORD.findall(shared[one].text)]
    inside = (one.definition for name, one in shared.items() if name in mentioned)
    head, brace, rest = function.text.partition("{\n")
    lines = "\n".join(inside).splitlines()
    return head + brace + "".join(f"    {line}\n" for line in lines) + rest


class Answers:
    """A model that answers with bodies; `planned` are the functions that it was asked about."""

    def __init__(self, bodies: Mapping[str, str]) -> None:
        self._bodies, self.planned = bodies, dict[str, Planned]()

    def __call__(self, body: Body) -> Step:
        task = task_of(body)
        head, types = HEAD.search(task), TYPES.search(task)
        assert head, task
        self.planned[head[2]] = Planned(head[1], bool(RAW.search(head[1] + (types[1] if types else ""))))
        return calls("submit_report", rust=self._bodies.get(head[2], ""))

    @property
    def unused(self) -> set[str]:
        return self._bodies.keys() - self.planned.keys()


class Conversion:
    """A conversion of a copy of a library."""

    def __init__(self, tree: Path, place: Path) -> None:
        sources = shutil.copytree(tree, place / tree.name, ignore=shutil.ignore_patterns(".git", ".jarvis"))
        self.tree, self.place, self.crate = Path(sources), place, place / "crate"
        self.commands = COMMANDS[tree.name]
        self.environ = {**os.environ, "JARVIS_DATA_DIR": str(place / "data"), "PYTHONPATH": str(Path.cwd())}

    def run(self, model: Answers) -> int:
        """Run the command with its default options; return the exit code."""
        words = ["-p", str(self.tree), "-o", str(self.crate), "--build", self.commands.build]
        words += ["--configure", self.commands.configure] if self.commands.configure else []
        words += [word for test in self.commands.tests for word in ("--test", test)]
        with ModelServer(forever=with_reviews(model)) as server:
            set_model(self.place, server, profile="deepseek")
            return self._jarvis("c2rust", "transpile", *words, stdout=DEVNULL).returncode

    def report(self) -> Mapping[str, Any]:
        """Return the report on the conversion."""
        text = self._jarvis("runs", "report", "last", "--format", "json", stdout=PIPE).stdout
        found: dict[str, Any] = json.loads(text)["conversion"]
        return found

    def _jarvis(self, *words: str, stdout: int) -> CompletedProcess[bytes]:
        command = [sys.executable, "-m", "jarvis_cli", *words]
        return run(command, env=self.environ, cwd=self.place, stdout=stdout, stderr=DEVNULL, check=False)

    def programs(self) -> Iterator[tuple[str, int]]:
        """Yield the tests with their exit codes: of `cargo test`, programs of the crate, and C programs."""
        yield "cargo test", self._in_crate("cargo", "test", "--offline", "--quiet")
        yield "cargo build", self._in_crate("cargo", "build", "--offline", "--quiet")
        for program in sorted((self.crate / "src" / "bin").glob("*.rs")):
            yield f"{program.stem}, of the crate", self._in_crate(f"target/debug/{program.stem}")
        for source in sorted(self.tree.glob(self.commands.oracles)):
            # Its own functions come first, those of the library from the crate.
            words = ("-Wl,--allow-multiple-definition", str(source), "target/debug/liblibcrate.a", "-lm", "-o", "in_c")
            yield f"{source.name}, linked", self._in_crate("cc", *words)
            yield f"{source.name} in C, with the library in Rust", self._in_crate("./in_c")

    def _in_crate(self, *command: str) -> int:
        return run(command, cwd=self.crate, stdout=DEVNULL, stderr=DEVNULL, check=False).returncode


def unsafe_code(crate: Path, target: Path) -> dict[str, UnsafeCode]:
    """Return the unsafe code of each translated function of a crate, without its shim."""
    files = {file: file.read_text() for file in modules(crate)}
    blocks = [block for file in files for block in blocks_of(file)]
    operations = unsafe_operations(crate, blocks, target)
    found = dict[str, UnsafeCode]()
    for file, text in files.items():
        for function in FUNCTION.finditer(text):
            start, end = function.span()
            own = [one for one in blocks if one.file == file and start <= one.start < end]
            inside = [one for one in operations if one.file == file and start <= one.start < end]
            wrong = sum(sum(map(one.contains, inside)) != 1 or not _is_explained(text, one) for one in own)
            outside = sum(not any(one.contains(operation) for one in own) for operation in inside)
            lines = {line for one in own for line in range(_line(text, one.start), _line(text, one.end) + 1)}
            found[function[1]] = UnsafeCode(len(own), len(lines), wrong, outside)
    return found


def modules(crate: Path) -> list[Path]:
    """Return the files of which the report counts unsafe code."""
    return [file for file in sources(crate / "src") if file.name not in GENERATED]


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset)


def _is_explained(text: str, block: Block) -> bool:
    """Return whether a SAFETY comment stands on the line before that of a block."""
    lines = text[: block.start].split("\n")
    return len(lines) > 1 and lines[-2].lstrip().startswith("// SAFETY: ")


def missing(
    functions: Sequence[Mapping[str, Any]], planned: Mapping[str, Planned], code: Mapping[str, UnsafeCode]
) -> Iterator[str]:
    """Yield what is missing of the functions of a report."""
    for one in functions:
        name, state = one["name"], one["state"]
        why = one["reason"] or one["not_translated"]
        if state != "translated" and (name in planned or not why):
            yield f"{name} is {state}: {why}"
    for name, plan in planned.items():
        found = code.get(name, UnsafeCode(0, 0, 0, 0))
        if found.wrong or found.outside:
            yield f"{name}: {found.wrong} blocks without one operation, {found.outside} operations in no block"
        if found.blocks and not plan.is_raw:
            yield f"{name} has unsafe code, but no raw pointer in its signature and types"


def show(
    functions: Sequence[Mapping[str, Any]], planned: Mapping[str, Planned], code: Mapping[str, UnsafeCode]
) -> None:
    """Print a line per function, and the totals."""
    for one in functions:
        if one["state"] == "translated" and (found := code.get(one["name"])):
            mark = "raw " if planned[one["name"]].is_raw else "safe"
            _print(f"{mark} {found.blocks:3} blocks {found.lines:3} lines  {planned[one['name']].head}")
    for one in functions:
        if one["state"] != "translated":
            _print(f"{one['name']} ({one['file']}) is {one['state']}: {one['reason'] or one['not_translated']}")
    translated = [one["name"] for one in functions if one["state"] == "translated"]
    _print(f"{len(functions)} functions, {len(planned)} with a Rust signature, {len(translated)} translated")
    for is_raw, what in ((False, "no raw pointer"), (True, "raw pointers")):
        names = [name for name in translated if planned[name].is_raw == is_raw]
        blocks, free = sum(code[name].blocks for name in names), sum(not code[name].blocks for name in names)
        _print(f"{len(names)} with {what} in signature and types: {blocks} unsafe blocks; {free} without any")


def main(tree: Path) -> int:
    """Convert a library and print the results; return the exit code."""
    answers = Answers(bodies_of((BODIES / f"{tree.name}_bodies.rs").read_text()))
    with tempfile.TemporaryDirectory() as place:
        conversion = Conversion(tree, Path(place))
        ended, report = conversion.run(answers), conversion.report()
        code = unsafe_code(conversion.crate, Path(place, "target"))
        show(report["functions"], answers.planned, code)
        problems = [f"the exit code of the command is {ended}"] if ended else []
        problems += missing(report["functions"], answers.planned, code)
        problems += [f"{name}: there was no question" for name in sorted(answers.unused)]
        of_report = (report["metrics"][1], report["metrics"][3])
        files = modules(conversion.crate)
        counted = (sum(len(list(blocks_of(file))) for file in files), unsafe_code_lines(files))
        _print(f"unsafe blocks and lines, with shims: {of_report} in the report, {counted} by the second counter")
        problems += ["the counters differ"] if of_report != counted else []
        tests = [(f"{one['command']} in the run", int(not one["passed"])) for one in report["suites"]]
        tests += [(f"{name} in the run: {detail or '-'}", int(not passed)) for name, passed, detail in report["crate"]]
        tests += conversion.programs()
    for name, failed in tests:
        _print(f"{name}: {'FAILS' if failed else 'passes'}")
        problems += [f"{name} fails"] if failed else []
    _print("\n".join(["missing:", *problems]) if problems else "nothing is missing")
    return int(bool(problems))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    sys.exit(main(parser.parse_args().tree.resolve()))
