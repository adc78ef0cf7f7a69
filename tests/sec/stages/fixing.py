"""A small program with two defects, the jobs that fix them, and the patches of a model: right ones and bad ones."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.fix.fixable import FixFinding, FixLine, FixPlan
from jarvis_workers.sec.fix.result import FixResult
from jarvis_workers.sec.fix_runs.fix_sources import pack_directory
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.stages.fix_finding import FixWork, converse
from jarvis_workers.sec.stages.fix_options import FixOptions, FixPayload
from jarvis_workers.sec.stages.fix_outcomes import RESULT
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit
from jarvis_workers.toolchain.gittree import TreeBounds
from tests.agents.loop.server import ModelServer, Step, calls, says
from tests.sec.stages.pipeline import Pipeline

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

/* Joins two names with a slash. */
int join_names(char *out, const char *first, const char *second)
{
    if (copy_name(out, first) < 0)
        return -1;
    strcat(out, second);
    return (int)strlen(out);
}
"""
MAIN = """\
#include <stdio.h>
#include "name.h"

int main(int argc, char **argv)
{
    char name[NAME_SIZE];
    int length = copy_name(name, argc > 1 ? argv[1] : 0);
    printf("%d\\n", length);
    return length < 0;
}
"""
FILES = {
    "src/name.c": NAME,
    "src/name.h": "#define NAME_SIZE 16\nint copy_name(char *out, const char *name);\n"
    "int join_names(char *out, const char *first, const char *second);\n",
    "src/main.c": MAIN,
    "src/names.tab.c": "/* A Bison parser, made by GNU Bison. */\nint names;\n",
    "Makefile": "program: src/name.c src/main.c src/name.h\n\tcc -o program src/name.c src/main.c\n"
    'check: program\n\ttest "$$(./program four)" = 4\n',
    "tests/test_name.c": "int test_name;\n",
}
BUILD, CHECK = "make program", "make check"
FIX = (
    '    int length = snprintf(out, NAME_SIZE, "%s", name);\n'
    "    if (length < 0 || length >= NAME_SIZE)\n"
    "        return -1;\n"
    "    return length;\n"
)
COPY = "    strcpy(out, name);\n    return (int)strlen(out);\n"
JOIN = "    strcat(out, second);\n    return (int)strlen(out);\n"
JOINED = (
    "    size_t used = strlen(out);\n"
    '    int added = snprintf(out + used, NAME_SIZE - used, "/%s", second);\n'
    "    if (added < 0 || (size_t)added >= NAME_SIZE - used)\n"
    "        return -1;\n"
    "    return (int)used + added;\n"
)
ANSWER = says("Bound the copy of a name\n\nstrcpy had no limit; longer names are refused now.")


def edit(search: str, replacement: str, path: str = "src/name.c") -> Step:
    """Replace a text."""
    return calls("patch", edits=[{"path": path, "search": search, "replace": replacement}])


def write(content: str | None, path: str = "src/name.c") -> Step:
    """Write a whole file, or remove it."""
    return calls("rewrite", files=[{"path": path, "content": content}])


GOOD = edit(COPY, FIX)
FUNCTION = NAME[NAME.index("/* Copies") : NAME.index("/* Joins")]
# The name of a bad patch: its edits, the gate that refuses it, and words of the reason.
BAD: dict[str, tuple[list[Step], str, str]] = {
    "does not apply": ([edit("    memcpy(out, name, 4);\n", FIX), ANSWER], "applies", "nothing was changed"),
    "wrong line ends": ([write(NAME.replace(COPY, FIX).replace("\n", "\r\n"))], "applies", "line ends were LF"),
    "edits a test": (
        [GOOD, edit("int test_name", "int tests", "tests/test_name.c")],
        "files",
        "outside of the scanned",
    ),
    "edits a test below": ([GOOD, edit("int check", "int checks", "src/tests/check.c")], "files", "test code"),
    "edits the build": ([GOOD, edit("cc -o", "cc -w -o", "Makefile")], "files", "Makefile: it is outside"),
    "edits a build file below": ([GOOD, edit("all:", "all: ;", "src/rules.mk")], "files", "not a source file"),
    "adds a file": ([GOOD, write("int more;\n", "src/more.c")], "files", "it is a new file"),
    "removes a file": ([GOOD, write(None, "src/name.h")], "files", "the file is removed"),
    "edits generated code": ([GOOD, edit("int names", "int name", "src/names.tab.c")], "files", "it is generated"),
    "leaves the tree": ([edit("x", "y", "../../etc/passwd"), ANSWER], "applies", "nothing was changed"),
    "deletes the function": ([edit(FUNCTION, "")], "function", "function copy_name is removed"),
    "empties the function": ([edit(COPY, "    return -1;\n")], "function", "does nothing any more"),
    "disables by #if 0": ([edit(COPY, f"#if 0\n{COPY}#endif\n    return 0;\n")], "function", "conditional"),
    "disables by a condition": (
        [edit("    strcpy(out, name);\n", "    if (0)\n    strcpy(out, name);\n")],
        "function",
        "constant",
    ),
    "comments the call out": (
        [edit("    strcpy(out, name);\n", "    /* strcpy(out, name); */\n")],
        "function",
        "only removes",
    ),
    "silences the rule": (
        [edit("strcpy(out, name);", "strcpy(out, name); // jarvis-ignore: fine")],
        "function",
        "silence",
    ),
    "redefines the call": (
        [edit('#include "name.h"\n', '#include "name.h"\n#define strcpy(a, b) strncpy(a, b, 16)\n')],
        "function",
        "redefine",
    ),
    "refuses every input at once": (
        [edit("    if (name == NULL)\n        return -1;\n", "    return -1;\n    if (!name)\n        return -1;\n")],
        "function",
        "refuses every input",
    ),
    "changes a comment": (
        [edit("/* Copies a name", "/* Safely copies a name")],
        "function",
        "comments and white space",
    ),
    "does not compile": ([edit(COPY, FIX.replace("NAME_SIZE", "SIZE"))], "build", "SIZE"),
    "leaves the defect": (
        [edit("    strcpy(out, name);\n", "    if (*name == 0)\n        return 0;\n    strcpy(out, name);\n")],
        "rule",
        "still fires",
    ),
    "brings another defect": ([edit(COPY, f"    system(name);\n{FIX}")], "rule", "new findings"),
    "refuses every input": ([edit(COPY, FIX.replace("length >= NAME_SIZE", "length >= 0"))], "tests", "make check"),
    "breaks the result": ([edit(COPY, FIX.replace("return length", "return length + 1"))], "tests", "make check"),
}
MORE = {"src/tests/check.c": "int check;\n", "src/rules.mk": "all:\n"}


@dataclass
class FixPlace:
    """A store with a scanned tree, and jobs that fix its findings."""

    directory: Path
    pipeline: Pipeline
    talking: Callable[[], Store]
    files: Mapping[str, str]

    def __post_init__(self) -> None:
        self.tree = self.directory / "tree"
        for name, text in self.files.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_bytes(text.encode())
        self.run_id = self.pipeline.do(self.tree)

    def finding(self, evidence: str, file: str = "src/name.c", pattern: str = "unsafe_api") -> FixFinding:
        """Return a finding of the tree."""
        content, rule = self.files[file], RULES_BY_PATTERN[pattern]
        line = content[: content.index(evidence)].count("\n") + 1
        below = file.removeprefix("src/")
        return FixFinding(
            id=f"C{line:06}",
            gid=line,
            fingerprint=fingerprint_of(below, pattern, evidence),
            pattern=pattern,
            language="c/cpp",
            cwe=rule.cwe,
            severity="high",
            status="confirmed",
            place=FixLine(file=file, line=line, text=evidence),
            description=rule.description,
            suggestion=rule.suggestion,
            consequences="a write behind the end of out",
            digest=sha256(content.encode()).hexdigest(),
        )

    def work(
        self, *findings: FixFinding, payload: FixPayload | None = None, is_small: bool = True, **options: Any
    ) -> FixWork:
        """Return a job over the first of these findings; only a small tree is scanned as a whole."""
        blobs = self.pipeline.blobs
        names = tuple(name.removeprefix("src/") for name in self.files if name.startswith("src/"))
        sources = tuple(name for name in names if name.endswith((".c", ".h")) and is_small)
        made = FixOptions(
            model_group="m",
            archive=blobs.put(pack_directory(self.tree, TreeBounds())),
            findings=blobs.put(FixPlan(findings=findings, files=sources).model_dump_json().encode()),
            below="src",
            **{"build": BUILD, "tests": CHECK, "min_confidence": 0.4, "second_look": False, **options},
        )
        job = Claimed(self.pipeline.rows(self.run_id)[-1].id, self.run_id, "fix", "fix", "agent", 1, "", "{}", 0, 0)
        return FixWork(job, made, payload or FixPayload(0, tuple(range(1, len(findings)))), [])

    def commit(self, work: FixWork, server: ModelServer, tier: Tier | None = None) -> Commit:
        """Carry the job out, in a sandbox of this tier."""
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        shared = AgentRuntime(self.talking(), setup_of({"m": group}, self.directory / "cache"))
        shared.sandboxes.tier = tier or shared.tier
        try:
            return asyncio.run(converse(work, self.pipeline.blobs, shared))
        finally:
            shared.close()

    def result(self, commit: Commit) -> FixResult:
        """Return the result that a job committed."""
        return FixResult.model_validate_json(self.pipeline.blobs.read(dict(commit.blobs)[RESULT]))

    def fix(self, *steps: Step, **options: Any) -> FixResult:
        """Return the result of a job over the first defect."""
        with ModelServer(*steps) as server:
            return self.result(self.commit(self.work(self.finding("strcpy(out, name);"), **options), server))
