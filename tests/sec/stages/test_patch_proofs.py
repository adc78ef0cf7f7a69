"""The gate `proof` over real benches: right patches of proved programs land, with a regression test; others do not."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import BoundedSemaphore

import pytest

from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import RUNNING, refusal
from jarvis_workers.sec.bench.proof_bench import ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.gates import NO_BENIGN
from jarvis_workers.sec.fix.result import FixResult
from jarvis_workers.sec.proof.minimisation import literals_of
from jarvis_workers.sec.proof.proof import Attempt, ClientMessage, Proof, ServerClient
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, report_on
from jarvis_workers.sec.stages.patch_proofs import NO_SANDBOX
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from tests.agents.loop.server import ModelServer, Step
from tests.sec.proof.cases import CASES, SINK, Case, harness, stdin
from tests.sec.stages.fixing import ANSWER, FixPlace, edit
from tests.sec.stages.test_fix_finding import make_place

__all__ = ["make_place"]
TIERS = [tier for tier in RUNNING if not refusal(tier)]
BY_NAME = {case.name: case for case in CASES}
MakePlace = Callable[[Mapping[str, str]], FixPlace]
# What a patch that leaves the defect replaces, and by what.
COSMETIC = {
    "stack_overflow": ("    strcpy(title", "    title[31] = 0;\n    strcpy(title"),
    "heap_overflow": ("malloc(16)", "malloc(17)"),
    "use_after_free": (
        "        current = kept;\n",
        "        current = kept;\n        if (!current)\n            return;\n",
    ),
    "double_free": ("    *comma = 0;", "    *comma = '\\0';"),
    "integer_overflow": ("if (!width || !height)", "if (width < 1 || height < 1)"),
    "negative_index": ("if (index > 3)", "if (index >= 4)"),
    "null_dereference": ("if (!entries[0].value)", "if (entries[0].value == 0)"),
    "format_string": ("sizeof text, line", "sizeof text - 1, line"),
    "division_by_zero": ("rate < 0", "rate <= -1"),
    "off_by_one": ("length > size)", "size < length)"),
    "global_overflow": ("counts[128]", "counts[129]"),
    "recursion": ("depth + 1)", "depth + 2)"),
}


@dataclass
class ProvedPlace:
    """A tree whose finding is proved, and jobs that fix it."""

    case: Case
    place: FixPlace
    tier: Tier

    def finding(self, state: str = "proved") -> FixFinding:
        """Prove the finding, and return it."""
        tree = self.place.directory / "proved"
        target = self.case.write(tree)
        benches = self.place.directory / "benches"
        with open_proof_bench(benches, ProofTree(tree, "1"), ProofLimits(), self.tier, None) as bench:
            runner = BenchRunner(bench, target, BoundedSemaphore())
            report = report_on(self.case.attempt, runner.attempt(self.case.attempt), target)
        assert report.proof is not None, report.text
        blob = self.place.pipeline.blobs.put(json.dumps(self.case.attempt.to_json()).encode())
        proof = Proof(blob=blob, state=state, command=report.proof.command, stack=report.proof.stack)
        text = next(line for line in self.case.files[target.sink.file].split("\n") if SINK in line)
        found = self.place.finding(text.strip(), f"src/{target.sink.file}")
        return found.model_copy(update={"cwe": self.case.cwe, "status": "proved", "proof": proof})

    def edit(self, text: str, replacement: str) -> Step:
        file = next(name for name, content in self.case.files.items() if text in content)
        return edit(text, replacement, f"src/{file}")

    def edit_back(self, text: str, replacement: str) -> Step:
        file = next(name for name, content in self.case.files.items() if replacement in content)
        return edit(text, replacement, f"src/{file}")

    def fix(self, *steps: Step, finding: FixFinding | None = None, **options: object) -> tuple[FixResult, list[str]]:
        """Return the result of a job, and the last message of each request."""
        with ModelServer(*steps) as server:
            work = self.place.work(finding or self.finding(), **{"build": "", "tests": "", **options})
            result = self.place.result(self.place.commit(work, server, self.tier))
            return result, [request["messages"][-1]["content"] for request in server.requests]


@pytest.fixture
def proved(make_place: MakePlace) -> Callable[..., ProvedPlace]:
    def make(case: Case, tier: Tier = TIERS[-1], more: Mapping[str, str] | None = None) -> ProvedPlace:
        files = {f"src/{name}": text for name, text in case.files.items()}
        return ProvedPlace(case, make_place(files | dict(more or {})), tier)

    return make


def gate(result: FixResult, name: str = "proof") -> tuple[str, str]:
    return next((one.state, one.reason) for one in result.gates if one.gate == name)


@pytest.mark.sample(0, 8)
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_patches_of_proved_findings_land_and_cosmetic_ones_are_refused_by_the_proof(
    case: Case, tier: Tier, proved: Callable[..., ProvedPlace]
) -> None:
    place, (text, cosmetic) = proved(case, tier), COSMETIC[case.name]
    steps = [place.edit(text, cosmetic), ANSWER, place.edit_back(cosmetic, text), place.edit(*case.fix), ANSWER]

    result, told = place.fix(*steps)

    assert 'The check "proof" failed' in told[2]
    assert "the proof still fires" in told[2]
    assert (result.state, result.reason, result.attempts) == ("fixed", "", 2)
    assert gate(result)[0] == "passed"
    names = {path.rpartition("/")[2] for path in result.regression_test}
    assert "README.md" in names
    assert len(names) == 1 + len(case.attempt.files) + bool(case.attempt.code)
    sizes = [len(content) for path, content in result.regression_test.items() if path.endswith(("stdin", "input"))]
    assert sizes <= [len(file.content) for file in case.attempt.files]


LINES = """\
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[256]; /* not beside name: the copies would overlap, which shows no overflow for certain */
    char name[16];
    while (fgets(line, sizeof line, stdin))
        if (!strncmp(line, "NAME ", 5))
            strcpy(name, line + 5); /* sink */
    return 0;
}
"""
SENT = (b"NOOP\n", b"NAME " + b"a" * 99 + b"\n", b"QUIT\n")
SERVER = Case(
    "server",
    121,
    {"main.c": LINES},
    ("strcpy(name, line + 5)", 'snprintf(name, sizeof name, "%s", line + 5)'),
    Attempt("server", "main.c", client=ServerClient(0, "tcp", tuple(ClientMessage(one, wait=False) for one in SENT))),
)


@pytest.mark.slow
def test_a_patch_of_a_remote_defect_is_tested_in_tier_a_and_not_judged_in_tier_b(
    proved: Callable[..., ProvedPlace],
) -> None:
    if why := refusal(Tier.A):
        pytest.skip(why)
    place = proved(SERVER, Tier.A)
    finding = place.finding()

    fixed, _ = place.fix(place.edit(*SERVER.fix), ANSWER, finding=finding)
    unjudged, _ = replace(place, tier=Tier.B).fix(finding=finding)  # the answers are cached

    assert (fixed.state, gate(fixed)[0]) == ("fixed", "passed"), fixed.reason
    readme, message = (fixed.regression_test[name] for name in sorted(fixed.regression_test))
    assert message.startswith(b"NAME a")
    assert b"systemd-socket-activate --inetd -a -l 2121 ./program & sleep 1; (cat message-1) | nc -N" in readme
    assert NEEDS_TIER_A in gate(unjudged)[1]
    assert gate(unjudged)[0] not in ("passed", "failed")


STACK = BY_NAME["stack_overflow"]
BOUND = STACK.fix
CHECKED = "if (strlen(line) >= sizeof title)\n        return;\n    strcpy(title, line)"
# Patches whose proof is silent, but which are wrong, and words of the reason.
WRONG = {
    "refuses every input": (CHECKED.replace(">= sizeof title", ">= 1"), "benign inputs are refused or changed"),
    "changes every result": ('snprintf(title, sizeof title, "<%s", line)', "benign inputs are refused or changed"),
    "never ends": (CHECKED.replace("        return;", "        for (;;)\n            title[0] = 1;"), "hang\n"),
    "only moves the error": (
        CHECKED.replace("return;", "*(char *)NULL = title[0];"),
        "a sanitizer reports another error",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_patch_that_is_silent_but_wrong_is_refused(name: str, proved: Callable[..., ProvedPlace]) -> None:
    text, words = WRONG[name]
    place = proved(STACK)

    result, _ = place.fix(place.edit(BOUND[0], text), ANSWER, attempts=1)

    assert (result.state, result.gates[-1].gate, result.regression_test) == ("refused", "proof", {}), result.reason
    assert words in result.gates[-1].reason


# A title that is too long hides that one with a digit divides by zero.
STACKED = Case(
    "stacked",
    121,
    {
        **STACK.files,
        "lib.c": """\
#include <string.h>
#include <stdio.h>
#include "lib.h"
static int share(const char *text)
{
    int digits = 0;
    for (; *text; text++)
        digits += *text >= '0' && *text <= '9';
    return 100 / (digits - 1);
}
void handle(const char *line)
{
    char title[32];
    strcpy(title, line); /* sink */
    puts(title);
    printf("%d\\n", share(title));
}
""",
    },
    STACK.fix,
    stdin(b"0" + b"a" * 200 + b"\n"),
)
DIVISION = "division by zero in share, lib.c:9"


@pytest.mark.slow
def test_a_patch_is_accepted_although_the_input_then_reaches_an_error_that_stands_without_it(
    proved: Callable[..., ProvedPlace],
) -> None:
    place = proved(STACKED)

    result, _ = place.fix(place.edit(*BOUND), ANSWER)

    older = next(one.older for one in result.gates if one.gate == "proof")
    assert (result.state, result.attempts) == ("fixed", 1), result.reason
    assert "the input of the proof then triggers an older error" in gate(result)[1]
    assert DIVISION in gate(result)[1]
    assert {(one.code, one.finding) for one in older} == {("return 100 / (digits - 1);", "")}
    # A test that does not pass is none.
    assert result.regression_test == {}


@pytest.mark.slow
def test_an_error_that_the_patch_may_cause_is_refused_and_one_patch_may_mend_both(
    proved: Callable[..., ProvedPlace],
) -> None:
    # Only a line that is too long for the title divides by zero, so that no run without the patch gets there.
    text = STACKED.files["lib.c"].replace("digits - 1", "digits - 1 + 2 * (length < 40)")
    text = text.replace("share(const char *text)", "share(const char *text, size_t length)")
    text = text.replace("share(title)", "share(title, strlen(line))")
    place = proved(Case("hidden", 121, {**STACKED.files, "lib.c": text}, STACK.fix, STACKED.attempt))
    both = place.edit("    return 100 /", "    if (digits == 1)\n        return 0;\n    return 100 /")

    result, told = place.fix(place.edit(*BOUND), ANSWER, both, ANSWER)

    assert "a sanitizer reports another error:" in told[2]
    assert "#0 share lib.c:9" in told[2]
    assert "mend both in this patch" in told[2]
    assert (result.state, result.attempts) == ("fixed", 2), result.reason
    assert next(one.older for one in result.gates if one.gate == "proof") == ()
    assert gate(result) == ("passed", "")


@pytest.mark.slow
def test_the_minimised_input_becomes_a_test_in_the_directory_of_tests(proved: Callable[..., ProvedPlace]) -> None:
    place = proved(STACK, more={"tests/check.sh": "true\n"})

    first, _ = place.fix(place.edit(*BOUND), ANSWER)
    second, asked = place.fix()

    (readme, content), (given, sent) = sorted(first.regression_test.items())
    assert (readme, given) == tuple(
        f"tests/regressions/lib-{first.finding.id}/{name}" for name in ("README.md", "stdin")
    )
    assert len(sent) == 32
    assert b"    ./program < stdin\n" in content
    assert b"    stack-buffer-overflow WRITE of size 202\n" in content
    assert gate(first) == ("passed", "")
    assert (second, asked) == (first, [])


@pytest.mark.slow
def test_a_proof_without_a_sandbox_is_not_checked(proved: Callable[..., ProvedPlace]) -> None:
    place = proved(STACK, Tier.C)
    blob = place.place.pipeline.blobs.put(json.dumps(STACK.attempt.to_json()).encode())
    lines = [(name, line) for name, text in STACK.files.items() for line in text.split("\n") if SINK in line]
    finding = place.place.finding(lines[0][1].strip(), f"src/{lines[0][0]}")
    finding = finding.model_copy(update={"proof": Proof(blob=blob, state="proved")})

    result, _ = place.fix(place.edit(*BOUND), ANSWER, finding=finding)

    assert gate(result) == ("not checked", f"the proof did not run: {NO_SANDBOX}")


@pytest.mark.slow
def test_a_proof_that_does_not_fire_without_the_patch_says_nothing(proved: Callable[..., ProvedPlace]) -> None:
    place = proved(STACK)
    finding = place.finding()
    assert finding.proof is not None
    silent = place.place.pipeline.blobs.put(json.dumps(stdin(b"a\n").to_json()).encode())
    finding = finding.model_copy(update={"proof": finding.proof._replace(blob=silent)})

    result, _ = place.fix(place.edit(*BOUND), ANSWER, finding=finding)

    assert gate(result) == (
        "not checked",
        "the proof did not run: it does not fire without the patch: the run ended normally",
    )
    assert (result.state, result.regression_test) == ("fixed", {})


@pytest.mark.slow
def test_a_check_in_a_caller_is_right_although_a_harness_on_the_callee_fires(
    proved: Callable[..., ProvedPlace],
) -> None:
    place = proved(STACK)
    attempt = harness("    char text[99];\n    memset(text, 98, 98);\n    text[98] = 0;\n    handle(text);", "lib.h")
    place = ProvedPlace(Case("internal", STACK.cwe, STACK.files, STACK.fix, attempt), place.place, place.tier)
    checked = place.edit("        handle(line);", "        if (strlen(line) < 32)\n            handle(line);")
    included = place.edit(
        '#include <stdio.h>\n#include "lib.h"\nint main',
        '#include <stdio.h>\n#include <string.h>\n#include "lib.h"\nint main',
    )

    finding = place.finding("reproduced").model_copy(update={"pattern": "flow_buffer_overflow"})

    result, _ = place.fix(checked, included, ANSWER, finding=finding, attempts=1)

    assert result.state == "fixed", result.reason
    assert gate(result)[0] == "not checked"
    assert "it calls an internal function" in gate(result)[1]
    assert result.regression_test == {}


@pytest.mark.slow
def test_a_harness_shows_no_benign_result_and_must_still_be_built(proved: Callable[..., ProvedPlace]) -> None:
    place = proved(BY_NAME["off_by_one"])
    more = place.edit("size_t size, const char *text)\n{", "size_t size, const char *text, int flag)\n{")
    header = place.edit("size_t size, const char *text);", "size_t size, const char *text, int flag);")
    back = [edit(" int flag)", ")", "src/label.c"), edit(" int flag)", ")", "src/label.h")]
    comma = [edit("*text,)", "*text)", "src/label.c"), edit("*text,)", "*text)", "src/label.h")]
    steps = [place.edit(*place.case.fix), more, header, ANSWER, *back, *comma, ANSWER]

    result, told = place.fix(*steps)

    assert "the proof cannot be built any more; keep the interfaces" in told[4]
    assert (result.state, gate(result)) == ("fixed", ("passed", NO_BENIGN))
    assert {path.rpartition("/")[2] for path in result.regression_test} == {"harness.c", "README.md"}


BYTES = ", ".join(["100", "20", *["17"] * 99])
# Harnesses with their input in a literal, and how many parts of it they still need.
LITERALS = {
    "heap_overflow": (
        f"    static const unsigned char data[] = {{{BYTES}}};\n    record_decode(data, sizeof data);",
        range(18, 31),
    ),
    # The first byte is enough for the error, but the length must stay true.
    "negative_index": ('    puts(tag_name("\\x80zzzzzzzzzzz", 12));', range(11, 13)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LITERALS)
def test_the_literal_of_a_harness_is_shortened_as_far_as_its_arguments_stay_valid(
    name: str, proved: Callable[..., ProvedPlace]
) -> None:
    case, (body, sizes) = BY_NAME[name], LITERALS[name]
    place, (header,) = proved(case), [file for file in case.files if file.endswith(".h")]
    place = ProvedPlace(Case(name, case.cwe, case.files, case.fix, harness(body, header)), place.place, place.tier)

    result, _ = place.fix(place.edit(*case.fix), ANSWER)

    assert (result.state, gate(result)[0]) == ("fixed", "passed"), result.reason
    (code,) = (content.decode() for path, content in result.regression_test.items() if path.endswith("harness.c"))
    (literal,) = literals_of(code)
    assert len(literal.parts) in sizes
