"""Reports of tests that run in processes of xdist."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.fixture
def broken(): raise OSError("no setup")

@pytest.fixture
def left():
    yield
    raise OSError("no teardown")

def test_passes(): pass
def test_fails(): assert 0
def test_skips(): pytest.skip("no reason")
@pytest.mark.xfail
def test_fails_as_expected(): assert 0
def test_setup_fails(broken): pass
def test_teardown_fails(left): pass
"""


@pytest.mark.slow
def test_what_fails_before_and_after_a_test_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_outcomes.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-c",
        "/dev/null",
        "-n",
        "1",
        "-rA",
        str(tmp_path),
    ]

    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])

    assert "1 failed, 2 passed, 1 skipped, 1 xfailed, 2 errors" in done.stdout
    assert "no setup" in done.stdout
    assert "no teardown" in done.stdout
