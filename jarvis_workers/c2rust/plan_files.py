"""Read the files with the plan of a crate, which `prepare` writes and people edit: crate_plan.yaml, signatures.jsonl.

They are in the tree of the project, and untrusted.  Errors name file and line.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate_layout import CratePlan
from jarvis_workers.c2rust.signature_answer import PlannedParameter
from jarvis_workers.constraints import located
from jarvis_workers.errors import UsageError
from jarvis_workers.reprs import short
from jarvis_workers.yamlloader import UniqueKeys

PLAN_CHARACTERS, DEEPEST = 1_000_000, 20
STARTS = yaml.SequenceStartEvent, yaml.MappingStartEvent
ENDS = yaml.SequenceEndEvent, yaml.MappingEndEvent
PARAMETERS = TypeAdapter(tuple[PlannedParameter, ...])


class PlanFiles(BaseModel):
    """The modules, and the parameters of functions by plain Rust name."""

    model_config = ConfigDict(frozen=True)

    modules: CratePlan | None = None
    functions: Mapping[str, tuple[PassedParameter, ...]] = {}


def read_crate_plan(text: str, file: str) -> CratePlan:
    """Return the plan in a YAML file. Raises UsageError."""
    if len(text) > PLAN_CHARACTERS:
        raise UsageError(f"{file} is longer than {PLAN_CHARACTERS:,} characters")
    try:
        _check_events(text, file)
        plan = CratePlan.model_validate(yaml.load(text, UniqueKeys))  # noqa: S506  (a safe loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{file}:{line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{file}: not YAML") from error
    except ValidationError as error:
        raise UsageError(f"{file}: {_first(error)}") from error
    words = [*plan.enums, *plan.enums.values(), *(name for one in plan.modules for name in (one.path, *one.functions))]
    if wrong := [name for name in words if not name.isprintable()]:
        raise UsageError(f"{file}: not a name: {short.repr(wrong[0])}")
    return plan


def _check_events(text: str, file: str) -> None:
    """Raise UsageError for aliases, which could stand for more text than memory holds, and for deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, STARTS) - isinstance(event, ENDS)
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise UsageError(f"{file}:{line}: an alias, or nested too deeply")


def read_signature_lines(lines: Iterable[str], file: str) -> dict[str, tuple[PassedParameter, ...]]:
    """Return the parameters of functions by plain Rust name; functions without a signature are left out.

    Raises UsageError for the first line that is wrong.
    """
    found: dict[str, tuple[PassedParameter, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            name, parameters = _function(json.loads(line))
        except (ValueError, RecursionError) as error:
            reason = _first(error) if isinstance(error, ValidationError) else str(error) or "not JSON"
            raise UsageError(f"{file}:{number}: {reason}") from error
        if name in found:
            raise UsageError(f"{file}:{number}: {name} occurs twice")
        if parameters is not None:
            found[name] = parameters
    return found


def _function(row: Any) -> tuple[str, tuple[PassedParameter, ...] | None]:
    if not isinstance(row, dict) or not isinstance(row.get("rust_symbol"), str):
        raise ValueError("not an object with the field rust_symbol")
    name = row["rust_symbol"].removeprefix("r#")
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"not the name of a function: {short.repr(name)}")
    if row.get("mapping") is None:
        return name, None
    parameters = tuple(one.passed for one in PARAMETERS.validate_python(row["mapping"]))
    if wrong := [word for one in parameters for word in one if not word.isprintable()]:
        raise ValueError(f"not the name of a parameter: {short.repr(wrong[0])}")
    return name, parameters


def _first(error: ValidationError) -> str:
    wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return located(wrong)
