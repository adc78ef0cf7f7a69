"""The programs that the sandbox is for make no system call that its filter does not know: they are traced here.

Run it with -s when programs have changed: it prints the calls to add to TRACED in syscalls.py, after a review of what
each does.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.sandbox import seccomp
from jarvis_workers.sandbox.syscalls import ALLOWED

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

CALL = re.compile(r"^\d+ +([a-z]\w*)\(", re.MULTILINE)
TRACED = Path(__file__).parent / "traced"
SCRIPTS = sorted(path.stem for path in TRACED.glob("*.sh"))
NEEDS = "# needs: "


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TRACED / "tree", tmp_path / "tree"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_programs_make_only_calls_that_the_filter_knows(name: str, tree: Path) -> None:
    script = (TRACED / f"{name}.sh").read_text()
    programs = script.partition("\n")[0].removeprefix(NEEDS).split()
    absent = [program for program in ["strace", *programs] if not shutil.which(program)]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    record = tree.parent / f"{tree.name}.trace"
    command = ["strace", "-f", "-qq", "-o", str(record), "sh", "-c", script]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)

    made = set(CALL.findall(record.read_text(errors="replace")))
    print(f"{name}: {len(made)} calls")
    assert "execve" in made, done.stderr
    assert made - ALLOWED - set(_refused()) == set()


def _refused() -> Iterator[str]:
    """Yield the calls that rules refuse with a reason, by which programs do without them."""
    for rules in seccomp.GROUPS.values():
        for rule in rules:
            yield from rule.calls.split()
