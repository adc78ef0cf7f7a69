"""One root for what a command line names."""

import os
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.checkouts import repository_prefix
from jarvis_workers.runs.targets import ScanTarget, target_of


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, which is the current directory, and a file beside it."""
    for name in ("project/src/a.c", "project/src/b.c", "project/lib/c.c", "project/d.c", "beside/e.c"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("int x;\n")
    (tmp_path / "project" / "link.c").symlink_to("src/a.c")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "target"),
    [
        ([], ScanTarget(".")),
        (["src"], ScanTarget("src")),
        (["src", "lib"], ScanTarget(".", (b"lib", b"src"))),
        (["src/a.c"], ScanTarget(".", (b"src/a.c",))),
        (["src/a.c", "src/a.c", "./src/b.c"], ScanTarget(".", (b"src/a.c", b"src/b.c"))),
        ([".", "src/a.c"], ScanTarget(".", (b"", b"src/a.c"))),
        ([".", "."], ScanTarget(".")),
        (["link.c"], ScanTarget(".", (b"src/a.c",))),
        (["https://host/repo.git@v1"], ScanTarget("https://host/repo.git@v1", is_address=True)),
    ],
)
def test_the_root_is_the_one_directory_or_the_current_one(tree: Path, names: list[str], target: ScanTarget) -> None:
    assert target_of(names) == target


def test_the_root_of_paths_elsewhere_is_the_deepest_directory_that_they_share(tree: Path) -> None:
    above = os.path.realpath(tree)

    assert target_of(["src", "../beside/e.c"]) == ScanTarget(above, (b"beside/e.c", b"project/src"))
    assert target_of(["../beside/e.c"]) == ScanTarget(f"{above}/beside", (b"e.c",))


def test_a_root_can_be_given(tree: Path) -> None:
    assert target_of(["src"], ".") == ScanTarget(".", (b"src",))
    assert target_of(["src"], "src") == ScanTarget("src")


@pytest.mark.parametrize(
    ("names", "root", "message"),
    [
        (["nowhere"], None, "nowhere: no such file or directory"),
        (["src", "gone.c"], None, "gone.c: no such file or directory"),
        (["src", ""], None, "a path to scan is empty"),
        (["/dev/null"], None, "/dev/null: device, not a regular file; give a directory or a file"),
        (["src", "https://host/a.git"], None, "https://host/a.git: a repository URL must be the only PATH"),
        (["src"], "lib", "--root lib: src is not below it"),
        (["src"], "gone", "--root gone: no such directory"),
    ],
)
def test_paths_that_make_no_target_are_refused(tree: Path, names: list[str], root: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        target_of(names, root)


def test_the_prefix_is_the_path_from_the_top_of_the_repository(tree: Path) -> None:
    assert repository_prefix(Path("src")) == b""
    (tree / "project" / ".git").mkdir()
    assert repository_prefix(Path("src")) == b"src"
    assert repository_prefix(Path()) == b""
    (tree / ".git").write_text("gitdir: elsewhere")
    assert repository_prefix(tree / "beside") == b"beside"
