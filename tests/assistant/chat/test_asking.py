"""Questions to a model outside of runs: retries, limits, and what they have cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.assistant.chat.asking import ROUNDS, DirectModel, open_model
from jarvis_workers.errors import AgentStopped, SettingsError, UsageError
from jarvis_workers.settings import Settings
from tests.agents.loop.server import FAULTS, ModelServer, Step, cuts, fails, garbles, says

ANSWER = says("<REPORT>\n7\n</REPORT>")


def settings(data: Path, url: str, **group: object) -> Settings:
    named = {"model": "m", "base_url": url, "profile": "generic", "api_key": "k", **group}
    return Settings.model_validate({"data_dir": data, "models": {"local": named}})


@contextmanager
def asking(data: Path, *steps: Step) -> Iterator[DirectModel]:
    with (
        ModelServer(*steps) as server,
        open_model(settings(data, server.url, prices={"input": 1000, "output": 1000}), None) as model,
    ):
        yield model


def ask(model: DirectModel, question: str = "How many?") -> object:
    agent = model.questioner("Be brief.", ReportForm(int))
    return model.drive(run_task(agent, question), agent.tools).report


def test_a_question_is_answered_and_its_cost_known(tmp_path: Path) -> None:
    with asking(tmp_path, ANSWER, ANSWER) as model:
        answers = [ask(model), ask(model)]

    assert answers == [7, 7]
    assert model.spent == "2 answers, 240 tokens, 0.2400 dollars"


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fails(429, retry_after="0.1"), fails(500), garbles(), cuts(), FAULTS["reset"]])
def test_a_passing_fault_is_retried(tmp_path: Path, fault: Step) -> None:
    with asking(tmp_path, fault, ANSWER) as model:
        assert ask(model) == 7


def test_an_unreadable_answer_is_asked_for_again_up_to_a_limit(tmp_path: Path) -> None:
    with asking(tmp_path, says("Seven."), FAULTS["truncation"], ANSWER) as model:
        assert ask(model) == 7
    with asking(tmp_path, *[says("Seven.")] * 3) as model, pytest.raises(AgentStopped, match="no valid report"):
        ask(model)
    assert ROUNDS >= 3


@pytest.mark.parametrize(
    ("group", "named", "says_why"),
    [
        ({"api_key": None, "api_key_env": "NO_SUCH_KEY"}, None, "NO_SUCH_KEY, which is not set"),
        ({}, "fast", 'there is no group "fast"'),
        ({"platform": "opnai"}, None, 'unknown platform "opnai"'),
    ],
)
def test_a_group_that_cannot_be_asked_is_refused(
    tmp_path: Path, group: dict[str, object], named: str | None, says_why: str
) -> None:
    chosen = settings(tmp_path, "http://127.0.0.1:1/v1", **group)
    with pytest.raises((SettingsError, UsageError), match=says_why), open_model(chosen, named):
        pass
