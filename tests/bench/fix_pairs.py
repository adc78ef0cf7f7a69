"""Files before and after the fix of a security defect: which defects the scan names, and which findings a fix ends.

`python -m tests.bench.fix_pairs build OUT NAME=GIT_DIR… [--most 14] [--any-fix]` lays out pairs from the histories of
projects: one C or C++ file before (OUT/CASE/old) and after (OUT/CASE/new) a small commit whose message names a CVE and
a class of defect; with `--any-fix`, only a class.  Headers that it includes come along.  OUT is other people's code.

`python -m tests.bench.fix_pairs score OUT… [-j N]` scans each side as a tree of its own and prints, by the least
confidence: pairs named by any finding in a changed function, by one of a fitting class, and by one that is gone after
the fix; the same with the classes shuffled, of the pairs that get another class, which is chance.

The number that counts leaves one project out: a rule does not count for the projects that it was written from
(tests/data/rule_origins.json).  For each rule, its pairs on projects not its own are printed beside all of its pairs.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from jarvis_workers.sec.finding import SUPERSEDES
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import LEAST, MOST, Scanner
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.functions import functions
from jarvis_workers.source.languages import is_header, language_of
from jarvis_workers.source.lex import mask
from tests.sec.following import follow

SEED = 20261130
FILES_MAX, CHANGED_MAX, LINES_MAX = 3, 60, 12_000
ORIGINS = Path(__file__).parents[1] / "data" / "rule_origins.json"
BANDS = (0.0, 0.5, 0.6, 0.7, 0.8)
CVE = re.compile(r"CVE-20\d\d-\d+", re.IGNORECASE)
# A class of defect: what messages call it, and the weaknesses (CWE) of findings that fit.
WRITES = (119, 120, 121, 122, 123, 124, 129, 131, 170, 193, 242, 467, 680, 785, 786, 787, 788, 805, 806, 839)
READS = (119, 125, 126, 127, 129, 170, 193, 786, 788, 839)
SUMS = (128, 129, 190, 191, 192, 194, 195, 196, 197, 680, 681, 682, 789, 839, 1335)
BOUNDS = frozenset((*WRITES, *READS, *SUMS))
CLASSES: dict[str, tuple[str, frozenset[int]]] = {
    "use after free": (r"use.after.free|\bUAF\b|dangling|after (it was )?freed", frozenset((415, 416, 562, 672, 825))),
    "double free": (r"double.?free|freed? twice", frozenset((415, 416, 672, 825))),
    "read": (r"over-?read|out.of.bounds? read|OOB read|(invalid|under) ?read|beyond the end|length check", BOUNDS),
    "NULL": (r"null.?(pointer|deref|ptr)|deref\w*( of)? (a )?null|nullptr", frozenset((252, 253, 476, 690, 754))),
    "number": (r"(integer|int|arithmetic) (over|under)flow|wrap.?around|signedness", frozenset((*SUMS, *WRITES))),
    "write": (r"(buffer|heap|stack).{0,12}over(flow|run)|out.of.bounds?|OOB write|overrun", BOUNDS),
    "leak": (r"memory leak|\bleaks?\b", frozenset((401, 404, 459, 771, 772, 773, 775))),
    "uninitialised": (r"uninitiali[sz]ed", frozenset((456, 457, 665, 824, 908))),
    "format": (r"format string", frozenset((134,))),
    "path": (r"path traversal|symlink|directory traversal", frozenset((22, 23, 36, 59, 61, 73, 362, 363, 367, 377))),
    "command": (r"command injection|shell (command|injection)", frozenset((77, 78, 88))),
    "endless": (r"(infinite|endless) loop", frozenset((606, 674, 834, 835))),
    "division": (r"div(ide|ision) by zero", frozenset((369,))),
}  # fmt: skip
FIX = r"fix|prevent|avoid|check|validate|reject"
TEST = re.compile(
    r"(^|/)(tests?|testsuite|testing|unit_?tests?|fuzz\w*|examples?)(/|$)|(^|/)test[_-]|[_-]tests?\.c", re.I
)
OTHER = re.compile(r"\b(revert|tests?:|selftest|NEWS|changelog|release|merge|bump|typo|comment)\b", re.IGNORECASE)
Span = tuple[int, int]


class Found(NamedTuple):
    """A finding in the changed file."""

    pattern: str
    line: int
    confidence: float


# -- building ---------------------------------------------------------------------------------------------------------


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "--git-dir", repository, *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def build(out: Path, projects: Sequence[str], most: int, *, any_fix: bool) -> None:
    labels: dict[str, Any] = {}
    for name, _, repository in (project.partition("=") for project in projects):
        cases = _cases(Path(repository), name, most, any_fix=any_fix)
        found = {case: label for case, label in _laid_out(out, Path(repository), cases)}
        print(f"{name}: {len(found)}", flush=True)
        labels |= found
    out.mkdir(parents=True, exist_ok=True)
    (out / "labels.json").write_text(json.dumps(labels, indent=1))


def _commits(repository: Path, *, any_fix: bool) -> Iterator[tuple[str, str, str]]:
    """Yield id, subject and message of commits that may fix a defect, in an order drawn by the seed."""
    names = ["--grep=CVE-20[0-9][0-9]-[0-9]+"]
    if any_fix:
        names = [f"--grep={pattern}" for pattern, _ in CLASSES.values()]
    order = [
        "log",
        "--no-merges",
        "-i",
        "-P",
        "--format=%H%x01%s%x01%b%x02",
        *names,
        "HEAD",
        "--",
        "*.c",
        "*.cc",
        "*.cpp",
    ]
    entries = [entry.strip().split("\x01") for entry in git(repository, *order).split("\x02")]
    random.Random(SEED).shuffle(entries)
    for entry in entries:
        if len(entry) == 3 and not OTHER.search(entry[1]):
            yield entry[0], entry[1], re.sub(r"(?m)^[\w-]+-by:.*", "", entry[2])


def _cases(repository: Path, name: str, most: int, *, any_fix: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cases of a project; of each CVE, one."""
    seen: set[str] = set()
    for commit, subject, body in _commits(repository, any_fix=any_fix):
        if len(seen) >= most:
            return
        named = CVE.search(subject + "\n" + body)
        # A fix that names no CVE states its class in the subject.
        texts = (subject, body) if named else (subject,)
        kind = next((kind for text in texts for kind, row in CLASSES.items() if re.search(row[0], text, re.I)), None)
        key = named.group().upper() if named else commit
        if kind is None or key in seen or (any_fix and (named or not re.search(FIX, subject, re.I))):
            continue
        if file := _changed_file(repository, commit):
            seen.add(key)
            label = {"project": name, "commit": commit, "subject": subject, "class": kind, "file": file}
            yield f"{name}_{len(seen):02d}", label


def _changed_file(repository: Path, commit: str) -> str | None:
    """Return the source file that a commit changes most, if it changes few files and lines."""
    rows = [row.split("\t") for row in git(repository, "diff", "--numstat", f"{commit}~1", commit).splitlines()]
    changed = {
        row[2]: int(row[0]) + int(row[1])
        for row in rows
        if len(row) == 3 and row[0] != "-" and re.search(r"\.(c|cc|cpp|cxx)$", row[2]) and not TEST.search(row[2])
    }
    if not changed or len(changed) > FILES_MAX or sum(changed.values()) > CHANGED_MAX:
        return None
    return max(changed, key=lambda file: changed[file])


def _laid_out(
    out: Path, repository: Path, cases: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write both sides of each case, and yield its label with the changed functions; skip a case that has none."""
    for case, label in cases:
        file, texts = label["file"], {}
        for side, revision in (("old", f"{label['commit']}~1"), ("new", label["commit"])):
            texts[side] = git(repository, "show", f"{revision}:{file}")
        if not all(texts.values()) or texts["old"].count("\n") > LINES_MAX:
            continue
        spans = _changed_spans(texts["old"].split("\n"), texts["new"].split("\n"))
        changed = [_changed_functions(text, part) for text, part in zip(texts.values(), spans, strict=True)]
        names = changed[0].keys() & changed[1].keys()
        if not names:
            continue
        for side, revision in (("old", f"{label['commit']}~1"), ("new", label["commit"])):
            _write_side(out / case / side, repository, revision, file, texts[side])
        for side, part in zip(texts, changed, strict=True):
            label[side] = [part[name] for name in sorted(names)]
        yield case, label | {"lines": texts["old"].count("\n")}


def _changed_spans(old: Sequence[str], new: Sequence[str]) -> tuple[list[Span], list[Span]]:
    codes = SequenceMatcher(None, old, new, autojunk=len(old) > 4_000).get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    return (
        [(first + 1, max(end, first + 1)) for _, first, end, _, _ in changed],
        [(first + 1, max(end, first + 1)) for _, _, _, first, end in changed],
    )


def _changed_functions(text: str, spans: Sequence[Span]) -> dict[str, Span]:
    """Return the lines of each function that a change touches."""
    content = text.encode()
    masked, _ = mask(content, "c/cpp")
    result: dict[str, Span] = {}
    for function in functions(masked, "c/cpp"):
        first = masked.count(b"\n", 0, function.start) + 1
        last = masked.count(b"\n", 0, function.body[1]) + 1
        if any(begin <= last and first <= end for begin, end in spans):
            result[function.name.decode("latin-1")] = (first, last)
    return result


def _write_side(base: Path, repository: Path, revision: str, file: str, text: str) -> None:
    """Write a file, and the headers of the project that it includes."""
    files = {file: text}
    headers = defaultdict(list)
    for path in git(repository, "ls-tree", "-r", "--name-only", revision).splitlines():
        if path.endswith((".h", ".hpp")):
            headers[PurePosixPath(path).name].append(path)
    for wanted in re.findall(r'^\s*#\s*include\s*["<]([^">]+)', text, re.MULTILINE):
        near = [path for path in headers[PurePosixPath(wanted).name] if path.endswith(wanted.lstrip("./"))]
        if near:
            path = max(near, key=lambda one: _shared(one, file))
            files[path] = git(repository, "show", f"{revision}:{path}")
    for path, content in files.items():
        if (base / path).resolve().is_relative_to(base.resolve()):
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(content)


def _shared(one: str, other: str) -> int:
    """Return the number of directories in which two paths begin."""
    pairs = zip(PurePosixPath(one).parent.parts, PurePosixPath(other).parent.parts, strict=False)
    return next((number for number, (left, right) in enumerate(pairs) if left != right), 0)


# -- scoring ----------------------------------------------------------------------------------------------------------


@cache
def _scanner() -> Scanner:
    return Scanner()


def scanned(tree: Path, file: str) -> list[Found]:
    """Return the findings in a file of a small tree, without those that another one on the line supersedes."""
    files = {str(one.relative_to(tree)): one.read_bytes() for one in sorted(tree.rglob("*")) if one.is_file()}
    name, content = file.encode(), files[file]
    hits = _scanner().scan(content, language=language_of(name) or "c/cpp", header=is_header(name))
    rows = [Found(hit.pattern, hit.line, hit.confidence) for hit in hits.hits]
    flow = follow({one: as_utf8(text) for one, text in files.items()})
    rows += [Found(hit.pattern, hit.line, min(MOST, max(LEAST, hit.confidence))) for hit in flow.get(file, ())]
    hidden = {(row.line, other) for row in rows for other in SUPERSEDES.get(row.pattern, ())}
    return [row for row in rows if (row.line, row.pattern) not in hidden]


def _score_case(folder: str, file: str) -> tuple[list[Found], list[Found]]:
    return scanned(Path(folder, "old"), file), scanned(Path(folder, "new"), file)


class Pair(NamedTuple):
    """A pair, and the findings in its changed functions before and after the fix."""

    project: str
    kind: str
    lines: int
    before: list[Found]
    after: list[Found]
    in_file: list[Found]

    def naming(self, least: float, kind: str, excluded: frozenset[str] = frozenset()) -> list[Found]:
        """Return the findings of a fitting class before the fix."""
        return [
            row
            for row in self.before
            if row.confidence >= least
            and row.pattern not in excluded
            and RULES_BY_PATTERN[row.pattern].cwe in CLASSES[kind][1]
        ]

    def gone(self, rows: Iterable[Found]) -> list[Found]:
        """Return those of rules that find less after the fix."""
        before, after = (Counter(row.pattern for row in side) for side in (self.before, self.after))
        return [row for row in rows if after[row.pattern] < before[row.pattern]]


def pairs(out: Path, processes: int) -> list[Pair]:
    labels = json.loads((out / "labels.json").read_text())
    files = [label["file"] for label in labels.values()]
    with ProcessPoolExecutor(processes) as pool:
        scans = list(pool.map(_score_case, [str(out / case) for case in labels], files))
    return [
        Pair(
            label["project"],
            label["class"],
            label["lines"],
            _inside(old, label["old"]),
            _inside(new, label["new"]),
            old,
        )
        for label, (old, new) in zip(labels.values(), scans, strict=True)
    ]


def _inside(rows: Iterable[Found], spans: Sequence[Span]) -> list[Found]:
    return [row for row in rows if any(first <= row.line <= last for first, last in spans)]


def origins() -> dict[str, frozenset[str]]:
    """Return the rules that were written from the code of each project."""
    result: defaultdict[str, set[str]] = defaultdict(set)
    for pattern, projects in json.loads(ORIGINS.read_text()).items():
        for project in projects:
            result[project].add(pattern)
    return {project: frozenset(rules) for project, rules in result.items()}


def summary(found: Sequence[Pair]) -> Iterator[str]:
    """Yield the lines of a table, a row for each band of confidence, and one for each rule that names a pair."""
    number, own = len(found), origins()
    shuffled = [pair.kind for pair in found]
    random.Random(SEED).shuffle(shuffled)
    # A pair that keeps its class is no control.
    others = [(pair, kind) for pair, kind in zip(found, shuffled, strict=True) if kind != pair.kind]
    yield f"{number} pairs of {len({pair.project for pair in found})} projects; no rule counts for those it is from"
    yield "| from | any | class | gone | chance | findings a 1,000 lines |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for least in BANDS:
        fits = [pair.naming(least, pair.kind, own.get(pair.project, frozenset())) for pair in found]
        chance = sum(
            bool(pair.gone(pair.naming(least, kind, own.get(pair.project, frozenset())))) for pair, kind in others
        )
        gone = sum(bool(pair.gone(rows)) for pair, rows in zip(found, fits, strict=True))
        named = sum(any(row.confidence >= least for row in pair.before) for pair in found)
        findings = sum(row.confidence >= least for pair in found for row in pair.in_file)
        density = 1_000 * findings / sum(pair.lines for pair in found)
        shares = " | ".join(f"{count / number:.3f}" for count in (named, sum(map(bool, fits)), gone))
        yield f"| {least} | {shares} | {chance / max(1, len(others)):.3f} | {density:.1f} |"
    yield from _by_rule(found, own)


def _by_rule(found: Sequence[Pair], own: dict[str, frozenset[str]]) -> Iterator[str]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in found:
        for pattern in {row.pattern for row in pair.gone(pair.naming(0, pair.kind))}:
            counts[pattern]["all"] += 1
            counts[pattern]["others"] += pattern not in own.get(pair.project, ())
    yield ""
    yield "| rule | named and gone | on projects not its own |"
    yield "| --- | ---: | ---: |"
    for pattern, count in sorted(counts.items(), key=lambda item: (-item[1]["others"], item[0])):
        yield f"| {pattern} | {count['all']} | {count['others']} |"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("build", "score"))
    parser.add_argument("out", type=Path)
    parser.add_argument("more", nargs="*")
    parser.add_argument("--most", type=int, default=14)
    parser.add_argument("--any-fix", action="store_true")
    parser.add_argument("-j", "--processes", type=int, default=2)
    given = parser.parse_args(arguments)
    if given.action == "build":
        build(given.out, given.more, given.most, any_fix=given.any_fix)
        return
    found = [pair for out in (given.out, *map(Path, given.more)) for pair in pairs(out, given.processes)]
    print("\n".join(summary(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
