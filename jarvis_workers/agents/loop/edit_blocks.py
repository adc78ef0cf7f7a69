"""Edits in text form, for models without native tool calls: the tools patch and rewrite without JSON around code.

    <PATCH nonce>
    FILE nonce src/a.c
    SEARCH nonce
    int n = read(f);
    REPLACE nonce
    long n = read(f);
    </PATCH nonce>

Lines with the nonce, which no foreign text has, separate the parts, so that the texts between them can be anything.
They are whole lines. A block obeys the rules of a call (`text_tool_call`): it is one, whole, and ends the answer.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.agents.tools.editing import PATCH, REWRITE
from jarvis_workers.agents.tools.tool import BadCall
from jarvis_workers.models.platforms.protocol import ToolCall

TEXTS = {"SEARCH": "search", "SEARCH_START": "search_start", "SEARCH_END": "search_end", "REPLACE": "replace"}
PATCH_PARTS, REWRITE_PARTS = ("FILE", "RANGE", *TEXTS), ("FILE", "DELETE")


def find_edit(answer: str, nonce: str) -> ToolCall | None:
    """Return the edits that end an answer as a call, or None; raises BadCall for a malformed block."""
    names = [name for name in (PATCH, REWRITE) if any(tag in answer for tag in _tags(name, nonce))]
    if not names:
        _refuse_lookalike(answer)
        return None
    if len(names) > 1 or any(tag in answer for tag in tags(nonce)):
        raise BadCall("the answer contains more than one call, and none was run; make one call per answer")
    return ToolCall("text", names[0], json.dumps(_read_block(answer, names[0], nonce), ensure_ascii=False))


def explain_edits(nonce: str) -> str:
    """Return the instructions for edits in text form."""
    (patch, end_patch), (rewrite, end_rewrite) = _tags(PATCH, nonce), _tags(REWRITE, nonce)
    return f"""\
To edit files, end your answer with one of these blocks instead. The texts are whole lines, exactly as in the file.
Repeat FILE for further edits and files; all are made, or none.

{patch}
FILE {nonce} PATH
SEARCH {nonce}
the lines to replace, which are in the file exactly once
REPLACE {nonce}
the new lines
{end_patch}

Instead of SEARCH, SEARCH_START {nonce} and SEARCH_END {nonce} may give the first and the last lines to replace, and
RANGE {nonce} 10-40 before them the lines of the file to look in.

{rewrite}
FILE {nonce} PATH
the whole new content of a file
DELETE {nonce} PATH
{end_rewrite}"""


def _tags(name: str, nonce: str) -> tuple[str, str]:
    return f"<{name.upper()} {nonce}>", f"</{name.upper()} {nonce}>"


def _read_block(answer: str, name: str, nonce: str) -> Mapping[str, Any]:
    start, end = _tags(name, nonce)
    lines = answer.replace("\r\n", "\n").rstrip().split("\n")
    if answer.count(start) != 1 or answer.count(end) != 1 or start not in lines or lines[-1] != end:
        raise BadCall(
            f"a block begins with {start} and ends the answer with {end}, each once and alone on its line; nothing was"
            " changed"
        )
    first = lines.index(start)
    if nonce in "\n".join(lines[:first]):
        raise BadCall("nothing before the block may contain its mark; nothing was changed")
    parts = list(_parts(lines[first + 1 : -1], nonce, PATCH_PARTS if name == PATCH else REWRITE_PARTS))
    return {"edits": list(_edits(parts))} if name == PATCH else {"files": list(_files(parts))}


Part = tuple[str, str, str]


def _parts(lines: Sequence[str], nonce: str, names: Sequence[str]) -> Iterator[Part]:
    """Yield each part: its name, the rest of its line, and the lines that follow. Raises BadCall."""
    mark = re.compile(rf"({'|'.join(names)}) {nonce}(?: (\S.*))?")
    head: tuple[str, str] | None = None
    text = list[str]()
    for line in lines:
        match = mark.fullmatch(line.rstrip()) if nonce in line else None
        if nonce in line and match is None:
            raise BadCall(f"{line[:80]!r} is not a line of this block; use {', '.join(names)}; nothing was changed")
        if match is None:
            text.append(line)
            continue
        yield from _part(head, text)
        head, text = (match[1], match[2] or ""), []
    yield from _part(head, text)


def _part(head: tuple[str, str] | None, lines: Sequence[str]) -> Iterator[Part]:
    if head is not None:
        yield (*head, "".join(f"{line}\n" for line in lines))
    elif any(line.strip() for line in lines):
        raise BadCall("a block begins with a FILE line; nothing was changed")


def _edits(parts: Sequence[Part]) -> Iterator[dict[str, str]]:
    """Yield the arguments of each edit of a PATCH block; a path holds for the edits up to the next one."""
    path, edit = "", dict[str, str]()
    for name, rest, text in parts:
        if name == "FILE":
            path, edit = rest, {}
        elif name == "RANGE":
            edit["range"] = rest
        else:
            edit[TEXTS[name]] = text
        if name == "REPLACE":
            yield {"path": path, **edit}
            edit = {}
    if edit or not parts:
        raise BadCall("an edit ends with REPLACE and the new lines; nothing was changed")


def _files(parts: Sequence[Part]) -> Iterator[dict[str, str | None]]:
    for name, path, text in parts:
        yield {"path": path, "content": text if name == "FILE" else None}


def _refuse_lookalike(answer: str) -> None:
    """Raise BadCall if the answer ends with a block that has wrong tags; blocks quoted earlier in it are ignored."""
    last = answer[-200:].rstrip().rpartition("\n")[2].strip()
    if re.fullmatch(rf"</(?:{PATCH}|{REWRITE})\b[^<>]*>", last, re.IGNORECASE):
        raise BadCall("the block at the end does not use the tags that you were given, and was not run")
