"""Convert C libraries with `jarvis c2rust fast` as a user does, with two proof levels, and count the results.

    python -m tests.bench.c2rust_conversions TREES [NAME …]

TREES has a directory per library of c2rust_projects.COMMANDS.  Prints per library and proof: the number of functions,
of those in Rust, refused, not checked and different, whether the crate builds with `cargo build` alone, and the
wall-clock seconds of the run and of a second run.  The bench fails unless the COMPRESSORS in Rust and in C write the
same bytes for some files.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench.c2rust_projects import COMMANDS, LibraryCommands

PROOFS = "reached", "built"
FILES = 20
# A compressor writes to standard output.
COMPRESSORS: Mapping[str, tuple[str, ...]] = {"bzip2": ("bzip2", "-9", "-k", "-c"), "zopfli": ("zopfli", "--i1", "-c")}


class Conversion(NamedTuple):
    """A conversion: exit code, functions by state or cause, and wall-clock seconds of the first and the second run."""

    code: int
    states: Counter[str]
    seconds: float
    again: float


def convert(tree: Path, crate: Path, data: Path, commands: LibraryCommands, proof: str) -> Conversion:
    """Convert a library twice. Raises CalledProcessError if the command fails."""
    words = [sys.executable, "-m", "jarvis_cli", "c2rust", "fast", "-q", "-p", str(tree), "-o", str(crate)]
    words += ["--proof", proof, "--build", commands.build]
    words += ["--configure", commands.configure] if commands.configure else []
    words += [word for test in commands.tests for word in ("--test", test)]
    environment = {**os.environ, "JARVIS_DATA_DIR": str(data)}
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        done = subprocess.run(words, env=environment, stderr=subprocess.PIPE, text=True, check=False)
        seconds.append(time.monotonic() - began)
        if done.returncode not in (0, 3):
            raise subprocess.CalledProcessError(done.returncode, words, stderr=done.stderr)
    report = [sys.executable, "-m", "jarvis_cli", "runs", "report", "last", "--format", "json"]
    found = json.loads(subprocess.run(report, env=environment, stdout=subprocess.PIPE, check=False).stdout)
    states = Counter(one["cause"] or one["state"] for one in found["conversion"]["functions"])
    return Conversion(done.returncode, states, *seconds)


def builds(crate: Path) -> bool:
    """Return whether cargo builds the crate on its own."""
    return subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=False).returncode == 0


def compare_programs(name: str, tree: Path, crate: Path) -> int:
    """Return the number of files that the crate's program compresses like the C program.

    Raises AssertionError if the output differs, and FileNotFoundError if the crate has no such program.
    """
    program, *options = COMPRESSORS[name]
    subprocess.run(COMMANDS[name].build, shell=True, cwd=tree, check=True, capture_output=True)  # noqa: S602
    files = sorted((path for path in tree.rglob("*.[ch]") if path.is_file()), key=lambda one: one.stat().st_size)[
        -FILES:
    ]
    files += sorted(Path(os.__file__).parent.glob("*.py"))[: FILES - len(files)]
    for file in files:
        outputs = [
            subprocess.run([place / program, *options, file], stdout=subprocess.PIPE, check=True).stdout
            for place in (tree, crate / "target" / "debug")
        ]
        assert outputs[0] == outputs[1], f"{name}: other bytes for {file}"
    return len(files)


def main(trees: Path, names: list[str]) -> None:
    print("library   proof    functions rust refused unproven different builds first, s second, s  same files")
    for name in names:
        for proof in PROOFS:
            with tempfile.TemporaryDirectory() as place:
                tree = Path(shutil.copytree(trees / name, Path(place) / name, symlinks=True))
                crate = Path(place) / "crate"
                done = convert(tree, crate, Path(place) / "data", COMMANDS[name], proof)
                alone, states = builds(crate), done.states
                same = compare_programs(name, tree, crate) if name in COMPRESSORS and alone else "-"
                print(
                    f"{name:9} {proof:8} {states.total():9} {states['mechanical']:4} {states['refused']:7} "
                    f"{states['not_checked']:8} {states['different']:9} {'yes' if alone else 'NO':6} "
                    f"{done.seconds:8.1f} {done.again:9.1f}  {same}",
                    flush=True,
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [name for name in COMMANDS if name != "plain"])
