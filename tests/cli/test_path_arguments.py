"""Commands with the option --path take the path as an argument as well."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from jarvis_cli.main import COMMANDS, load
from tests.cli.commands import Jarvis


def commands(one: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command below a group, or the command itself."""
    if not hasattr(one, "list_commands"):
        yield name, one
        return
    ctx = typer.Context(one)
    for part in one.list_commands(ctx):
        yield from commands(one.get_command(ctx, part), f"{name} {part}")


WITH_PATH = {
    name: one
    for top in COMMANDS
    for name, one in commands(load(top), top)
    if any("--path" in param.opts for param in one.params)
    and not any(param.param_type_name == "argument" for param in one.params)
}


def test_there_are_such_commands() -> None:
    assert {"c2rust fast", "c2rust scan", "c2rust roadmap", "memory list"} <= set(WITH_PATH)


@pytest.mark.parametrize("name", WITH_PATH)
def test_the_path_may_be_an_argument(name: str) -> None:
    command = WITH_PATH[name]
    required = [word for param in command.params if param.required for word in (param.opts[0], "x")]

    def path_in(*words: str) -> str:
        found = command.make_context(name, [*words, *required]).params
        return str(next(found[param.name] for param in command.params if "--path" in param.opts))

    assert path_in("src") == path_in("-p", "src") == "src"
    assert path_in() != "src"
    assert "[PATH]" in command.collect_usage_pieces(typer.Context(command))


def test_a_path_that_is_not_there_is_named(jarvis: Jarvis) -> None:
    assert "nowhere" in jarvis("c2rust", "scan", "nowhere").line
