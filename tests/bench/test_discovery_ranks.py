"""The bench of the ranks that discovery gives to functions which CVE fixes changed."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.bench.discovery_ranks import main

PARSER = """int parse(int fd, char *out) {
    unsigned char bytes[64];
    int count = read(fd, bytes, sizeof bytes), length = bytes[0];
    for (int i = 0; i < length; i++) out[i] = bytes[i + 1];
    return count;
}
"""
QUIET = "".join(f"int quiet{number}(void) {{ return {number}; }}\n" for number in range(19))


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose second commit changes the parser."""
    git(tmp_path, "init", "-q")
    for code in (PARSER, PARSER.replace("i < length", "i < length && i < 63")):
        (tmp_path / "a.c").write_text(QUIET + code)
        git(tmp_path, "add", "a.c")
        git(tmp_path, "commit", "-q", "-m", "a commit")
    return tmp_path


def test_the_rank_is_that_of_the_function_before_the_fix_among_all_of_its_tree(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    label = {
        "commit": git(repository, "rev-parse", "HEAD"),
        "file": "a.c",
        "class": "bufw",
        "functions_old": [["parse", 20, 25]],
    }
    labels = tmp_path_factory.mktemp("labels") / "labels.json"
    labels.write_text(json.dumps({"own_00": label, "other_00": label}))
    report = labels.with_name("report.json")
    main([str(labels), f"own={repository / '.git'}"])
    printed = capsys.readouterr().out
    report.write_text(json.dumps({"issues": [{"file": "own_00o/a.c", "line": 22}]}))
    main([str(labels), f"own={repository / '.git'}", "--named", str(report)])

    assert printed.splitlines() == [
        "  5.0 %       1/20     own_00             bufw    parse",
        "all: 1 of 1 in the first 10 %",
        "of data: 1 of 1 in the first 10 %",
    ]
    assert capsys.readouterr().out.splitlines()[0] == "all: 0 of 0 in the first 10 %"
