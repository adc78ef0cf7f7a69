"""`jarvis c2rust run` on a small library, with a scripted model; build, tests, gates and crate are real."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.crate import TESTS
from tests.agents.loop.planning import answer_about_plan, is_about_signatures, signatures
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import HEAD, task_of
from tests.cli.commands import Ended, Jarvis
from tests.cli.test_c2rust_lib_replace import judge, rows
from tests.cli.test_c2rust_transpile import functions, head_of
from tests.support.servers import require
from tests.support.settings_files import write_settings

LIBRARY = """#include "lib.h"
static int smaller(int a, int b) { return a < b; }
static void swap(int *numbers, int a, int b)
{
    int old = numbers[a];
    numbers[a] = numbers[b];
    numbers[b] = old;
}
void order(int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (smaller(numbers[k], numbers[i]))
                swap(numbers, k, i);
}
int least(int a, int b) { return smaller(a, b) ? a : b; }
int unwanted(int a) { return a + 1; }
"""
HEADER = """void order(int *numbers, int count);
int least(int a, int b);
int elsewhere(int a);
"""
TEST = """#include "lib.h"
int unwanted(int a);
int main(void)
{
    int numbers[] = { 3, 1, 2, 9, -4 };
    order(numbers, 5);
    return !(numbers[0] == -4 && numbers[1] == 1 && numbers[4] == 9 && least(2, 1) == 1 && unwanted(1) == 2);
}
"""
MAKEFILE = """test: check
\t./check
check: lib.o check.o
\t$(CC) -o $@ lib.o check.o
"""
FILES: dict[str, str | bytes] = {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE}
COMMANDS = ("--build", "make check", "--test", "make test")
SLICE = """{{
    if count > 0 {{
        // SAFETY: the caller passes `count` numbers.
        unsafe {{ core::slice::from_raw_parts_mut(numbers, count as usize) }}.{}();
    }}
}}"""
BODIES = {
    "order": SLICE.format("sort_unstable"),
    "least": "{ core::cmp::min(a, b) }",
    "smaller": "{ i32::from(a < b) }",
}
# Three functions are judged and translated; one question is about modules, and one about signatures.
QUESTIONS = 8


def model(body: Body) -> Step:
    """Replace `order` by the sort of the standard library, and translate all functions of the headers."""
    if answer := answer_about_plan(body, "src/numbers.rs"):
        return answer
    if not HEAD.search(task_of(body)):
        return judge(body, {"order": ["std"]})
    name, head = head_of(body)
    return calls("submit_report", rust=f"{head} {BODIES[name]}")


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    return jarvis.tree("small", FILES)


def use_model(jarvis: Jarvis, server: ModelServer, model: str = "m") -> None:
    group = {"model": model, "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}})


def move(jarvis: Jarvis, library: Path, server: ModelServer, *more: object, command: str = "run") -> Ended:
    """Run the command with the server as its model."""
    use_model(jarvis, server)
    return jarvis.spawn("c2rust", command, "-p", library, *COMMANDS, "--no-review", *more)


def states(jarvis: Jarvis) -> dict[str, tuple[str, str]]:
    return {name: (one["state"], one["proof"]) for name, one in functions(jarvis).items()}


def scan_and_prepare(jarvis: Jarvis, library: Path, server: ModelServer, model: str = "m") -> None:
    """Run the commands before `transpile` one after the other, with the roots of an earlier run.

    Another `model` gets no cached answers of the run.
    """
    roots = library / ".jarvis" / "c2rust" / "roots.txt"
    roots.write_text("".join(f"{name}\n" for name in roots.read_text().split() if name != "elsewhere"))
    use_model(jarvis, server, model)
    for command, options in (
        ("scan", ("--build", "make check")),
        ("lib-replace", ("--root-list-file", roots)),
        ("prepare", (*COMMANDS, "-o", library.with_name("prepared"))),
    ):
        ended = jarvis.spawn("c2rust", command, "-p", library, *options)
        assert ended.code == 0, ended.err


def plan_files(library: Path) -> tuple[str, list[dict[str, object]]]:
    """Return the files of the plan, without what is proven of forwarders, which a run with all stages does not test."""
    directory = library / ".jarvis" / "c2rust"
    lines = [json.loads(line) for line in (directory / "signatures.jsonl").read_text().splitlines()]
    return (directory / "crate_plan.yaml").read_text(), [{**one, "proof": ""} for one in lines]


def sources(crate: Path) -> dict[str, str]:
    """Return the texts of a crate, but for its programs, which mention its name, and recorded tests."""
    files = (path for path in (crate / "src").rglob("*.rs") if path.parent.name != "bin" and path.stem != TESTS)
    return {str(path.relative_to(crate)): path.read_text() for path in files}


@pytest.mark.slow
def test_one_run_scans_replaces_and_translates(jarvis: Jarvis, library: Path) -> None:
    """`swap` is left out: only `order` needs it, which calls the standard library. `smaller` stays: `least` needs it.

    The same commands one after the other, through their files, give the same crate, and ask the model nothing new.
    """
    crate, separate = library.with_name("small_rs"), library.with_name("separate_rs")
    with ModelServer(forever=model) as server:
        ended = move(jarvis, library, server, "--files", library / "lib.h")
        assert ended.code == 0, ended.err
        asked = len(server.requests)
        found, planned = states(jarvis), plan_files(library)
        again = move(jarvis, library, server, "--files", library / "lib.h", "--no-resume")
        assert again.code == 0, again.err
        assert len(server.requests) == asked == QUESTIONS, "a second run asks nothing"
        scan_and_prepare(jarvis, library, server)
        assert plan_files(library) == planned
        alone = move(jarvis, library, server, "-o", separate, command="transpile")
        assert alone.code == 0, alone.err
        assert len(server.requests) == asked, "the same questions have the same answers"

    assert "prune: 3 of 6 functions judged: 1 replaced by libraries, 3 pruned, 2 left to translate" in ended.out
    assert found == {
        "smaller": ("translated", "compared"),
        "swap": ("pruned", "none"),
        "order": ("replaced", "compared"),
        "least": ("translated", "compared"),
        "unwanted": ("mechanical", "compared"),
        "main": ("mechanical", "reached"),
    }
    assert found == states(jarvis)
    assert jarvis.spawn("c2rust", "optimize", "--crate-dir", separate).code == 0
    assert re.search(r"unsafe code: \d+ of \d+ lines, \d+ blocks?, \d+ functions?; \d+ raw pointer types?", ended.out)
    assert f"model m: {QUESTIONS} answers" in ended.out
    assert "optimize: 4/4 jobs" in ended.out
    text = (crate / "src" / "numbers.rs").read_text()
    assert ".sort_unstable();" in text
    assert not [name for name, text in sources(crate).items() if "swap" in text]
    assert "fn unwanted(" in (crate / "src" / "lib_c.rs").read_text(), "no root needs it: it stays where it was"
    assert sources(separate) == sources(crate)
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
    (row,) = rows(library, "library_replacements.jsonl")
    assert (row["name"], row["libraries"]) == ("order", ["std"])


@pytest.mark.slow
def test_the_model_improves_the_optimized_crate_on_request(jarvis: Jarvis, library: Path) -> None:
    def improving(body: Body) -> Step:
        task = task_of(body)
        if "The file src/" not in task:
            return model(body)
        edit = {"search": "core::cmp::min(a, b)", "replacement": "a.min(b)"}
        return calls("submit_report", edits=[edit] if edit["search"] in task else [])

    with ModelServer(forever=improving) as server:
        ended = move(jarvis, library, server, "--root-list-syms", "least", "--improve")

    assert ended.code == 0, ended.err
    changed = [name for name, text in sources(library.with_name("small_rs")).items() if "a.min(b)" in text]
    assert changed == ["src/numbers.rs"]
    assert "warning: the model improved src/numbers.rs: the tests of the crate pass, the gates were not" in ended.out


@pytest.mark.slow
def test_edited_signatures_count_as_if_a_run_had_planned_them(jarvis: Jarvis, library: Path) -> None:
    """The model plans a slice in `prepare`; a person replaces it by raw pointers, as in an earlier run."""

    def slice_of(function: str, parameter: str, proposed: str, _forms: list[str]) -> str:
        return "mut_slice count" if (function, parameter) == ("order", "numbers") else proposed

    def plan_slice(body: Body) -> Step:
        return signatures(body, slice_of) if is_about_signatures(body) else model(body)

    with ModelServer(forever=model) as server:
        ended = move(jarvis, library, server, "--files", library / "lib.h")
        assert ended.code == 0, ended.err
    separate, file = library.with_name("separate_rs"), library / ".jarvis" / "c2rust" / "signatures.jsonl"
    with ModelServer(forever=plan_slice) as server:
        scan_and_prepare(jarvis, library, server, "another")
        text = file.read_text()
        assert "mut_slice" in text
        file.write_text(re.sub('"mut_slice", "length": "count"', '"raw"', text))
        alone = move(jarvis, library, server, "-o", separate, command="transpile")
        assert alone.code == 0, alone.err
        assert not [body for body in server.requests if HEAD.search(task_of(body))], "as in the run"
    assert jarvis.spawn("c2rust", "optimize", "--crate-dir", separate).code == 0
    assert "fn rust_order(numbers: *mut i32, count: i32)" in (separate / "src" / "numbers.rs").read_text()
    assert sources(separate) == sources(library.with_name("small_rs"))


@pytest.mark.slow
def test_what_only_a_failed_replacement_needs_stays(jarvis: Jarvis, library: Path) -> None:
    """No body of `order` is accepted: it is translated mechanically, and `swap` with it."""

    def failing(body: Body) -> Step:
        wrong = HEAD.search(task_of(body)) and head_of(body)[0] == "order"
        return calls("submit_report", rust=head_of(body)[1] + SLICE.format("reverse")) if wrong else model(body)

    with ModelServer(forever=failing) as server:
        ended = move(jarvis, library, server, "--root-list-syms", "order,least", "-m", 1)

    assert ended.code == 0, ended.err
    found = {name: state for name, (state, _) in states(jarvis).items()}
    assert (found["order"], found["swap"]) == ("mechanical", "mechanical")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_interrupted_run_continues_when_the_command_is_repeated(jarvis: Jarvis, library: Path) -> None:
    with ModelServer(forever=model) as server:
        paused = move(jarvis, library, server, "--no-replace", "--budget", "1tok")
        assert paused.code != 0
        assert f"crate so far: {library.with_name('small_rs')}/; 6 of 6 functions in Rust" in paused.err, paused.err
        subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=library.with_name("small_rs"), check=True)
        other = move(jarvis, library, server, "--no-replace", "--budget", "1tok", "-m", 1)
        ended = move(jarvis, library, server, "--no-replace")
    assert "continues, with the files of its start" not in other.err
    assert "continues, with the files of its start" in ended.err


@pytest.mark.parametrize(
    ("options", "says_what"),
    [
        ([], "choose what to move: --files"),
        (["--files", "lib.h", "--root-list-syms", "order"], "--files and --root-list-syms exclude each other"),
        (["--files", "none.h"], "no header can be parsed"),
        (["--files", "Makefile"], "not a header"),
        (["--no-replace"], "to convert a library without a model: jarvis c2rust fast"),
    ],
)
def test_what_to_move_must_be_said(jarvis: Jarvis, options: list[str], says_what: str) -> None:
    ended = jarvis("c2rust", "run", "-p", jarvis.tree("small", FILES), *COMMANDS, *options)
    assert ended.code == 2
    assert says_what in ended.line
