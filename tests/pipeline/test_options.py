"""Options of runs as JSON: what is written is read again, and rows of earlier versions are read, too."""

import json

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import RuleFacts, SecOptions
from jarvis_workers.store.values import Run
from tests.toy import ToyOptions


def test_options_are_read_as_they_were_written() -> None:
    options = JudgeOptions(
        batch_files=7,
        limits=FileLimits(1.0, 2.0, 3.0),
        cache=False,
        rules=RuleFacts(blob="b", off=["vla_usage"], learned={"atoi_family": -0.2}),
        baseline={"what": "main", "partial": True},
        model_group="m",
        agent_limits=AgentLimits(rounds=3),
        max_findings=9,
    )
    row = json.loads(json.dumps(options.encode()))

    assert JudgeOptions.decode(row) == options
    assert (SecOptions.decode(row).rules, ConversationOptions.decode(row).group) == (options.rules, "m")
    assert "second_group" not in row


def test_rows_of_earlier_versions_have_the_defaults_of_what_they_lack() -> None:
    row = {"min_confidence": 0.4, "batch_files": 5, "batch_bytes": 9, "rules": {"severity": {"a": "high"}}, "gone": 1}
    run = Run("r", "sec.fast", "/", b"/", "s", "x", "0", row)

    options = SecOptions.of(run)
    assert (options.cache, options.limits, options.lang) == (True, FileLimits(), "en")
    assert (options.batch_files, options.rules) == (5, RuleFacts(severity={"a": "high"}))
    assert JudgeOptions.of(run).votes == 1
    assert ToyOptions.of(run).least == 0
    assert RunOptions.decode({}) == RunOptions()
