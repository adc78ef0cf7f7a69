"""Who may open Flower."""

from pathlib import Path

import pytest

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.service.flower_page import flower_users, serve_flower
from jarvis_workers.settings import Settings


def test_users_are_in_a_variable_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:secret,bob:other\n")
    environ = {"FLOWER_BASIC_AUTH_FILE": str(tmp_path / "users")}

    assert flower_users(environ) == "ann:secret,bob:other"
    assert flower_users({**environ, "FLOWER_BASIC_AUTH": "eve:x"}) == "eve:x"
    assert flower_users({}) is None


@pytest.mark.parametrize("content", [None, b"", b"no colon", b"\xff:"])
def test_a_file_without_users_does_not_open_flower(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "users").write_bytes(content)

    with pytest.raises(SettingsError, match="FLOWER_BASIC_AUTH_FILE"):
        flower_users({"FLOWER_BASIC_AUTH_FILE": str(tmp_path / "users")})


def test_flower_is_not_open_to_everyone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0")

    with pytest.raises(UsageError, match="open to everyone; set FLOWER_BASIC_AUTH=user:password"):
        serve_flower(settings, "0.0.0.0", 5555, {})
