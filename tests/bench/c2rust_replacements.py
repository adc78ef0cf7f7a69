"""Replace functions of zopfli by libraries with a scripted judge: `python -m tests.bench.c2rust_replacements ZOPFLI`.

The judge replaces CHOICES and no other function. What is pruned is found here by hand, as a reader of the sources finds
it: the functions that only those of CHOICES reach. Prints the numbers; exits with 1 if the program prunes others, or if
its order lists a function before one that it calls.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from subprocess import run
from typing import Any

from tests.agents.loop.server import Body, ModelServer, Step
from tests.bench.c2rust_projects import COMMANDS
from tests.cli.test_c2rust_lib_replace import judge
from tests.support.settings_files import write_settings

JARVIS = (sys.executable, "-m", "jarvis_cli")
CHOICES = {"ZopfliLengthLimitedCodeLengths": ["package_merge"], "adler32": ["adler"], "CRC": ["crc32fast"]}
PRUNED = {"InitNode", "InitLists", "ExtractBitLengths", "BoundaryPM", "BoundaryPMFinal", "LeafComparator"}


def rows(project: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / ".jarvis" / "c2rust" / name).read_text().splitlines()]


def functions(project: Path, name: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows(project, name) if row["category"] == "function"}


def calls_later_ones(project: Path) -> list[str]:
    """Return the functions that the order lists before one that they use, but not in the same step."""
    symbols = functions(project, "symbols.jsonl")
    place: dict[str, int] = {}
    for number, step in enumerate(rows(project, "translation_order.jsonl")):
        place |= {item["name"]: number for item in step["items"] if item["category"] == "function"}
    uses = {name: [used for used in row["ref"] if used in place] for name, row in symbols.items()}
    return [name for name, used in uses.items() if any(place[one] > place[name] for one in used)]


def choose(body: Body) -> Step:
    return judge(body, CHOICES)


def main(tree: Path) -> int:
    with tempfile.TemporaryDirectory() as directory, ModelServer(forever=choose) as server:
        place = Path(directory)
        project = Path(shutil.copytree(tree, place / tree.name, symlinks=True))
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        allowed = [library for libraries in CHOICES.values() for library in libraries]
        write_settings(place, {"models": {"m": group}, "c2rust": {"allowed_crates": allowed}})
        environ = {**os.environ, "JARVIS_DATA_DIR": str(place / "data"), "PYTHONPATH": str(Path.cwd())}
        for words in (["scan", "--no-png", "--build", COMMANDS[tree.name].build], ["lib-replace"]):
            run([*JARVIS, "c2rust", *words, "-q", "-p", str(project)], env=environ, cwd=place, check=True)
        before, after = functions(project, "symbols_raw.jsonl"), functions(project, "symbols.jsonl")
        wrong, pruned = calls_later_ones(project), set(before) - set(after)
        replaced = {row["name"] for row in rows(project, "library_replacements.jsonl")}
        print(
            f"{len(before)} functions, {len(server.requests)} judged, {len(replaced)} replaced, {len(pruned)} pruned;"
            f" pruned as by hand: {pruned == PRUNED}; listed before what they call: {wrong or 'none'}"
        )
        return int(pruned != PRUNED or replaced != set(CHOICES) or bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
