"""Which unsafe blocks of a crate can be removed alone: a second counter, which reads Rust without the product.

`python -m tests.bench.c2rust_unsafe_blocks CRATE`: all blocks of one nesting depth are removed together, and `cargo
check` says which of them hold an operation that needs one; a block without such an operation is then removed alone.
With `--one-block COPY`, it writes a copy of the crate in which each body with unsafe operations is in one block.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'"""
    r"""|(?P<open>\bunsafe\s*\{)|(?P<brace>\{)|(?P<close>\})""",
    re.DOTALL,
)
KEYWORD = "unsafe"
# Without literals; not the type of a function.
UNSAFE = re.compile(r"\bunsafe\b(?!\s*(?:extern\s+)?fn\s*\()")
HEAD = re.compile(r"^(?:pub(?:\([a-z ]+\))? )?unsafe (?:extern \"C\" )?fn [^;{]*\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
LINT = "unsafe_op_in_unsafe_fn"


class Operation(NamedTuple):
    """An operation that needs an unsafe block: its file and offsets."""

    file: Path
    start: int
    end: int


class Block(NamedTuple):
    """An unsafe block: its file, the offsets of its keyword and its end, and how many such blocks enclose it."""

    file: Path
    start: int
    end: int
    depth: int

    def contains(self, operation: Operation) -> bool:
        """Return whether an operation is in the block."""
        return self.file == operation.file and self.start < operation.start < self.end


def blocks_of(file: Path) -> Iterator[Block]:
    """Yield the unsafe blocks of a file."""
    stack: list[tuple[int, bool]] = []
    for token in TOKEN.finditer(file.read_text()):
        if token["open"] or token["brace"]:
            stack.append((token.start(), bool(token["open"])))
        elif token["close"] and stack:
            start, is_block = stack.pop()
            if is_block:
                yield Block(file, start, token.end(), sum(unsafe for _, unsafe in stack))


def unsafe_lines(crate: Path) -> int:
    """Return the number of lines in unsafe blocks."""
    return sum(len(_lines(file.read_text(), blocks_of(file))) for file in sources(crate))


def _lines(text: str, blocks: Iterable[Block]) -> set[int]:
    ends = ((text.count("\n", 0, one.start), text.count("\n", 0, one.end)) for one in blocks)
    return {line for first, last in ends for line in range(first, last + 1)}


def unsafe_code_lines(files: Iterable[Path]) -> int:
    """Return the number of lines in unsafe blocks, functions and implementations."""
    return sum(len(_lines(file.read_text(), _unsafe_code(file))) for file in files)


def _unsafe_code(file: Path) -> Iterator[Block]:
    """Yield the extents that begin with `unsafe` and end with a brace."""
    text = file.read_text()
    code = TOKEN.sub(lambda one: one[0] if one["open"] or one["brace"] or one["close"] else _blank(one[0]), text)
    stack, last = list[tuple[str, int]](), 0
    for mark in re.finditer(r"[][(){};]", code):
        found = UNSAFE.search(code, last, mark.start()) if mark[0] == "{" else None
        if mark[0] in "([{":
            stack.append((mark[0], found.start() if found else -1))
        elif mark[0] in ")]}" and stack and (start := stack.pop()[1]) >= 0:
            yield Block(file, start, mark.end(), len(stack))
        if mark[0] in "{}" or (mark[0] == ";" and (not stack or stack[-1][0] == "{")):
            last = mark.end()


def _blank(text: str) -> str:
    return re.sub(r"\S", " ", text)


def sources(crate: Path) -> list[Path]:
    """Return the Rust files of a crate."""
    return sorted(path for path in crate.rglob("*.rs") if not {"target", "vendor"} & set(path.parts))


def removable(crate: Path, target: Path) -> Iterator[str]:
    """Yield the places of the blocks without which the crate compiles; the files are as before at the end."""
    found = [block for file in sources(crate) for block in blocks_of(file)]
    for depth in sorted({block.depth for block in found}):
        level = [block for block in found if block.depth == depth]
        needed = _needed(crate, level, target)
        for block in level:
            if block not in needed and block not in _needed(crate, [block], target):
                yield f"{block.file.relative_to(crate)}:{block.file.read_text().count(chr(10), 0, block.start) + 1}"


def _needed(crate: Path, blocks: Collection[Block], target: Path) -> set[Block]:
    """Return which of the blocks contain an operation that rustc reports when all of them are removed."""
    found = unsafe_operations(crate, blocks, target)
    return {one for one in blocks if any(one.contains(operation) for operation in found)}


def unsafe_operations(crate: Path, blocks: Collection[Block], target: Path) -> set[Operation]:
    """Return the operations that rustc reports when the blocks are removed; the files are as before at the end."""
    texts = {block.file: block.file.read_text() for block in blocks}
    try:
        for file, text in texts.items():
            for block in (one for one in blocks if one.file == file):
                text = text[: block.start] + " " * len(KEYWORD) + text[block.start + len(KEYWORD) :]
            file.write_text(text)
        return set(_reported(crate, target))
    finally:
        for file, text in texts.items():
            file.write_text(text)


def _reported(crate: Path, target: Path) -> Iterator[Operation]:
    """Yield the operations of which rustc says that they need an unsafe block."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTFLAGS": f"--force-warn {LINT}"}
    command = ("cargo", "check", "--all-targets", "--keep-going", "--offline", "--message-format=json")
    ended = subprocess.run(command, cwd=crate, env=environment, capture_output=True, text=True, check=False)
    messages = [json.loads(line) for line in ended.stdout.splitlines()]
    compiled = [one["message"] for one in messages if one["reason"] == "compiler-message"]
    if ended.returncode and not compiled:
        raise RuntimeError(ended.stderr.strip())
    for message in compiled:
        code = (message["code"] or {}).get("code", "")
        if code in ("E0133", LINT):
            for span in (one for one in message["spans"] if one["is_primary"]):
                content = (file := crate / span["file_name"]).read_bytes()
                ends = (len(content[: span[end]].decode()) for end in ("byte_start", "byte_end"))
                yield Operation(file, *ends)
        elif message["level"] == "error" and message["spans"]:
            raise RuntimeError(message["rendered"])


def one_block(text: str) -> str:
    """Return a text in which the body of each unsafe function is in one unsafe block, without others in it."""

    def wrapped(found: re.Match[str]) -> str:
        body = re.sub(r"\bunsafe\s*(?=\{)", "", found[1])
        return f"{found[0].removesuffix(found[1] + '}')}    unsafe {{\n{body}    }}\n}}"

    return HEAD.sub(wrapped, text)


def main() -> None:
    """Print the number of blocks, the lines in them, and the blocks that can be removed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crate", type=Path)
    parser.add_argument("--one-block", type=Path, metavar="COPY")
    options = parser.parse_args()
    crate = options.crate.resolve()
    if options.one_block:
        copy = shutil.copytree(crate, options.one_block, ignore=shutil.ignore_patterns("target", ".jarvis"))
        for file in (one for one in sources(copy) if one.stem != "golden_tests"):
            file.write_text(one_block(file.read_text()))
        crate = copy
    blocks = sum(len(list(blocks_of(file))) for file in sources(crate))
    sys.stdout.write(f"{blocks:,} blocks, {unsafe_lines(crate):,} lines in them\n")
    if not options.one_block:
        with tempfile.TemporaryDirectory() as target:
            found = list(removable(crate, Path(target)))
        sys.stdout.write(f"{len(found):,} can be removed alone: {' '.join(found)}\n")
        sys.exit(bool(found))


if __name__ == "__main__":
    main()
