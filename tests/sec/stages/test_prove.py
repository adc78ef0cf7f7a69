"""The stage that proves confirmed findings, over a real store, sandbox, compiler and scripted model server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import refusal
from jarvis_workers.sec.bench import proof_bench
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.stages.judge_options import PROVE_STAGE, JudgeOptions
from jarvis_workers.sec.stages.proof_questions import question_of
from jarvis_workers.sec.stages.proof_selection import UNRATED, VerdictRating, reason_without_proof
from jarvis_workers.sec.stages.proof_targets import target_of
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.sec.stages.pipeline import Pipeline
from tests.support.judging import LINE, judge
from tests.support.proving import OWN, answers_since, gives_up, to_show, tries
from tests.support.reading_files import is_reading, item, reported

GREETER = Path(__file__).parents[2] / "data" / "servers" / "greeter.c"
RECORD = """\
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(void)
{
    static char line[512];
    char name[16];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    strcpy(name, line);
    return name[0];
}
"""
LONG = calls("run_proof", way="program", target="main.c", files=[{"name": "stdin", "text": "a" * 100 + "\n"}])
SHORT = calls("run_proof", way="program", target="main.c", files=[{"name": "stdin", "text": "a\n"}])


@dataclass
class Bench:
    """A store, and runs whose findings a model confirms and proves."""

    place: Path
    open_store: Callable[..., Store]
    url: str

    def prove(
        self,
        files: dict[str, str],
        *steps: Step | Callable[[Body], Step],
        crash: str = "",
        exposure: str = "",
        prover: Callable[[Body], Step] | None = None,
        tier: Tier | None = None,
        named: Sequence[dict[str, Any]] = (),
        **options: Any,
    ) -> tuple[dict[str, Any], list[Body]]:
        """Scan files, confirm everything, answer requests for proofs with `steps` or by `prover`.

        Return the report and the requests.  With a reason for a `crash`, the jobs that prove fail.  The verdicts name
        the `exposure`.  With `escalate`, the first model is not sure.  The machine has this `tier`.  Readers have
        `named` these items.
        """
        tree = self.place / f"tree{len(list(self.place.glob('tree*')))}"
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        left, asked = list(steps), list[Body]()

        def answer(body: Body) -> Step:
            if is_reading(body):
                return reported(body, [*named])
            if not to_show(body):
                unsure = "escalate" in options and body["model"] == "m"
                return judge(body, always="confirmed", exposure=exposure, **({"verdict": "unclear"} if unsure else {}))
            asked.append(body)
            step = prover or left.pop(0)
            return step(body) if callable(step) else step

        with ModelServer(forever=answer) as server:
            group = {"base_url": server.url, "profile": "openai", "api_key": "k"}
            groups = {name: {"model": name, **group} for name in ("m", "strong")}
            talks = AgentRuntime(self.open_store(self.url, durable=True), setup_of(groups, self.place / "cache"))
            talks.sandboxes.tier = tier or talks.tier
            pipeline = Pipeline(self.open_store(self.url), DirectoryBlobs(self.place / "blobs"), talks)
            try:
                run = pipeline.start(tree, kind="sec.agent", model_group="m", prove="low", **options)
                if crash:
                    pipeline.go_on(run, until=PROVE_STAGE)
                    with pipeline.store.write() as session:
                        lost = (JOB.c.run_id == run) & (JOB.c.step == PROVE_STAGE)
                        session.execute(update(JOB).where(lost).values(state="failed", reason=crash))
                        advance(session, run)
                pipeline.go_on(run)
                return pipeline.body(run), asked
            finally:
                talks.close()


@pytest.fixture
def bench(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Bench:
    return Bench(tmp_path, open_stores, sqlite_url)


def issue_at(body: dict[str, Any], line: int) -> dict[str, Any]:
    return next(issue for issue in body["issues"] if issue["line"] == line)


@pytest.mark.slow
def test_a_confirmed_finding_that_a_sanitizer_stops_at_is_proved(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": RECORD}, SHORT, LONG)

    issue = issue_at(body, 10)
    proof = issue["proof"]
    assert (issue["status"], proof["state"], proof["kind"], proof["attempts"]) == ("proved", "proved", "program", 2)
    assert body["summary"]["by_status"]["proved"] >= 1
    assert proof["stack"][:2] == ["stack-buffer-overflow WRITE of size 102", "#0 main main.c:10"]
    assert proof["command"] == "./program < stdin"
    assert proof["sources"] == [{"name": "stdin", "text": "a" * 100 + "\n", "base64": None, "is_whole": True}]
    assert "no sanitizer reported an error; the run ended" in asked[1]["messages"][-1]["content"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", [True, False])
def test_the_attempt_of_a_reader_proves_what_it_names_without_a_question(rule: bool, bench: Bench) -> None:
    """Also what is merged with the candidate of a rule."""
    source = RECORD if rule else RECORD.replace("strcpy(name, line)", "for (int i = 0; line[i]; i++) name[i] = line[i]")
    quote = source.split("\n")[9].strip()
    shows = {"way": "program", "files": [{"name": "stdin", "text": "a" * 100 + "\n"}]}
    named = [item("main.c", 10, quote, attempt=shows, reach="remote", severity="low")]
    body, asked = bench.prove({"main.c": source}, named=named, read="all")

    issue = issue_at(body, 10)
    assert (issue["status"], issue["proof"]["state"], issue["proof"]["attempts"]) == ("proved", "proved", 1)
    assert (issue["exposure"], issue["severity"]) == ("remote", "low")
    assert issue["preconditions"] == "the input of the proof: ./program < stdin"
    assert asked == []


@pytest.mark.slow
def test_remote_defects_of_a_server_are_proved_by_what_a_client_sends(bench: Bench) -> None:
    if why := refusal(Tier.A):
        pytest.skip(why)
    packet = {"args": ["udp"], "protocol": "udp", "messages": [{"hex": "64" + "62" * 100}]}
    line = {"args": ["fork"], "messages": [{"text": "HELO " + "a" * 99 + "\r\n"}]}

    def prover(body: Body) -> Step:
        ways = {"sprintf(text": line, "memcpy(label": packet}
        chosen = {number: way for number, text in to_show(body).items() for code, way in ways.items() if code in text}
        if not chosen or answers_since(body):
            return gives_up(body, "No message shows it.")
        server = {"way": "server", "target": "greeter.c", "port": 2121}
        return tries(body, {number: server | way for number, way in chosen.items()})

    body, _ = bench.prove({"greeter.c": GREETER.read_text()}, prover=prover)

    proofs = {issue["evidence"][:6]: issue["proof"] for issue in body["issues"] if issue["status"] == "proved"}
    assert {"sprint", "memcpy"} <= proofs.keys(), body["issues"]
    assert {one["kind"] for one in proofs.values()} == {"server"}
    sprintf = proofs["sprint"]
    assert sprintf["command"] == "./program fork & sleep 1; (sleep 1; cat message-1) | nc -N 127.0.0.1 2121"
    assert [one["name"] for one in sprintf["sources"]] == ["message-1"]


THREE = """\
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[512];
    char name[16] = "", title[8] = "", unit[4] = "";
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (line[0] == 'n')
        strcpy(name, line);
    if (line[0] == 't')
        strcpy(title, line);
    if (line[0] == 'u')
        strcpy(unit, line);
    return name[0] + title[0] + unit[0];
}
"""


@pytest.mark.slow
def test_findings_of_a_function_are_judged_and_proved_in_one_conversation(bench: Bench) -> None:
    def prover(body: Body) -> Step:
        letters = {number: LINE.findall(text)[0][7] for number, text in to_show(body).items()}
        inputs = {number: {"name": "stdin", "text": letter + "a" * 99 + "\n"} for number, letter in letters.items()}
        return tries(body, {n: {"way": "program", "target": "main.c", "files": [one]} for n, one in inputs.items()})

    body, asked = bench.prove({"main.c": THREE}, prover=prover)

    proofs = {one["line"]: one["proof"] for one in body["issues"] if one["status"] == "proved"}
    assert {line: (proof["stack"][1], proof["attempts"]) for line, proof in proofs.items()} == {
        line: (f"#0 main main.c:{line}", 1) for line in (10, 12, 14)
    }
    assert [one["status"] for one in body["issues"]] == ["proved"] * 3, body["issues"]
    assert len(asked) == 1
    assert "strcpy(unit" not in asked[0]["messages"][-1]["content"]


STEP_C = """\
struct label {
    const char *bytes;
    int next, sum;
};
static void step(struct label *label)
{
    label->sum += label->bytes[label->next];
    label->next += label->bytes[label->next] & 31;
}
int label_sum(const char *bytes)
{
    struct label label = {bytes, 1, 0};
    for (int at = 0; at < 40; at++)
        step(&label);
    return label.sum;
}
"""


def calling(name: str) -> str:
    """Return a program that calls a function of another file, far from its own defect."""
    call = f"    if (line[0] == 'L')\n        return {name}(line);\n" + "    line[1] += line[2];\n" * 6
    return RECORD.replace("int main", f"int {name}(const char *);\nint main").replace(
        "    strcpy(", f"{call}    strcpy("
    )


def stdin_of(text: str) -> dict[str, Any]:
    return {"way": "program", "target": "main.c", "files": [{"name": "stdin", "text": text}]}


@pytest.mark.slow
def test_an_error_that_shows_no_finding_of_the_question_is_a_proved_finding_of_its_own(bench: Bench) -> None:
    def prover(body: Body) -> Step:
        copies = [number for number, text in to_show(body).items() if "strcpy" in text]
        inputs = ["L" + "_" * 505 + "\n", "a" * 100 + "\n"][answers_since(body) :]
        if not copies or not inputs:
            return gives_up(body, "The model sees no input.")
        return tries(body, {copies[0]: stdin_of(inputs[0])})

    body, asked = bench.prove({"main.c": calling("label_sum"), "step.c": STEP_C}, prover=prover)

    (crash,) = [issue for issue in body["issues"] if issue["pattern"] == "fuzz_crash"]
    assert (crash["file"], crash["line"], crash["cwe"], crash["status"]) == ("step.c", 7, 125, "proved")
    assert "An attempt to show another finding gets here: ./program < stdin" in crash["description"]
    assert crash["proof"]["stack"][:2] == ["global-buffer-overflow READ of size 1", "#0 step step.c:7"]
    assert (crash["proof"]["attempts"], crash["proof"]["sources"][0]["text"]) == (1, "L" + "_" * 505 + "\n")
    assert any("Reported as a finding of its own" in str(one["messages"][-1]["content"]) for one in asked)
    assert [one["status"] for one in body["issues"] if "strcpy" in one["evidence"]] == ["proved"]


@pytest.mark.slow
def test_an_error_at_a_confirmed_finding_of_another_question_is_its_proof(bench: Bench) -> None:
    copies = RECORD[RECORD.index("#include <string.h>") :].split("static char")[0]
    copies = copies.replace("int main(void)", "int copy_line(const char *line)")
    copies += "char name[16];\n    strcpy(name, line);\n    return name[0];\n}\n"

    def prover(body: Body) -> Step:
        in_main = [number for number, text in to_show(body).items() if "line: strcpy" in text and "main.c#" in text]
        if not in_main or answers_since(body):
            return gives_up(body, "The model sees no input.")
        return tries(body, {in_main[0]: stdin_of("L" * 100 + "\n")})

    body, _ = bench.prove({"main.c": calling("copy_line"), "name.c": copies}, prover=prover)

    assert not [issue for issue in body["issues"] if issue["pattern"] == "fuzz_crash"]
    issue = next(one for one in body["issues"] if one["file"] == "name.c" and "strcpy" in one["evidence"])
    assert (issue["status"], issue["proof"]["stack"][1]) == ("proved", "#0 copy_line name.c:6")


@pytest.mark.slow
def test_what_an_escalation_confirms_is_proved_in_a_conversation_of_its_own(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": RECORD}, SHORT, LONG, escalate="strong")

    assert issue_at(body, 10)["status"] == "proved"
    assert all(OWN in str(one["messages"]) for one in asked)
    assert len(asked) == 2


@pytest.mark.slow
def test_a_machine_without_a_sandbox_gives_verdicts_and_says_why_nothing_is_proved(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": RECORD}, tier=Tier.C)

    assert asked == []
    assert issue_at(body, 10)["status"] == "confirmed"
    assert issue_at(body, 10)["proof"]["reason"] == "this machine has no sandbox to run a proof in"


@pytest.mark.slow
def test_a_server_in_tier_b_is_no_attempt(bench: Bench) -> None:
    over_tcp = calls("run_proof", way="server", target="main.c", port=2121, messages=[{"text": "a"}])
    body, _ = bench.prove({"main.c": RECORD}, over_tcp, lambda body: gives_up(body, "It reads a socket."), tier=Tier.B)

    proof = issue_at(body, 10)["proof"]
    assert (proof["state"], proof["attempts"]) == ("failed", 0)
    assert proof["reason"] == "the way server needs sandbox tier A; It reads a socket."


@pytest.mark.slow
def test_messages_about_a_harness_quote_no_comment_of_a_header(bench: Bench) -> None:
    files = {
        "main.c": f'#include "greet.h"\n{RECORD}',
        "greet.h": "int greet(int); /* error: all of it was reviewed */\n",
    }
    code = '#include "greet.h"\nint main(void)\n{\n    return greet(1, 2);\n}\n'
    attempt = calls("run_proof", way="harness", code=code)
    _, asked = bench.prove(files, attempt, lambda body: gives_up(body, "It takes one."))

    assert "too many arguments" in asked[1]["messages"][-1]["content"]
    assert "reviewed" not in asked[1]["messages"][-1]["content"]


@pytest.mark.slow
def test_a_second_run_asks_nothing(bench: Bench) -> None:
    first, _ = bench.prove({"main.c": RECORD}, SHORT, LONG)
    second, asked = bench.prove({"main.c": RECORD})

    assert asked == []
    assert issue_at(second, 10) == issue_at(first, 10)


@pytest.mark.slow
def test_attempts_are_bounded_and_what_failed_is_said(bench: Bench) -> None:
    wrong = calls("run_proof", way="program", target="main.c", files=[{"name": "stdin", "text": "b\n"}])
    body, asked = bench.prove({"main.c": RECORD}, SHORT, wrong, SHORT)

    issue = issue_at(body, 10)
    assert (issue["status"], issue["proof"]["state"], issue["proof"]["attempts"]) == ("confirmed", "failed", 3)
    assert issue["proof"]["reason"].startswith("It was run, and is no proof: no sanitizer reported an error")
    assert len(asked) == 3
    assert body["summary"]["by_status"] == {"confirmed": 1}


@pytest.mark.slow
def test_calls_that_cannot_be_run_are_bounded_too(bench: Bench) -> None:
    scripts = [f"import {name}" for name in ("nothing", "neither", "none")]
    steps = [calls("run_proof", way="program", files=[{"name": "stdin", "python": one}]) for one in scripts]
    body, asked = bench.prove({"main.c": RECORD}, *steps, proof_attempts=1)

    assert issue_at(body, 10)["proof"]["reason"].startswith("the Python script of a file failed: ModuleNotFoundError")
    assert (issue_at(body, 10)["proof"]["attempts"], len(asked)) == (0, 3)


@pytest.mark.slow
def test_an_agent_may_give_up_with_a_reason(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": RECORD}, SHORT, lambda body: gives_up(body, "Nobody passes such a text."))

    assert issue_at(body, 10)["proof"]["reason"] == "Nobody passes such a text."
    assert len(asked) == 2


@pytest.mark.slow
def test_a_finding_whose_proof_crashed_says_so(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": RECORD}, crash="killed by signal 9", escalate="strong")

    proof = issue_at(body, 10)["proof"]
    assert (proof["state"], proof["reason"]) == ("failed", "its job failed: killed by signal 9")
    assert asked == []


@pytest.mark.slow
def test_a_finding_that_is_only_reproduced_stays_confirmed(bench: Bench) -> None:
    inner = RECORD.replace("int main(void)\n", "static int inner(const char *line)\n").replace(
        "static char line[512];", ""
    )
    code = inner.replace("    if (!fgets(line, sizeof line, stdin))\n        return 1;\n", "")
    code += "int main(int count, char **words)\n{\n    return count > 9 ? inner(words[9]) : 0;\n}\n"
    harness = (
        "int inner(const char *);\nint main(void)\n{\n"
        "    static char text[100];\n    for (int i = 0; i < 99; i++)\n        text[i] = 98;\n"
        "    return inner(text);\n}\n"
    )
    attempt = calls("run_proof", way="harness", code=harness)
    body, asked = bench.prove({"main.c": code}, attempt, lambda body: gives_up(body, "It takes nine arguments."))

    issue = next(one for one in body["issues"] if "strcpy" in one["evidence"])
    assert (issue["status"], issue["proof"]["state"], issue["proof"]["kind"]) == ("confirmed", "reproduced", "internal")
    assert issue["proof"]["reason"] == "inner is not declared in a header of the tree"
    assert "It reproduces the finding, but does not prove it" in asked[1]["messages"][-1]["content"]


@pytest.mark.slow
def test_a_file_that_does_not_compile_alone_costs_no_question(bench: Bench) -> None:
    body, asked = bench.prove({"main.c": f'#include "made_by_the_build.h"\n{RECORD}'})

    assert asked == []
    assert issue_at(body, 11)["proof"]["reason"] == (
        "main.c does not compile by itself; give the command of the build (--build)"
    )


@pytest.mark.slow
def test_a_file_above_the_limit_of_compiled_files_is_not_said_not_to_compile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_bench, "SOURCES_MAX", 1)
    body, asked = bench.prove({"first.c": "int first;\n", "main.c": RECORD})

    assert asked == []
    reason = issue_at(body, 10)["proof"]["reason"]
    assert reason.startswith("main.c is not among the first 1 files, which are compiled")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exposure", "why"),
    [
        ("oom", "only a lack of memory triggers it, and no allocation fails in a run with sanitizers"),
        ("platform", "it does not occur on Linux with default options"),
    ],
)
def test_no_proof_is_asked_of_what_no_run_can_show(bench: Bench, exposure: str, why: str) -> None:
    body, asked = bench.prove({"main.c": RECORD}, exposure=exposure)

    assert asked == []
    proof = issue_at(body, 10)["proof"]
    assert (proof["state"], proof["attempts"]) == ("failed", 0)
    assert proof["reason"] == f"no proof asked, because {why}"


def test_each_finding_of_which_no_proof_is_asked_has_its_reason() -> None:
    options = JudgeOptions(prove="medium")

    def why(rating: VerdictRating = UNRATED, **fields: Any) -> str:
        found = Candidate("c/cpp", "memory_mgmt", "unsafe_api", "a.c", 3, "", "", "", 0.9, 120)
        return reason_without_proof(found._replace(**fields), options, rating)

    asked = [why(), why(VerdictRating("medium", "remote")), why(cwe=835)]
    assert asked == ["", "", ""]
    reasons = {
        "its severity is below medium": why(VerdictRating("low")),
        "not in C or C++": why(language="rust"),
        "in the code of a test": why(file="tests/test_a.c"),
        "only a lack of memory": why(pattern="malloc_no_null_check", cwe=690),
        "shows a weakness of class CWE-401": why(cwe=401),
        "shows a weakness of class CWE-457": why(cwe=457),
        **{f"shows a weakness of class CWE-{cwe}": why(cwe=cwe) for cwe in (362, 366, 367)},
    }
    assert {what for what, reason in reasons.items() if what not in reason} == set()
    assert all(reason.startswith("no proof asked, because ") for reason in reasons.values())


def test_with_a_build_the_question_lists_what_it_has_made(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(RECORD)
    found = Candidate("c/cpp", "memory_mgmt", "unsafe_api", "main.c", 10, "", "", "", 0.9, 120)
    index, options = CodeIndex(DirectoryTree(tmp_path)), JudgeOptions(prove="low", proof_build="make")

    listed = [question_of([(1, found)], {}, options, index, built).targets for built in (None, ["build/prog"], [])]

    assert listed == ["main.c#main", "build/prog", ""]


def test_the_target_of_a_proof_has_the_lines_of_its_function_without_comments(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(RECORD.replace("strcpy(name, line);", "strcpy(name, line); /* p[1] */"))
    found = Candidate("c/cpp", "memory_mgmt", "unsafe_api", "main.c", 10, "", "", "", 0.9, 120)

    target = target_of(found, CodeIndex(DirectoryTree(tmp_path)))

    assert target.code[10 - target.first].strip() == "strcpy(name, line);"
    assert len(target.code) == target.last - target.first + 1
