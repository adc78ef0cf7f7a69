"""Tool calls in text form, for models without native tool calls.

    <TOOL_CALL nonce>
    {"name": "read_code", "arguments": {"path": "a.c"}}
    </TOOL_CALL nonce>

Each tag is alone on its line, and the block ends the answer; several blocks may follow each other. Only the model of
this conversation has the nonce, so that a call quoted from elsewhere, or JSON in prose, is plain text.  Anything else
that contains the nonce is an error, and no call of it is run.
"""

import json

from jarvis_workers.agents.tools.tool import ARGUMENTS_MAX, BadCall, read_arguments
from jarvis_workers.models.platforms.protocol import ToolCall

TAG = "TOOL_CALL"
BODY_MAX = ARGUMENTS_MAX + 1_000


def tags(nonce: str) -> tuple[str, str]:
    """Return the start and end tags of a call."""
    return f"<{TAG} {nonce}>", f"</{TAG} {nonce}>"


def find_calls(answer: str, nonce: str) -> tuple[ToolCall, ...]:
    """Return the calls that end an answer; raises BadCall, also if only one of them is malformed."""
    start, end = tags(nonce)
    if start not in answer and end not in answer:
        _refuse_lookalike(answer)
        return ()
    before, *blocks = answer.rstrip().split(start)
    if not blocks or end in before or any(block.count(end) != 1 for block in blocks):
        raise BadCall(f"a call must begin with {start} and end with {end}, each alone on its line; nothing was run")
    calls, is_alone = [], not before or before.endswith("\n")
    for block in blocks:
        body, _, after = block.partition(end)
        if not is_alone or not body.startswith(("\n", "\r\n")) or not body.endswith("\n") or after.strip():
            raise BadCall(f"put {start} and {end} alone on their lines, and nothing after a call; nothing was run")
        calls.append(_read_block(body))
        is_alone = after.endswith("\n")
    return tuple(calls)


def _read_block(body: str) -> ToolCall:
    if len(body) > BODY_MAX:
        raise BadCall(f"the call is {len(body)} characters long, limit {BODY_MAX}")
    try:
        call = read_arguments(body.strip())
    except BadCall as error:
        raise BadCall(f'write only {{"name": …, "arguments": {{…}}}} between the tags: {error}') from error
    name, arguments = call.get("name"), call.get("arguments", {})
    if set(call) - {"name", "arguments"} or not isinstance(name, str) or not isinstance(arguments, dict):
        raise BadCall('write only {"name": "…", "arguments": {…}} between the tags')
    return ToolCall("text", name, json.dumps(arguments, ensure_ascii=False))


def _refuse_lookalike(answer: str) -> None:
    """Raise BadCall if the answer ends with a call that has wrong tags; calls quoted earlier in it are ignored."""
    last = answer[-200:].rstrip().rpartition("\n")[2].strip()
    if last.startswith(f"</{TAG}") and last.endswith(">"):
        raise BadCall("the call at the end does not use the tags that you were given, and was not run")
