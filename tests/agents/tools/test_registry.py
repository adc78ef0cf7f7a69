"""The registry: schemas from pydantic models, arguments read strictly, and scripts that run where they are told."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from jarvis_workers.agents.tools.tool import (
    ARGUMENTS_MAX,
    BadCall,
    Tool,
    ToolArguments,
    Toolbox,
    ToolOutcome,
    execute_script,
    read_arguments,
    typed,
)
from jarvis_workers.errors import UsageError


class Inner(BaseModel):
    """A part."""

    title: str


class Wanted(ToolArguments):
    """All sorts of arguments."""

    title: str = Field(description="what it is called")
    count: int = 1
    kind: Literal["a", "b"] = "a"
    inner: Inner | None = None


def tool(name: str = "make") -> Tool:
    return typed(
        Wanted, lambda wanted: ToolOutcome(stdout=f"{wanted.title}{wanted.count}"), name=name, description="Make."
    )


def test_arguments_become_a_schema() -> None:
    schema = tool().parameters

    assert schema["required"] == ["title"]
    assert "additionalProperties" not in schema
    assert schema["properties"]["title"] == {"type": "string", "description": "what it is called"}
    assert schema["properties"]["inner"]["properties"] == {"title": {"type": "string"}}
    assert json.loads(json.dumps(schema)) == schema


def test_a_tool_runs_with_what_its_model_reads() -> None:
    assert Toolbox([tool()]).run("make", {"title": "x", "count": "3"}).stdout == "x3"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("{}", "make: title"),
        ('{"title": "x", "count": "many"}', "make: count"),
        ('{"title": "x", "color": 1}', "make: color"),
        ('{"title": "x", "kind": "c"}', "make: kind"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ("{'title': 1}", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"title": "x", "title": "y"}', "twice"),
        ("x" * (ARGUMENTS_MAX + 1), "characters long"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(arguments: str, says: str) -> None:
    with pytest.raises(BadCall) as problem:
        Toolbox([tool()]).read("make", arguments)

    assert says in str(problem.value)
    assert "\n" not in str(problem.value)


def test_no_arguments_are_an_empty_object() -> None:
    assert read_arguments("") == {}


def test_a_box_keeps_its_order_and_knows_what_is_in_it() -> None:
    everything = Toolbox([tool("a"), tool("b")]).plus(tool("c"))

    assert everything.only(["c", "a"]).names == ("a", "c")
    with pytest.raises(UsageError, match='unknown tool "d"; available tools: a, b, c'):
        everything.only(["d"])
    with pytest.raises(UsageError, match='two tools called "a"'):
        everything.plus(tool("a"))
    with pytest.raises(BadCall, match="your tools are: none"):
        Toolbox().find("a")


def test_a_script_runs_where_it_is_told_to() -> None:
    ran: list[tuple[str, str]] = []

    def place(interpreter: str, script: str) -> ToolOutcome:
        ran.append((interpreter, script))
        return ToolOutcome("failed", stdout="half", stderr="no", exit=3)

    box = Toolbox([execute_script(place)])
    outcome = box.run("execute_script", {"script_content": "ls"})

    assert ran == [("bash", "ls")]
    assert outcome.exit == 3
    assert box.find("execute_script").brings_foreign
    assert box.run("execute_script", {"script_content": "x", "interpreter": "perl"}).state == "error"
