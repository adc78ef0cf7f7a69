"""Edits in text form: exactly the marked block at the end of an answer edits files, and nothing that looks like it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.agents.loop.edit_blocks import find_edit
from jarvis_workers.agents.loop.effects import TaskResult
from jarvis_workers.agents.tools.editing import EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.tool import BadCall
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.protocol import Reply
from tests.agents.loop.arrange import MARKS, NATIVE, TEXT, Lines, Scripted, agent_of, call, run, text

N = MARKS.nonce
MAIN = "int main(void)\n{\n    return 1;\n}\n"
PATCH = f"""\
It returns 1.
<PATCH {N}>
FILE {N} a.c
SEARCH {N}
    return 1;
REPLACE {N}
    return 0;
</PATCH {N}>
"""


def arguments(answer: str) -> dict[str, object]:
    found = find_edit(answer, N)
    assert found is not None
    return {"name": found.name, **json.loads(found.arguments)}


def test_a_patch_is_read():
    edit = {"path": "a.c", "search": "    return 1;\n", "replace": "    return 0;\n"}

    assert arguments(PATCH) == {"name": "patch", "edits": [edit]}
    assert arguments(PATCH.replace("\n", "\r\n")) == {"name": "patch", "edits": [edit]}


def test_a_patch_has_several_edits_and_ranges():
    answer = (
        f"<PATCH {N}>\nFILE {N} a.c\nSEARCH {N}\none\nREPLACE {N}\nSEARCH {N}\ntwo\nREPLACE {N}\n\nFILE {N} b.c\n"
        f"RANGE {N} 3-9\nSEARCH_START {N}\n<PATCH>\nSEARCH_END {N}\n}}\nREPLACE {N}\n{{}}\n</PATCH {N}>"
    )

    assert arguments(answer)["edits"] == [
        {"path": "a.c", "search": "one\n", "replace": ""},
        {"path": "a.c", "search": "two\n", "replace": "\n"},
        {"path": "b.c", "range": "3-9", "search_start": "<PATCH>\n", "search_end": "}\n", "replace": "{}\n"},
    ]


def test_files_are_written_and_removed():
    answer = f"<REWRITE {N}>\nFILE {N} a b.c\nint a;\n\nFILE {N} empty\nDELETE {N} c.c\n</REWRITE {N}>"

    assert arguments(answer) == {
        "name": "rewrite",
        "files": [
            {"path": "a b.c", "content": "int a;\n\n"},
            {"path": "empty", "content": ""},
            {"path": "c.c", "content": None},
        ],
    }


@pytest.mark.parametrize(
    "answer",
    [
        PATCH + "Done.",
        PATCH + PATCH,
        PATCH.replace("It returns 1.\n", "It returns 1. "),
        PATCH.replace(f"</PATCH {N}>", ""),
        PATCH.replace(f"<PATCH {N}>\n", "", 1),
        PATCH.replace(N, "0123456789abcdef"),
        PATCH.replace(f" {N}", ""),
        PATCH.replace(f"FILE {N}", f"FILES {N}"),
        PATCH.replace(f"REPLACE {N}\n    return 0;\n", ""),
        PATCH.replace("It returns", f"With {N} it returns"),
        PATCH.replace(f"FILE {N} a.c\n", "a.c\n"),
        f"<PATCH {N}>\n</PATCH {N}>",
        f"<TOOL_CALL {N}>\n{{}}\n</TOOL_CALL {N}>\n{PATCH}",
        PATCH.replace("return 1;", f"return 1; // <TOOL_CALL {N}>"),
        f"{PATCH}<REWRITE {N}>\nFILE {N} a.c\n</REWRITE {N}>",
    ],
)
def test_a_malformed_block_edits_nothing(answer: str):
    with pytest.raises(BadCall):
        find_edit(answer, N)


@pytest.mark.parametrize(
    "answer", ["", "prose", PATCH.replace(N, "other") + "That is what the file says.", "a <PATCH> is a block"]
)
def test_prose_and_quoted_blocks_are_no_edits(answer: str):
    assert find_edit(answer, N) is None


def test_a_model_without_native_calls_edits_a_file(tmp_path: Path):
    (tmp_path / "a.c").write_text(MAIN)
    workspace = EditWorkspace(tmp_path)
    platform = Scripted(text(PATCH.replace("return 1", "return 2")), text(PATCH), text("Done."))
    result = run(agent_of(*edit_tools(workspace), profile=TEXT, auto_complete=False), platform)

    prompt, refused = platform.requests[0].messages[1].content, platform.requests[1].messages[-1].content
    assert f"SEARCH {N}\n" in prompt
    assert "edit 1: a.c: the text to replace is not in the file" in refused
    assert (result.text, dict(result.tools)) == ("Done.", {"patch": 2})
    assert (tmp_path / "a.c").read_text() == MAIN.replace("1", "0")


def test_models_with_native_calls_are_not_told_of_blocks(tmp_path: Path):
    tools = edit_tools(EditWorkspace(tmp_path))

    assert "SEARCH" not in agent_of(*tools, profile=NATIVE).opening


def test_an_agent_without_edits_cannot_edit():
    platform = Scripted(text(PATCH), text("Done."))
    run(agent_of(profile=TEXT, auto_complete=False), platform)

    assert "there is no tool 'patch'" in platform.requests[1].messages[-1].content


def test_recorded_edits_are_made_again_in_the_new_copy_of_a_resumed_conversation(tmp_path: Path):
    log = Lines()
    replies = [edit("1", "2"), call("read_code", '{"path": "a.c"}'), edit("2", "3"), text("Done.")]
    edited(tmp_path / "first", log, *replies)
    del log.all[-1]

    assert edited(tmp_path / "second", log, text("Done.")) == edited(tmp_path / "third", log)
    assert [(tmp_path / place / "a.c").read_text() for place in ("first", "second", "third")] == 3 * [
        MAIN.replace("1", "3")
    ]


def test_a_resumed_conversation_over_other_files_does_not_go_on(tmp_path: Path):
    log = Lines()
    edited(tmp_path / "first", log, edit("1", "2"), text("Done."))

    with pytest.raises(UsageError, match=r"(?s)patch was done: .*the text to replace is not in the file"):
        edited(tmp_path / "second", log, content="int other;\n")


def test_a_resumed_conversation_that_reads_another_file_does_not_go_on(tmp_path: Path):
    log = Lines()
    edited(tmp_path / "first", log, call("read_code", '{"path": "a.c"}'), text("Done."))

    with pytest.raises(UsageError, match=r"(?s)read_code was done: .*int other"):
        edited(tmp_path / "second", log, content="int other;\n")


def edited(place: Path, log: Lines, *replies: Reply, content: str = MAIN) -> TaskResult:
    """Converse about a new copy of a file, or go on with a conversation about another copy."""
    place.mkdir()
    (place / "a.c").write_text(content)
    workspace = EditWorkspace(place)
    agent = agent_of(*edit_tools(workspace), watched_reading(workspace), auto_complete=False)
    return replace(run(agent, Scripted(*replies), log=log), seconds=0)


def edit(search: str, replacement: str) -> Reply:
    return call("patch", json.dumps({"edits": [{"path": "a.c", "search": search, "replace": replacement}]}))
