"""What a run reads by its settings: all files, as many as a budget pays for, or none."""

from typing import Any

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.protocol import TokenUsage
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.pipeline.stages import chosen_stages, stages_of
from jarvis_workers.sec.judge.cost_model import reading_usage
from jarvis_workers.sec.runs.reading import with_reader
from jarvis_workers.sec.stages.judge_options import READ_ROOM, JudgeOptions
from jarvis_workers.settings import Settings

PRICES = {"input": 3, "output": 15}
MODEL = {"model": "m", "base_url": "https://models.example/v1", "profile": "openai"}


def reading(group: dict[str, Any] | None = None, **agent: Any) -> JudgeOptions:
    settings = Settings.model_validate({"models": {"m": {**MODEL, **(group or {})}}, "agent": agent})
    return with_reader(settings, JudgeOptions(model_group="m"), "m")


def left_out(options: JudgeOptions) -> list[str]:
    stages = stages_of("sec.agent")
    chosen = chosen_stages(stages, options)
    return [stage.name for stage in stages if stage not in chosen]


def test_by_default_as_many_files_are_read_as_a_budget_of_tokens_pays_for() -> None:
    options = reading()

    assert (options.read, options.read_tokens, options.read_room) == ("auto", 500_000, READ_ROOM)
    assert options.read_budget == RunBudget("tok", 500_000)
    assert left_out(options) == ["witness", "alerts", "prove", "fuzz", "crashes"]


def test_all_has_no_budget_and_none_no_readers() -> None:
    every, none = reading(read="all"), reading(read="none")

    assert (every.read, every.read_budget, every.read_tokens) == ("all", None, None)
    assert (none.read, left_out(none)) == (None, ["witness", "alerts", "map", "read", "prove", "fuzz", "crashes"])


def test_dollars_pay_for_as_many_tokens_as_questions_and_answers_of_readers_cost() -> None:
    options = reading({"prices": PRICES}, read_budget="2usd")

    usage = reading_usage(READ_ROOM)
    share = (options.read_tokens or 0) / usage.total
    paid = cost_of(TokenUsage(round(share * usage.prompt), round(share * usage.completion)), Prices(**PRICES))
    assert paid == pytest.approx(2, rel=0.001)
    with pytest.raises(UsageError, match='--read-budget: the model group "m" has no prices'):
        reading(read_budget="2usd")


def test_a_conversation_reads_at_most_a_third_of_a_small_window() -> None:
    assert reading({"overrides": {"context": 9_000, "answer_tokens": 1_000}}).read_room == 3_000
