"""`jarvis sandbox` runs a command over a directory and ends with its code."""

from pathlib import Path

import pytest

from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import refusal
from tests.cli.commands import Jarvis


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("hello\n")
    return tmp_path


@pytest.mark.parametrize("tier", ["A", "b"])
def test_a_command_reads_the_directory_and_cannot_write_it(tier: str, tree: Path, jarvis: Jarvis) -> None:
    if why := refusal(Tier(tier.upper())):
        pytest.skip(why)
    ended = jarvis("sandbox", "run", "--tier", tier, tree, "--", "sh", "-c", "cat file; echo x > file; exit 7")

    assert (ended.code, ended.out) == (7, "hello\n")
    assert "cannot create file" in ended.err
    assert (tree / "file").read_text() == "hello\n"


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (["true"], 0, ""),
        (["no-such-program"], 127, "no-such-program: No such file or directory\n"),
        (["./file"], 126, "./file: Permission denied\n"),
        (["sh", "-c", "kill -15 $$"], 143, ""),
        (["sleep", "60"], 124, "jarvis sandbox run: ended: wall time\n"),
    ],
)
def test_the_code_says_how_it_ended(command: list[str], code: int, says: str, tree: Path, jarvis: Jarvis) -> None:
    ended = jarvis("sandbox", "run", "--wall-seconds", 1, tree, "--", *command)

    assert (ended.code, ended.out, ended.err) == (code, "", says)


def test_bad_input_is_one_line(tree: Path, jarvis: Jarvis) -> None:
    assert jarvis("sandbox", "run", "--tier", "C", tree, "--", "true").line.endswith('--tier: "C" is not one of A, B')
    assert "not a directory" in jarvis("sandbox", "run", tree / "file", "--", "true").line
    assert "Missing argument" in jarvis("sandbox", "run", tree).line


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_selftest_says_of_each_group_what_held(jarvis: Jarvis) -> None:
    ended = jarvis("sandbox", "selftest")

    assert ended.code == 0
    assert "escaped" not in ended.out
    rows = [line for line in ended.out.splitlines() if line.startswith("B ")]
    assert len(rows) == 7
    assert all(" blocked" in row for row in rows)
    *_, memory, scratch = ended.out.splitlines()
    assert memory.startswith(("memory and processes: allotted by control groups", "memory and processes: measured: "))
    assert scratch.startswith(("scratch: allotted in tier A", "scratch: measured on disk: "))
