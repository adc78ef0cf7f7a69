"""What a model is asked about an interface, what it is told, and which of its answers is kept; without a server."""

import json
from collections.abc import Mapping, Sequence

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.c2rust.interface_question import (
    GROUP_MAX,
    InterfaceQuestion,
    interface_files,
    interface_groups,
    interface_question,
)
from jarvis_workers.c2rust.interface_result import CrateOutcome, CrateTest, encode_outcome
from jarvis_workers.c2rust.interface_translation import WrittenFiles, interface_translator, translate_interface
from jarvis_workers.models.platforms.profiles import GENERIC
from tests.agents.loop.arrange import answered

ONE, TWO = "pub fn one() -> u8 { todo!() }\n", "pub fn two() -> u8 { todo!() }\n"
FILES = {"src/one.rs": ONE, "src/two.rs": TWO}
DONE = {"src/one.rs": "pub fn one() -> u8 { 1 }\n", "src/two.rs": "pub fn two() -> u8 { 2 }\n"}
PASSES = CrateOutcome(tests=(CrateTest("tests/a.rs", "a", passed=True), CrateTest("tests/a.rs", "b", passed=True)))
FAILS = CrateOutcome(
    tests=(PASSES.tests[0], CrateTest("tests/a.rs", "b", passed=False, detail="left: 1 right: 2")),
)


def ask(answers: Sequence[Mapping[str, str]], outcomes: Sequence[CrateOutcome]) -> tuple[WrittenFiles, list[str]]:
    """Return the result, and the last message of each request."""
    agent = interface_translator(GENERIC, Marks("mark", "nonce", "canary"), AgentLimits(), len(answers))
    files = [[{"path": path, "rust": text} for path, text in one.items()] for one in answers]
    replies = [f"<FILES>\n{json.dumps({'files': one})}\n</FILES>" for one in files]
    gates = [ToolOutcome(stdout=encode_outcome(one)) for one in outcomes]
    return answered(translate_interface(agent, InterfaceQuestion(FILES), len(answers)), replies, gates)


def test_a_correction_has_only_the_files_that_change() -> None:
    first = {**DONE, "src/two.rs": "pub fn two() -> u8 { 3 }"}
    written, asked = ask([first, {"src/two.rs": DONE["src/two.rs"]}], [FAILS, PASSES])
    assert written == WrittenFiles(DONE, 2)
    assert "tests: 1 of 2 tests fail: tests/a.rs: b: left: 1 right: 2" in asked[1]


def test_a_file_that_is_refused_does_not_take_the_others_with_it() -> None:
    answer = {**DONE, "src/two.rs": "pub fn two() -> u16 { 2 }", "build.rs": "fn main() {}"}
    written, asked = ask([answer, answer], [CrateOutcome()])
    assert written.files == {**FILES, "src/one.rs": DONE["src/one.rs"]}
    assert "form: src/two.rs: it must keep `pub fn two ( ) - > u8`; form: build.rs is not one of the files" in asked[1]
    assert written.reason.startswith("not accepted in 2 answers; form: src/two.rs")
    assert written.reason.endswith("body: these functions have no body yet: two")


def test_the_draft_with_the_most_bodies_and_passing_tests_is_kept() -> None:
    worse, broken = {"src/one.rs": "pub fn one() -> u8 { 0 }"}, {"src/one.rs": "pub fn one() -> u8 { x }"}
    outcomes = [FAILS, CrateOutcome(tests=FAILS.tests[1:]), CrateOutcome("src/one.rs:1: E0425")]
    written, _ = ask([DONE, worse, broken], outcomes)
    assert written.files == DONE


def test_what_does_not_compile_is_not_kept() -> None:
    written, asked = ask([DONE, {}], [CrateOutcome("src/one.rs:1: E0308 mismatched types")])
    assert written.files == {}
    assert "check: src/one.rs:1: E0308 mismatched types" in asked[1]


def test_files_of_tests_and_programs_are_not_part_of_a_question() -> None:
    crate = dict.fromkeys(("src/lib.rs", "src/bin/a.rs", "tests/b.rs", "build.rs", "src/a/b.rs", "README"), b"")
    assert list(interface_files(crate)) == ["src/a/b.rs", "src/lib.rs"]


def test_a_large_crate_is_several_questions_of_files_with_functions_to_write() -> None:
    padding = "// " + "x" * (GROUP_MAX // 2)
    files = {"a.rs": ONE + padding, "b.rs": TWO + padding, "c.rs": padding * 2, "d.rs": ONE}
    assert interface_groups(files) == [["a.rs"], ["b.rs"], ["d.rs"]]
    assert interface_groups(FILES) == [["src/one.rs", "src/two.rs"]]


def test_c_files_come_first_that_share_the_name_of_the_file_or_of_functions() -> None:
    files = {"src/ring_buffer.rs": "pub fn push_byte() { todo!() }\npub fn pop() { todo!() }", "src/lib.rs": "mod x;"}
    sources = {
        "a.c": "void other(void);",
        "b.c": "int pushByte(void);",
        "src/RingBuffer.c": "",
        "z.c": "push_byte pop",
    }
    found = interface_question(files, ["src/ring_buffer.rs"], sources)
    places = [found.c.index(f"// File {name}:") for name in ("src/RingBuffer.c", "z.c", "b.c", "a.c")]
    assert places == sorted(places)
    assert found.others == "// File src/lib.rs:\nmod x;"
    assert found.about != interface_question(files, ["src/ring_buffer.rs"], {}).about
