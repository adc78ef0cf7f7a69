"""The tools patch and rewrite: files of a tree change all or none, and nothing outside of it ever does."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_workers.agents.tools.editing import ChangedFile, EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.tool import BadCall, Toolbox, ToolOutcome

MAIN = "int main(void)\n{\n    return one();\n}\n"


class Editor:
    """A tree with a secret beside it, and the tools that edit it."""

    def __init__(self, place: Path) -> None:
        self.root, self.secret = place / "tree", place / "secret"
        self.root.mkdir()
        self.secret.write_text("secret\n")
        self.file("a.c", MAIN)
        self.workspace = EditWorkspace(self.root, closed=("sub",))
        self.tools = Toolbox([*edit_tools(self.workspace), watched_reading(self.workspace)])

    def file(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def call(self, name: str, **arguments: Any) -> ToolOutcome:
        return self.tools.run(name, self.tools.read(name, json.dumps(arguments)))

    def patch(self, path: str, search: str, replacement: str, **more: Any) -> ToolOutcome:
        return self.call("patch", edits=[{"path": path, "search": search, "replace": replacement, **more}])

    def rewrite(self, files: Mapping[str, str | None]) -> ToolOutcome:
        return self.call("rewrite", files=[{"path": path, "content": content} for path, content in files.items()])

    def all(self) -> dict[str, bytes]:
        """Return what is in the tree, and the secret."""
        files = (path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        return {str(path): path.read_bytes() for path in [*files, self.secret]}


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path)


def test_a_patch_says_how_many_lines_changed_and_keeps_the_mode(editor: Editor):
    (editor.root / "a.c").chmod(0o755)

    assert editor.patch("./a.c", "one()", "two()").stdout == "a.c: +1 -1\n"
    assert (editor.root / "a.c").read_text() == MAIN.replace("one", "two")
    assert (editor.root / "a.c").stat().st_mode & 0o777 == 0o755
    assert editor.workspace.changes() == {"a.c": ChangedFile(MAIN.encode(), MAIN.replace("one", "two").encode())}


def test_a_range_is_patched_through_its_end_in_the_lines_given(editor: Editor):
    edit = {"path": "a.c", "search_start": "{", "search_end": "}", "replace": "{}", "range": "2-4"}

    assert editor.call("patch", edits=[edit]).success
    assert (editor.root / "a.c").read_text() == "int main(void)\n{}\n"


def test_a_file_is_written_and_removed(editor: Editor):
    outcome = editor.rewrite({"new/b.c": "int b;\n", "a.c": None})

    assert outcome.stdout == "new/b.c: 7 bytes written to a new file\na.c: removed"
    assert editor.workspace.changes() == {
        "a.c": ChangedFile(MAIN.encode(), None),
        "new/b.c": ChangedFile(None, b"int b;\n"),
    }
    assert editor.rewrite({"new/b.c": None, "a.c": MAIN}).success
    assert editor.workspace.changes() == {}


def test_a_rewritten_file_keeps_its_line_ends_and_its_byte_order_mark(editor: Editor):
    file = editor.file("w.c", b"\xef\xbb\xbfone\r\ntwo\r\n")

    assert editor.rewrite({"w.c": "three\nfour\n"}).success
    assert file.read_bytes() == b"\xef\xbb\xbfthree\r\nfour\r\n"


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ([("a.c", "two()", "x"), ("b.c", "x", "y")], "edit 1: a.c: the text to replace is not in the file"),
        ([("a.c", "one()", "x"), ("b.c", "x", "y")], "edit 2: b.c: there is no such file"),
        ([("a.c", "n", "x")], "edit 1: a.c: the text to replace occurs 4 times"),
        ([("a.c", "one", "one")], "nothing was changed: the texts are the same"),
        ([("image.png", "P", "x")], "edit 1: image.png: the file is binary"),
        ([("../secret", "secret", "x")], "is not below the root"),
        ([("/etc/passwd", "root", "x")], "is not below the root"),
        ([("link", "secret", "x")], "link is a link, and is not edited"),
        ([("dir/secret", "secret", "x")], "links are not followed"),
        ([(".git/config", "x", "y")], "belongs to git"),
        ([(".GIT /config", "x", "y")], "belongs to git"),
        ([("sub/a.c", "x", "y")], "is in the submodule sub"),
        ([("a.c", "one", "x"), ("sub/a.c", "x", "y")], "is in the submodule sub"),
        ([("new", "x", "y")], "new is not a file"),
    ],
)
def test_what_cannot_be_patched_changes_nothing(editor: Editor, edits: list[tuple[str, str, str]], says: str):
    editor.file("image.png", b"\x89PNG\0")
    (editor.root / "link").symlink_to(editor.secret)
    (editor.root / "dir").symlink_to(editor.secret.parent)
    (editor.root / "new").mkdir()
    before = editor.all()
    outcome = editor.call(
        "patch", edits=[dict(zip(("path", "search", "replace"), edit, strict=True)) for edit in edits]
    )

    assert not outcome.success
    assert says in outcome.stderr
    assert editor.all() == before
    assert editor.workspace.changes() == {}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"b.c": "", "../b.c": ""}, "is not below the root"),
        ({"b.c": "", "link": "x"}, "link is a link"),
        ({"b.c": "", "dir/b.c": "x"}, "links are not followed"),
        ({"b.c": "", "a.c/b.c": "x"}, "a.c/b.c: Not a directory"),
        ({"b.c": "", "gone.c": None}, "gone.c: there is no such file"),
        ({"b.c": "", "latin.c": "x"}, "latin.c: the file is not UTF-8 text"),
        ({"b.c": "", ".git/hooks/pre-commit": "x"}, "belongs to git"),
        ({"b.c": "", "c.c": "\0"}, "c.c: the content is not text"),
        ({"b.c": "", "c.c": "\udc80"}, "c.c: the content is not text"),
        ({"b.c": "", f"{'c' * 300}.c": "x"}, "File name too long"),
    ],
)
def test_what_cannot_be_written_changes_nothing(editor: Editor, files: dict[str, str | None], says: str):
    editor.file("latin.c", b"\xe9")
    (editor.root / "link").symlink_to(editor.secret)
    (editor.root / "dir").symlink_to(editor.secret.parent)
    before = editor.all()
    outcome = editor.rewrite(files)

    assert not outcome.success
    assert says in outcome.stderr
    assert editor.all() == before


def test_files_that_were_written_before_a_failure_are_as_before(editor: Editor):
    with pytest.raises(Exception, match="nothing was changed"):
        editor.workspace.replace({"a.c": b"x", "b/c.c": b"y", "b/c.c/d.c": b"z"})

    assert (editor.root / "a.c").read_text() == MAIN
    assert not (editor.root / "b/c.c").exists()


def test_a_file_that_changed_after_it_was_read_is_not_edited(editor: Editor):
    editor.call("read_code", path="a.c")
    editor.file("a.c", MAIN + "\n")

    assert "has changed since it was read" in editor.patch("a.c", "one", "two").stderr
    assert "has changed since it was read" in editor.rewrite({"./a.c": "x"}).stderr
    editor.call("read_code", path="a.c")
    assert editor.patch("a.c", "one", "two").success
    assert editor.patch("a.c", "two", "three").success


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ({"replace": "x"}, "give either search, or search_start and search_end"),
        ({"replace": "x", "search": "a", "search_start": "b"}, "give either search"),
        ({"replace": "x", "search_end": "b", "search": "a"}, "give either search"),
        ({"replace": "x", "search": "a", "range": "3"}, "range"),
        ({"search": "a"}, "replace: Field required"),
    ],
)
def test_an_incomplete_edit_is_not_run(editor: Editor, edit: dict[str, str], says: str):
    with pytest.raises(BadCall, match=says):
        editor.call("patch", edits=[{"path": "a.c", **edit}])


def test_a_path_in_two_spellings_is_one_file(editor: Editor):
    assert "occurs twice" in editor.rewrite({"b.c": "x", "./b.c": "y"}).stderr
    edits = [{"path": path, "search": "one", "replace": "two"} for path in ("a.c", "./a.c")]
    assert "overlaps" in editor.call("patch", edits=edits).stderr


PATHS = st.lists(st.sampled_from(["..", ".", "", "a.c", "link", "dir", "secret", "x", ".git"]), min_size=1, max_size=4)


@given(PATHS, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_path_leads_out_of_the_tree(editor: Editor, parts: list[str], absolute: bool):
    for name, target in (("link", editor.secret), ("dir", editor.secret.parent)):
        if not os.path.lexists(editor.root / name):
            (editor.root / name).symlink_to(target)
    path = ("/" if absolute else "") + "/".join(parts)
    if path:
        editor.rewrite({path: "changed\n"})
        editor.patch(path, "secret", "changed")

    assert editor.secret.read_text() == "secret\n"
    assert sorted(entry.name for entry in editor.secret.parent.iterdir()) == ["secret", "tree"]
    assert not (editor.root / ".git").exists()


@pytest.mark.parametrize("path", [" ", "dir/ ", " /a.c", "x\ny", "a\x1b[31m.c", "a\x9b.c", "a\u2028.c", "dir/\t"])
def test_no_file_has_a_name_that_is_blank_or_has_control_characters(editor: Editor, path: str):
    before = editor.all()
    outcome = editor.rewrite({path: "x\n"})

    assert "a name must not be blank or contain control characters" in outcome.stderr
    assert outcome.stderr.replace("\n", "").isprintable()
    assert editor.all() == before


def test_names_with_spaces_and_of_other_alphabets_are_names(editor: Editor):
    assert editor.rewrite({"my file.c": "1\n", "dir/é\u200d文.c": "2\n"}).success
    assert (editor.root / "my file.c").read_text() == "1\n"


def test_a_path_that_leaves_a_directory_and_not_the_tree_is_normalised(editor: Editor):
    assert editor.patch("nowhere/../a.c", "one()", "two()").success
    assert (editor.root / "a.c").read_text() == MAIN.replace("one()", "two()")
    refused = editor.rewrite({"nowhere/../../secret": "x"})

    assert "'../secret' is not below the root" in refused.stderr
    assert editor.secret.read_text() == "secret\n"
    assert "a path occurs twice" in editor.rewrite({"dir/../b.c": "1", "b.c": "2"}).stderr
