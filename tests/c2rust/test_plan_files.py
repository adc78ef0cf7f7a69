"""Files with the plan of a crate: what `prepare` writes is read; wrong lines are named."""

import json

import pytest

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate_layout import plan_text
from jarvis_workers.c2rust.plan_files import PlanFiles, read_crate_plan, read_signature_lines
from jarvis_workers.errors import UsageError

SLICE = {"name": "numbers", "kind": "slice", "length": "count"}


def line(name: object, *parameters: object) -> str:
    return json.dumps({"rust_symbol": name, "mapping": list(parameters)})


def test_written_plans_are_read() -> None:
    plan = read_crate_plan(plan_text({"sum": "math/sums", "no": "rest"}, {"color": "enum"}), "p")
    assert plan.enums == {"color": "enum"}
    assert {one.path: one.functions for one in plan.modules} == {"src/math/sums.rs": ("sum",), "src/rest.rs": ("no",)}
    files = PlanFiles(modules=plan, functions={"sum": (PassedParameter("n", "ref"),)})
    assert PlanFiles.model_validate_json(files.model_dump_json()) == files


def test_lines_with_a_signature_are_read() -> None:
    lines = [line("r#type", SLICE, {"name": "count", "kind": "value"}), "", json.dumps({"rust_symbol": "main"})]
    assert read_signature_lines(lines, "s") == {
        "type": (PassedParameter("numbers", "slice", "count"), PassedParameter("count", "value"))
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("modules:\n- path: [", "p:2: expected the node content"),
        ("modules: &a [*a]", "p:1: an alias, or nested too deeply"),
        ("[" * 100_000, "p:1: an alias, or nested too deeply"),
        ("modules:\n- path: src/a.rs\n  path: src/b.rs\n", 'p:3: "path" occurs twice'),
        ("- {path: src/a.rs, functions: [1]}", "p: modules.0.functions.0: Input should be a valid string"),
        ("3", "p: modules.0"),
        ('{src/a.rs: ["\\ud800"]}', "p: not a name: "),
        ("x" * 2_000_000, "p is longer than 1,000,000 characters"),
        ("enums: {color: enum, color: flags}", 'p:1: "color" occurs twice'),
        ("enums: [color]", "p: enums: Input should be a valid dictionary"),
        ("enums: {color: 1}", "p: enums.color: Input should be a valid string"),
        ('enums: {color: "\\ud800"}', "p: not a name: "),
        ("\0", "p: not YAML"),
        ("!!python/object/apply:os.system [ls]", "p:1: could not determine a constructor"),
    ],
    ids=range(14),
)
def test_plans_that_cannot_be_read_are_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_crate_plan(text, "p")
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "s:2: Expecting property name"),
        ("[1]", "s:2: not an object with the field rust_symbol"),
        (line(3), "s:2: not an object with the field rust_symbol"),
        (line("a b"), "s:2: not the name of a function: 'a b'"),
        (line("\ud800"), "s:2: not the name of a function: "),
        (line("f", {"name": "p"}), "s:2: 0.kind: Field required"),
        (line("f", {"name": "\ud800", "kind": "ref"}), "s:2: not the name of a parameter: "),
        (line("f", 1), "s:2: 0: "),
        (line("first"), "s:2: first occurs twice"),
        ("[" * 100_000, "s:2: "),
    ],
    ids=range(10),
)
def test_wrong_lines_are_named(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_signature_lines([line("first"), text], "s")
    assert str(refused.value).startswith(problem)
