"""The skills of a user and of a project: NAME/SKILL.md in ~/.jarvis/skills and in .jarvis/skills.

A file begins with its name and description between lines of dashes. A project cannot replace a skill of the user, no
link is followed, and files have a maximum length.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.assistant.routing import SkillMeta
from jarvis_workers.paths import plain

OWN = Path("~/.jarvis/skills")
IN_PROJECT = ".jarvis/skills"
FILE = "SKILL.md"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
HEAD = re.compile(r"\A---\r?\n(.{0,8000}?)\r?\n---\r?\n", re.DOTALL)
SKILLS_MAX, DESCRIPTION_MAX, TEXT_MAX = 100, 1_000, 40_000


class SkillFolder:
    """The skills that can be used; those that cannot are named by `tell`."""

    def __init__(self, root: Path, tell: Callable[[str], None]) -> None:
        self._texts: dict[str, str] = {}
        self.metas: list[SkillMeta] = []
        for tree, below in ((DirectoryTree(OWN.expanduser()), ""), (DirectoryTree(root), f"{IN_PROJECT}/")):
            directory = OWN.expanduser() if not below else root / IN_PROJECT
            for name in _names(directory):
                try:
                    self._add(name, tree.read(f"{below}{name}/{FILE}").decode("utf-8", "replace"))
                except (ToolFailed, ValueError) as problem:
                    tell(f"skill {plain(name)} is left out: {plain(str(problem))}")

    def text(self, name: str) -> str:
        """Return the text of a skill."""
        return self._texts[name]

    def _add(self, name: str, content: str) -> None:
        """Add a skill. Raises ValueError."""
        head = HEAD.match(content)
        if head is None:
            raise ValueError(f"{FILE} should begin with its name and description between lines of ---")
        if name in self._texts:
            raise ValueError("there is a skill with this name already")
        import yaml  # noqa: PLC0415  (slow to import, and most users have no skills)

        from jarvis_workers.yamlloader import WithoutAliases  # noqa: PLC0415

        with suppress(yaml.YAMLError, RecursionError):
            facts = yaml.load(head[1], WithoutAliases)  # noqa: S506  a SafeLoader
            if isinstance(facts, dict) and facts.get("name") == name and isinstance(facts.get("description"), str):
                self.metas.append(SkillMeta(name, " ".join(facts["description"].split())[:DESCRIPTION_MAX]))
                self._texts[name] = content[head.end() :][:TEXT_MAX].strip()
                return
        raise ValueError(f"the head of {FILE} should have name: {name}, and a description")


def _names(directory: Path) -> Iterator[str]:
    if not directory.is_dir():
        return
    names = sorted(entry.name for entry in directory.iterdir() if NAME.fullmatch(entry.name))
    yield from names[:SKILLS_MAX]
