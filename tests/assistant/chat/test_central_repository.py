"""The central repository: fetched within bounds, used with care, and shared with."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.assistant.chat.methodology_files import open_methodologies
from jarvis_workers.assistant.chat.sharing import methodologies_to_share, share, tools_to_share
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.central_repository import (
    REFRESH_SECONDS,
    RETRY_SECONDS,
    central_address,
    listed_tools,
    tool_directories,
    update_central,
)
from jarvis_workers.settings import Settings
from tests.assistant.chat.test_methodology_files import LEAKS, write

TOOL = "class Lookup:\n    name = 'lookup'\n"
NOW = 1_795_000_000


def git(place: Path, *words: str) -> str:
    about = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=trunk"]
    done = subprocess.run(["git", "-C", str(place), *about, *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone of the central repository `central.git`, with a methodology and two tools."""
    (tmp_path / "central.git").mkdir()
    git(tmp_path / "central.git", "init", "--bare", "-q")
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    write(work / "methodologies", "a", "race", "List the locks.")
    (work / "tools").mkdir()
    (work / "tools" / "lookup.py").write_text(TOOL)
    (work / "tools" / "evil.py").write_text("raise SystemExit\n")
    commit(work)
    return work


def commit(work: Path) -> None:
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "Share")
    git(work, "push", "-q", f"file://{work.parent}/central.git", "trunk")


def settings_of(tmp_path: Path, **more: Any) -> Settings:
    return Settings(data_dir=tmp_path / "data", central_repo=f"file://{tmp_path}/central.git", **more)


def test_it_is_fetched_at_most_once_a_day(work: Path, tmp_path: Path) -> None:
    settings, told = settings_of(tmp_path), list[str]()
    first = update_central(settings, told.append)
    assert first is not None
    fetched_at = (first / ".git" / "FETCH_HEAD").stat().st_mtime
    write(work / "methodologies", "b", "overflow", "Look at sizes.")
    commit(work)

    def count(after: float) -> int:
        place = update_central(settings, told.append, clock=lambda: fetched_at + after)
        return len(open_methodologies(None, tmp_path / "data", place).read())

    assert [count(1), count(REFRESH_SECONDS - 1), count(REFRESH_SECONDS + 1)] == [1, 1, 2]
    assert told == []
    assert len(list((tmp_path / "data" / "central").iterdir())) == 1


def test_without_the_setting_there_is_none(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)

    assert update_central(settings, pytest.fail) is None
    assert tool_directories(settings, pytest.fail) == ()
    with pytest.raises(UsageError, match="set central_repo in"):
        central_address(settings)


def test_a_failed_fetch_is_one_line_and_the_earlier_state_is_used(work: Path, tmp_path: Path) -> None:
    settings, told = settings_of(tmp_path), list[str]()
    (tmp_path / "central.git").rename(tmp_path / "gone.git")
    assert update_central(settings, told.append) is None
    (tmp_path / "gone.git").rename(tmp_path / "central.git")
    place = update_central(settings, told.append, clock=lambda: 2.0**39)
    (tmp_path / "central.git").rename(tmp_path / "gone.git")

    assert update_central(settings, told.append, clock=lambda: 2.0**40) == place
    assert [line.count("\n") for line in told] == [0, 0]
    assert told[0].startswith("central_repo: git: fatal:")
    assert told[0].endswith("nothing of it is used")
    assert told[1].endswith("its earlier state is used")


def test_a_failed_fetch_is_repeated_after_an_hour(work: Path, tmp_path: Path) -> None:
    settings, told = settings_of(tmp_path, central_tools=("lookup",)), list[str]()
    (tmp_path / "central.git").rename(tmp_path / "gone.git")
    assert update_central(settings, told.append) is None
    (failed,) = (tmp_path / "data" / "central").iterdir()
    failed_at = failed.stat().st_mtime

    def count(after: float) -> int:
        update_central(settings, told.append, clock=lambda: failed_at + after)
        return sum("fatal" in line for line in told)

    assert [count(1), count(RETRY_SECONDS - 1), count(RETRY_SECONDS + 1)] == [1, 1, 2]
    (tmp_path / "gone.git").rename(tmp_path / "central.git")
    assert update_central(settings, told.append, clock=lambda: 2.0**40)
    assert not failed.exists()


def test_credentials_in_the_address_are_refused(tmp_path: Path) -> None:
    settings, told = Settings(data_dir=tmp_path, central_repo="https://me:secret@host/r.git"), list[str]()

    assert update_central(settings, told.append) is None
    assert "JARVIS_GIT_TOKEN_FILE" in told[0]
    assert "secret" not in told[0]


def test_hooks_and_programs_of_the_configuration_do_not_run(work: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "pre-push", "post-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\n hooksPath = {hooks}\n")
    environ = {**os.environ, "HOME": str(tmp_path)}

    assert update_central(settings_of(tmp_path), pytest.fail, environ=environ)
    assert not (tmp_path / "ran").exists()
    (hooks / "reference-transaction").unlink()  # it runs in the other repository, too
    share(f"file://{tmp_path}/central.git", {"tools/x.py": b""}, "Add", now=NOW, dry_run=False, environ=environ)
    assert not (tmp_path / "ran").exists()


def test_only_tools_that_the_user_lists_are_loaded(work: Path, tmp_path: Path) -> None:
    (work / "tools" / "link.py").symlink_to("/etc/passwd")
    commit(work)
    told: list[str] = []
    names = ("lookup", "nothing", "link", "../../x")

    (directory,) = tool_directories(settings_of(tmp_path, central_tools=names), told.append)
    assert [file.name for file in Path(directory).iterdir()] == ["lookup.py"]
    assert [line.split('"')[1] for line in told] == ["nothing", "link", "../../x"]

    assert listed_tools(settings_of(tmp_path, central_tools=("evil",)), pytest.fail) == Path(directory)
    assert [file.name for file in Path(directory).iterdir()] == ["evil.py"]
    assert tool_directories(settings_of(tmp_path), pytest.fail) == ()


def test_shared_files_are_pushed_as_one_commit(work: Path, tmp_path: Path) -> None:
    address = f"file://{tmp_path}/central.git"
    open_methodologies(None, tmp_path / "own").add(LEAKS)
    files = methodologies_to_share(tmp_path / "own", ["memory leak"])

    dry = share(address, files, "Share it", now=NOW, dry_run=True)
    assert (list(dry.files), dry.commit) == (list(files), "")
    assert git(tmp_path / "central.git", "rev-list", "--count", "trunk") == "1\n"

    pushed = share(address, files, "Share it", now=NOW, dry_run=False)
    assert git(tmp_path / "central.git", "log", "-1", "--format=%H %s", "trunk") == f"{pushed.commit} Share it\n"
    assert "tools/lookup.py" in git(tmp_path / "central.git", "ls-tree", "-r", "--name-only", "trunk")
    place = update_central(settings_of(tmp_path), pytest.fail)
    assert LEAKS in open_methodologies(None, tmp_path / "data", place).read()

    assert share(address, files, "Share it", now=NOW, dry_run=False).files == []


def test_an_empty_repository_gets_its_first_commit(tmp_path: Path) -> None:
    (tmp_path / "central.git").mkdir()
    git(tmp_path / "central.git", "init", "--bare", "-q")

    share(f"file://{tmp_path}/central.git", {"tools/a.py": b"x = 1\n"}, "Add a", now=NOW, dry_run=False)

    assert git(tmp_path / "central.git", "ls-tree", "-r", "--name-only", "main") == "tools/a.py\n"
    place = update_central(settings_of(tmp_path), pytest.fail)
    assert place is not None
    assert (place / "tools" / "a.py").is_file()


def test_an_empty_repository_is_one_line(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "central.git").mkdir()
    git(tmp_path / "central.git", "init", "--bare", "-q")

    assert update_central(settings_of(tmp_path), told.append) is None
    assert told == [f"central_repo: file://{tmp_path}/central.git is empty; nothing of it is used"]


def test_a_push_that_is_refused_is_one_line(work: Path, tmp_path: Path) -> None:
    hook = tmp_path / "central.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(UsageError) as error:
        share(f"file://{tmp_path}/central.git", {"tools/a.py": b""}, "Add a", now=NOW, dry_run=False)

    assert str(error.value).startswith(f"central_repo file://{tmp_path}/central.git: git: ")
    assert str(error.value).endswith("; nothing was shared")
    assert "\n" not in str(error.value)


def test_names_that_do_not_exist_list_those_that_do(tmp_path: Path) -> None:
    write(tmp_path / "methodologies", "a", "race", "List the locks.")
    (tmp_path / "lookup.py").write_text(TOOL)

    with pytest.raises(UsageError, match='no methodology "leak"; available: "race"'):
        methodologies_to_share(tmp_path, ["leak"])
    with pytest.raises(UsageError, match=r'no tool "look"; available: lookup'):
        tools_to_share(["look"], tmp_path)
    assert tools_to_share(["lookup"], tmp_path) == {"tools/lookup.py": TOOL.encode()}
