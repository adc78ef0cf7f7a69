"""Measure readers on trees with known security fixes.

    python -m tests.bench.reading fetch DIRECTORY [TREE...] [--origin ADDRESS] [--whole]
    python -m tests.bench.reading run DIRECTORY TREE... --group GROUP [--output DIRECTORY] [-- OPTION...]
    python -m tests.bench.reading plain DIRECTORY TREE... [--group GROUP] [--output DIRECTORY]
    python -m tests.bench.reading replay [TREE...] [--trees DIRECTORY] [--recordings DIRECTORY] [-- OPTION...]
    python -m tests.bench.reading record TREE EXCHANGES --trees DIRECTORY [--recordings DIRECTORY]
    python -m tests.bench.reading score TREE=RESULT... [--labels FILE] [--add-proved]

`fetch` lays out trees of `trees.json` below DIRECTORY, and `run` reads some of them with a model group of the
jarvis.yaml of the working directory. `plain` asks it in one plain conversation, and writes TREE.plain.json; without a
group it writes the requests as TREE-NUMBER.md, and takes the answers from TREE-NUMBER.answer beside them. `replay`
reads trees with recorded answers, by default those that are part of this repository, and lists recordings that do not
apply any more; `record` makes recordings of the exchanges of a live run. OPTIONs are for `jarvis sec agent`, by default
"--read all --prove". RESULT is the JSON report of a run, or the list of a plain conversation; with results of both for
a tree, their rows are below each other. `--add-proved` adds proved findings to the labels (labels.json): true defects
beside the fixes, which then count for every reader.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import SubprocessError

from jarvis_workers.errors import JarvisError
from jarvis_workers.models.platforms.protocol import estimate
from tests.bench.reading.fetching import GITHUB, fetch
from tests.bench.reading.plain import PART_TOKENS, ask, listed, requests, written
from tests.bench.reading.recipes import OWN, PUBLIC, PUBLIC_LABELS, Tree, load_trees
from tests.bench.reading.recording import record
from tests.bench.reading.replay import Replay, load_recordings
from tests.bench.reading.running import replay_product, run_product
from tests.bench.reading.scoring import Label, Result, load_labels, load_result, of_report, proved_labels, score
from tests.bench.reading.table import Row, table

DEFAULTS = ("--read", "all", "--prove")


def main(arguments: Sequence[str]) -> int:
    """Run a command; 1 if something differs from what was expected, 2 if it could not be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    _add_fetch(commands.add_parser("fetch"))
    _add_run(commands.add_parser("run"))
    _add_plain(commands.add_parser("plain"))
    _add_replay(commands.add_parser("replay"))
    _add_record(commands.add_parser("record"))
    _add_score(commands.add_parser("score"))
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    options.more = arguments[end + 1 :] or DEFAULTS
    try:
        return int(options.run(options))
    except (OSError, ValueError, SubprocessError, JarvisError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path)
    parser.add_argument("trees", nargs="*", metavar="TREE")
    parser.add_argument("--origin", default=GITHUB, help="address with {repository}, or {owner} and {project}")
    parser.add_argument("--whole", action="store_true", help="all of the repository, for proofs")
    parser.set_defaults(run=_fetch)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path)
    parser.add_argument("trees", nargs="+", metavar="TREE")
    parser.add_argument("--group", required=True)
    parser.add_argument("--output", type=Path, default=Path(), help="where TREE.json is written")
    parser.add_argument("--labels", type=Path, default=PUBLIC_LABELS)
    parser.set_defaults(run=_run)


def _add_plain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path)
    parser.add_argument("trees", nargs="+", metavar="TREE")
    parser.add_argument("--group")
    parser.add_argument("--output", type=Path, default=Path())
    parser.add_argument("--part-tokens", type=int, default=PART_TOKENS, help="estimated tokens of a request")
    parser.add_argument("--labels", type=Path, default=PUBLIC_LABELS)
    parser.set_defaults(run=_plain)


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trees", nargs="*", metavar="TREE")
    parser.add_argument("--trees", type=Path, default=OWN, dest="directory")
    parser.add_argument("--recordings", type=Path, default=OWN, help="where TREE.jsonl is")
    parser.add_argument("--labels", type=Path, default=OWN / "labels.json")
    parser.set_defaults(run=_replay)


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree")
    parser.add_argument("exchanges", type=Path)
    parser.add_argument("--trees", type=Path, required=True, dest="directory")
    parser.add_argument("--recordings", type=Path, default=Path(), help="where TREE.jsonl is written")
    parser.set_defaults(run=_record)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", metavar="TREE=RESULT")
    parser.add_argument("--labels", type=Path, default=PUBLIC_LABELS)
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


def _run(options: argparse.Namespace) -> int:
    recipes = load_trees()
    for name in options.trees:
        tree, output = options.directory / _of(recipes, name).name, options.output / f"{name}.json"
        run_product(tree, output.resolve(), ["-g", options.group, *options.more])
    results = [(recipes[name], load_result(options.output / f"{name}.json", name)) for name in options.trees]
    return _print(results, load_labels(options.labels))


def _plain(options: argparse.Namespace) -> int:
    recipes, results = load_trees(), []
    for name in options.trees:
        tree = _of(recipes, name)
        texts = requests(tree, options.directory / name, options.part_tokens)
        tokens = sum(map(estimate, texts))
        sys.stdout.write(f"{name}: {len(texts)} requests, about {tokens:,} tokens, {tokens / tree.lines:.1f} a line\n")
        answers = ask(options.group, texts) if options.group else written(texts, options.output, name)
        if answers:
            file = options.output / f"{name}.plain.json"
            file.write_text(json.dumps(listed(answers), indent=1) + "\n")
            results.append((tree, load_result(file, name)))
    return _print(results, load_labels(options.labels)) if results else 0


def _replay(options: argparse.Namespace) -> int:
    """Replay recordings; the exit code is 1 if some do not apply any more, or if a question has none."""
    recipes = load_trees()
    results, differs = [], False
    for name in options.trees or load_trees(OWN / "trees.json"):
        recordings = load_recordings(options.recordings / f"{_of(recipes, name).name}.jsonl")
        replay = Replay(options.directory / name, recordings)
        report = replay_product(replay.directory, replay, options.more)
        results.append((recipes[name], of_report(report, name)))
        differs |= bool(replay.stale or replay.unanswered)
        lists = {"not applied": replay.stale, "not asked for": replay.unused, "not recorded": replay.unanswered}
        for word, lines in lists.items():
            sys.stdout.write("".join(f"{line}\n" for line in [f"{name}: {len(lines)} {word}", *lines]))
    return _print(results, load_labels(options.labels)) or int(differs)


def _record(options: argparse.Namespace) -> int:
    name = _of(load_trees(), options.tree).name
    run = record(options.exchanges, options.directory / name)
    (options.recordings / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in run.lines))
    sys.stdout.write("".join(f"{line}\n" for line in [f"{name}: {len(run.lines)} recordings", *run.problems]))
    return int(bool(run.problems))


def _score(options: argparse.Namespace) -> int:
    trees = load_trees()
    labels = load_labels(options.labels)
    given = [one.partition("=") for one in options.results]
    results = [(_of(trees, name), load_result(Path(file), name)) for name, _, file in given]
    if options.add_proved:
        for tree, result in results:
            labels += proved_labels(tree, result, labels)
        options.labels.write_text(json.dumps([label._asdict() for label in labels], indent=1) + "\n")
    return _print(results, labels)


def _print(results: Sequence[tuple[Tree, Result]], labels: Sequence[Label]) -> int:
    rows = [Row(tree.name, result, score(tree, result, labels)) for tree, result in results]
    sys.stdout.write(f"{table(rows)}\n")
    return 0


def _of(trees: dict[str, Tree], name: str) -> Tree:
    if name not in trees:
        raise ValueError(f"no tree {name!r}; there are {', '.join(trees)}")
    return trees[name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
