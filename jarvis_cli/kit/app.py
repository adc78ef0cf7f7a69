"""A typer application with grouped help, -h, and better messages for invalid values.

typer would show types (`<int range>`), truncate summaries, and reject a number with "Input should be less than or equal
to 1". Options are grouped by their `rich_help_panel`, in order of first appearance; rich is not imported.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from jarvis_cli.kit.options import not_one_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
LAST = "Other options"
SETTINGS_FILES = ("jarvis.yaml", "pyproject.toml")
# The settings that a command uses: none; addresses of servers; those of the conversations of `jarvis sec` and `jarvis
# c2rust` as well; or those of all agents. With "none", a command that uses some says by itself what is not trusted.
Uses = Literal["none", "servers", "conversations", "agents"]
# Keyed by the first word of typer's name for the type of a parameter.
NUMBERS = {"int": "a whole number", "integer": "a whole number", "float": "a number"}


@dataclass(frozen=True)
class Frame:
    """How a command was started, from `ctx.find_object(Frame) or Frame()`.

    `default_output` is the report file without -o (None: stdout); it is set by `jarvis-sec`.
    """

    default_output: Path | None = None
    verbose: bool = False


class _Help:
    """Mixin for commands and groups that formats their help texts."""

    params: list[Any]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [one for one in self.params if isinstance(one, TyperArgument) and not one.hidden]
        if _path_option(self.params):
            return ["[OPTIONS]", "[PATH]"]
        more = ["COMMAND ..."] if isinstance(self, TyperGroup) else []
        return ["[OPTIONS]", *map(_usage, arguments), *more]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = list(args)
        try:
            result: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            if error.param is None or isinstance(error.param, str):
                raise
            raise _refusal(self, ctx, error.param, words, error) from error
        return result

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):  # type: ignore[attr-defined]
            if not getattr(param, "hidden", False):
                usual = "Arguments" if isinstance(param, TyperArgument) else LAST
                panels.setdefault(param.rich_help_panel or usual, []).append(_record(param))
        rest = panels.pop(LAST, [])
        for name, rows in [*panels.items(), (LAST if set(panels) - {"Arguments"} else "Options", rest)]:
            if rows:
                with formatter.section(name):
                    formatter.write_dl(rows, col_max=26)


class HelpCommand(_Help, TyperCommand):
    """A command with grouped options; it asks a person about settings that need trust before it uses them.

    A command with the option --path and without arguments takes the path as an argument as well.
    """

    def __init__(self, *args: Any, uses: Uses = "servers", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.uses = uses

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        option = _path_option(self.params)
        ctx.allow_extra_args = ctx.allow_extra_args or option is not None
        result = super().parse_args(ctx, args)
        if option is not None and ctx.args:
            path, *more = ctx.args
            if more or ctx.get_parameter_source(option.name).name == "COMMANDLINE":
                ctx.fail(f"Got unexpected extra argument(s) ({' '.join(more or [path])})")
            ctx.params[option.name] = option.type_cast_value(ctx, path)
            ctx.args = []
        return result

    def invoke(self, ctx: Any) -> Any:
        if self.uses != "none" and any(os.access(name, os.F_OK) for name in SETTINGS_FILES):
            from jarvis_cli.kit.program_trust import USED, approve_programs  # noqa: PLC0415  (slow, for the settings)

            asks = not any(ctx.params.get(name) for name in ("quiet", "non_interactive"))
            approve_programs(ask=asks, names=USED[self.uses])
        return super().invoke(ctx)


class HelpGroup(_Help, TyperGroup):
    """A group that lists its commands with complete summaries."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        result = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _summary(one)) for name, one in result if one is not None and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)


class App(typer.Typer):
    """A typer application that uses HelpCommand and HelpGroup."""

    def __init__(self, **settings: Any) -> None:
        context = HELP_NAMES | settings.pop("context_settings", {})
        super().__init__(**{"cls": HelpGroup, "rich_markup_mode": None, "context_settings": context, **settings})

    def command(
        self, name: str | None = None, *, examples: str = "", uses: Uses = "servers", **settings: Any
    ) -> Callable[[Any], Any]:
        """Add a command; `examples` are the command lines that its help ends with, `uses` the settings that it uses."""
        context = HELP_NAMES | (settings.pop("context_settings", None) or {})
        if examples:
            settings["epilog"] = "\b\nExamples:\n" + indent(cleandoc(examples), "  ")
        return super().command(
            name, **{"cls": partial(HelpCommand, uses=uses), "context_settings": context, **settings}
        )


def _summary(command: Any) -> str:
    first: str = (command.short_help or command.help or "").split("\n\n")[0]
    return " ".join(first.split())


def _path_option(params: Sequence[Any]) -> Any:
    """Return the option --path of a command without arguments, or None."""
    if any(isinstance(one, TyperArgument) for one in params):
        return None
    return next((one for one in params if "--path" in one.opts), None)


def _usage(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _record(param: Any) -> tuple[str, str]:
    """Return the names of a parameter and its description."""
    if isinstance(param, TyperArgument):
        return (param.metavar or param.name or "").upper(), _described(param)
    # For a flag that is on by default, only the negative form is shown.
    names = param.secondary_opts if param.secondary_opts and param.default is True else param.opts
    value = "" if param.is_flag or param.count else f" {param.metavar or (param.name or '').upper()}"
    more = f", {param.secondary_opts[0]}" if param.secondary_opts and names is param.opts else ""
    return ", ".join(sorted(names, key=lambda name: name.startswith("--"))) + more + value, _described(param)


def _described(param: Any) -> str:
    facts = [f"default: {param.default}"] if _has_default(param) else []
    if isinstance(param, TyperOption) and param.required:
        facts.append("required")
    text = (param.help or "").strip()
    return f"{text} [{'; '.join(facts)}]".strip() if facts else text


def _has_default(param: Any) -> bool:
    """Return whether the help shows the default: not for flags and required options, and not if it is empty."""
    is_flag = getattr(param, "is_flag", False)
    return bool(param.show_default) and param.default not in (None, "", (), []) and not is_flag and not param.required


def _refusal(command: Any, ctx: Any, param: Any, args: Sequence[str], error: Any) -> Exception:
    """Return the error for an invalid value."""
    value = _value(command, ctx, param, args)
    name = (
        max(getattr(param, "opts", ()) or [param.metavar or param.name], key=len)
        if param.param_type_name == "option"
        else param.metavar
    )
    if value is None:
        return error  # type: ignore[no-any-return]
    if choices := getattr(param.type, "choices", None):
        return UsageError(not_one_of(name, value, map(str, choices)))
    kind = NUMBERS.get(param.type.name.partition(" ")[0])
    if kind is None:
        return error  # type: ignore[no-any-return]
    return UsageError(f'{name}: "{plain(value)}" is not {kind}{_range(param.type)}')


def _range(kind: Any) -> str:
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    if low is not None:
        return f" of at least {low:,}"
    return f" of at most {high:,}" if high is not None else ""


def _value(command: Any, ctx: Any, param: Any, args: Sequence[str]) -> str | None:
    """Return the text that the user entered for a parameter, or None."""
    values: Mapping[str, Any] = command.make_parser(ctx).parse_args(args=list(args))[0]
    value = values.get(param.name)
    return value if isinstance(value, str) else None
