"""Commands whose options are the fields of a dataclass.

A field is an option of the command line if its annotation has an `Option` or one of typer's; a field that is a
dataclass has options of its own, as have the options of a run within those of its command.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import Enum, StrEnum
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

import typer
from typer.models import ParameterInfo

from jarvis_cli.kit import completion
from jarvis_workers.option import Option, options_in


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """The base of the options of a command; `flags` are the settings that are given on the command line.

    The help lists the options that `order` names first.
    """

    order: ClassVar[str] = ""
    flags: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Without:
    """Marks a field of options, some of which the command does not have; `names` are those of their fields."""

    names: str


def taking_options(record: type, command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a dataclass to a command, whose first parameters are the context and `options`."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "options"]
    first = getattr(record, "order", "").split()
    found = {one.name: one for one in _parameters(record, ())}
    shared = [found[name] for name in (*first, *(name for name in found if name not in first))]

    def run(ctx: typer.Context, **args: Any) -> int:
        given = {name: args.pop(name) for name in found}
        return command(ctx, record(**_values(record, (), given, {})), **args)

    more = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own[1:]]
    run.__signature__ = inspect.Signature([own[0], *shared, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [own[0], *shared, *more]}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _parameters(record: type, without: Sequence[str]) -> Iterator[inspect.Parameter]:
    for one in fields(record):
        if one.name in without:
            continue
        if nested := _nested(one):
            yield from _parameters(*nested)
        elif isinstance(mark := _mark(one), Option):
            yield _parameter(one, mark)
        elif mark:
            yield _named(one.name, one.type, _default(one))


def _nested(one: "Field[Any]") -> tuple[type, Sequence[str]] | None:
    """Return the options that a field holds, and the names of those that the command does not have."""
    marks = getattr(one.type, "__metadata__", ())
    kind = get_args(one.type)[0] if marks else one.type
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return None
    return kind, [name for mark in marks if isinstance(mark, Without) for name in mark.names.split()]


def _mark(one: "Field[Any]") -> Option | ParameterInfo | None:
    """Return what makes a field an option of the command line, or None."""
    marks = [mark for mark in getattr(one.type, "__metadata__", ()) if isinstance(mark, Option | ParameterInfo)]
    return next((mark for mark in marks if isinstance(mark, ParameterInfo) or mark.names), None)


def _default(one: "Field[Any]") -> Any:
    """Return the default of a parameter: None for a field with a list."""
    if one.default is MISSING:
        return inspect.Parameter.empty if one.default_factory is MISSING else None
    return None if one.default == () else one.default


def _named(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter(one: "Field[Any]", option: Option) -> inspect.Parameter:
    """Translate an option for typer."""
    words: dict[str, Any] = {"help": option.help, "rich_help_panel": option.panel, "hidden": option.hidden}
    words["autocompletion"] = getattr(completion, option.completion) if option.completion else None
    more: dict[str, Any] = {"metavar": option.metavar, "min": option.at_least, "max": option.at_most, **words}
    about: Any = (
        typer.Argument(metavar=option.names, **words)
        if option.is_argument
        else typer.Option(*option.names.split(), **more)
    )
    kind, default = option.given or _kind(get_args(one.type)[0]), _default(one)
    if default is not inspect.Parameter.empty and (option.setting or option.read or default in (None, "")):
        kind, default = kind | None, None
    return _named(one.name, Annotated[kind, about], default)


def _kind(kind: Any) -> Any:
    """Return the type on the command line for the type of a field."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _kind(next(one for one in args if one is not type(None)))
    if origin is Literal:
        return StrEnum("Choice", {value: value for value in args})
    return list[args[0]] if origin is not None and issubclass(origin, Sequence) else kind  # type: ignore[valid-type]


def _values(record: type, without: Sequence[str], given: Mapping[str, Any], flags: dict[str, object]) -> dict[str, Any]:
    """Return the values of a dataclass that the command line gives; `flags` are completed by its settings."""
    values: dict[str, Any] = {"flags": flags} if issubclass(record, CommandOptions) else {}
    for one in fields(record):
        if one.name in without:
            continue
        if nested := _nested(one):
            values[one.name] = _made(one, nested[0], _values(*nested, given, flags))
        elif mark := _mark(one):
            value = given[one.name]
            if value is None and isinstance(mark, Option):
                continue
            values[one.name] = _read(mark, value) if isinstance(mark, Option) else value
            if value is not None and (setting := getattr(options_in(record).get(one.name), "setting", None)):
                flags[setting] = values[one.name]
    return values


def _made(one: "Field[Any]", kind: type, values: Mapping[str, Any]) -> Any:
    """Return the dataclass that a field holds: its default, with these values."""
    if one.default_factory is not MISSING:
        return replace(one.default_factory(), **values)
    return kind(**values) if one.default is MISSING else replace(one.default, **values)


def _read(option: Option, value: Any) -> Any:
    if option.read:
        return option.read(value)
    return value.value if isinstance(value, Enum) and option.given is None else value
