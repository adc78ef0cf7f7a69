"""No hostile tree or build forges a proof: by logs, exit codes, calls of the sanitizer or lines of other files."""

from pathlib import Path

import pytest

from tests.sec.proof.forgeries import BUILDS, FORGERIES, case_of
from tests.sec.proof.test_cases import TIERS, built, opened


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_a_program_that_forges_evidence_proves_nothing(name: str, tmp_path: Path) -> None:
    case = case_of(name, FORGERIES[name])
    with opened(case, tmp_path, TIERS[-1], fixed=False) as prove:
        report = prove(case.attempt)

    assert report.ran, report.text
    assert not report.proof or report.proof.state == "reproduced", report.text


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDS)
def test_a_build_that_forges_evidence_proves_nothing(name: str, tmp_path: Path) -> None:
    hostile = BUILDS[name]
    case = case_of(name, hostile.files, hostile.attempt)
    with built(tmp_path, case, hostile.command) as prove:
        report = prove(case.attempt)

    assert not report.proof or report.proof.state == "reproduced", report.text
