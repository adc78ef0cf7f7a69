"""What is kept between processes is taken only where nobody else can have written it."""

import os
from pathlib import Path

import pytest

from jarvis_workers.source.pattern_cache import FILES_MAX, PatternCache, key_of

KEY = key_of(("words", 1))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "patterns"


@pytest.fixture
def place(directory: Path) -> Path:
    """A file that was kept."""
    PatternCache(directory).put(KEY, b"compiled")
    return directory / KEY


def test_what_was_kept_is_found_under_its_key_alone(directory: Path, place: Path) -> None:
    assert PatternCache(directory).find(KEY) == b"compiled"
    assert PatternCache(directory).find(key_of(("words", 2))) is None
    assert list(directory.iterdir()) == [place]


def test_it_is_for_its_owner_alone(directory: Path, place: Path) -> None:
    assert place.stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [lambda held: held[:-1], lambda held: held + b"x", lambda held: b"", bytes.swapcase])
def test_what_was_damaged_is_not_taken(directory: Path, place: Path, damage) -> None:  # type: ignore[no-untyped-def]
    place.write_bytes(damage(place.read_bytes()))

    assert PatternCache(directory).find(KEY) is None


def test_a_file_under_another_name_is_not_taken(directory: Path, place: Path) -> None:
    other = key_of(("words", 2))
    place.rename(directory / other)

    assert PatternCache(directory).find(other) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o644])
def test_what_others_may_open_is_not_taken(directory: Path, place: Path, mode: int) -> None:
    place.chmod(mode)

    assert PatternCache(directory).find(KEY) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_not_taken(directory: Path, place: Path) -> None:
    os.chown(place, 65534, 65534)

    assert PatternCache(directory).find(KEY) is None


def test_a_link_and_a_pipe_are_not_followed(directory: Path, place: Path) -> None:
    place.rename(directory / "aside")
    place.symlink_to(directory / "aside")
    assert PatternCache(directory).find(KEY) is None
    place.unlink()
    os.mkfifo(place, 0o600)
    assert PatternCache(directory).find(KEY) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    kept = PatternCache(tmp_path / "file" / "patterns")

    kept.put(KEY, b"compiled")

    assert kept.find(KEY) is None


def test_what_was_of_no_use_for_the_longest_goes_first(directory: Path) -> None:
    kept, keys = PatternCache(directory), [key_of((number,)) for number in range(FILES_MAX)]
    for number, key in enumerate(keys):
        kept.put(key, b"compiled")
        os.utime(directory / key, (number, number))
    assert kept.find(keys[0])

    kept.put(KEY, b"compiled")

    assert [kept.find(key) is not None for key in (keys[0], keys[1], keys[2], KEY)] == [True, False, True, True]
