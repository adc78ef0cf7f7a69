"""Let a model write the bodies of many given interfaces, and measure what it writes, with tests that it never sees.

    python -m tests.bench.eval_crust C_PROJECTS CRATES [NAME …] [-g GROUP] [-m NUMBER] [--budget AMOUNT]

CRATES has a directory per project: a crate, or the directories `interfaces` and `bin` as in CRUST-bench (also below
`src`); C_PROJECTS has the C code in a directory of the same name.  The model is that of jarvis.yaml in the current
directory, or of the environment.  Of the tests in each file, every second one is held out: it is not part of the crate
that the run gets.  Afterwards all tests run with the files that the model wrote.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from jarvis_workers.c2rust.bench.crate_tests import crate_outcome
from jarvis_workers.c2rust.interface_question import interface_files
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.source.rust.rust_items import read_items
from jarvis_workers.source.rust.rust_syntax import masked, unsafe_lines

LIMITS = BenchLimits(build_seconds=300, test_seconds=60)
MANIFEST = '[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n'
LEFT_OUT = frozenset(("metadata", "target", "interfaces", ".git"))
TEST = re.compile(r"#\[\s*test\s*\]")
HEADER = "| project | builds | shown tests | held-out tests | without a body | unsafe lines | answers | dollars |"


class Evaluation(NamedTuple):
    """The results for a project: tests that pass and all tests, shown and held out."""

    name: str
    builds: bool = False
    shown: tuple[int, int] = (0, 0)
    hidden: tuple[int, int] = (0, 0)
    missing: int = 0
    unsafe: int = 0
    answers: int = 0
    dollars: float | None = 0.0

    @property
    def line(self) -> str:
        tests = f"{self.shown[0]} of {self.shown[1]} | {self.hidden[0]} of {self.hidden[1]}"
        cost = "unknown" if self.dollars is None else f"{self.dollars:.4f}"
        rest = f"{self.missing} | {self.unsafe} | {self.answers} | {cost}"
        return f"| {self.name} | {'yes' if self.builds else 'NO'} | {tests} | {rest} |"


def given_crate(place: Path) -> dict[str, bytes]:
    """Return the files of a given interface; directories as in CRUST-bench become a crate without dependencies."""
    root = place / "src" if (place / "src").is_dir() else place
    if not (root / "interfaces").is_dir():
        return _files(place)
    modules = {path.name: path.read_bytes() for path in sorted((root / "interfaces").glob("*.rs"))}
    others = {
        f"src/{name}" if root is place else name: content
        for name, content in _files(place).items()
        if not (name.endswith(".rs") and PurePath(name).parent.name in ("", "src")) and not name.startswith("Cargo.")
    }
    library = "".join(f"pub mod {name.removesuffix('.rs')};\n" for name in modules)
    own = {f"src/{name}": content for name, content in modules.items() if name != "lib.rs"}
    manifest = MANIFEST.format(name=place.name)
    return {**others, **own, "Cargo.toml": manifest.encode(), "src/lib.rs": modules.get("lib.rs", library.encode())}


def _files(place: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())
    names = {str(path.relative_to(place)): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if not LEFT_OUT & set(PurePath(name).parts)}


def dependencies(place: Path, crate: Mapping[str, bytes]) -> list[str]:
    """Return the names of the crates that a crate names in its manifest and uses: they cannot be had offline."""
    manifest = place / "Cargo.toml"
    listed = tomllib.loads(manifest.read_text()).get("dependencies", {}) if manifest.is_file() else {}
    code = "\n".join(masked(content.decode(errors="replace")) for name, content in crate.items() if name[-3:] == ".rs")
    names = (name.replace("-", "_") for name in listed)
    return [name for name in names if re.search(rf"(?<!:)\b{name}\s*(?:::|!)|\b(?:use|crate)\s+{name}\b", code)]


def hold_out(crate: Mapping[str, bytes]) -> tuple[dict[str, bytes], set[str]]:
    """Return a crate without every second test of its test programs, and the labels of those tests."""
    shown, hidden = dict(crate), set[str]()
    own = interface_files(crate)
    for name in (one for one in crate if one.endswith(".rs") and one not in own):
        text = crate[name].decode(errors="replace")
        tests = [one for one in read_items(text) if one.kind == "fn" and TEST.search(one.text)]
        for one in tests[1::2]:
            text = text.replace(one.text, "", 1)
            hidden.add(f"{name}: {one.name}")
        shown[name] = text.encode()
    return shown, hidden


def write_files(place: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a directory, and return it."""
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def jarvis(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a command of Jarvis in the current directory."""
    command = [sys.executable, "-m", "jarvis_cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def report() -> dict[str, Any]:
    """Return the report of the last run."""
    return dict(json.loads(jarvis("runs", "report", "last", "--format", "json").stdout))


def evaluate(name: str, c: Path, given: Mapping[str, bytes], work: Path, options: Sequence[str]) -> Evaluation:
    """Let the model write the bodies of a crate, and run all its tests."""
    shown, hidden = hold_out(given)
    crate, out = write_files(work / "interface", shown), work / "out"
    ended = jarvis("c2rust", "transpile", "-q", "-p", c, "--interface", crate, "-o", out, *options)
    if ended.returncode not in (0, 3):
        raise RuntimeError(ended.stderr.strip().rpartition("\n")[2])
    found = report()
    written = {path: (out / path).read_bytes() for path in interface_files(given)}
    outcome = crate_outcome({**given, **written}, LIMITS)
    passed = {one.label: one.passed for one in outcome.tests}
    return Evaluation(
        name,
        not outcome.error and not found["interface"]["outcome"]["error"],
        _counted(passed[one] for one in passed if one not in hidden),
        _counted(passed.get(one, False) for one in hidden),
        sum(bool(one["reason"]) for one in found["interface"]["functions"]),
        sum(unsafe_lines(content.decode(errors="replace")) for content in written.values()),
        found["interface"]["answers"],
        found["run"]["cost"],
    )


def _counted(passed: Iterable[bool]) -> tuple[int, int]:
    found = list(passed)
    return sum(found), len(found)


def summary(found: Sequence[Evaluation]) -> Iterator[str]:
    """Yield the totals; a project without a held-out test counts as solved by its shown ones."""
    complete = sum(one.builds and not one.missing for one in found)
    yield f"{len(found)} projects: {complete} build with all bodies"
    for name in ("shown", "hidden"):
        pairs = [getattr(one, name) for one in found]
        passed, total = sum(one[0] for one in pairs), sum(one[1] for one in pairs)
        whole = sum(one[0] == one[1] for one in pairs if one[1])
        word = "held-out" if name == "hidden" else name
        yield f"{passed} of {total} {word} tests pass; all of them in {whole} of {sum(bool(one[1]) for one in pairs)}"
    prices = [one.dollars for one in found if one.dollars is not None]
    cost = f"{sum(prices):.4f} dollars" if len(prices) == len(found) else "cost unknown"
    answers = sum(one.answers for one in found)
    yield f"{sum(one.unsafe for one in found)} lines of unsafe code; {answers} answers; {cost}"


def lines(c_projects: Path, crates: Path, names: Iterable[str], options: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a report."""
    found: list[Evaluation] = []
    yield f"{HEADER}\n|{' --- |' * HEADER.count(' | ')} --- |"
    for name in names:
        given = given_crate(crates / name)
        if external := dependencies(crates / name, given):
            yield f"| {name} | not run: needs {', '.join(external)} | | | | | | |"
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                found.append(evaluate(name, c_projects / name, given, Path(work), options))
            except RuntimeError as error:
                yield f"| {name} | FAILED: {error} | | | | | | |"
                continue
        yield found[-1].line
    yield from summary(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("c_projects", type=Path)
    parser.add_argument("crates", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-g", "--group")
    parser.add_argument("-m", "--max-retries", default="5")
    parser.add_argument("--budget", help="for each project")
    given = parser.parse_args()
    options = ["-m", given.max_retries]
    options += ["-g", given.group] if given.group else []
    options += ["--budget", given.budget] if given.budget else []
    names = given.names or sorted(one.name for one in given.crates.iterdir() if (given.c_projects / one.name).is_dir())
    for line in lines(given.c_projects, given.crates, names, options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
