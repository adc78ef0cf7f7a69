"""Memories as files: three levels, private and whole files, and whatever else may stand in their directories."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.assistant.chat.memory_files import MemoryFiles, memory_files
from jarvis_workers.assistant.chat.memory_folder import NAMED_MAX
from jarvis_workers.assistant.memory.entry import MEMORY_TYPES, MemoryDraft, MemoryType
from jarvis_workers.assistant.memory.tools import memory_tools
from jarvis_workers.errors import UsageError
from tests.cli.commands import obey_modes

SECOND = 1_000_000
AT = 1_700_000_000 * SECOND
PROJECT: MemoryType = "project_long_term"
GLOBAL: MemoryType = "global_long_term"


class Place:
    """A project and a data directory, and a book over them whose clock stands still."""

    def __init__(self, directory: Path) -> None:
        self.root, self.data = directory / "project", directory / "data"
        self.root.mkdir()
        self.lines: list[str] = []
        self.now = AT

    @property
    def project(self) -> Path:
        return self.root / ".jarvis" / "memory"

    @property
    def book(self) -> MemoryFiles:
        return memory_files(self.root, self.data, tell=self.lines.append, clock=lambda: self.now)

    def write(self, name: str, content: str) -> Path:
        """Put a file into the directory of the project's memories."""
        self.project.mkdir(parents=True, exist_ok=True)
        (self.project / name).write_text(content)
        return self.project / name


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def draft(content: str, *tags: str, of: MemoryType = "project_long_term") -> MemoryDraft:
    return MemoryDraft(type=of, tags=tags or ("tag",), content=content)


def document(**fields: Any) -> str:
    """Return the text of an entry's file."""
    whole = {"id": "20250101_000000_000000", "type": PROJECT, "tags": ["a"], "content": "c", "created_at": "2025-01-01"}
    return json.dumps({**whole, **fields})


def contents(book: MemoryFiles, *types: MemoryType) -> list[str]:
    return [entry.content for entry in book.read(types or MEMORY_TYPES)]


def test_long_term_memories_are_there_for_the_next_process_and_short_term_ones_are_not(place: Place) -> None:
    book = place.book
    book.add([draft("short", of="short_term"), draft("project"), draft("global", of="global_long_term")])

    assert sorted(contents(book)) == ["global", "project", "short"]
    assert sorted(contents(place.book)) == ["global", "project"]
    assert contents(memory_files(place.root.parent, place.data, tell=print)) == ["global"]


def test_an_entry_is_a_private_file_of_json_named_by_the_microsecond(place: Place) -> None:
    place.book.add([draft("内容", "架构", "Build", "build")])

    file = place.project / "20231114_221320_000000.json"
    assert json.loads(file.read_text()) == {
        "id": "20231114_221320_000000",
        "type": PROJECT,
        "tags": ["架构", "Build"],
        "content": "内容",
        "merged_from": [],
        "created_at": "2023-11-14T22:13:20Z",
    }
    assert "内容" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(place.project.iterdir()) == [file]


def test_directories_of_the_user_are_private_and_git_ignores_no_project_memory(place: Place) -> None:
    place.book.add([draft("p"), draft("g", of="global_long_term")])

    made = [place.data, place.data / "memory", place.data / "memory" / GLOBAL]
    assert [stat.S_IMODE(directory.stat().st_mode) for directory in made] == [0o700] * 3
    assert "!memory" in (place.root / ".jarvis" / ".gitignore").read_text()


def test_the_newest_entries_come_first_over_all_levels(place: Place) -> None:
    book = place.book
    for number, level in enumerate([*MEMORY_TYPES, *MEMORY_TYPES]):
        place.now = AT + number
        book.add([draft(str(number), of=level)])

    assert contents(book) == ["5", "4", "3", "2", "1", "0"]
    assert contents(book, "global_long_term") == ["5", "2"]


@pytest.mark.slow
def test_writers_in_the_same_microsecond_lose_no_entry(place: Place) -> None:
    def write(name: int) -> None:
        book = place.book
        for number in range(20):
            book.add([draft(f"{name} {number}")])

    writers = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert set(contents(place.book)) == {f"{name} {number}" for name in range(8) for number in range(20)}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "Invalid JSON"),
        ('{"id": ', "Invalid JSON"),
        ("\xff\x00", "Invalid JSON"),
        ("[]", "should be a mapping of names"),
        (document(tags=[]), "tags: should have at least 1 item"),
        (document(type="eternal"), "type: should be 'short_term', 'project_long_term' or 'global_long_term'"),
        (document(type=GLOBAL), "it is entry 20250101_000000_000000 of global_long_term"),
        (document(id="../../etc/passwd"), "id: an id should have"),
        (document(id="another"), "it is entry another of project_long_term"),
        (document(created_at="yesterday\x1b[31m"), "created_at: should be a valid datetime"),
        (document(content="x" * 1_100_000), "larger than 1,000,000 bytes"),
    ],
)
def test_a_damaged_file_is_one_warning_and_the_others_are_read(place: Place, content: str, why: str) -> None:
    damaged = place.write("20250101_000000_000000.json", content)
    book = place.book
    book.add([draft("whole")])

    assert contents(book) == contents(book) == ["whole"]
    assert len(place.lines) == 1
    assert place.lines[0].startswith(f"{damaged}: skipped, it is not a memory: ")
    assert why in place.lines[0]
    assert "\x1b" not in place.lines[0]


def test_of_many_damaged_files_some_are_named(place: Place) -> None:
    for number in range(20):
        place.write(f"{number}.json", "")

    assert contents(place.book) == []
    assert len(place.lines) == NAMED_MAX + 1
    assert place.lines[-1].endswith("further damaged memories are skipped, too")


def test_names_that_are_no_ids_are_warned_of_and_other_files_are_nobodys_business(place: Place) -> None:
    place.write("a b.json", document(id="a b"))
    place.write("README.md", "x")
    place.write(".half.json", "{")

    assert contents(place.book) == []
    assert [line.rpartition(": ")[2] for line in place.lines] == ["its name is not an id"]


def test_a_file_of_an_earlier_jarvis_is_read(place: Place) -> None:
    name = "20251101_072947_388226"
    place.write(f"{name}.json", document(id=name, created_at="2025-11-01T07:29:47.388226", color="blue"))

    (entry,) = place.book.read([PROJECT])
    assert (entry.id, entry.created_at.isoformat()) == (name, "2025-11-01T07:29:47.388226+00:00")


@pytest.mark.parametrize("link", [".jarvis", ".jarvis/memory"])
def test_links_out_of_the_project_are_refused(place: Place, link: str) -> None:
    outside = place.root.parent / "outside"
    (outside / "memory").mkdir(parents=True)
    (place.root / link).parent.mkdir(exist_ok=True)
    (place.root / link).symlink_to(outside)
    book = place.book

    for act in (lambda: contents(book), lambda: book.add([draft("x")]), lambda: book.remove(["x"], [PROJECT])):
        with pytest.raises(UsageError, match="it is a symbolic link, which memories do not follow"):
            act()
    assert list(outside.rglob("*.json")) == []


def test_a_link_among_the_files_is_not_read_and_not_written_through(place: Place) -> None:
    secret = place.root.parent / "secret"
    secret.write_text(document(id="a"))
    place.write("x", "").unlink()
    (place.project / "a.json").symlink_to(secret)
    (place.project / "20231114_221320_000000.json").symlink_to(secret)
    os.mkfifo(place.project / "pipe.json")
    book = place.book

    assert contents(book) == []
    assert sorted(line.rpartition(": ")[2] for line in place.lines) == [
        "a symbolic link",
        "a symbolic link",
        "not a regular file",
    ]
    assert [entry.id for entry in book.add([draft("new")])] == ["20231114_221320_000001"]
    assert book.remove(["a"], [PROJECT]) == 1
    assert secret.read_text() == document(id="a")


@pytest.mark.parametrize("name", ["../secret", "../../project/secret", "/etc/passwd", "a/b", "..", "", "\0", "a" * 300])
def test_an_id_that_leads_elsewhere_removes_nothing(place: Place, name: str) -> None:
    secret = place.root / ".jarvis" / "secret.json"
    place.book.add([draft("x")])
    secret.write_text("{}")

    assert place.book.remove([name], MEMORY_TYPES) == 0
    assert secret.exists()


WRITE_AS_ANYONE = """
import sys
from pathlib import Path
from jarvis_workers.assistant.memory.entry import MemoryDraft
from jarvis_workers.errors import UsageError
from jarvis_workers.assistant.chat.memory_files import memory_files
book = memory_files(Path(sys.argv[1]), Path(sys.argv[2]), tell=print)
draft = MemoryDraft(type=sys.argv[3], tags=("a",), content="c")
for act in (lambda: book.add([draft]), lambda: list(book.read([sys.argv[3]]))):
    try:
        print(act())
    except UsageError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "reads"), [(0o500, "[]"), (0o000, "memories cannot be read: Permission denied")])
def test_a_directory_without_permission_is_one_line(place: Place, mode: int, reads: str) -> None:
    place.project.mkdir(parents=True)
    place.project.chmod(mode)
    where = [str(place.root), str(place.data), PROJECT]

    done = subprocess.run(
        [sys.executable, "-c", WRITE_AS_ANYONE, *where], capture_output=True, text=True, preexec_fn=obey_modes()
    )
    place.project.chmod(0o700)

    added, read = done.stdout.splitlines()
    assert added == f"{place.project}: a memory cannot be saved: Permission denied"
    assert read.endswith(reads)


def test_a_file_where_a_directory_should_be_is_said_to_the_model(place: Place) -> None:
    place.data.write_text("")
    box = Toolbox(memory_tools(memory_files(place.root, place.data, tell=pytest.fail)))
    memory = {"memory_type": GLOBAL, "tags": ["a"], "content": "c"}

    saved, read = box.run("save_memory", {"memories": [memory]}), box.run("retrieve_memory", {"memory_types": [GLOBAL]})

    assert [saved.state, read.state] == ["error", "error"]
    assert saved.stderr == f"{place.data}/memory/{GLOBAL}: a memory cannot be saved: Not a directory"
    assert read.stderr.endswith("memories cannot be read: Not a directory")


@pytest.mark.slow
def test_a_hundred_thousand_entries_are_read_lazily(place: Place) -> None:
    text = document(id="ID", tags=["usual"])
    place.project.mkdir(parents=True)
    for number in range(100_000):
        (place.project / f"{number:06}.json").write_text(text.replace("ID", f"{number:06}"))
    (place.project / "000000.json").write_text(text.replace("ID", "000000").replace("usual", "rare"))
    book = place.book

    opened = files_opened(lambda: islice(book.read([PROJECT]), 10))
    box = Toolbox(memory_tools(book))
    found = box.run("retrieve_memory", {"memory_types": [PROJECT], "tags": ["RARE"]})

    assert opened == 10
    assert found.stdout.startswith("project_long_term 000000 ")
    assert box.run("retrieve_memory", {"limit": 3}).stdout.count("project_long_term 0999") == 3


def files_opened(read: Callable[[], Any]) -> int:
    """Count the files that are opened while an iterator is read to its end."""
    names: list[str] = []
    hook: list[bool] = [True]
    sys.addaudithook(lambda event, args: names.append(event) if hook[0] and event == "open" else None)
    list(read())
    hook[0] = False
    return len(names)
