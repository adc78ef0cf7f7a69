"""Proofs with clang, and with builds that choose a compiler or libFuzzer."""

import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import StepFailed
from jarvis_workers.sec.bench import proof_compilers
from jarvis_workers.sec.bench.proof_compilers import CLANG, GCC, called_by, installed_compilers
from jarvis_workers.sec.proof.clang_declarations import declarations_of_tree
from jarvis_workers.sec.proof.proof import Attempt, Language, ProofFile
from tests.sec.proof.bad_attempts import CHEATS, MISUSES
from tests.sec.proof.cases import CASES, Case
from tests.sec.proof.test_cases import BUILD, BUILT_MAIN, BY_NAME, RECORD, TIERS, built, opened
from tests.support.servers import missing

LINK = "clang -fsanitize=address,undefined -x c - -o"


@pytest.fixture
def clang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Prefer clang, which must have its sanitizers."""
    command = [*LINK.split(), str(tmp_path / "probe")]
    if not shutil.which("clang") or subprocess.run(command, input=b"int main() { return 0; }", check=False).returncode:
        missing("clang with its sanitizers (libclang-rt-dev)")
    monkeypatch.setenv("CC", "clang")


def without_sanitizers(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Take the sanitizers from compilers."""
    for name, compiler in (("GCC", GCC), ("CLANG", CLANG)):
        if compiler.c in names:
            monkeypatch.setattr(proof_compilers, name, compiler._replace(static="-lno_such_sanitizer"))


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_gcc_proves_clang_proves_as_well(case: Case, tmp_path: Path) -> None:
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        vulnerable = prove(case.attempt)
    with opened(case, tmp_path, TIERS[-1], fixed=True) as prove:
        fixed = prove(case.attempt)

    assert vulnerable.proof is not None, vulnerable.text
    assert vulnerable.proof.state == "proved", vulnerable.text
    assert vulnerable.proof.stack[1].startswith("#0 "), vulnerable.proof.stack
    assert (fixed.ran, fixed.proof) == (True, None), fixed.text


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
def test_cheats_prove_nothing_with_clang(tmp_path: Path) -> None:
    slow = ("loops", "fills the disk", "takes all memory")
    with opened(RECORD, tmp_path, TIERS[-1], fixed=False) as prove:
        reports = {name: prove(attempt) for name, attempt in CHEATS.items() if name not in slow}

    assert {name: report.text for name, report in reports.items() if report.proof} == {}


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
def test_arguments_are_checked_with_clang(tmp_path: Path) -> None:
    with opened(RECORD, tmp_path, TIERS[-1], fixed=True) as prove:
        reports = {what: prove(attempt) for what, attempt in MISUSES[RECORD.name].items()}

    assert {what: report.text for what, report in reports.items() if not report.ran} == {}
    assert "proved" not in {report.proof.state for report in reports.values() if report.proof}


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_harness_with_static_data_is_linked_with_clang(language: Language, tmp_path: Path) -> None:
    declared = "int record_decode(const unsigned char *, unsigned long);\n"
    prefix = "" if language == "c" else 'extern "C" '
    body = "    static unsigned char data[4] = {3, 'a', 'b', 'c'};\n    return !record_decode(data, 4);\n"
    attempt = Attempt("harness", code=f"{prefix}{declared}int main()\n{{\n{body}}}\n", language=language)
    with opened(RECORD, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(attempt)

    assert (report.ran, report.proof) == (True, None), report.text
    assert "no sanitizer reported an error; the run ended normally" in report.text


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
@pytest.mark.parametrize("name", ["clang", "clang -fcolor-diagnostics", "cc"])
def test_a_build_may_choose_clang(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "clang" if name == "cc" else "")
    case = BY_NAME["negative_index"]
    files = {f"src/{file}": text for file, text in case.files.items()} | {"src/main.c": BUILT_MAIN}
    command = BUILD.replace("cc ", f"{name} ") + " && readelf -p .comment main.o | grep -q clang"
    with built(tmp_path, Case("built", case.cwe, files, ("", ""), case.attempt), command) as prove:
        report, program = prove(case.attempt), prove(Attempt("program", "prog"))

    assert report.proof is not None, report.text
    assert report.proof.state == "reproduced"
    assert report.proof.reason.startswith("tag_name is internal: main of the tree calls it"), report.proof.reason
    assert report.proof.stack[1].startswith("#0 tag_name src/tags.c:")
    assert (program.ran, program.proof) == (True, None), program.text


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
@pytest.mark.parametrize("name", ["gcc", "clang"])
@pytest.mark.parametrize("option", ["-fsanitize=fuzzer,address", "-fsanitize=address,fuzzer", "-g -fsanitize=fuzzer"])
def test_a_build_of_a_fuzz_target_needs_no_libfuzzer(
    name: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "")
    case = BY_NAME["integer_overflow"]
    command = (
        f"{name} -fsanitize=fuzzer-no-link -c image.c && {name} -c -I. fuzz/fuzz_image.c"
        f" && {name} {option} image.o fuzz_image.o -o fuzzer"
    )
    (content,) = (file.content for file in case.attempt.files)
    with built(tmp_path, Case("built", case.cwe, case.files, ("", ""), case.attempt), command) as prove:
        target = prove(Attempt("fuzz_target", files=case.attempt.files))
        program = prove(Attempt("program", "fuzzer", ("-runs=1", "crash"), files=(ProofFile("crash", content),)))

    for report in (target, program):
        assert report.proof is not None, report.text
        assert report.proof.state == "proved"


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
def test_clang_is_used_if_gcc_has_no_sanitizers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc")
    without_sanitizers(monkeypatch, "gcc")
    with opened(RECORD, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(RECORD.attempt)

    assert report.proof is not None, report.text
    assert report.proof.state == "proved"


@pytest.mark.slow
@pytest.mark.usefixtures("clang")
def test_that_no_compiler_has_sanitizers_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_sanitizers(monkeypatch, "gcc", "clang")
    says = "clang and gcc on this machine cannot link AddressSanitizer and UndefinedBehaviorSanitizer"
    with pytest.raises(StepFailed, match=says), opened(RECORD, tmp_path, TIERS[-1], fixed=False):
        pass


def test_the_compiler_of_the_environment_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gcc", "clang"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    orders = {name: [one.c for one in installed_compilers({"CC": name})] for name in ("", "cc", "/usr/bin/clang-14")}
    (tmp_path / "gcc").unlink()

    assert orders == {"": ["gcc", "clang"], "cc": ["gcc", "clang"], "/usr/bin/clang-14": ["clang", "gcc"]}
    assert installed_compilers({}) == [CLANG]


def test_a_name_of_a_compiler_means_it_if_it_can_be_used() -> None:
    assert [called_by(name, [GCC, CLANG]).c for name in ("cc", "gcc-12", "clang", "clang++-14")] == [
        *("gcc", "gcc", "clang", "clang")
    ]
    assert [called_by(name, [CLANG]).c for name in ("cc", "gcc", "c++")] == ["clang"] * 3


def test_what_clang_lists_of_declarations_is_read() -> None:
    text = b'# 1 "made/harness.c"\n# 3 "project/a.h" 1\nint f(const char *const s, ...);\n\nchar *g(void);\nint h();\n'
    names = (b"f", b"g", b"h")

    def node(name: bytes, spelled: str, *types: str, **about: object) -> str:
        inner = ",".join(f'{{"kind": "ParmVarDecl", "type": {{"qualType": "{one}"}}}}' for one in types)
        variadic = "true" if about.get("variadic") else "false"
        return (
            f'{{"kind": "FunctionDecl", "name": "{name.decode()}", "loc": {{"offset": {text.index(name + b"(")}}},'
            f' "type": {{"qualType": "{spelled}"}}, "variadic": {variadic}, "inner": [{inner}]}}'
        )

    nodes = [
        node(names[0], "int (const char *, ...)", "const char *const", variadic=True),
        node(names[1], "char *(void)"),
        node(names[2], "int ()"),
    ]
    found = declarations_of_tree(f'{{"inner": [{",".join(nodes)}]}}'.encode(), text)

    assert {name: tuple(one) for name, one in found.items()} == {
        "f": ("project/a.h", 3, "int", ("const char *", "...")),
        "g": ("project/a.h", 5, "char *", ("void",)),
    }
    assert found["f"].is_variadic
    assert declarations_of_tree(b"not JSON", text) == declarations_of_tree(b"[" * 100_000, text) == {}
