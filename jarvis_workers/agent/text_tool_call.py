"""Tool calls in text form, for models without native tool calls.

    <TOOL_CALL nonce>
    {"name": "read_code", "arguments": {"path": "a.c"}}
    </TOOL_CALL nonce>

Each tag is alone on its line, and the block ends the answer. Only the model of this conversation has the nonce, so that
a call quoted from elsewhere, or JSON in prose, is plain text.  Anything else that contains the nonce is an error, and
no call of it is run.
"""

import json

from jarvis_workers.platforms.protocol import ToolCall
from jarvis_workers.tools.tool import ARGUMENTS_MAX, BadCall, read_arguments

TAG = "TOOL_CALL"
BODY_MAX = ARGUMENTS_MAX + 1_000


def tags(nonce: str) -> tuple[str, str]:
    """Return the start and end tags of a call."""
    return f"<{TAG} {nonce}>", f"</{TAG} {nonce}>"


def find_call(answer: str, nonce: str) -> ToolCall | None:
    """Return the call that ends an answer, or None if there is none; raises BadCall for a malformed call."""
    start, end = tags(nonce)
    starts, ends = answer.count(start), answer.count(end)
    if not starts and not ends:
        _refuse_lookalike(answer)
        return None
    if starts > 1 or ends > 1:
        raise BadCall("the answer contains more than one call, and none was run; make one call per answer")
    if not starts or not ends:
        raise BadCall(f"the call is incomplete: it must begin with {start} and end with {end}, each alone on its line")
    return _read_block(answer.rstrip(), start, end)


def _read_block(answer: str, start: str, end: str) -> ToolCall:
    before, _, rest = answer.partition(start)
    alone = (not before or before.endswith("\n")) and rest.startswith(("\n", "\r\n"))
    body, _, after = rest.partition(end)
    if after or not alone or not body.endswith("\n"):
        raise BadCall(f"put {start} and {end} alone on their lines, and nothing after the call; nothing was run")
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
