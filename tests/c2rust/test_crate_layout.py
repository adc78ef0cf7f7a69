"""Plans of crates: what is read, what is refused, and how a model is asked for one; without a server."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.c2rust.crate_layout import CratePlan, module_of, plan_text, read_placement
from jarvis_workers.c2rust.layout_question import (
    ENUMS_MAX,
    FUNCTIONS_MAX,
    LayoutFunction,
    LayoutQuestion,
    PlannedLayout,
    layout_questions,
    layouter,
    plan_layout,
)
from jarvis_workers.c2rust.project import place_functions
from jarvis_workers.c2rust.translation import translate_project
from jarvis_workers.c2rust.yaml_form import YamlForm
from jarvis_workers.models.platforms.profiles import GENERIC
from jarvis_workers.source.clang.c_types import CType, EnumDefinition
from tests.agents.loop.arrange import answered
from tests.c2rust.deliveries import build, delivery, output, translated

NAMES = ("encode", "decode", "size")
QUESTION = LayoutQuestion(tuple(LayoutFunction(name, "a.c", f"int {name}(void)") for name in NAMES), ("tree",))
INT = CType("integer", "int", size=4, align=4, signed=True)
ALL = "<PLAN>\nmodules:\n- path: src/codec/huffman.rs\n  functions: [encode, decode]\n- path: src/size.rs\n"
ALL += "  functions: [size]\n</PLAN>"
HUFFMAN = {"path": "src/codec/huffman.rs", "functions": ["encode", "decode"]}
SIZE = {"path": "src/size.rs", "functions": ["size"]}
PLACED = {"encode": "codec/huffman", "decode": "codec/huffman", "size": "size"}


def plan(*modules: tuple[str, Sequence[str]]) -> CratePlan:
    return CratePlan.model_validate({"modules": [{"path": path, "functions": names} for path, names in modules]})


def ask(*answers: str, attempts: int = 4, question: LayoutQuestion = QUESTION) -> tuple[PlannedLayout, list[str]]:
    """Return the layout, and the last message of each request."""
    agent: Agent = layouter(GENERIC, Marks("mark", "nonce", "canary"), AgentLimits(), attempts)
    return answered(plan_layout(agent, question, attempts), answers)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("src/main.rs", "src/main.rs: reserved for other contents; choose another module"),
        ("src/lib.rs", "src/lib.rs: reserved for other contents; choose another module"),
        ("src/bin/tool.rs", "src/bin/tool.rs: reserved for other contents; choose another module"),
        ("src/../build.rs", "src/../build.rs: not a name in snake case: .."),
        ("../src/a.rs", "../src/a.rs: not a file src/….rs"),
        ("/src/a.rs", "/src/a.rs: not a file src/….rs"),
        ("src\\a.rs", "src\\\\a.rs: not a file src/….rs"),
        ("src//a.rs", "src//a.rs: not a file src/….rs"),
        ("src/a.c", "src/a.c: not a file src/….rs"),
        ("build.rs", "build.rs: not a file src/….rs"),
        ("src", "src: not a file src/….rs"),
        ("", ": not a file src/….rs"),
        ("src/match.rs", "src/match.rs: match is a keyword of Rust"),
        ("src/gen/a.rs", "src/gen/a.rs: gen is a keyword of Rust"),
        ("src/Codec.rs", "src/Codec.rs: not a name in snake case: Codec"),
        ("src/é.rs", "src/\\xe9.rs: not a name in snake case: \\xe9"),
        ("src/a\n.rs", "src/a\\n.rs: not a name in snake case: a\\n"),
        ("src/a/b/c/d/e.rs", "src/a/b/c/d/e.rs: more than 4 levels"),
        ("src/codec/tree.rs", "src/codec/tree.rs: tree is also a type; choose another name"),
        (f"src/{'a' * 1000}.rs", f"src/{'a' * 96}: not a name in snake case: {'a' * 100}"),
    ],
)
def test_files_that_cannot_have_functions_are_refused_by_name(path: str, problem: str) -> None:
    with pytest.raises(ValueError) as refused:
        module_of(path, ("tree",))
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/a.rs", "a"),
        ("src/a/mod.rs", "a"),
        ("src/a/b.rs", "a/b"),
        ("src/a/b/mod.rs", "a/b"),
        ("src/tree.rs", "tree"),
    ],
)
def test_a_module_has_one_path(path: str, module: str) -> None:
    assert module_of(path, ("tree",)) == module


def test_what_is_wrong_is_named_and_the_rest_counts() -> None:
    found = read_placement(
        plan(
            ("src/a.rs", ["encode", "nothing"]),
            ("src/a/mod.rs", ["decode"]),
            ("src/b.rs", ["encode"]),
            ("src/main.rs", ["size"]),
        ),
        NAMES,
    )

    assert found.modules == {"encode": "a", "decode": "a"}
    assert found.problems == (
        "src/a.rs: there is no function nothing",
        "src/a/mod.rs: the module occurs twice",
        "encode: it is in two modules, src/a.rs and src/b.rs",
        "src/main.rs: reserved for other contents; choose another module",
        "in no module: size",
    )


@pytest.mark.parametrize(
    "value",
    [
        {"modules": [HUFFMAN | {"functions": "encode, decode"}, SIZE]},
        [HUFFMAN, SIZE],
        {"src/codec/huffman.rs": ["encode", "decode"], "src/size.rs": ["size"]},
        ["Cargo.toml", {"src/": ["lib.rs", {"codec/": ["mod.rs", {"huffman.rs": NAMES[:2]}]}, {"size.rs": "size"}]}],
    ],
)
def test_lists_of_modules_and_trees_of_files_are_read(value: Any) -> None:
    assert read_placement(CratePlan.model_validate(value), NAMES) == (PLACED, (), {})
    assert YamlForm(CratePlan, "PLAN").read_text(json.dumps(value)) == CratePlan.model_validate(value)


ENUMS = {"color": "enum", "type": "flags", "mask": "bits", "gone": "enum", "fn\n": "enum"}


@pytest.mark.parametrize(
    "modules", [{"modules": [HUFFMAN, SIZE]}, {"src/codec/huffman.rs": NAMES[:2], "src/size.rs": "size"}]
)
def test_enums_of_a_plan_have_a_kind_and_the_others_are_named(modules: Any) -> None:
    plan = CratePlan.model_validate(modules | {"enums": ENUMS})
    found = read_placement(plan, NAMES, enums=("color", "type", "mask"))

    assert (found.modules, found.enums) == (PLACED, {"color": "enum", "type": "flags"})
    assert found.problems == (
        "enums: mask cannot be bits; possible: enum, flags",
        "enums: there is no enum gone with the same constants in all files",
        "enums: there is no enum fn\\n with the same constants in all files",
    )
    assert CratePlan.model_validate(modules | {"enums": None}).enums == {}


def test_a_module_that_would_hide_a_planned_enum_is_refused() -> None:
    plan = CratePlan.model_validate({"src/codec/color.rs": "size", "enums": {"color": "enum"}})
    problem = "src/codec/color.rs: color is also a type; choose another name"
    assert problem in read_placement(plan, NAMES, enums=("color",)).problems
    assert problem not in read_placement(plan, NAMES).problems


def test_wrong_enums_go_back_to_the_model_and_the_usable_ones_count_at_last() -> None:
    enums = "enums:\n  color: enum\n  gone: flags\n"
    wrong, twice = ALL.replace("</PLAN>", f"{enums}</PLAN>"), ALL.replace("</PLAN>", f"{enums}  color: flags\n</PLAN>")
    question = QUESTION._replace(enums=(("color", "color | RED = 0"),))
    layout, (prompt, again, _) = ask(wrong, twice, wrong, attempts=3, question=question)

    assert "markcolor | RED = 0" in prompt and "Your report may also have `enums`" in prompt
    assert "enums: there is no enum gone" in again
    assert (layout.modules, layout.enums, layout.checked) == (PLACED, {"color": "enum"}, True)


@pytest.mark.parametrize("name", ["qrcodegen_Ecc", "Mode", "__Mask", "Modules"])
@pytest.mark.parametrize("dump", [json.dumps, yaml.safe_dump])
def test_names_of_enums_in_an_answer_are_not_normalised_as_its_fields_are(
    name: str, dump: Callable[[Any], str]
) -> None:
    question = QUESTION._replace(enums=((name, f"{name} | RED = 0"),))
    answer = dump(
        {
            "Modules": [{"PATH": one["path"], "Functions": one["functions"]} for one in (HUFFMAN, SIZE)],
            "Enums": {name: "enum"},
        }
    )
    layout, requests = ask(f"<PLAN>\n{answer}\n</PLAN>", question=question)

    assert (layout.modules, layout.enums, len(requests)) == (PLACED, {name: "enum"}, 1)


def test_a_question_shows_some_enums_with_some_constants() -> None:
    constants = tuple((f"C{number}", number) for number in range(20))
    enums = {f"e{number}": EnumDefinition("k", "e", INT, constants, b"a.c", 1) for number in range(ENUMS_MAX + 1)}
    (question,) = layout_questions(QUESTION.functions, (), enums)

    assert len(question.enums) == ENUMS_MAX
    assert question.enums[0] == ("e0", f"e0 | {', '.join(f'C{n} = {n}' for n in range(12))}, …")
    assert "Your report may also" not in ask(ALL)[1][0]


def test_a_plan_is_written_as_it_is_read() -> None:
    assert read_placement(YamlForm(CratePlan, "PLAN").read_text(f"<PLAN>{plan_text(PLACED)}</PLAN>"), NAMES) == (
        PLACED,
        (),
        {},
    )


def test_a_whole_plan_ends_the_conversation() -> None:
    layout, (prompt,) = ask(ALL)
    assert layout == PlannedLayout(PLACED)
    assert "markencode | a.c | int encode(void)\nmarkdecode" in prompt


def test_problems_go_back_to_the_model() -> None:
    layout, (_, again) = ask(ALL.replace("size]", "sizes]"), ALL)
    assert layout == PlannedLayout(PLACED)
    assert "marksrc/size.rs: there is no function sizes\nmarkin no module: size" in again


@pytest.mark.parametrize(
    "answer",
    ["I would use two modules.", ALL[: len(ALL) // 2], "x" * 2_000_000, f"<PLAN>{'x: [' * 500_000}</PLAN>", "", "[]"],
    ids=["prose", "half YAML", "2 MB", "2 MB of YAML", "empty", "no module"],
)
def test_without_a_usable_plan_functions_stay_in_the_modules_of_their_files(answer: str) -> None:
    layout, seen = ask(*[answer] * 4)
    assert layout.modules == {}
    assert layout.reason
    assert len(seen) <= 4


def test_at_last_the_usable_part_of_a_plan_counts() -> None:
    layout, seen = ask(*[ALL.replace("src/size.rs", "src/../size.rs")] * 2, attempts=2)
    assert (layout.modules, len(seen)) == ({"encode": "codec/huffman", "decode": "codec/huffman"}, 2)
    assert layout.reason == "src/../size.rs: not a name in snake case: .."
    assert layout.checked


def test_a_large_project_has_a_question_for_each_directory() -> None:
    functions = [LayoutFunction(f"f{number}", f"d{number % 2}/a.c", "") for number in range(FUNCTIONS_MAX + 2)]
    few, many = functions[:FUNCTIONS_MAX], [*functions, *functions]

    assert len(list(layout_questions(few, ()))) == 1
    assert [{one.file for one in each.functions} for each in layout_questions(functions, ())] == [
        {"d0/a.c"},
        {"d1/a.c"},
    ]
    assert [len(each.functions) for each in layout_questions(many, ())] == [300, 2, 300, 2]


@pytest.mark.slow
def test_functions_move_to_inner_modules_and_the_crate_works(tmp_path: Path) -> None:
    """Statics of a file are used from other modules; a module has functions and inner modules."""
    text = "#include <stdio.h>\nstruct part { int n; };\nstatic struct part kept = { 20 };\n"
    text += "static int twice(int n) { return 2 * n; }\n"
    text += "int sum(int n) { kept.n += n; return twice(kept.n); }\n"
    text += 'int main(void) { printf("%d", sum(1)); return 0; }\n'
    project = translated(tmp_path, {"a.c": text}).project
    places = {"sum": "codec/sums", "twice": "codec"}
    moved = translate_project(place_functions(project, places))
    crate = delivery(tmp_path, {"a.c": text}, project=moved)

    assert sorted(name for name in crate.files if name.startswith("src/c")) == [
        "src/c.rs",
        "src/codec.rs",
        "src/codec/sums.rs",
    ]
    assert crate.files["src/codec.rs"].startswith(b"//! a.c\n\npub mod sums;\n")
    build(tmp_path / "crate", crate.files)
    assert output(tmp_path / "crate", "a") == "42"
