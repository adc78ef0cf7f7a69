"""The stages that fuzz what stands, over a real store, sandbox and compiler; a scripted model judges the rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import RUNNING, refusal
from jarvis_workers.sec.bench.fuzz_bench import FuzzPlan, build_fuzzer, fuzz, has_libfuzzer
from jarvis_workers.sec.bench.proof_bench import ProofBench, ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.proof import INPUT, STDIN, Attempt, ProofFile, ProofTarget, TreeLine
from jarvis_workers.sec.stages.fuzz import NO_SANDBOX, NOTHING, UNCOMPILED
from jarvis_workers.sec.stages.fuzz_runs import plans_of
from jarvis_workers.sec.stages.payloads import FuzzPayload
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from tests.agents.loop.server import Body, ModelServer, Step
from tests.sec.stages.pipeline import Pipeline
from tests.sec.stages.test_fuzz_seeds import packed
from tests.store.arrange import job_rows
from tests.support.judging import judge
from tests.support.proving import gives_up, to_show

TIERS = [tier for tier in RUNNING if not refusal(tier)]
# No rule names the read.
LABELS = """\
struct label {
    const unsigned char *bytes;
    int next, sum;
};
static void step(struct label *label)
{
    label->sum += label->bytes[label->next];
    label->next += label->bytes[label->next] & 31;
}
int label_sum(const unsigned char *bytes, unsigned long size)
{
    struct label label = {bytes, 2, 0};
    int shift = size ? bytes[size - 1] & 63 : 0;
    if (size < 3 || bytes[0] != 'L' || bytes[1] != '1')
        return 0;
    for (unsigned long at = 2; at < size; at++)
        step(&label);
    return label.sum + (1 << shift);
}
"""
# A mutation does not get there by chance.
FAR = LABELS.replace("bytes[1] != '1'", 'memcmp(bytes + 1, "xyzzy", 5)').replace("size < 3", "size < 7")
# A rule does.
COUNTS = """\
int label_sum(const unsigned char *bytes, unsigned long size)
{
    int places[8] = {0};
    if (size < 3 || bytes[0] != 'L' || bytes[1] != '1')
        return 0;
    for (unsigned long at = 2; at < size; at++)
        places[bytes[at] & 15] += 1;
    return places[3];
}
"""
TARGET = """\
int label_sum(const unsigned char *bytes, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
{
    return label_sum(data, size) < 0;
}
"""
# Reads a file, or its standard input.
READER = """\
#include <stdio.h>
#include <stdlib.h>
int label_sum(const unsigned char *bytes, unsigned long size);
int main(int count, char **words)
{
    unsigned char *bytes = calloc(1, 64);
    FILE *file = count > 1 ? fopen(words[1], "rb") : stdin;
    if (!bytes || !file)
        return 1;
    return label_sum(bytes, fread(bytes, 1, 64, file)) > 90;
}
"""
FUZZED = {"label.c": LABELS, "fuzz/label_fuzz.c": TARGET}
PROGRAM = {"label.c": LABELS.replace("& 63", "& 7"), "reader.c": READER}
INPUTS = {"tests/one.lbl": b"L1abc", "tests/two.lbl": b"L2 other"}
COPY = """\
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[512];
    char name[16];
    if (!fgets(line, sizeof line, stdin) || line[0] != 'N')
        return 1;
    strcpy(name, line);
    return name[0];
}
"""


def write(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


@dataclass
class Runs:
    """A store, and runs that fuzz trees; the model confirms or dismisses what rules find, and proves nothing."""

    place: Path
    pipeline: Pipeline
    talks: AgentRuntime
    verdicts: list[str]

    def start(self, files: dict[str, str], inputs: dict[str, bytes] | None = None, **options: Any) -> str:
        tree = self.place / f"tree{len(list(self.place.glob('tree*')))}"
        write(tree, files)
        content = {name: text.encode() for name, text in files.items()} | (inputs or {})
        options = {"fuzz_seconds": 6, "archive": packed(content), **options}
        return self.pipeline.start(tree, kind="sec.agent", model_group="m", **options)

    def report(self, files: dict[str, str], inputs: dict[str, bytes] | None = None, **options: Any) -> dict[str, Any]:
        run = self.start(files, inputs, **options)
        self.pipeline.go_on(run)
        return self.pipeline.body(run)


@pytest.fixture
def runs(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Iterator[Runs]:
    verdicts = ["confirmed"]

    def model(body: Body) -> Step:
        if to_show(body):
            return gives_up(body, "The model sees no input.")
        return judge(body, always=verdicts[0])

    with ModelServer(forever=model) as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        talks = AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": group}, tmp_path / "cache"))
        pipeline = Pipeline(open_stores(sqlite_url), DirectoryBlobs(tmp_path / "blobs"), talks)
        try:
            yield Runs(tmp_path, pipeline, talks, verdicts)
        finally:
            talks.close()


def crashes(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [issue for issue in body["issues"] if issue["pattern"] == "fuzz_crash"]


@pytest.mark.slow
def test_an_overflow_that_nobody_named_is_a_proved_finding_of_its_own(runs: Runs) -> None:
    body = runs.report(FUZZED)

    issue, shift = crashes(body)
    assert (issue["file"], issue["line"], issue["status"], issue["cwe"]) == ("label.c", 7, "proved", 125)
    assert (shift["line"], shift["status"], shift["severity"], shift["cwe"]) == (18, "proved", "low", 1335)
    assert issue["description"].startswith("heap-buffer-overflow reading 1 byte in step. ")
    assert issue["severity"] == issue["verdict_severity"]
    proof = issue["proof"]
    assert (proof["state"], proof["kind"], proof["command"]) == ("proved", "fuzz_target", "./fuzz_target input")
    assert proof["stack"][1] == "#0 step label.c:7"
    (source,) = proof["sources"]
    assert source["name"] == INPUT
    (target,) = body["summary"]["fuzzing"]["targets"]
    assert (target["target"], target["errors"], target["runs"] > 0) == ("fuzz/label_fuzz.c", 2, True)
    assert body["summary"]["by_status"] == {"proved": 2}


@pytest.mark.slow
def test_a_program_is_fuzzed_with_the_inputs_of_the_tests(runs: Runs) -> None:
    body = runs.report(PROGRAM, INPUTS)

    (issue,) = crashes(body)
    assert (issue["file"], issue["line"], issue["proof"]["kind"]) == ("label.c", 7, "program")
    assert issue["proof"]["command"] in ("./program input", "./program < stdin")
    (target,) = body["summary"]["fuzzing"]["targets"]
    assert (target["target"], target["engine"], target["errors"]) == ("reader.c", "mutations", 1)


@pytest.mark.slow
def test_an_error_at_a_confirmed_finding_is_its_proof_and_no_finding_of_its_own(runs: Runs) -> None:
    body = runs.report({"main.c": COPY}, {"tests/name": b"Name\n"}, prove="low")

    assert not crashes(body)
    issue = next(one for one in body["issues"] if one["line"] == 9)
    assert (issue["status"], issue["proof"]["state"], issue["proof"]["command"]) == (
        "proved",
        "proved",
        "./program < stdin",
    )
    assert issue["proof"]["stack"][1] == "#0 main main.c:9"


@pytest.mark.slow
def test_an_error_that_a_model_has_dismissed_is_a_proved_finding_all_the_same(runs: Runs) -> None:
    runs.verdicts[:] = ["dismissed"]
    body = runs.report(FUZZED | {"label.c": COUNTS})

    assert {issue["line"] for issue in body["dismissed"]} == {7}
    (issue,) = body["issues"]
    assert (issue["pattern"], issue["line"], issue["status"]) == ("fuzz_crash", 7, "proved")


@pytest.mark.slow
def test_a_tree_without_targets_is_said_to_have_none(runs: Runs) -> None:
    body = runs.report({"label.c": LABELS})

    (target,) = body["summary"]["fuzzing"]["targets"]
    assert (target["reason"], target["runs"], crashes(body)) == (NOTHING, 0, [])


@pytest.mark.slow
def test_a_program_that_does_not_compile_by_itself_is_named(runs: Runs) -> None:
    body = runs.report({"label.c": LABELS, "reader.c": f'#include "missing.h"\n{READER}'})

    (target,) = body["summary"]["fuzzing"]["targets"]
    assert (target["target"], target["reason"]) == ("reader.c", UNCOMPILED)


@pytest.mark.slow
def test_more_targets_than_there_is_time_for_are_named(runs: Runs) -> None:
    others = {f"program{number}.c": "int main(void)\n{\n    return 0;\n}\n" for number in range(3)}
    body = runs.report({**FUZZED, **others}, fuzz_seconds=5)

    first, *rest = sorted(body["summary"]["fuzzing"]["targets"], key=lambda one: not one["runs"])
    assert first["target"] == "fuzz/label_fuzz.c"
    assert [one["reason"][:28] for one in rest] == ["not among the first targets:"] * 3


def test_without_a_sandbox_nothing_is_fuzzed_and_the_report_says_so(runs: Runs) -> None:
    runs.talks.sandboxes.tier = Tier.C
    body = runs.report(FUZZED)

    (target,) = body["summary"]["fuzzing"]["targets"]
    assert (target["reason"], crashes(body)) == (NO_SANDBOX, [])


def test_a_run_without_the_option_has_no_such_stages(runs: Runs) -> None:
    run = runs.start(FUZZED, fuzz_seconds=0)
    runs.pipeline.go_on(run)

    assert not job_rows(runs.pipeline.store, run, "fuzz")
    assert "fuzzing" not in runs.pipeline.body(run)["summary"]


@pytest.mark.slow
def test_a_job_that_is_lost_is_done_again_with_the_same_result(runs: Runs) -> None:
    lost, whole = runs.start(PROGRAM, INPUTS), runs.report(PROGRAM, INPUTS)
    runs.pipeline.go_on(lost, until="fuzz")
    (first,) = job_rows(runs.pipeline.store, lost, "fuzz")
    runs.pipeline.lose(first.id)
    runs.pipeline.converse(first.id)
    target = next(row for row in job_rows(runs.pipeline.store, lost, "fuzz") if row.id != first.id)
    runs.pipeline.lose(target.id)
    runs.pipeline.go_on(lost)

    assert crashes(runs.pipeline.body(lost)) == crashes(whole)


def runner_on(bench: ProofBench) -> BenchRunner:
    return BenchRunner(bench, ProofTarget(TreeLine("main.c", 1), 0, 0, 0), BoundedSemaphore())


@dataclass
class Hostile:
    """A tree with one program on a bench."""

    bench: ProofBench

    def fuzz(self, seeds: tuple[bytes, ...] = (b"seed",), seconds: int = 6) -> Any:
        attempt = Attempt("program", "main.c", files=(ProofFile(STDIN, b""),))
        program = BenchRunner(self.bench, ProofTarget(TreeLine("main.c", 1), 0, 0, 0), BoundedSemaphore()).build(
            attempt
        )
        assert not program.problem
        return fuzz(self.bench, program, FuzzPlan(attempt, STDIN, seeds, seconds, 1), "mutations")


def open_hostile(place: Path, code: str) -> Any:
    (place / "tree").mkdir()
    (place / "tree" / "main.c").write_text(code)
    limits = replace(ProofLimits(), run_seconds=4)
    return open_proof_bench(place / "benches", ProofTree(place / "tree", "1"), limits, TIERS[0], None)


@pytest.mark.slow
def test_a_program_that_waits_is_ended_and_given_up(tmp_path: Path) -> None:
    with open_hostile(tmp_path, "#include <unistd.h>\nint main(void)\n{\n    pause();\n}\n") as bench:
        found = Hostile(bench).fuzz(seconds=60)

    assert (found.ended, found.inputs, found.runs) == ("its runs do not end", (), 3)


@pytest.mark.slow
def test_a_program_can_neither_reach_the_network_nor_files_of_this_machine_nor_fake_an_error(tmp_path: Path) -> None:
    code = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
int main(void)
{
    struct sockaddr_in there = {AF_INET, htons(53), {htonl(0x08080808)}, {0}};
    FILE *file = fopen("../found/0000", "wb");
    int other = socket(AF_INET, SOCK_STREAM, 0);
    if (other >= 0 && !connect(other, (struct sockaddr *)&there, sizeof there))
        abort();
    if (file)
        fputs("faked", file), fclose(file);
    if ((file = fopen("main.c", "wb")))
        fclose(file);
    rename("../corpus", "../before");
    symlink("SECRETS", "../corpus");
    unlink("../found/0001");
    symlink("SECRETS/0000", "../found/0001");
    file = fopen("../counts", "wb");
    if (file) {
        for (int at = 0; at < 1500; at++)
            fputc('[', file);
        fclose(file);
        kill(getppid(), SIGKILL);
    }
    return 0;
}
"""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "0000").write_text("of this machine")
    with open_hostile(tmp_path, code.replace("SECRETS", str(tmp_path / "secrets"))) as bench:
        found = Hostile(bench).fuzz(seconds=2)
        attempt = Attempt("program", "main.c", files=(ProofFile(STDIN, found.inputs[0] if found.inputs else b""),))
        runs = runner_on(bench).attempt(attempt).runs

    assert (found.inputs, found.corpus, found.runs) == ((b"faked",), (), 0)
    assert [run.errors for run in runs] == [(), ()]


@pytest.mark.slow
def test_without_clang_or_its_library_a_fuzz_target_gets_mutations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "tree", FUZZED)
    tree = ProofTree(tmp_path / "tree", "1")
    attempt = Attempt("fuzz_target", "fuzz/label_fuzz.c", files=(ProofFile(INPUT, b""),))
    with open_proof_bench(tmp_path / "benches", tree, ProofLimits(), TIERS[0], None) as bench:
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(tmp_path))
            assert not has_libfuzzer(bench)
        program = runner_on(bench).build(attempt)
        found = fuzz(bench, program, FuzzPlan(attempt, INPUT, (b"L1a",), 10, 1), "mutations")
        again = fuzz(bench, program, FuzzPlan(attempt, INPUT, (b"L1a",), 10, 1), "mutations")

    assert found.inputs and found.inputs == again.inputs


@pytest.mark.slow
def test_libfuzzer_finds_what_is_behind_a_comparison(tmp_path: Path) -> None:
    write(tmp_path / "tree", FUZZED | {"label.c": FAR})
    tree = ProofTree(tmp_path / "tree", "1")
    attempt = Attempt("fuzz_target", "fuzz/label_fuzz.c", files=(ProofFile(INPUT, b""),))
    with open_proof_bench(tmp_path / "benches", tree, ProofLimits(), TIERS[0], None) as bench:
        if not has_libfuzzer(bench):
            pytest.skip("clang cannot link libFuzzer")
    with open_proof_bench(tmp_path / "benches", replace(tree, covered=True), ProofLimits(), TIERS[0], None) as bench:
        program = build_fuzzer(bench, attempt.target)
        assert not program.problem
        found = fuzz(bench, program, FuzzPlan(attempt, INPUT, (b"",), 20, 1), "libFuzzer")

    assert found.inputs and found.inputs[0].startswith(b"Lxyzzy")


def test_a_target_is_fuzzed_with_what_attempts_and_tests_have() -> None:
    attempt = Attempt("program", "", ("-x", "in"), files=(ProofFile("in", b"long one"), ProofFile("conf", b"1")))
    payload = FuzzPayload("program", "main.c", 30)

    (own,) = plans_of(payload, [attempt], (b"seed", b"long one"))
    plain, from_stdin = plans_of(payload, [], (b"seed",))
    (longer,) = plans_of(replace(payload, seconds=60), [attempt], (b"seed",))
    (target,) = plans_of(FuzzPayload("fuzz_target", "f.c", 30), [], ())

    assert (own.attempt.target, own.attempt.args, own.file) == ("main.c", ("-x", "in"), "in")
    assert (own.seeds, own.seconds, own.number) == ((b"long one", b"seed"), 30, longer.number)
    assert [(one.attempt.args, one.file, one.seconds) for one in (plain, from_stdin)] == [
        ((INPUT,), INPUT, 15),
        ((), STDIN, 15),
    ]
    assert (target.attempt.way, target.file, target.seeds) == ("fuzz_target", INPUT, (b"",))
