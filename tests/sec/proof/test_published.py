"""Proofs of published vulnerabilities: each is proved in the old version of the library, and not in a fixed one."""

from pathlib import Path
from threading import BoundedSemaphore

import pytest

from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.sandbox.sandbox import RUNNING, refusal
from jarvis_workers.sec.bench.proof_bench import ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.proof.run_tool import AttemptReport, report_on
from jarvis_workers.sec.stages.proof_runner import BenchRunner
from tests.sec.proof.published import LIBRARIES, PublishedLibrary

TIERS = [tier for tier in RUNNING if not refusal(tier)]
MEGABYTES = 100
# SQLite is one file of 9 MB, whose compilation with sanitizers takes minutes on a busy machine.
LIMITS = ProofLimits(build_seconds=1200)


def reports(library: PublishedLibrary, place: Path, *, fixed: bool) -> dict[str, AttemptReport]:
    """Return the reports on the attempts by tier and vulnerability; the library is compiled once."""
    root = (library.fixed if fixed else library.vulnerable).unpacked(place)
    archive = pack_project(root, MEGABYTES) if library.build else b""
    tree, found = ProofTree(root, str(fixed), library.build, archive), dict[str, AttemptReport]()
    for tier in TIERS:
        with open_proof_bench(place / "benches", tree, LIMITS, tier, None) as bench:
            for one in library.vulnerabilities:
                target = one.target(root, fixed=fixed)
                result = BenchRunner(bench, target, BoundedSemaphore()).attempt(one.attempt)
                found[f"{one.name} on tier {tier}"] = report_on(one.attempt, result, target)
    return found


@pytest.mark.sample(0, 1)
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_a_published_vulnerability_is_proved_and_its_fixed_version_is_not(
    library: PublishedLibrary, tmp_path: Path
) -> None:
    vulnerable = reports(library, tmp_path / "vulnerable", fixed=False)
    fixed = reports(library, tmp_path / "fixed", fixed=True)

    states = {name: report.proof.state if report.proof else report.text for name, report in vulnerable.items()}
    assert states == dict.fromkeys(states, "proved")
    assert len(states) == len(TIERS) * len(library.vulnerabilities)
    assert {name: report.text for name, report in fixed.items() if not report.ran or report.proof} == {}
