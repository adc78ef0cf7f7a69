"""Git runs within limits: of output, time, memory and file size."""

import os

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.gittree import MAX_ADDRESS_SPACE_BYTES, MAX_FILE_BYTES, GitStream, run


def shell(script: str) -> list[str]:
    """Return a git command that runs a script."""
    return ["-c", f"alias.x=!{script}", "x"]


def test_git_and_its_children_have_limits_of_memory_and_file_size() -> None:
    limits = run(shell("cat /proc/self/limits"), os.environ, seconds=30, max_output=1 << 16).decode()

    said = {line[:26].strip(): line[26:].split()[:2] for line in limits.splitlines()}
    assert said["Max address space"] == [str(MAX_ADDRESS_SPACE_BYTES)] * 2
    assert said["Max file size"] == [str(MAX_FILE_BYTES)] * 2


def test_endless_output_and_messages_are_not_collected() -> None:
    with pytest.raises(UsageError, match="more than 1,000,000 bytes of output"):
        run(shell("yes"), os.environ, seconds=30, max_output=1_000_000)
    with pytest.raises(UsageError, match="git: fatal: the end"):
        run(
            shell("head -c 3000000 /dev/zero >&2; echo >&2; echo fatal: the end >&2; exit 1"),
            os.environ,
            seconds=30,
            max_output=1,
        )


def test_a_command_that_does_not_end_is_a_timeout() -> None:
    with pytest.raises(UsageError, match=r"timeout after 0\.2 s; clone it yourself"):
        run(shell("sleep 5"), os.environ, seconds=0.2, max_output=1)
    with (
        pytest.raises(UsageError, match="no output for 0"),
        GitStream(shell("sleep 5"), os.environ, seconds=0.2) as git,
    ):
        git.read()


def test_a_stream_that_fails_raises_at_its_end() -> None:
    with GitStream(shell("echo a; exit 3"), os.environ, seconds=30) as git:
        assert git.read() == b"a\n"
        with pytest.raises(UsageError, match="exited with code 3"):
            git.read()
