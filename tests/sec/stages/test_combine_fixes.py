"""The step that combines patches: in order, merged, and refused where they conflict or break what is before them."""

import asyncio
import json

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.gates import FileContents, passed
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.result import FixResult, FixResults, PatchedFile
from jarvis_workers.sec.proof.proof import Attempt, Proof
from jarvis_workers.sec.stages.combine_fixes import CombineWork, converse
from jarvis_workers.sec.stages.fix_options import FixPayload
from jarvis_workers.sec.stages.fix_outcomes import FIXES, RESULT
from jarvis_workers.store.values import StageJob
from tests.sec.stages.fixing import COPY, FIX, JOIN, JOINED, NAME, FixPlace
from tests.sec.stages.test_fix_finding import make_place, place

__all__ = ["make_place", "place"]
HEADER = "src/name.h"


def fixed(place: FixPlace, finding: FixFinding, **edits: tuple[str, str]) -> FixResult:
    """Return a patch that replaces a text in each file."""
    files = {}
    for stem, (old, new) in edits.items():
        path = f"src/{stem.replace('_', '.')}"
        before = place.files[path]
        files[path] = PatchedFile(before=before.encode(), after=before.replace(old, new, 1).encode())
    patch = patch_text({path: FileContents(file.before, file.after) for path, file in files.items()})
    return FixResult(finding=finding, state="fixed", message=f"Fix {finding.id}\n", patch=patch, files=files)


def combined(place: FixPlace, *results: FixResult | str, first: str = "name.c") -> list[FixResult]:
    """Combine results of jobs, those of a file `first`; a text is the reason why a job failed."""
    findings = [place.finding(text) for text in ("strcpy(out, name);", "strcat(out, second);")]
    other = place.finding("copy_name(name", "src/main.c")
    findings = [*findings, other] if first == "name.c" else [other, *findings]
    work, jobs = place.work(*findings), []
    for number, result in enumerate(results):
        payload = FixPayload(number).to_json()
        if isinstance(result, str):
            jobs.append(StageJob("failed", result, "", 0, payload, None, 0))
            continue
        blob = place.pipeline.blobs.put(result.model_dump_json().encode())
        jobs.append(StageJob("done", None, "", 0, payload, json.dumps({RESULT: blob}), 1))
    shared = AgentRuntime(place.talking(), setup_of({}, place.directory / "cache"))
    try:
        commit = asyncio.run(converse(CombineWork(work.options, jobs[::-1]), place.pipeline.blobs, shared))
    finally:
        shared.close()
    ((name, document),) = commit.artifacts
    assert name == FIXES
    return list(FixResults.model_validate_json(document).results)


@pytest.mark.slow
def test_a_job_without_a_result_leaves_its_finding_not_done(place: FixPlace) -> None:
    one, two, three = combined(place, "crashed")

    assert (one.state, one.reason) == ("not done", "its job failed: crashed")
    assert {two.reason, three.reason} == {"it was not reached before the run ended"}


@pytest.mark.slow
def test_patches_of_several_files_are_merged_in_the_order_of_the_findings(place: FixPlace) -> None:
    first = fixed(place, place.finding("strcpy(out, name);"), name_c=(COPY, FIX), name_h=("16", "17"))
    third = fixed(
        place, place.finding("copy_name(name", "src/main.c"), main_c=("< 0;", "<= 0;"), name_h=("int join", "int  join")
    )

    one, _, three = combined(place, first, "crashed", third)

    assert one == first
    assert three.state == "fixed"
    assert three.files[HEADER].before == first.files[HEADER].after
    assert three.files[HEADER].after.count(b"17") == three.files[HEADER].after.count(b"int  join") == 1
    assert b"17" not in three.patch.replace(b" #define NAME_SIZE 17", b"")


@pytest.mark.slow
def test_a_patch_that_conflicts_with_an_earlier_one_is_refused(place: FixPlace) -> None:
    first = fixed(place, place.finding("strcpy(out, name);"), name_c=(COPY, FIX), name_h=("16", "17"))
    third = fixed(place, place.finding("copy_name(name", "src/main.c"), main_c=("< 0;", "<= 0;"), name_h=("16", "18"))

    _, _, three = combined(place, first, "crashed", third)

    assert (three.state, three.reason) == (
        "refused",
        "applies: src/name.h: the patch conflicts with that of another finding",
    )


@pytest.mark.slow
def test_a_patch_that_does_not_build_beside_an_earlier_one_is_refused(place: FixPlace) -> None:
    limit = ("#define", "#define LIMIT 16\n#define")
    first = fixed(place, place.finding("strcpy(out, name);"), name_c=(COPY, FIX), name_h=limit)
    local = ("    int length", "    int LIMIT = 1;\n    int length")
    third = fixed(place, place.finding("copy_name(name", "src/main.c"), main_c=local)

    _, _, three = combined(place, first, "crashed", third)

    assert (three.state, three.reason.startswith("beside the patches before it: build: make program: ")) == (
        "refused",
        True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("size", "state"), [("64", "refused"), ("15", "fixed")])
def test_a_patch_whose_proof_fires_beside_an_earlier_one_is_refused(place: FixPlace, size: str, state: str) -> None:
    earlier = fixed(
        place,
        place.finding("copy_name(name", "src/main.c"),
        main_c=("name[NAME_SIZE]", "name[16]"),
        name_h=("NAME_SIZE 16", f"NAME_SIZE {size}"),
    )
    attempt = Attempt("program", "main.c", ("a" * 40,))
    blob = place.pipeline.blobs.put(json.dumps(attempt.to_json()).encode())
    proof = Proof(blob=blob, state="proved", stack=("stack-buffer-overflow", "#0 copy_name name.c:11"))
    finding = place.finding("strcpy(out, name);").model_copy(update={"proof": proof})
    patch = fixed(place, finding, name_c=(COPY, FIX)).model_copy(update={"gates": (passed("proof"),)})

    _, two, _ = combined(place, earlier, patch, first="main.c")

    assert two.state == state, two.reason
    assert two.reason.startswith("beside the patches before it: proof: " if state == "refused" else "")


@pytest.mark.slow
def test_what_follows_a_refused_patch_of_its_file_does_not_bring_it_back(place: FixPlace) -> None:
    other = fixed(place, place.finding("copy_name(name", "src/main.c"), main_c=("< 0;", "<= 0;"), name_h=("16", "18"))
    first = fixed(place, place.finding("strcpy(out, name);"), name_c=(COPY, FIX), name_h=("16", "17"))
    before = NAME.replace(COPY, FIX)
    after = before.replace(JOIN, JOINED)
    files = {"src/name.c": PatchedFile(before=before.encode(), after=after.encode())}
    second = FixResult(finding=place.finding("strcat(out, second);"), state="fixed", message="Bound\n", files=files)

    one, two, three = combined(place, other, first, second, first="main.c")

    assert (one.state, two.state, three.state) == ("fixed", "refused", "fixed")
    assert three.files["src/name.c"].before == NAME.encode()
    assert three.files["src/name.c"].after == NAME.replace(JOIN, JOINED).encode()
    assert b"strcpy" not in three.patch
