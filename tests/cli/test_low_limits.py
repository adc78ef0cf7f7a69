"""Limits of the shell that are too low for any command are one clear line."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("-n 12", "this process may open only 12 files, but needs 32: ulimit -n 1024"),
        ("-v 60000", "this process may use only 61 MB of memory, but needs 256 MB: ulimit -v unlimited"),
        ("-v 120000", "this process may use only 122 MB of memory, but needs 256 MB: ulimit -v unlimited"),
    ],
)
def test_a_limit_that_is_too_low_is_one_line(limit: str, says: str) -> None:
    command = f"ulimit {limit}; exec {sys.executable} -m jarvis_cli runs list"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"jarvis: {says}\n")
