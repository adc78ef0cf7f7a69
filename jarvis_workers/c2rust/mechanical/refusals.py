"""The constructs that the mechanical translation does not support; a definition that contains one stays in C."""

import json
from importlib.resources import files
from typing import NamedTuple, NoReturn

from jarvis_workers.source.clang.syntax_tree import SyntaxNode


class Refusal(NamedTuple):
    """The reason why a definition is not translated: a key of REFUSALS, and the C line."""

    reason: str
    line: int


class RefusalRule(NamedTuple):
    """A construct in one sentence, and a C definition `refused` that contains it."""

    meaning: str
    example: str


REFUSALS = {
    reason: RefusalRule(**rule)
    for reason, rule in json.loads(files(__package__).joinpath("refusals.json").read_text("utf-8")).items()
}


class Refused(Exception):
    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason, line)
        self.refusal = Refusal(reason, line)


def refuse(reason: str, node: SyntaxNode | None = None) -> NoReturn:
    raise Refused(reason, node.line if node else 0)
