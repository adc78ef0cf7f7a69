"""Commands whose options are the fields of a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import typer


def taking_options(record: type, command: Callable[..., int]) -> Callable[..., int]:
    """Add the fields of a dataclass to a command as its options; its first parameters are the context and `options`."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "options"]
    hints = get_type_hints(record, include_extras=True)
    shared = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(record)
    ]
    names = {one.name for one in shared}

    def run(ctx: typer.Context, **args: Any) -> int:
        options = record(**{name: args.pop(name) for name in names})
        return command(ctx, options, **args)

    more = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own[1:]]
    run.__signature__ = inspect.Signature([own[0], *shared, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [own[0], *shared, *more]}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
