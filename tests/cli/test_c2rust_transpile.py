"""`jarvis c2rust transpile` on a small library, with a scripted model; build, tests, gates and crate are real."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls, fails
from tests.agents.loop.translating import HEAD, answers, is_review, task_of, with_reviews
from tests.cli.commands import Ended, Jarvis
from tests.support.servers import require
from tests.support.settings_files import write_settings

HEADER = """struct pair { int first; unsigned char rest[3]; };
int total(const int *numbers, int count);
int sum(const struct pair *p);
int clamp(int value, int low, int high);
int twice(int a);
"""
LIBRARY = """#include "lib.h"
int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
int total(const int *numbers, int count)
{
    int all = 0;
    for (int i = 0; i < count; i++)
        all += numbers[i];
    return all;
}
int sum(const struct pair *p) { return p->first + p->rest[0] + p->rest[1] + p->rest[2]; }
int twice(int a) { return 2 * a; }
struct hidden;
int hides(const struct hidden *p) { return p != 0; }
"""
TEST = """#include "lib.h"
int main(void)
{
    int numbers[] = { 1, 2, 3, 4 };
    struct pair p = { 1, { 2, 3, 250 } };
    return !(total(numbers, 4) == 10 && sum(&p) == 256 && clamp(7, 0, 5) == 5 && clamp(-1, 0, 5) == 0 && twice(3) == 6);
}
"""
MAKEFILE = """test: check
\t./check
check: lib.o check.o
\t$(CC) -o $@ lib.o check.o
"""
FILES: dict[str, str | bytes] = {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE}
COMMANDS = ("--build", "make check", "--test", "make test")
BODIES = {
    "clamp": "{ if value < low { low } else if value > high { high } else { value } }",
    "total": "{ let mut all: i32 = 0; for one in numbers { all = all.wrapping_add(*one); } all }",
    "sum": "{ p.rest.iter().fold(p.first, |all, one| all.wrapping_add(i32::from(*one))) }",
}


def head_of(body: Body) -> tuple[str, str]:
    """Return the name of the function that a conversation is about, and its planned signature."""
    match = HEAD.search(task_of(body))
    assert match
    return match[2], match[1]


def perfect(body: Body) -> Step:
    """Answer with a correct body, or with one that does not compile."""
    name, head = head_of(body)
    return calls("submit_report", rust=f"{head} {BODIES.get(name, '{ nonsense }')}")


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    return jarvis.tree("small", FILES)


def transpile(jarvis: Jarvis, library: Path, server: ModelServer, *more: object) -> Ended:
    """Run the command with the server as both of its models."""
    groups = {
        name: {"model": name, "base_url": server.url, "profile": "deepseek", "api_key": "k"} for name in ("m", "large")
    }
    write_settings(jarvis.place, {"models": groups})
    return jarvis.spawn("c2rust", "transpile", "-p", library, *COMMANDS, "-g", "m", "--no-drivers", *more)


def functions(jarvis: Jarvis) -> dict[str, dict[str, Any]]:
    report = json.loads(jarvis("runs", "report", "last", "--format", "json").out)
    return {one["name"]: one for one in report["conversion"]["functions"]}


@pytest.mark.slow
def test_a_model_translates_and_the_gates_decide(jarvis: Jarvis, library: Path) -> None:
    """The first answer for `sum` is wrong and that for `clamp` does not compile; no answer for `twice` is accepted."""

    def learner(body: Body) -> Step:
        name, head = head_of(body)
        if name == "sum" and answers(body) == 0:
            return calls("submit_report", rust=f"{head} {{ p.first + i32::from(p.rest[0]) }}")
        if name == "clamp" and answers(body) == 0:
            return calls("submit_report", rust=f"{head} {{ value.clamp(low) }}")
        if answers(body):
            complaints.append(body["messages"][-1]["content"])
        return perfect(body)

    complaints: list[str] = []

    with ModelServer(forever=with_reviews(learner)) as server:
        ended = transpile(jarvis, library, server, "-m", 2)
        asked = len(server.requests)
        again = transpile(jarvis, library, server, "-m", 2, "-o", library.with_name("again"))
        assert len(server.requests) == asked == 8 + 2 * 3

    assert (ended.code, again.code) == (3, 3), ended.err
    assert any(": C " in one and ", Rust " in one for one in complaints), "the first difference goes back"
    assert any("type_mismatch, E0061, line 1, column" in one and "value.clamp(low)" in one for one in complaints), (
        "and so does an error of rustc"
    )
    assert "5 of 6 functions in Rust; 3 of them translated by the model" in ended.out
    assert "lib.c:11: twice: no body was accepted in 3 attempts; the last one failed the gate check: E0425" in ended.out
    assert "`fn rust_twice(a: i32) -> i32 { nonsense }`" in ended.out
    found = functions(jarvis)
    assert {name: (one["state"], one["proof"], one["attempts"]) for name, one in found.items()} == {
        "clamp": ("translated", "compared", 2),
        "total": ("translated", "compared", 1),
        "sum": ("translated", "compared", 2),
        "twice": ("mechanical", "compared", 3),
        "hides": ("forwarded", "built", 0),
        "main": ("mechanical", "reached", 0),
    }
    (stage,) = [json.loads(jarvis("runs", "show", "last", "--json").out)["stages"]["translate"]]
    assert (stage["accepted"], stage["stepped_down"], stage["proofs"]) == (3, 1, {"compared": 3})
    shown = jarvis("runs", "show", "last").out
    assert "translate stage closed, 4/4 functions, 3 accepted (3 compared), 1 stepped down" in shown
    assert "done: clamp" in shown, "the label of a task is the name of its function"
    model = json.loads(jarvis("runs", "report", "last", "--format", "json").out)["run"]["model"]
    assert (model["by_stage"]["translate"]["calls"], model["by_function"]["clamp"]["calls"]) == (14, 4)
    assert found["total"]["rust_signature"] == "fn rust_total(numbers: &[i32]) -> i32"
    crate = library.with_name("small_rs")
    text = (crate / "src" / "lib_c.rs").read_text()
    assert "let mut all: i32 = 0; for one in numbers" in text
    assert "return 2i32.wrapping_mul(a);" in text
    assert (library.with_name("again") / "src" / "lib_c.rs").read_text() == text
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
    (crate / "src" / "lib_c.rs").write_text(text.replace("for one in numbers", "for one in numbers.iter().rev()"))
    checked = jarvis.spawn("c2rust", "check", "--crate-dir", crate)
    assert checked.code == 0, checked.err + checked.out
    assert "src/lib_c.rs:14: total: passes (form, signature, check" in checked.out, checked.out


@pytest.mark.slow
def test_without_answers_the_crate_is_that_of_the_mechanical_translation(jarvis: Jarvis, library: Path) -> None:
    """Functions that no answer came for are not checked; they are in Rust as with `fast`."""
    with ModelServer(forever=lambda _: fails(401)) as server:
        ended = transpile(jarvis, library, server)
    fast = jarvis.spawn("c2rust", "fast", "-p", library, *COMMANDS, "-o", library.with_name("fast"))

    assert (ended.code, fast.code) == (3, 3), ended.err
    assert "lib.c:2: clamp: refused: the request to the model failed: the server responded with 401" in ended.out
    assert "5 of 6 functions in Rust; 0 of them translated by the model" in ended.out
    assert {one["state"] for one in functions(jarvis).values()} == {"mechanical", "forwarded"}
    for name in ("src/lib_c.rs", "src/check.rs", "src/types.rs", "src/c.rs"):
        assert (library.with_name("small_rs") / name).read_text() == (library.with_name("fast") / name).read_text()


@pytest.mark.slow
def test_a_file_names_the_functions_to_translate(jarvis: Jarvis, library: Path) -> None:
    (jarvis.place / "names.txt").write_text("clamp   # the first\n\ntot*\n")
    with ModelServer(forever=with_reviews(perfect)) as server:
        ended = transpile(jarvis, library, server, "--only", "@names.txt")

    assert ended.code == 0, ended.err
    assert "2 of 6 functions in Rust; 2 of them translated by the model; 4 in C, not named by --only" in ended.out


@pytest.mark.slow
def test_what_a_body_passes_to_functions_that_stay_in_c_is_compared(jarvis: Jarvis, library: Path) -> None:
    """No result depends on the argument that the answer changes."""
    inner = "void abort(void);\nstatic int kept(int a, int b) { if (b < 0) abort(); return 2 * a; }\n"
    inner += "int twice(int a) { return kept(a, 1); }"
    (library / "lib.c").write_text(LIBRARY.replace("int twice(int a) { return 2 * a; }", inner))

    def passing(number: int) -> Callable[[Body], Step]:
        def answer(body: Body) -> Step:
            code = f"{{\n    // SAFETY: it uses its arguments only.\n    unsafe {{ kept(a, {number}) }}\n}}"
            return calls("submit_report", rust=f"{head_of(body)[1]} {code}")

        return answer

    for number, state in ((1, "translated"), (0, "mechanical")):
        (jarvis.place / "notes.md").write_text(f"An answer of its own: {number}.\n")
        with ModelServer(forever=with_reviews(passing(number))) as server:
            ended = transpile(jarvis, library, server, "--only", "twice", "-m", 0, "--notes", "notes.md")
        found = functions(jarvis)
        assert (found["twice"]["state"], found["kept"]["state"]) == (state, "forwarded"), ended.err + ended.out
    assert "kept: C 1, Rust 0" in found["twice"]["not_translated"]


@pytest.mark.slow
def test_another_model_group_translates_what_the_first_cannot(jarvis: Jarvis, library: Path) -> None:
    """The first model is always wrong, and the reviewer objects to everything."""

    def models(body: Body) -> Step:
        _, head = head_of(body)
        return calls("submit_report", rust=f"{head} {{ 0 }}") if body["model"] == "m" else perfect(body)

    with ModelServer(forever=with_reviews(models, "it may panic")) as server:
        ended = transpile(jarvis, library, server, "-m", 1, "--escalate", "large")
        asked = Counter((body["model"], is_review(body)) for body in server.requests)

    assert ended.code == 3, ended.err
    assert "5 of 6 functions in Rust; 3 of them translated by the model" in ended.out
    assert "Objections of the reviewer to accepted functions (6):" in ended.out
    # Two answers each of both models for the four functions, of which three are corrected without a change.
    assert asked == {("m", False): 2 * 4, ("large", False): 2 * 4, ("m", True): 2 * 3}


def test_without_a_model_the_command_that_needs_none_is_named(jarvis: Jarvis, tmp_path: Path) -> None:
    ended = jarvis("c2rust", "transpile", "-p", tmp_path, *COMMANDS)
    assert ended.code == 2
    assert ended.line.endswith("to convert a library without a model: jarvis c2rust fast")


def test_an_unknown_model_group_is_refused_before_the_build(jarvis: Jarvis, tmp_path: Path) -> None:
    write_settings(jarvis.place, {"models": {"m": {"model": "m", "api_key": "k"}}})
    ended = jarvis("c2rust", "transpile", "-p", tmp_path, *COMMANDS, "--escalate", "large")
    assert ended.code == 2
    assert "large" in ended.line


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot read {}: No such file"),
        (b"\xff", "{}: not UTF-8 at byte 0"),
        (b"# none\n\n", "{} names no function"),
    ],
)
def test_a_file_that_names_no_functions_is_refused(
    jarvis: Jarvis, tmp_path: Path, content: bytes | None, problem: str
) -> None:
    names = tmp_path / "names.txt"
    if content is not None:
        names.write_bytes(content)
    ended = jarvis("c2rust", "fast", "-p", tmp_path, "--only", f"@{names}")
    assert ended.code == 2
    assert problem.format(names) in ended.line


def test_notes_that_cannot_be_read_are_named(jarvis: Jarvis, tmp_path: Path) -> None:
    ended = jarvis("c2rust", "transpile", "-p", tmp_path, *COMMANDS, "--notes", tmp_path / "none.md")
    assert ended.code == 2
    assert f"cannot read {tmp_path / 'none.md'}: No such file" in ended.line


def test_a_bad_security_report_is_one_line_before_the_build(jarvis: Jarvis, tmp_path: Path) -> None:
    write_settings(jarvis.place, {"models": {"m": {"model": "m", "api_key": "k"}}})
    (jarvis.place / "before.json").write_text('{"issues": []}')
    command = ("c2rust", "transpile", "-p", tmp_path, *COMMANDS, "--sec-before")
    assert "before.json is not a JSON report of jarvis sec" in jarvis(*command, "before.json").line
    assert "gone.json: cannot be read: No such file or directory" in jarvis(*command, "gone.json").line
