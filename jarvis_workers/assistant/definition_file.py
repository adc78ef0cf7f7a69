"""The definition of an agent in a YAML file: every key has a type, and an unknown or mistyped one is refused.

`non_interactive` wins over everything else; `use_methodology` is off when files are given, unless it is set.
"""

from collections.abc import Hashable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import UsageError
from jarvis_workers.reprs import short

Text = Annotated[str, Field(max_length=200_000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Rounds = Annotated[int, Field(ge=1, le=1_000_000)]
Depth = Annotated[int, Field(ge=0, le=10)]


class DefinitionFile(BaseModel):
    """The keys of definition.yaml. None means that the settings or the mode decide.

    `max_token_count` is the size of the history, in tokens, at which it is summarized; `auto_summary_rounds` the number
    of answers. Depths count levels of sub-agents.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    system_prompt: Text = ""
    name: Name = "Jarvis"
    description: Text = ""
    model_group: Name | None = None
    summary_prompt: Text = ""
    auto_complete: bool | None = None
    use_tools: list[Name] | None = None
    execute_tool_confirm: bool = False
    need_summary: bool = False
    auto_summary_rounds: Rounds = 20
    tool_reminder_rounds: Rounds | None = None
    max_token_count: Rounds | None = None
    use_methodology: bool | None = None
    use_analysis: bool | None = None
    force_save_memory: bool = False
    disable_file_edit: bool = False
    files: list[Name] = []
    non_interactive: bool = False
    in_multi_agent: bool = False
    plan: bool = False
    plan_max_depth: Depth = 2
    plan_depth: Depth = 0
    agent_type: Literal["normal", "code"] = "normal"

    @property
    def uses_methodology(self) -> bool:
        return not self.files if self.use_methodology is None else self.use_methodology


def read_definition(text: str, where: str) -> DefinitionFile:
    """Return the definition in a YAML text. Raises UsageError, which names `where`."""
    document = _mapping(text, where)
    try:
        return DefinitionFile.model_validate(document)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        key = str(wrong["loc"][0])
        place = f"{where}:{_line_in(text, wrong['loc'])}"
        if wrong["type"] == "extra_forbidden":
            close = get_close_matches(key, DefinitionFile.model_fields, n=1)
            hint = (
                f' (did you mean "{close[0]}"?)'
                if close
                else f"; the keys are {', '.join(DefinitionFile.model_fields)}"
            )
            raise UsageError(f'{place}: unknown key "{key}"{hint}') from error
        key = ".".join(map(str, wrong["loc"]))
        raise UsageError(f'{place}: "{key}" is {short.repr(wrong["input"])}, {requirement(wrong)}') from error


def read_tasks(text: str, where: str) -> dict[str, str]:
    """Return the predefined tasks of a YAML text, a mapping of names to tasks. Raises UsageError."""
    tasks = _mapping(text, where)
    for name, task in tasks.items():
        if not isinstance(name, str) or not isinstance(task, str) or not task.strip():
            raise UsageError(f"{where}: {short.repr(name)} should be the name of a task, with a text")
    return {str(name): str(task).strip() for name, task in tasks.items()}


def _line_in(text: str, position: Sequence[str | int]) -> int:
    """Return the line of a value in a valid YAML text."""
    import yaml  # noqa: PLC0415  (slow to import, and most have no such file)

    from jarvis_workers.yamlloader import WithoutAliases, line_of  # noqa: PLC0415

    return line_of(yaml.compose(text, WithoutAliases), position)


def _mapping(text: str, where: str) -> Mapping[Hashable, Any]:
    from jarvis_workers.yamlloader import parse_yaml  # noqa: PLC0415  (slow to import, and most have no such file)

    document = parse_yaml(text, where)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{where} is {short.repr(document)}; expected a mapping of names to values")
    return document
