"""A domain is in one place: most imports stay in a room of the house, and none runs up."""

from pathlib import Path

from tests.support.rooms import Rooms, rooms_of

ROOT = Path(__file__).parents[1]


def test_no_import_runs_up_and_half_of_them_stay_in_their_room() -> None:
    """Of the imports of the tree by layers, before the domains, 46 % stayed in their room by the same count."""
    rooms = rooms_of(ROOT)

    assert len(rooms.imports) > 1000  # else nothing was read
    assert rooms.upward == []
    assert rooms.share_inside >= 0.5


def test_an_import_from_a_lower_room_runs_up() -> None:
    layers = [["jarvis_cli"], ["sec"], ["jarvis_cli.kit"], ["runs"], ["values"]]
    runs, sec, errors = "jarvis_workers.runs.submit", "jarvis_workers.sec.scan", "jarvis_workers.errors"
    kit, command = "jarvis_cli.kit.exits", "jarvis_cli.main"

    rooms = Rooms(layers, [(runs, sec), (sec, errors), (sec, kit), (kit, command), (sec, "jarvis_workers")])

    assert [one.rooms for one in rooms.upward] == [("runs", "sec"), ("jarvis_cli.kit", "jarvis_cli")]
    assert (len(rooms.imports), rooms.share_inside) == (4, 0)
