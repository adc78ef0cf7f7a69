"""Safe YAML loaders: one rejects input that YAML would silently reinterpret, the other also rejects aliases."""

from collections.abc import Hashable, Sequence
from typing import Any

import yaml

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.reprs import short

# YAML reads 1:00:00 as a base-60 number, in time quadratic in its length.
NUMBER_CHARACTERS = 100
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class UniqueKeys(yaml.SafeLoader):
    """Rejects duplicate keys, where YAML would keep the last, and values that do not match their tags."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag in NUMBERS and len(node.value) > NUMBER_CHARACTERS:
            raise yaml.MarkedYAMLError(problem="a number with too many digits", problem_mark=node.start_mark)
        try:
            return super().construct_object(node, deep)
        except (AttributeError, LookupError, TypeError, ArithmeticError, ValueError) as error:
            says = f"cannot be read as {node.tag.rpartition(':')[2]}"
            says += f": {short.repr(node.value)}" if isinstance(node, yaml.ScalarNode) else ""
            raise yaml.MarkedYAMLError(problem=says, problem_mark=node.start_mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f'"{key.value}" occurs twice', problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class WithoutAliases(UniqueKeys):
    """The loader of untrusted texts: rejects aliases, as a few of them can expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="YAML aliases are not allowed", problem_mark=self.current_event.start_mark
            )
        return super().compose_node(parent, index)


def parse_yaml(text: str, where: str) -> object:
    """Return the content of an untrusted text. Raises UsageError, which names `where` and the line."""
    try:
        return yaml.load(text, WithoutAliases)  # noqa: S506  (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise UsageError(f"{where}:{line}: {plain(str(error.problem))}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        says = plain(" ".join(str(error).split()))[:200]
        raise UsageError(f"{where}: cannot be read as YAML: {says}") from error


def line_of(node: yaml.Node | None, position: Sequence[str | int]) -> int:
    """Return the line of a value in a composed document, or of the innermost value around it.

    A mapping may have a key for several parts of the position, joined by dots.
    """
    line = 0
    for number, part in enumerate(position):
        if isinstance(node, yaml.MappingNode):
            rest = ".".join(map(str, position[number:]))
            entries = [(key, value) for key, value in node.value if key.value in (part, rest)]
        else:
            items = node.value if isinstance(node, yaml.SequenceNode) and isinstance(part, int) else []
            entries = [(item, item) for item in items[int(part) : int(part) + 1]] if items else []
        if not entries:
            break
        key, node = entries[0]
        line = key.start_mark.line
    return line + 1
