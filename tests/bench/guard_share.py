"""Show how many candidates of honest trees the guard would send to review: python -m tests.bench.guard_share TREE…

These are the candidates of `jarvis sec fast` that a model may confirm, but not dismiss, because the code that is shown
for them has text that looks like instructions to a model.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from json import loads
from pathlib import Path

from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.sec.finding import candidate
from jarvis_workers.sec.judge.question import ClusterQuestion, prepare
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.scanner import Hit


def rules_of(index: CodeIndex, issue: dict[str, object]) -> set[str]:
    """Return the rules of the guard that fire on the question about a finding."""
    hit = Hit(str(issue["pattern"]), int(str(issue["line"])), float(str(issue["confidence"])), str(issue["evidence"]))
    cluster = ClusterQuestion("Is it checked?", ((1, candidate(hit, str(issue["file"]))),))
    prepared, guard = prepare(cluster, index), Guard("")
    for text in (*prepared.texts.values(), *(part.text() for part in prepared.code.parts)):
        guard.admit(text)
    return {one.rule for one in (*prepared.suspicions, *guard.suspicions) if one.level != "warn"}


def main(trees: Sequence[str]) -> None:
    print("| tree | candidates | to review | rules |\n| --- | ---: | ---: | --- |")
    for tree in trees:
        scan = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-p", tree, "--json"]
        issues = loads(subprocess.run(scan, capture_output=True, check=True).stdout)["issues"]
        index = CodeIndex(DirectoryTree(Path(tree)))
        fired = [rules for issue in issues if (rules := rules_of(index, issue))]
        names = Counter(rule for rules in fired for rule in rules)
        print(f"| {Path(tree).name} | {len(issues)} | {len(fired)} | {dict(names)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
