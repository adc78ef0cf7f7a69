"""A domain is in one place: most imports stay in a room of the house, and none runs up."""

from pathlib import Path

from tests.support.rooms import rooms_of

ROOT = Path(__file__).parents[1]


def test_no_import_runs_up_and_half_of_them_stay_in_their_room() -> None:
    """Of the imports of the tree by layers, before the domains, 45 % stayed in their room by the same count."""
    rooms = rooms_of(ROOT)

    assert len(rooms.imports) > 1000  # else nothing was read
    assert rooms.upward == []
    assert rooms.share_inside >= 0.5


def test_an_import_from_a_lower_room_runs_up(tmp_path: Path) -> None:
    for name, text in (
        ("runs/submit", "from jarvis_workers.sec import scan"),
        ("sec/scan", "import jarvis_workers.errors"),
    ):
        file = tmp_path / "jarvis_workers" / f"{name}.py"
        file.parent.mkdir(parents=True)
        (file.parent / "__init__.py").touch()
        file.write_text(text)
    (tmp_path / "jarvis_workers" / "errors.py").touch()
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.importlinter.contracts]]\nname = "Imports point down"\nlayers = ["sec", "runs", "errors"]\n'
    )

    rooms = rooms_of(tmp_path)

    assert [(one.importer, one.rooms) for one in rooms.upward] == [("jarvis_workers.runs.submit", ("runs", "sec"))]
    assert rooms.share_inside == 0
