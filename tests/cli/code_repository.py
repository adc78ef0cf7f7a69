"""A repository that `jarvis code` changes, and a model's edits of it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import ModelServer, Step, calls
from tests.cli.commands import Ended, Jarvis

MAIN = "int one(void) { return 1; }\nint main(void) { return one() - 1; }\n"
MAKEFILE = "test: main\n\t./main\nmain: main.c\n\tcc -o main main.c\n"
# The last one: git status of a test does not write the index.
WHO = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0"}
NAMED = [("config", "user.name", "Ann Example"), ("config", "user.email", "ann@example.org")]


def patch(search: str, replacement: str, path: str = "main.c") -> Step:
    return calls("patch", edits=[{"path": path, "search": search, "replace": replacement}])


def git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", place, *words], env=os.environ | WHO, check=True, capture_output=True)
    return done.stdout.decode()


def snapshot(place: Path) -> dict[str, Any]:
    """Return what a change must leave as it is."""
    files = {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file() and ".git" not in path.parts}
    own = {name: (place / ".git" / name).read_bytes() for name in ("HEAD", "config", "index")}
    return {"files": files, "status": git(place, "status", "--porcelain", "-z"), "own": own}


class Repository:
    """A repository of the current directory, and commands over it."""

    def __init__(self, jarvis: Jarvis) -> None:
        self.jarvis, self.top = jarvis, jarvis.place
        jarvis.tree(".", {"main.c": MAIN, "Makefile": MAKEFILE, "run.sh": "#!/bin/sh\n", ".gitignore": "main\n"})
        (self.top / "run.sh").chmod(0o755)
        (self.top / "link").symlink_to("main.c")
        for words in [("init", "-qb", "trunk"), *NAMED, ("add", "."), ("commit", "-qm", "first")]:
            git(self.top, *words)

    def settings(self, server: ModelServer, **more: object) -> None:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        place = self.top.parent / "settings.yaml"
        place.write_text(json.dumps({"models": {"local": group}, **more}))

    def code(self, *words: object, task: str = "Return two") -> Ended:
        return self.jarvis("code", "-f", self.top.parent / "settings.yaml", "-n", "-r", task, *words)

    @property
    def branch(self) -> str:
        """The only branch of a change."""
        (branch,) = git(self.top, "branch", "--list", "jarvis/*", "--format=%(refname:short)").split()
        return branch

    def run(self) -> str:
        return self.branch.removeprefix("jarvis/code-")


def repository_of(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a new repository; git reads no configuration of the machine."""
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(jarvis.place.parent))
    return Repository(jarvis)
