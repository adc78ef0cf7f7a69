"""SEND_MESSAGE: how an agent of a team hands its work to another one.

    <SEND_MESSAGE>
    to: NAME
    content: |2
      text, each line indented by two spaces
    </SEND_MESSAGE>

The block must end the answer. A start tag in a code fence, within a line or in marked untrusted text is a quotation,
and nothing is sent. A missing end tag is supplied: the loop has refused truncated answers before.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import BadCall
from jarvis_workers.yamlloader import WithoutAliases

TAG = "SEND_MESSAGE"
START, END = f"<{TAG}>", f"</{TAG}>"
FIELDS = ("to", "content")
BLOCK_MAX = 64 * 1024
PROMPTS = Path(__file__).parent / "prompts"
FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")


@dataclass(frozen=True)
class TeamMessage:
    """A message to another agent of the team."""

    to: str
    content: str


class MessageHandler:
    """The output handler of one agent's messages; `others` are the other agents: names and descriptions."""

    def __init__(self, others: Mapping[str, str]) -> None:
        self._others = others

    def name(self) -> str:
        return TAG

    def can_handle(self, answer: str) -> bool:
        """Return whether an answer has a start tag that is not quoted, or ends with a block that is not right."""
        lines = _lines(answer)
        return bool(list(_starts(lines)) or lines[-1].strip() == END or _is_fenced(lines))

    def prompt(self) -> str:
        return fill_from(PROMPTS, "send_message", others=self._others, example=self._example)

    def handle(self, answer: str, agent: Any) -> tuple[bool, Any]:
        """Return the message that ends the task; raises BadCall, whose message names the fault and a right block."""
        try:
            return True, read_message(answer, self._others)
        except BadCall as problem:
            raise BadCall(f"{problem}. Nothing was sent. A right message is:\n\n{self._example}") from problem

    @property
    def _example(self) -> str:
        return f"{START}\nto: {next(iter(self._others), 'NAME')}\ncontent: |2\n  What you ask or report.\n{END}"


def read_message(answer: str, others: Mapping[str, str]) -> TeamMessage:
    """Return the message of an answer to one of the agents `others`. Raises BadCall, which names the fault."""
    fields = _fields(_block(_lines(answer)))
    if unknown := [str(name) for name in fields if name not in FIELDS]:
        raise BadCall(f"SEND_MESSAGE has only the fields to and content, not {unknown[0][:40]!r}")
    to, content = (_text(fields, name) for name in FIELDS)
    if to.strip() not in others:
        raise BadCall(f"there is no other agent {to.strip()[:80]!r} in the team; send to one of: {', '.join(others)}")
    return TeamMessage(to.strip(), content.strip("\n"))


def _lines(answer: str) -> list[str]:
    return answer.replace("\r\n", "\n").replace("\r", "\n").rstrip().split("\n")


def _starts(lines: list[str]) -> Iterator[int]:
    """Yield the lines that begin with the start tag, outside of code fences."""
    fence = ""
    for number, line in enumerate(lines):
        if match := FENCE.match(line):
            marks, rest = match.groups()
            if not fence:
                fence = marks
            elif marks.startswith(fence) and not rest.strip():
                fence = ""
        elif not fence and line.lstrip().startswith(START):
            yield number


def _is_fenced(lines: list[str]) -> bool:
    """Return whether an answer ends with a block in a code fence."""
    return len(lines) > 1 and FENCE.fullmatch(lines[-1]) is not None and lines[-2].strip() == END


def _block(lines: list[str]) -> str:
    """Return the text between the tags of the block that ends an answer."""
    starts = list(_starts(lines))
    if len(starts) > 1:
        raise BadCall(f"the answer has {len(starts)} SEND_MESSAGE blocks; merge them, or send one per answer")
    if not starts:
        if _is_fenced(lines):
            raise BadCall(
                "the SEND_MESSAGE block is in a code fence, and counts as a quotation: to send it, leave out the fence;"
                " to quote it, write a sentence after it"
            )
        raise BadCall(f"{END} has no {START} at the beginning of a line before it")
    first, *rest = lines[starts[0] :]
    block = [first.lstrip().removeprefix(START), *rest]
    if block[-1].endswith(END):
        block[-1] = block[-1].removesuffix(END)
    elif END in rest:
        raise BadCall(f"there is text after {END}; the SEND_MESSAGE block must end the answer")
    text = "\n".join(block).strip("\n")
    if len(text) > BLOCK_MAX:
        raise BadCall(f"the SEND_MESSAGE block is {len(text)} characters long, limit {BLOCK_MAX}; write less")
    return text


def _fields(block: str) -> Mapping[Any, Any]:
    try:
        value = yaml.load(block, WithoutAliases)  # noqa: S506  (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadCall(
            f"line {line} of the SEND_MESSAGE block is not valid YAML: {error.problem}; write `content: |2` and indent"
            " each line of the content by two spaces; quote values that contain a colon"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        says = " ".join(str(error).split())[:200]
        raise BadCall(f"the SEND_MESSAGE block is not valid YAML: {says}") from error
    if value is None:
        raise BadCall("the SEND_MESSAGE block is empty: to and content are missing")
    if not isinstance(value, Mapping):
        raise BadCall("the SEND_MESSAGE block should have the fields to and content, one below the other")
    if missing := [name for name in FIELDS if name not in value]:
        raise BadCall(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing in the message")
    return value


def _text(fields: Mapping[Any, Any], name: str) -> str:
    value = fields[name]
    if value is None or (isinstance(value, str) and not value.strip()):
        raise BadCall(f"{name} is blank in the message")
    if not isinstance(value, str):
        raise BadCall(f"{name} should be text, not {type(value).__name__}; put the value in quotes")
    return value
