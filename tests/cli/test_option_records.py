"""The command line of a command derives from the options of its run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from jarvis_cli.kit.app import App
from jarvis_cli.kit.option_records import CommandOptions, Without, taking_options
from jarvis_cli.kit.options import Budget, Quiet
from jarvis_workers.errors import UsageError
from jarvis_workers.option import AGENTS, Option, check_values, values_of_settings
from jarvis_workers.runs.scan_request import with_settings
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.settings import Settings


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """The options of a run, of which a user sets all but the digest."""

    digest: str = ""
    steps: Annotated[int, Option("--steps -s", "Steps to take.", AGENTS, metavar="NUMBER", at_least=1)] = 5
    pace: Annotated[Literal["slow", "fast"], Option("--pace", "How to walk.", AGENTS)] = "slow"
    over: Annotated[Sequence[str], Option("--over", "Where to walk.", AGENTS)] = field(default_factory=list)
    seconds: Annotated[float, Option("--seconds", "How long.", setting="code.gate_seconds")] = 1.0
    memory_mb: Annotated[float, Option(setting="code.gate_memory_mb")] = 1.0


@dataclass(frozen=True, kw_only=True)
class WalkCommand(CommandOptions):
    """The options of a command: those of its run, and its own."""

    order = "target steps budget"
    target: Annotated[str, Option("TARGET", "The end.")]
    budget: Budget = None
    options: WalkOptions = WalkOptions()
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class StrollCommand(WalkCommand):
    options: Annotated[WalkOptions, Without("pace over")] = WalkOptions()


def run(args: Sequence[str], record: type[WalkCommand] = WalkCommand) -> Any:
    """Run a command; return its options, or what it prints if it does not run."""
    given: list[WalkCommand] = []

    def walk(ctx: typer.Context, options: WalkCommand) -> int:
        given.append(options)
        return 0

    app = App(add_completion=False)
    app.command()(taking_options(record, walk))
    result = CliRunner().invoke(app, args)
    return given[0] if given else result.exception if isinstance(result.exception, UsageError) else result.output


def test_the_options_of_a_command_line_are_those_of_the_run() -> None:
    given = run(["home", "-s", "3", "--pace", "fast", "--over", "a", "--over", "b", "-q"])

    assert given == WalkCommand(target="home", options=WalkOptions(steps=3, pace="fast", over=["a", "b"]), quiet=True)
    assert type(given.options.pace) is str and run(["home"]).options == WalkOptions()


def test_the_help_lists_the_options_of_a_run_in_the_order_of_the_command() -> None:
    lines = [line.strip() for line in run(["--help"]).splitlines() if line.startswith("  -") or line.endswith(":")]

    assert [line.split("  ")[0] for line in lines] == [
        *("Arguments:", "Agents:", "-s, --steps NUMBER", "--budget AMOUNT", "--pace PACE", "--over OVER"),
        *("Report:", "-q, --quiet", "Other options:", "--seconds SECONDS", "-h, --help"),
    ]
    assert "Steps to take. [default: 5]" in run(["--help"])


def test_a_command_can_leave_out_options_of_its_run() -> None:
    assert run(["home", "-s", "3"], StrollCommand).options.steps == 3
    assert "No such option" in run(["home", "--pace", "fast"], StrollCommand)


def test_an_option_overrides_its_setting_which_completes_the_run() -> None:
    given = run(["home", "--seconds", "7", "--budget", "5usd"])

    assert given.flags == {"code.gate_seconds": 7.0, "agent.budget": "5usd"} and run(["home"]).flags == {}
    assert values_of_settings(Settings(), WalkOptions) == {"seconds": 600, "memory_mb": 4096}


def test_a_value_out_of_bounds_is_refused_by_the_command_line_and_for_a_new_run() -> None:
    with pytest.raises(UsageError) as refusal:
        check_values(WalkOptions(steps=0))

    assert str(refusal.value) == '--steps: "0" is not a whole number of at least 1'
    assert str(run(["home", "--steps", "0"])) == str(refusal.value)


def test_a_run_that_no_command_starts_has_the_same_bounds() -> None:
    with pytest.raises(UsageError, match=r'^--attempts: "11" is not a whole number from 1 to 10$'):
        with_settings(Settings(), FixOptions(attempts=11))

    assert FixOptions.decode({"attempts": 11}).attempts == 11  # of an earlier version
