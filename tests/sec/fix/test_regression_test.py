"""The regression test of a patch: where it goes, its files, and the way to run it."""

import pytest

from jarvis_workers.sec.fix.fixable import FixLine, RelatedFinding
from jarvis_workers.sec.fix.regression_test import BYTES_MAX, directory_of_tests, regression_test
from jarvis_workers.sec.proof.proof import Attempt, Proof, ProofFile

STACK = ("stack-buffer-overflow WRITE of size 9", "#0 copy src/url.c:7")
FINDING = RelatedFinding(
    id="C12ab34",
    pattern="unsafe_api",
    place=FixLine(file="src/url.tab.c", line=7),
    proof=Proof(blob="b", state="proved", stack=STACK),
)


@pytest.mark.parametrize(
    ("below", "directories", "files", "place"),
    [
        ("", ("tests",), (), "tests/regressions"),
        ("src", ("src", "test"), (), "test/regressions"),
        ("lib/a", ("lib/a/tests", "tests"), (), "lib/a/tests/regressions"),
        ("src", ("src",), (), "tests/regressions"),
        ("", (), ("tests",), None),
        ("", ("tests",), ("tests/regressions",), None),
    ],
)
def test_a_test_goes_to_the_tests_of_the_project(
    below: str, directories: tuple[str, ...], files: tuple[str, ...], place: str | None
) -> None:
    assert (
        directory_of_tests(below, lambda path: path in directories, lambda path: path not in (*directories, *files))
        == place
    )


def test_the_input_of_a_program_is_kept_with_the_command_that_runs_it() -> None:
    attempt = Attempt("program", "main.c", ("-v",), files=(ProofFile("stdin", b"\xff"),))

    files = regression_test(FINDING, attempt, "tests/regressions", None)

    assert files.keys() == {f"tests/regressions/url-C12ab34/{name}" for name in ("stdin", "README.md")}
    assert files["tests/regressions/url-C12ab34/stdin"] == b"\xff"
    assert files["tests/regressions/url-C12ab34/README.md"].decode() == (
        "# Regression test of C12ab34\n\n"
        "Build the program whose main function is in `main.c` with `cc -g "
        "-fsanitize=address,undefined,float-cast-overflow`, and run it in"
        " this directory:\n\n    ./program -v < stdin\n\n"
        "The sanitizers must report nothing. Before the fix, they reported:\n\n"
        "    stack-buffer-overflow WRITE of size 9\n    #0 copy src/url.c:7\n"
    )


@pytest.mark.parametrize(
    ("attempt", "build", "words"),
    [
        (Attempt("harness", code="int main;"), None, "Build harness.c with the sources of the project"),
        (
            Attempt("fuzz_target", "fuzz/f.c"),
            None,
            "`fuzz/f.c` with `clang -fsanitize=fuzzer,address,undefined,float-cast-overflow`",
        ),
        (
            Attempt("program", "bin/`x`"),
            "make",
            "the program `bin/?x?` with `-g -fsanitize=address,undefined,float-cast-overflow`",
        ),
    ],
)
def test_each_kind_of_proof_says_how_to_build_it(attempt: Attempt, build: str | None, words: str) -> None:
    files = regression_test(FINDING, attempt, "tests", build)

    assert words in files["tests/url-C12ab34/README.md"].decode()
    assert ("tests/url-C12ab34/harness.c" in files) == (attempt.way == "harness")


def test_an_input_named_like_our_files_is_kept_and_a_large_one_is_left_out() -> None:
    named = Attempt("harness", code="h", files=(ProofFile("README.md", b"1"), ProofFile("harness.c", b"2")))
    large = Attempt("program", files=(ProofFile("stdin", b"a" * (BYTES_MAX + 1)),))

    files = regression_test(FINDING, named, "t", None)

    assert {path.rpartition("/")[2] for path in files} == {"README.md", "harness.c", "_README.md", "_harness.c"}
    assert files["t/url-C12ab34/README.md"] == b"1"
    assert b"Build _harness.c with" in files["t/url-C12ab34/_README.md"]
    assert regression_test(FINDING, large, "t", None) == {}
