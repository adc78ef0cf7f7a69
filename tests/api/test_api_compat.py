"""The product from Python: what the functions return is what the command line reports."""

import json
from pathlib import Path

import pytest

from jarvis_workers import api
from jarvis_workers.errors import UsageError
from jarvis_workers.settings import Settings, load_settings
from tests.agents.loop.server import ModelServer
from tests.cli.commands import COPY
from tests.support.judging import judge
from tests.support.settings_files import write_settings


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text(COPY)
    return tmp_path / "src"


def settings(home: Path, server: ModelServer | None = None) -> Settings:
    if server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(home, {"models": {"m": group}}, home / "data")
    environ = {"JARVIS_DATA_DIR": str(home / "data")}
    return load_settings({"where": "local", "processes": 0}, environ=environ, directory=home)


def test_a_scan_returns_what_the_report_says(tree: Path, tmp_path: Path) -> None:
    found = api.direct_scan(tree, settings=settings(tmp_path))

    assert [(issue["pattern"], issue["line"]) for issue in found["issues"]] == [("unsafe_api", 1)]
    assert found["summary"]["total"] == 1
    assert found["run"]["state"] == "done"


def test_a_report_is_written_by_its_suffix_and_returned(tree: Path, tmp_path: Path) -> None:
    text = api.run_security_analysis_fast(tree, tmp_path / "report.json", settings=settings(tmp_path))

    assert (tmp_path / "report.json").read_text() == text
    assert json.loads(text)["summary"]["total"] == 1


@pytest.mark.slow
def test_agents_judge_from_python_too(tree: Path, tmp_path: Path) -> None:
    with ModelServer(forever=lambda body: judge(body, always="confirmed")) as server:
        chosen = settings(tmp_path, server)
        text = api.run_security_analysis(tree, "m", 1, settings=chosen)
        as_json, as_markdown = api.build_json_and_markdown("last", settings=chosen)
        apart = chosen.model_copy(update={"agent": chosen.agent.model_copy(update={"read": "none"})})
        api.run_security_analysis(tree, "m", 1, tmp_path / "apart.json", settings=apart)

    report, without = json.loads(as_json), json.loads((tmp_path / "apart.json").read_text())
    assert as_markdown == text
    assert [issue["status"] for issue in report["issues"]] == ["confirmed"]
    assert report["summary"]["reading"]["read"] == 1 and without["issues"] == report["issues"]
    assert "reading" not in without["summary"]


def test_without_a_model_nobody_can_judge(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="no model is set"):
        api.run_security_analysis(tree, settings=settings(tmp_path))


def test_what_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nobody"):
        api.nobody  # noqa: B018
