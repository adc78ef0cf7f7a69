"""`jarvis c2rust map`: functions in C and in Rust, of a run and of the files of a project."""

import json
import re
from pathlib import Path

import pytest

from jarvis_workers.c2rust.commands.conversion_map_view import page
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, Review
from jarvis_workers.c2rust.report.conversion_text import symbol_map_lines
from jarvis_workers.c2rust.runs.conversion_map import MappedFunction
from jarvis_workers.c2rust.runs.crate_directory import write_files
from tests.cli.commands import Jarvis
from tests.cli.stored_conversions import function, store_conversion

C = "int twice(int a)\n{ return 2 * a; }\nint half(int a)\n{ return a / 2; }\n"
RUST = """use crate::c::*;

static mut half__last: i32 = 0;
pub unsafe extern "C" fn half(a: i32) -> i32 { half__last = a / 2; half__last }

#[no_mangle]
pub extern "C" fn twice(a: i32) -> i32 { rust_twice(a) }

fn rust_twice(a: i32) -> i32 { a.wrapping_mul(2) }
"""
GATES = (GateOutcome("form", passed=True), GateOutcome("suite", passed=False, detail="result r0: C 4, Rust 5"))
REVIEWS = (Review("logic", ()), Review("borders", ("line 1: it overflows",)))
TWICE = function(
    "twice",
    state="translated",
    proof="compared",
    rust_signature="fn rust_twice(a: i32) -> i32",
    gates=GATES,
    attempts=2,
    refused=("check",),
    reviews=REVIEWS,
)
CONVERSION = Conversion((TWICE, function("half", 3, state="mechanical", proof="built", reason="no test reaches it")))


@pytest.fixture
def project(jarvis: Jarvis) -> Path:
    tree = jarvis.tree("lib", {"lib.c": C})
    store_conversion(jarvis, tree, CONVERSION, {"src/lib.rs": RUST})
    return tree


def show(jarvis: Jarvis, project: Path, *words: object) -> str:
    done = jarvis("c2rust", "map", "-p", project, *words)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["twice", "half"]),
        (("--state", "mechanical"), ["half"]),
        (("--name", "t*"), ["twice"]),
        (("--file", "src/*"), []),
    ],
)
def test_functions_are_listed_and_filtered(
    jarvis: Jarvis, project: Path, options: tuple[str, ...], names: list[str]
) -> None:
    lines = show(jarvis, project, *options).splitlines()

    assert [line.split()[0] for line in lines[1:]] == names
    assert [one["name"] for one in json.loads(show(jarvis, project, *options, "--json"))] == names


def test_a_row_has_place_state_proof_and_answers(jarvis: Jarvis, project: Path) -> None:
    line = show(jarvis, project).splitlines()[1]
    assert line.split() == ["twice", "lib.c:1", "translated", "compared", "2", "src/lib.rs", "twice"]


def test_a_function_is_shown_in_c_and_rust_with_gates_and_reviews(jarvis: Jarvis, project: Path) -> None:
    text = show(jarvis, project, "twice")

    assert text.startswith(
        "twice  lib.c:1  translated, compared, answers of the model: 2\nfn rust_twice(a: i32) -> i32\n"
    )
    assert "C\n  int twice(int a)\n  { return 2 * a; }\nRust  src/lib.rs\n  #[no_mangle]\n" in text
    assert "  fn rust_twice(a: i32) -> i32 { a.wrapping_mul(2) }\n" in text
    assert "  form   passed\n  suite  FAILED  result r0: C 4, Rust 5\nrefused answers: check\n" in text
    assert text.endswith("Reviews\n  logic: no objections\n  borders: line 1: it overflows\n\n")


def test_wildcards_show_several_functions_with_their_static_locals(jarvis: Jarvis, project: Path) -> None:
    rows = json.loads(show(jarvis, project, "*", "--json"))

    assert [one["name"] for one in rows] == ["twice", "half"]
    assert rows[1]["c"] == "int half(int a)\n{ return a / 2; }"
    assert rows[1]["rust"].startswith("static mut half__last: i32 = 0;\npub unsafe extern")
    assert rows[0]["gates"][1] == {"gate": "suite", "passed": False, "detail": "result r0: C 4, Rust 5"}


def test_c_is_beside_rust_on_a_wide_terminal(jarvis: Jarvis, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = show(jarvis, project, "half")

    assert re.search(r"^C {40,}Rust  src/lib\.rs$", text, re.MULTILINE)
    assert re.search(r"^int half\(int a\) {40,}static mut half__last", text, re.MULTILINE)


def test_a_long_word_is_wrapped_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = page(MappedFunction(TWICE, "x" * 100, ""))

    assert text.count("x") == 100
    assert max(map(len, text.split("\n"))) <= 40


def test_without_a_run_the_files_of_the_project_are_read(jarvis: Jarvis) -> None:
    tree = jarvis.tree("lib", {"lib.c": C, ".jarvis/c2rust/symbol_map.jsonl": "".join(symbol_map_lines(CONVERSION))})
    write_files(jarvis.place / "lib_rs", {"src/lib.rs": RUST.encode()})
    done = jarvis("c2rust", "map", "-p", tree)
    (half,) = json.loads(show(jarvis, tree, "half", "--json"))

    assert done.err == f"2 of 2 functions, {tree}/.jarvis/c2rust/symbol_map.jsonl\n"
    assert (half["c"], half["proof"]) == ("int half(int a)\n{ return a / 2; }", "built")
    assert "half__last = a / 2" in half["rust"]


def test_a_map_of_files_reads_nothing_outside_the_project(jarvis: Jarvis) -> None:
    secret = jarvis.place / "secret"
    secret.write_text("secret\n" * 9)
    files = ("../secret", str(secret), "link.c", "x" * 5_000, "nul\\x00", "nul\0")
    outside = [FunctionResult("f", file, 1, 2, "../../secret", "f") for file in files]
    lines = "".join(symbol_map_lines(Conversion(tuple(outside))))
    tree = jarvis.tree("lib", {".jarvis/c2rust/symbol_map.jsonl": lines})
    (tree / "link.c").symlink_to(secret)

    assert [(one["c"], one["rust"]) for one in json.loads(show(jarvis, tree, "f", "--json"))] == [("", "")] * len(files)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"c_name": "f"}', "c_file: Field required"),
        ('{"c_name": "f", "c_file": "a.c", "start_line": 0}', "start_line: Input should be greater than or equal to 1"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(jarvis: Jarvis, line: str, problem: str) -> None:
    tree = jarvis.tree("lib", {".jarvis/c2rust/symbol_map.jsonl": f"\n{line}\n"})
    done = jarvis("c2rust", "map", "-p", tree)

    assert done.code == 2
    assert done.line.endswith(f".jarvis/c2rust/symbol_map.jsonl:2: {problem}")


def test_what_is_unknown_is_refused_with_a_suggestion(jarvis: Jarvis, project: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    lines = {
        ("twise",): 'no function is named "twise" (did you mean "twice"?)',
        ("--state", "mechanicl"): '(did you mean "mechanical"?)',
        ("--run", "a/b"): '"a/b" is not a run id; see: jarvis runs list',
        ("-p", tmp_path / "none"): f"convert it with: jarvis c2rust fast -p {tmp_path / 'none'}",
    }
    for words, expected in lines.items():
        done = jarvis("c2rust", "map", "-p", project, *words)
        assert done.code == 2
        assert done.line.endswith(expected)


def test_hostile_text_reaches_no_terminal(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "\x1b[2J\u202e"
    hostile = FunctionResult(
        f"f{evil}",
        f"{evil}.c",
        1,
        2,
        f"m{evil}",
        f"f{evil}",
        rust_signature=f"fn f{evil}()",
        cause="different",
        reason=evil,
        gates=(GateOutcome(evil, passed=False, detail=evil),),
        not_translated=evil,
        reviews=(Review(evil, (evil,)),),
        libraries=(evil,),
        refused=(evil,),
        attempts=1,
    )
    tree = jarvis.tree("lib", {f"{evil}.c": f"/* {evil} \r */\n"})
    store_conversion(jarvis, tree, Conversion((hostile,)), {f"src/m{evil}.rs": f"fn f{evil}() {{ }} // {evil}\n"})
    outputs = [show(jarvis, tree, *words) for words in ((), ("*",), ("--json",), ("*", "--json"))]
    outputs.append(page(MappedFunction(hostile, evil, evil)))

    assert not any(letter in text for text in outputs for letter in ("\x1b", "\u202e", "\r"))
    assert r"\x1b[2J\u202e" in outputs[1]


@pytest.mark.slow
def test_the_map_is_in_chinese(jarvis: Jarvis, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chinese = show(jarvis, project, "twice", "--lang", "zh")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    assert show(jarvis, project, "twice") == chinese
    assert "模型的回答：2" in chinese
    assert "被以下检查拒绝的回答：check" in chinese
    assert "没有测试到达它" in show(jarvis, project, "half")
    assert jarvis("c2rust", "map", "-p", project).err.startswith("列出 2 个，共 2 个函数")
