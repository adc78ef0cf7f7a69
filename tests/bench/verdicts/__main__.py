"""Run `jarvis sec agent` over the labelled code with real models, and print how often they were right.

    python -m tests.bench.verdicts GROUP... [--pairs PROJECT=GIT_DIR]... [-- OPTION...]

GROUP is a model group of the jarvis.yaml of the working directory. `--pairs` adds pairs of CVE fixes of curl or
libvncserver from a clone. Options after `--` are for `jarvis sec agent`, such as `--budget 2usd`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.verdicts.pairs import lay_out_pairs
from tests.bench.verdicts.scoring import OWN, own_labels, score, shown

WRITTEN = (0, 1, 3)


def main(arguments: Sequence[str]) -> int:
    """Print a line a model group."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own, more = arguments[:end], arguments[end + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    parser.add_argument("--pairs", action="append", default=[], metavar="PROJECT=GIT_DIR")
    options = parser.parse_args(own)
    repositories = dict(one.split("=", 1) for one in options.pairs)
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place, "tree")
        shutil.copytree(OWN / "code", tree)
        labels = [*own_labels(), *lay_out_pairs(repositories, tree)]
        for group in options.groups:
            output = Path(place, f"{group}.json")
            command = [sys.executable, "-m", "jarvis_cli", "sec", "agent", str(tree), "-g", group, "-o", str(output)]
            if subprocess.run([*command, "--read", "none", *more], check=False).returncode not in WRITTEN:
                return 1
            report = json.loads(output.read_text())
            sys.stdout.write(shown(group, score(labels, report), report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
