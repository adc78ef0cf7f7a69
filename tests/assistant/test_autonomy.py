"""Autonomy: what runs by itself, what is confirmed, and what a person's "always" covers."""

import pytest

from jarvis_workers.assistant.autonomy import Autonomy, approvable, base_command


@pytest.mark.parametrize("script", ["ls", "ls -l src", "wc -l 'src/a b.c'\n", 'grep -n "strcpy" a.c'])
def test_a_single_plain_command_has_a_base_command(script: str) -> None:
    assert base_command(script) == script.split()[0]


@pytest.mark.parametrize(
    "script",
    [
        *("ls | sh", "ls; rm x", "ls && rm x", "ls || rm x", "ls & rm x", "ls $(rm x)", "ls `rm x`", "ls > x"),
        *("ls < x", "ls <(rm x)", "ls\nrm x", "ls\r\nrm x", "ls \\\nx", "ls $HOME", "ls {a,b}", "(ls)", "ls *", "~/ls"),
        *("X=1 ls", "/tmp/ls", "./ls", "'l''s'", "", "  ", "'", "ls #x", "!ls", "ls\x00", "ls \u2028rm"),
        *("sh -c ls", "bash x", "env ls", "sudo ls", "xargs ls", "python3 x.py", "python3.11 x", "find . -delete"),
        *("git push", "make x", "perl -e 1", "timeout 5 rm x", "awk 1 a", "strace ls", "docker run x"),
        *("rg --pre x y", "sort -o x y", "trap x EXIT", "rm x", "touch x"),
    ],
)
def test_scripts_that_may_run_more_have_none(script: str) -> None:
    assert base_command(script) is None


def test_always_covers_the_base_command_and_nothing_else() -> None:
    autonomy = Autonomy("supervised")
    autonomy.allow("ls")

    def needs_yes(script: str, interpreter: str = "bash") -> bool:
        return autonomy.needs_yes("execute_script", {"interpreter": interpreter, "script_content": script})

    assert not needs_yes("ls -l")
    assert all(map(needs_yes, ["ls -l | sh", "ls; rm x", "wc a", "ls $(rm x)"]))
    assert needs_yes("ls", "python3")


def test_always_for_another_tool_covers_that_tool() -> None:
    assert approvable("save_memory", {}) == "tool save_memory"
    assert approvable("execute_script", {"script_content": "tool save_memory"}) is None


@pytest.mark.parametrize(
    ("level", "tool", "refused", "asked"),
    [
        ("full", "execute_script", False, False),
        ("supervised", "execute_script", False, True),
        ("supervised", "read_code", False, False),
        ("supervised", "their_tool", False, True),
        ("readonly", "read_code", False, False),
        ("readonly", "execute_script", True, False),
        ("readonly", "their_tool", True, False),
    ],
)
def test_what_each_level_allows(level: str, tool: str, refused: bool, asked: bool) -> None:
    autonomy = Autonomy(level)  # type: ignore[arg-type]

    assert (autonomy.refusal(tool) is not None, autonomy.needs_yes(tool, {})) == (refused, asked)
