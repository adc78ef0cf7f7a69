"""Methodologies in files: where they come from, and files that cannot be used."""

import json
from pathlib import Path

import pytest

from jarvis_workers.assistant.chat.methodology_files import open_methodologies
from jarvis_workers.assistant.methodology import Methodology
from jarvis_workers.errors import UsageError

LEAKS = Methodology(problem_type="memory leak", content="List the allocations.")


def write(directory: Path, name: str, problem_type: str, content: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{name}.json"
    file.write_text(json.dumps({"problem_type": problem_type, "content": content}))
    return file


def test_what_is_saved_is_read_back_and_replaced(tmp_path: Path) -> None:
    book = open_methodologies(None, tmp_path)
    book.add(LEAKS)
    newer = LEAKS.model_copy(update={"content": "List the owners."})
    book.add(newer)

    assert open_methodologies(None, tmp_path).read() == (newer,)
    assert len(list((tmp_path / "methodologies").iterdir())) == 1
    assert (tmp_path / "methodologies").stat().st_mode & 0o077 == 0


def test_the_users_own_come_before_those_of_the_project_and_of_the_central_repository(tmp_path: Path) -> None:
    root, data, central = tmp_path / "root", tmp_path / "data", tmp_path / "central"
    write(data / "methodologies", "a", "leak", "own")
    write(root / ".jarvis" / "methodologies", "a", "leak", "project")
    write(root / ".jarvis" / "methodologies", "b", "race", "project")
    write(central / "methodologies", "c", "race", "shared")
    write(central / "methodologies", "d", "overflow", "shared")

    found = open_methodologies(root, data, central).read()

    assert [(one.problem_type, one.content) for one in found] == [
        ("leak", "own"),
        ("race", "project"),
        ("overflow", "shared"),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "Invalid JSON"),
        (b'{"problem_type": "x"}', "content is missing"),
        (b'{"problem_type": "x", "content": "y", "run": "z"}', "run is not a known key"),
        (b'{"problem_type": "x", "content": "\\u0000"}', "content should match"),
        (b'{"problem_type": "x", "content": "\\ud800"}', "Invalid JSON"),
        (b"\xff", "is not UTF-8"),
        (b'"' + b"x" * 200_000 + b'"', "is larger than"),
    ],
)
def test_a_file_that_cannot_be_used_is_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes, says: str
) -> None:
    write(tmp_path / "methodologies", "good", "leak", "own")
    (tmp_path / "methodologies" / "bad.json").write_bytes(content)

    assert [one.problem_type for one in open_methodologies(None, tmp_path).read()] == ["leak"]
    assert [record.getMessage() for record in caplog.records] == ["methodology left out"]
    assert says in str(vars(caplog.records[0]))


def test_links_in_a_project_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere", "secret", "leak", "secret")
    root = tmp_path / "root"
    (root / ".jarvis" / "methodologies").mkdir(parents=True)
    (root / ".jarvis" / "methodologies" / "a.json").symlink_to(secret)
    linked, whole = tmp_path / "linked", tmp_path / "whole"
    (linked / ".jarvis").mkdir(parents=True)
    (linked / ".jarvis" / "methodologies").symlink_to(secret.parent)
    whole.mkdir()
    (whole / ".jarvis").symlink_to(linked / ".jarvis")

    assert [open_methodologies(one, tmp_path / "data").read() for one in (root, linked, whole)] == [(), (), ()]


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "methodologies").write_text("")

    with pytest.raises(UsageError, match=r"methodologies: the methodology cannot be saved: "):
        open_methodologies(None, tmp_path).add(LEAKS)
