"""What the doctor says of a model and of the sandbox: hints and warnings, never failures."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.runs.health.agents import SandboxFacts, examine_agents
from jarvis_workers.runs.health.doctor import Check, fit
from jarvis_workers.settings import Settings

WORKS = {"A": None, "B": None}
ALLOTMENTS = {"memory and processes": "measured: no cgroup v2", "scratch": "measured on disk: bubblewrap 0.4"}


def settings(tmp_path: Path, *names: str, **model: str) -> Settings:
    return Settings(
        data_dir=tmp_path, models={name: ModelGroup.model_validate({"model": "m"} | model) for name in names}
    )


def checks(found: Settings, refusals: Mapping[str, str | None], **environ: str) -> list[Check]:
    return examine_agents(found, lambda: SandboxFacts(refusals, ALLOTMENTS), environ)


def test_without_a_model_there_is_a_hint_and_the_sandbox_is_checked_for_conversions(tmp_path: Path) -> None:
    model, sandbox, *allotments = checks(settings(tmp_path), {"A": "A refused: no bwrap", "B": None})

    assert (model.name, model.state, model.remedy) == ("model", "ok", "")
    assert model.says.startswith("none; only agents need one: set OPENAI_API_KEY")
    assert (sandbox.name, sandbox.state, sandbox.says) == ("sandbox", "ok", "tier B")
    assert [check.says for check in allotments] == [
        "memory and processes measured: no cgroup v2",
        "scratch measured on disk: bubblewrap 0.4",
    ]


def test_a_model_is_shown_with_its_server_and_without_its_key(tmp_path: Path) -> None:
    found = settings(tmp_path, "fast", base_url="http://user:hidden@there/v1", api_key="sk-hidden")
    model, sandbox, *_ = checks(found, {"A": "A refused: no bwrap", "B": None})

    assert (model.state, sandbox.state, sandbox.says) == ("ok", "ok", "tier B")
    assert model.says.startswith("m at http://")
    assert model.says.endswith("there/v1 (group fast)")
    assert "hidden" not in model.says


@pytest.mark.parametrize(
    ("names", "model", "says"),
    [
        (("a", "b"), {}, "several model groups are set"),
        (("a",), {"api_key_env": "MY_KEY"}, "takes its key from MY_KEY, which is not set"),
    ],
)
def test_model_settings_that_do_not_do_are_a_warning(
    tmp_path: Path, names: tuple[str, ...], model: dict[str, str], says: str
) -> None:
    found = checks(settings(tmp_path, *names, **model), WORKS)

    assert found[0].state == "warn"
    assert says in found[0].says
    assert fit(found)


def test_a_sandbox_without_a_tier_that_works_is_a_warning_with_the_reasons(tmp_path: Path) -> None:
    _, sandbox = checks(settings(tmp_path, "a"), {"A": "A refused: x", "B": "B refused: y"}, OPENAI_API_KEY="k")

    assert (sandbox.state, sandbox.says) == ("warn", "A refused: x; B refused: y")
    assert "docs/sandbox.md" in sandbox.remedy
