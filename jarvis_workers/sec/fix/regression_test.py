"""The regression test of a patch: the minimised input or the harness of a proof, and how to run it.

It is a directory of its own below the tests of the project, with plain files and no script: projects build and run
tests in too many ways, and a maintainer moves an input more easily than a foreign test framework.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.fixable import RelatedFinding
from jarvis_workers.sec.proof.proof import HARNESSES, SANITIZERS, Attempt

# In the order in which they are tried, in the scanned directory and at the top; the first is made if there is none.
TEST_DIRECTORIES = ("tests", "test")
REGRESSIONS = "regressions"
BYTES_MAX = 64_000
NAME_LENGTH = 40
README = "README.md"


def directory_of_tests(below: str, is_directory: Callable[[str], bool], is_free: Callable[[str], bool]) -> str | None:
    """Return the directory for regression tests; None if there is no place for it.

    `is_directory` says whether a path is a directory of the project, `is_free` whether nothing is there.
    """
    for place in dict.fromkeys((below, "")):
        for name in TEST_DIRECTORIES:
            if is_directory(path := posixpath.join(place, name)):
                below_it = posixpath.join(path, REGRESSIONS)
                return below_it if is_directory(below_it) or is_free(below_it) else None
    return posixpath.join(TEST_DIRECTORIES[0], REGRESSIONS) if is_free(TEST_DIRECTORIES[0]) else None


def regression_test(finding: RelatedFinding, attempt: Attempt, directory: str, build: str | None) -> dict[str, bytes]:
    """Return the files of a test by path; none if they are too large. `build` is the command that builds the proof."""
    files = {file.name: file.content for file in attempt.inputs}
    harness = ""
    if attempt.way == "harness":
        harness = _free(HARNESSES[attempt.language], files)
        files[harness] = attempt.code.encode("utf-8", "surrogateescape")
    lines = _readme(finding, attempt, harness, build)
    files[_free(README, files)] = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
    if sum(map(len, files.values())) > BYTES_MAX:
        return {}
    place = posixpath.join(directory, _name(finding))
    return {posixpath.join(place, name): content for name, content in files.items()}


def _readme(finding: RelatedFinding, attempt: Attempt, harness: str, build: str | None) -> Iterator[str]:
    yield f"# Regression test of {plain(finding.id)}"
    yield ""
    yield f"{_built(attempt, harness, build)}, and run it in this directory:"
    yield ""
    yield f"    {plain(attempt.command)}"
    yield ""
    yield "The sanitizers must report nothing. Before the fix, they reported:"
    yield ""
    yield from (f"    {plain(line)}" for line in _stack(finding))


def _built(attempt: Attempt, harness: str, build: str | None) -> str:
    """Return how to build what is run; the names of files are untrusted."""
    target = _quoted(attempt.target)
    if attempt.way == "fuzz_target":
        return f"Build the fuzz target{target} with `clang {SANITIZERS.replace('=', '=fuzzer,')}`"
    if attempt.way == "harness":
        return f"Build {harness} with the sources of the project, but for its main function, with `cc -g {SANITIZERS}`"
    if build is not None:
        return f"Build the program{target} with `-g {SANITIZERS}` in the flags of the compiler and the linker"
    return f"Build the program whose main function is in{target or ' the project'} with `cc -g {SANITIZERS}`"


def _quoted(path: str) -> str:
    return f" `{plain(path).replace('`', '?')}`" if path else ""


def _stack(finding: RelatedFinding) -> Sequence[str]:
    return finding.proof.stack if finding.proof else ()


def _name(finding: RelatedFinding) -> str:
    """Return the name of the test's directory, such as "url-C12ab34"."""
    stem = posixpath.basename(finding.place.file).partition(".")[0]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', stem)[:NAME_LENGTH]}-{finding.id}"


def _free(name: str, files: dict[str, bytes]) -> str:
    """Return a name that no file has."""
    while name in files:
        name = f"_{name}"
    return name
