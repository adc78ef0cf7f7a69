"""Give published outputs as answers to `jarvis c2rust transpile --interface`, and compare the tests with `cargo test`.

    python -m tests.bench.c2rust_interface_replay OUTPUTS [NAME …]

OUTPUTS has a directory per project, as the outputs of CRUST-bench: `src/interfaces`, `src/bin` and the answer in
`src/*.rs`.  A scripted server answers each question with the files that it asks for.  `cargo test` runs on the same
files in the sandbox, apart.  Projects that need crates are named and not run, since cargo is offline; answers that the
gate `form` refuses are named with the reason, and not compared.
"""

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.interface_question import interface_files
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.sandbox import PATH, Sandbox, open_sandbox
from jarvis_workers.toolchain.cargo import find_rust
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import task_of
from tests.bench.eval_crust import LIMITS, dependencies, given_crate, jarvis, report, write_files
from tests.support.settings_files import write_settings

PROMPT = Path("metadata/output/prompt/transpilation/transpilation_prompt.json")
C_FILE = re.compile(r"\{\{(\S+)\}\}\s*```c\n(.*?)\n```", re.DOTALL)
QUESTION_FILE = re.compile(r"^File (\S+):$", re.MULTILINE)
RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (?:.*\n)*?(ok|FAILED|ignored)$", re.MULTILINE)
SETTINGS = {"c2rust": {"build_seconds": LIMITS.build_seconds, "test_seconds": LIMITS.test_seconds}}
FORM, CHECK = "not accepted in 1 answer; form: ", "not accepted in 1 answer; check: "


class Direct(NamedTuple):
    """What `cargo test` says of a crate: whether it builds, and which tests pass, by label.

    `aborted` are the programs that ended before all their tests.
    """

    builds: bool
    tests: Mapping[str, bool]
    aborted: frozenset[str] = frozenset()

    @property
    def passes(self) -> bool:
        return self.builds and all(self.tests.values()) and not self.aborted


def c_files(place: Path) -> dict[str, bytes]:
    """Return the C files in the prompt of a published output."""
    if not (place / PROMPT).is_file():
        return {}
    messages = json.loads((place / PROMPT).read_text())
    text = "\n".join(str(one["content"]) for one in messages[-1])
    return {name: code.encode() for name, code in C_FILE.findall(text) if not name.startswith("/")}


def replay(place: Path, given: Mapping[str, bytes], answer: Mapping[str, str], work: Path) -> dict[str, object]:
    """Run the command with the answer of a project; return its report, with its exit code."""

    def answered(body: Body) -> Step:
        asked = QUESTION_FILE.findall(task_of(body).partition("Other files of the crate")[0])
        files = [{"path": path, "rust": answer[path]} for path in asked if path in answer]
        return calls("submit_report", files=files)

    crate, c = write_files(work / "interface", given), write_files(work / "c", c_files(place))
    c.mkdir(exist_ok=True)
    with ModelServer(forever=answered) as server, chdir(work):
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        write_settings(Path.cwd(), {"models": {"m": group}, **SETTINGS})
        ended = jarvis("c2rust", "transpile", "-q", "-p", c, "--interface", crate, "-o", work / "out", "-m", 0)
        return {**report(), "code": ended.returncode} if ended.returncode in (0, 3) else {"failed": ended.stderr}


def cargo_test(files: Mapping[str, bytes], work: Path) -> Direct:
    """Run `cargo test` for each target of a crate."""
    rust = find_rust()
    write_files(work / "given", files)
    (work / "direct" / WORK).mkdir(parents=True)
    bins = {Path(name).stem: name for name in sorted(files) if re.fullmatch(r"src/bin/\w+\.rs", name)}
    tests = {Path(name).stem: name for name in sorted(files) if re.fullmatch(r"tests/\w+\.rs", name)}
    targets = [("src/lib.rs", "--lib"), *((one, f"--bin={name}") for name, one in bins.items())]
    targets += [(one, f"--test={name}") for name, one in tests.items()]
    with open_sandbox(
        work / "direct" / WORK, workspace=work / "direct", readable=[work / "given", rust.root]
    ) as sandbox:
        sandbox.run(["cp", "-r", str(work / "given"), str(work / "direct" / WORK / "crate")])
        built, _ = _cargo(sandbox, work, "--no-run", "--lib", "--bins", "--tests")
        if built != 0:
            return Direct(builds=False, tests={})
        found, aborted = dict[str, bool](), set[str]()
        for source, target in targets:
            _, output = _cargo(sandbox, work, target)
            results = RESULT.findall(output)
            found |= {f"{source}: {name}": word == "ok" for name, word in results if word != "ignored"}
            if not re.search(r"^test result: ", output, re.MULTILINE):
                aborted.add(source)
    return Direct(True, found, frozenset(aborted))


def _cargo(sandbox: Sandbox, work: Path, *words: str) -> tuple[int | None, str]:
    place = work / "direct" / WORK
    path = f"PATH={find_rust().root}/bin:{PATH}"
    script = 'cd "$1" && shift && exec env "$@" 2>&1'
    command = [path, f"CARGO_HOME={place}/cargo", "cargo", "test", "--offline", *words]
    outcome = sandbox.run(
        ["sh", "-c", script, "sh", str(place / "crate"), *command], limits=LIMITS.of(LIMITS.build_seconds)
    )
    return outcome.code, outcome.stdout.decode(errors="replace")


def compared(name: str, direct: Direct, found: Mapping[str, object]) -> tuple[str, str]:
    """Return the outcome of the comparison, `same`, `refused` or `DIFFERENT`, and the line of a project."""
    left = f"{sum(direct.tests.values())} of {len(direct.tests)}" if direct.builds else "does not build"
    left += f", {len(direct.aborted)} programs aborted" if direct.aborted else ""
    if "failed" in found:
        return "DIFFERENT", f"| {name} | {left} | FAILED: {found['failed']} | DIFFERENT |"
    result = json.loads(json.dumps(found["interface"]))
    reasons = {one["reason"] for one in result["functions"] if one["reason"]}
    own = {f"{one['program']}: {one['name']}": one["passed"] for one in result["outcome"]["tests"]}
    if refused := next((one for one in sorted(reasons) if one.startswith(FORM)), ""):
        reason = refused.removeprefix(FORM).partition("; body: ")[0]
        return "refused", f"| {name} | {left} | refused: {reason[:160]} | |"
    unbuilt = any(one.startswith(CHECK) for one in reasons) or bool(result["outcome"]["error"])
    right = "does not build" if unbuilt else f"{sum(own.values())} of {len(own)}"
    unfinished = sum(bool(one["reason"]) for one in result["functions"])
    right += f", {unfinished} functions without a body" if unfinished and not unbuilt else ""
    own = {test: passed for test, passed in own.items() if test.partition(": ")[0] not in direct.aborted or passed}
    tests = {test: passed for test, passed in direct.tests.items() if test.partition(": ")[0] not in direct.aborted}
    same = unbuilt != direct.builds and (unbuilt or own == tests)
    # A run also ends with 3 if a body is missing that no test needs.
    same = same and (found["code"] == 0) == (direct.passes and not unfinished)
    return ("same" if same else "DIFFERENT"), f"| {name} | {left} | {right} | {'same' if same else 'DIFFERENT'} |"


def lines(outputs: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a report."""
    outcomes, passing = Counter[str](), 0
    yield "| project | cargo test | interface mode | |\n| --- | --- | --- | --- |"
    for name in names:
        place, given = outputs / name, given_crate(outputs / name)
        files = interface_files(given)
        answer = {path: (place / path).read_text(errors="replace") for path in files if (place / path).is_file()}
        answer.pop("src/lib.rs", None)
        whole = {**given, **{path: text.encode() for path, text in answer.items()}}
        if external := sorted({*dependencies(place, given), *dependencies(place, whole)}):
            outcomes["not run"] += 1
            yield f"| {name} | not run: needs {', '.join(external)} | | |"
            continue
        with tempfile.TemporaryDirectory() as work:
            os.environ["JARVIS_DATA_DIR"] = f"{work}/data"
            direct = cargo_test(whole, Path(work))
            outcome, line = compared(name, direct, replay(place, given, answer, Path(work)))
        outcomes[outcome] += 1
        passing += outcome == "same" and direct.passes and bool(direct.tests)
        yield line
    yield f"{outcomes['same']} projects say the same ({passing} of them pass all tests),"
    yield f"{outcomes['DIFFERENT']} differ, {outcomes['refused']} answers are refused by the gate form,"
    yield f"{outcomes['not run']} projects need crates"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    outputs = given.outputs.resolve()
    names = given.names or sorted(one.name for one in outputs.iterdir() if (one / "src" / "interfaces").is_dir())
    for line in lines(outputs, names):
        print(line, flush=True)


if __name__ == "__main__":
    main()
