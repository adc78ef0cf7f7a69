"""Read the Dockerfile syntax that deploy/Dockerfile uses: stages of instructions, with variables filled in."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "FROM", "HEALTHCHECK", "LABEL", "RUN", "SHELL", "USER", "WORKDIR"}
PAIR = re.compile(r'([\w.]+)=("[^"]*"|\S+)')
VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str

    @property
    def array(self) -> list[str]:
        """The words of an instruction in its JSON form."""
        words = json.loads(self.text[self.text.index("[") :])
        assert all(isinstance(word, str) for word in words), self
        return list(words)

    @property
    def pairs(self) -> dict[str, str]:
        return {name: value.strip('"') for name, value in PAIR.findall(self.text)}


@dataclass
class BuildStage:
    """A stage, the stage or image that it starts from, and its instructions without ARG and FROM."""

    name: str
    parent: str
    arguments: dict[str, str] = field(default_factory=dict)
    steps: list[Instruction] = field(default_factory=list)

    def all(self, name: str) -> list[Instruction]:
        return [step for step in self.steps if step.name == name]


def read_stages(file: Path) -> dict[str, BuildStage]:
    """Return the stages of a Dockerfile by name, in order."""
    stages: dict[str, BuildStage] = {}
    shared: dict[str, str] = {}
    arguments = shared
    for name, text in _instructions(file.read_text()):
        assert name in KNOWN, f"{name} is not interpreted"
        if name == "FROM":
            parent, _, stage = _filled(text, shared).partition(" AS ")
            arguments = {}
            stages[stage] = BuildStage(stage, parent, arguments)
        elif name == "ARG":
            argument, _, value = text.partition("=")
            arguments[argument] = value
        else:
            next(reversed(stages.values())).steps.append(Instruction(name, _filled(text, arguments)))
    return stages


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        name, _, rest = line.partition(" ")
        yield name, rest.strip()


def _filled(text: str, arguments: dict[str, str]) -> str:
    return VARIABLE.sub(lambda found: arguments.get(found[1], found[0]), text)
