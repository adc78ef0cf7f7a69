"""Rules for agents that change code: which files are read, in which order, and which are refused."""

from pathlib import Path

import pytest

from jarvis_workers.assistant.chat.code_request import MOST_BYTES, read_rules
from jarvis_workers.errors import UsageError


def place(root: Path, **files: bytes) -> Path:
    root.mkdir()
    for name, content in files.items():
        file = root / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


def test_a_plain_file_is_read_as_well(tmp_path: Path):
    data, project = place(tmp_path / "data"), place(tmp_path / "project")
    (project / ".jarvis").mkdir()
    (project / ".jarvis" / "rules").write_text(" Use tabs.\n\n")

    assert read_rules(data, project) == "Use tabs."


def test_the_users_rules_precede_those_of_the_project(tmp_path: Path):
    data = place(tmp_path / "data", rules__z_md=b"Z", rules__a_md=b"A", rules__b_yaml=b"scan")
    project = place(tmp_path / "project")

    assert read_rules(data, project) == "A\n\nZ"
    assert read_rules(project, project) == ""


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff", "not UTF-8 text"), (b"x" * (MOST_BYTES + 1), "more than 64,000 bytes of rules")],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes, says: str):
    data = place(tmp_path / "data", rules__a_md=content)

    with pytest.raises(UsageError, match=f"a.md: {says}"):
        read_rules(data, data)


def test_all_rules_together_are_bounded(tmp_path: Path):
    data = place(tmp_path / "data", rules__a_md=b"x" * MOST_BYTES, rules__b_md=b"x" * MOST_BYTES)

    with pytest.raises(UsageError, match="the rules have more than 64,000 bytes"):
        read_rules(data, tmp_path / "project")


def test_a_link_out_of_the_project_is_refused(tmp_path: Path):
    data = place(tmp_path / "data", secret=b"secret", rules__a_md=b"A")
    (data / "rules" / "b.md").symlink_to("../secret")
    project = place(tmp_path / "project")
    (project / ".jarvis").mkdir()
    (project / ".jarvis" / "rules").symlink_to(data / "secret")

    assert read_rules(data, tmp_path / "nowhere") == "A\n\nsecret"
    with pytest.raises(UsageError, match="links out of"):
        read_rules(data, project)
