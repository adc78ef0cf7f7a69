"""A key is told to the server, and to nobody else: not even where the server repeats it."""

from pathlib import Path

import pytest

from tests.agents.loop.server import ModelServer, repeats_headers
from tests.cli.commands import COPY, Jarvis
from tests.support.settings_files import write_settings

KEY = "long/and+secret=key"


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("status", [401, 500])
def test_a_key_that_the_server_repeats_is_nowhere_to_be_read(jarvis: Jarvis, status: int) -> None:
    tree = jarvis.tree("src", {"a.c": COPY})
    with ModelServer(forever=repeats_headers(status)) as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": KEY}
        write_settings(jarvis.place, {"models": {"m": group}, "agent": {"seconds": 2}})
        ended = jarvis("sec", "agent", "-p", tree, "--format", "json")
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    others = [jarvis("runs", "report", "last", "--format", form) for form in ("markdown", "html", "sarif", "junit")]
    jarvis("runs", "export", "last")

    (jarvis.place / "jarvis.yaml").unlink()
    said = [ended, *others, jarvis("runs", "show", "last"), jarvis("runs", "transcript", "last")]
    assert f"responded with {status}" in ended.out
    assert "Bearer ***" in ended.out
    assert all(KEY not in one.out + one.err for one in said)
    assert (tree / ".jarvis" / "sec" / "agent_issues.jsonl").exists()
    assert [file for file in _files(jarvis) if KEY.encode() in file.read_bytes()] == []
    assert any(b"Bearer ***" in file.read_bytes() for file in _files(jarvis) if file.name.startswith("jarvis.db"))


def _files(jarvis: Jarvis) -> list[Path]:
    places = (jarvis.place, jarvis.settings.data_dir)
    return [file for place in places for file in place.rglob("*") if file.is_file()]
