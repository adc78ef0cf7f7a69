"""Measure readers on trees with known security fixes.

    python -m tests.bench.reading fetch DIRECTORY [TREE...] [--origin ADDRESS] [--whole]
    python -m tests.bench.reading score TREE=RESULT... [--labels FILE] [--add-proved]

`fetch` lays out trees of `trees.json` below DIRECTORY. RESULT is the JSON report of a run, or the list of a plain
conversation; with results of both for a tree, their rows are below each other.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.reading.fetching import GITHUB, fetch
from tests.bench.reading.recipes import PUBLIC, Tree, load_trees
from tests.bench.reading.scoring import load_labels, load_result, proved_labels, score
from tests.bench.reading.table import Row, table


def main(arguments: Sequence[str]) -> int:
    """Run a command; 1 if something differs from what was expected, 2 if it could not be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    _add_fetch(commands.add_parser("fetch"))
    _add_score(commands.add_parser("score"))
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path)
    parser.add_argument("trees", nargs="*", metavar="TREE")
    parser.add_argument("--origin", default=GITHUB, help="address with {repository}, or {owner} and {project}")
    parser.add_argument("--whole", action="store_true", help="all of the repository, for proofs")
    parser.set_defaults(run=_fetch)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", metavar="TREE=RESULT")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--add-proved", action="store_true", help="add proved findings to the labels")
    parser.set_defaults(run=_score)


def _fetch(options: argparse.Namespace) -> int:
    trees = load_trees(PUBLIC)
    differs = False
    for name in options.trees or trees:
        place = options.directory / _of(trees, name).name
        place.mkdir(parents=True)
        problems = fetch(trees[name], place, options.origin, whole=options.whole)
        sys.stdout.write("".join(f"{line}\n" for line in problems or [f"{name}: {trees[name].lines} lines"]))
        differs |= bool(problems)
    return int(differs)


def _score(options: argparse.Namespace) -> int:
    trees = load_trees()
    if options.add_proved and not options.labels:
        raise ValueError("--add-proved needs --labels, the file to which proved findings are added")
    labels = load_labels(options.labels)
    given = [one.partition("=") for one in options.results]
    results = [(_of(trees, name), load_result(Path(file), name)) for name, _, file in given]
    if options.add_proved:
        for tree, result in results:
            labels += proved_labels(tree, result, labels)
        options.labels.write_text(json.dumps([label._asdict() for label in labels], indent=1) + "\n")
    rows = [Row(tree.name, result, score(tree, result, labels)) for tree, result in results]
    sys.stdout.write(f"{table(rows)}\n")
    return 0


def _of(trees: dict[str, Tree], name: str) -> Tree:
    if name not in trees:
        raise ValueError(f"no tree {name!r}; there are {', '.join(trees)}")
    return trees[name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
