"""`jarvis sec fix`: patches of confirmed findings that passed all gates, on a branch; the tree stays as it is."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agents.server import Body, ModelServer, Step, calls, says
from tests.cli.code_repository import WHO, git, snapshot
from tests.cli.commands import Ended, Jarvis
from tests.judging import judge

NAME = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "name.h"

/* Copies a name; returns its length, or -1 if there is none. */
int copy_name(char *out, const char *name)
{
    if (name == NULL)
        return -1;
    strcpy(out, name);
    return (int)strlen(out);
}
"""
MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "name.h"

int main(int argc, char **argv)
{
    char name[NAME_SIZE];
    int length = copy_name(name, argc > 1 ? argv[1] : NULL);
    printf("%d\\n", length);
    return length < 0;
}
"""
FILES = {
    "src/name.c": NAME,
    "src/name.h": "#define NAME_SIZE 16\nint copy_name(char *out, const char *name);\n",
    "src/main.c": MAIN,
    ".gitignore": "jarvis.yaml\n",
    "Makefile": "name: src/name.c src/main.c src/name.h\n\tcc -o name src/name.c src/main.c\n"
    'check: name\n\ttest "$$(./name four)" = 4\n',
    "tests/test_name.c": "int test_name;\n",
}
FIXED = '    int length = snprintf(out, NAME_SIZE, "%s", name);\n    if (length < 0 || length >= NAME_SIZE)\n        return -1;\n'
GOOD = ("    strcpy(out, name);\n", FIXED, "return (int)strlen(out)", "return length")
ANSWER = says("Bound the copy of a name\n\nstrcpy had no limit; snprintf has one, and longer names are refused.")


def patch(*texts: str, path: str = "src/name.c") -> Step:
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return calls("patch", edits=[{"path": path, "search": old, "replace": new} for old, new in pairs])


class Fixing:
    """A repository with confirmed findings, and commands over it."""

    def __init__(self, jarvis: Jarvis, *, files: dict[str, str], repository: bool = True) -> None:
        self.jarvis, self.top = jarvis, jarvis.place
        jarvis.tree(".", dict(files))
        if repository:
            for words in [
                ("init", "-qb", "trunk"),
                ("config", "user.name", "Ann Example"),
                ("config", "user.email", "ann@example.org"),
                ("add", "."),
                ("commit", "-qm", "first"),
            ]:
                git(self.top, *words)

    def settings(self, server: ModelServer) -> None:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        (self.top / "jarvis.yaml").write_text(json.dumps({"models": {"local": group}}))

    def scan(self, *words: object) -> list[dict[str, Any]]:
        """Confirm all findings of the tree, and return them."""
        with ModelServer(forever=lambda body: judge(body, "confirmed")) as server:
            self.settings(server)
            ended = self.jarvis("sec", "agent", "-p", "src", "--json", "--min-confidence", "0.6", *words)
        assert ended.code == 0, ended.err
        issues: list[dict[str, Any]] = json.loads(ended.out)["issues"]
        return issues

    def fix(self, server: ModelServer, *words: object) -> tuple[Ended, dict[str, Any]]:
        self.settings(server)
        ended = self.jarvis("sec", "fix", "last", *words, "--json")
        return ended, json.loads(ended.out) if ended.out else {}


@pytest.fixture
def fixing(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Fixing:
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)
    return Fixing(jarvis, files=FILES)


def test_a_patch_that_passes_all_gates_lands(fixing: Fixing) -> None:
    issues = fixing.scan()
    print([(i["pattern"], i["line"], i["file"], i["confidence"]) for i in issues])
    with ModelServer(calls("read_code", path="src/name.c"), patch(*GOOD), ANSWER) as server:
        ended, found = fixing.fix(server, "--build", "make name", "--test", "make check")
    print(ended.err, json.dumps(found, indent=1))
    assert 0
