"""A repository whose author has thought of everything that a tool might run or obey, and a trace of what is touched."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
COPY = "void f(char *a, char *b) { strcpy(a, optarg); }\n"
# Besides those of the standard library.
MODULES = (
    "sitecustomize",
    "usercustomize",
    "pip",
    "setuptools",
    "hatchling",
    "jarvis_cli",
    "jarvis_workers",
    "yaml",
    "typer",
)
PROGRAMS = (
    *(
        "jarvis",
        "python",
        "python3",
        "python3.11",
        "git",
        "pip",
        "pip3",
        "uv",
        "node",
        "npm",
        "sh",
        "bash",
        "env",
        "cat",
        "rm",
    ),
    *("od", "tr", "mktemp", "dirname", "touch", "cksum", "grep", "tar", "gcc", "cc", "clang", "bwrap", "cargo", "make"),
)
HOSTILE_NAMES = (
    *(
        "two words.c",
        "new\nline.c",
        "-rf.c",
        "--output=report.c",
        "$(touch stolen).c",
        "`touch stolen`.c",
        "%0a::error::x.c",
    ),
    *("::stop-commands::x.c", "##[add-path]x.c", "; touch stolen;.c", "'quoted'\".c", "\x1b[2Jx.c", "ünï.c"),
)
CONFIGURATION = {
    "pip.conf": "[global]\nindex-url = http://127.0.0.1:1/simple\nno-index = true\n",
    "setup.cfg": "[install]\nprefix = /nowhere\n[metadata]\nname = evil\n",
    "setup.py": "raise SystemExit('run')\n",
    "tox.ini": "[tox]\nenvlist = evil\n",
    "pytest.ini": "[pytest]\naddopts = -p evil\n",
    "conftest.py": "raise SystemExit('run')\n",
    "uv.toml": 'index-url = "http://127.0.0.1:1/simple"\n',
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "evil"\n[tool.uv]\nindex-url = "http://127.0.0.1:1/simple"\n',
    ".python-version": "2.7\n",
    ".envrc": "touch stolen\n",
    ".env": "PATH=.\nPYTHONPATH=.\n",
    ".bashrc": "touch stolen\n",
    ".profile": "touch stolen\n",
    ".npmrc": "prefix=.\n",
    ".pre-commit-config.yaml": "repos: []\n",
    "Makefile": "all:\n\ttouch stolen\n",
    ".gitattributes": "* filter=evil diff=evil merge=evil\n",
    ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !touch stolen\n',
    ".gitignore": "ignored.c\n",
    ".jarvisignore": "left_out.c\n",
    "jarvis.yaml": """\
mcp: [{type: stdio, name: evil, command: ./program}]
code: {gate: ./program}
rules: {disable: [unsafe_api], paths: [.]}
""",
}
GIT_CONFIGURATION = (
    *(
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.gitProxy",
        "core.askPass",
        "diff.external",
    ),
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv"),
    *(
        "merge.evil.driver",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ),
)
GIT_COMMANDS = ("ls-files", "rev-parse", "fetch", "init", "checkout", "diff-tree", "ls-tree", "cat-file", "merge-base")
OPENED = re.compile(r"^(?:\d+ +)?(open|openat|openat2|creat)\((.*)\) += \d+<(.*)>$")
EXECUTED = re.compile(r'^(?:\d+ +)?execve(?:at)?\((?:[^"]*)"((?:[^"\\]|\\.)*)".*\) += 0$')
UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")


def make_worst_repository(place: Path) -> Path:
    """Make the repository; whatever of it is run or imported leaves a line in the file returned, beside it."""
    ran = place.with_name("ran")
    program = f'#!/bin/sh\necho "$0" >> "{ran}"\n'
    place.mkdir()
    files = {
        f"{name}.py": f"open({str(ran)!r}, 'a').write(__file__ + '\\n')\n"
        for name in (*sys.stdlib_module_names, *MODULES)
    }
    files |= {"evil.pth": f"import builtins; open({str(ran)!r}, 'a').write('pth\\n')\n", **CONFIGURATION}
    files |= {"src/net/list.c": COPY, "src/main.c": COPY, "ignored.c": COPY, "left_out.c": COPY}
    files |= {f"{name}": COPY for name in HOSTILE_NAMES}
    folders = ("", "bin/", "node_modules/.bin/", "venv/bin/", ".venv/bin/", "deploy/", ".jarvis/venv/bin/")
    programs = {f"{folder}{name}": program for folder in folders for name in (*PROGRAMS, "program", "install.sh")}
    for name, text in {**files, **programs, ".jarvis/tools/evil.py": files["os.py"]}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    git(place, "init", "-q", "-b", "change")
    # What a base has: all but the settings, which the change adds.
    git(place, "-c", "core.attributesFile=/dev/null", "add", "src")
    git(place, "commit", "-qm", "base")
    git(place, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(place, "add", "--all", "--", ".", ":!.jarvis")
    git(place, "commit", "-qm", "change")
    for name in GIT_CONFIGURATION:
        git(place, "config", name, str(place / "program"))
    for name in GIT_COMMANDS:
        git(place, "config", f"alias.{name}", f"!{place}/program")
    hooks = place / ".git" / "hooks"
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        hooks.mkdir(exist_ok=True)
        (hooks / name).write_text(program)
        (hooks / name).chmod(0o755)
    ran.unlink(missing_ok=True)
    return ran


def git(place: Path, *command: str) -> None:
    subprocess.run([*GIT, *command], cwd=place, check=True, capture_output=True)


class Touched(NamedTuple):
    """The programs that were executed, and the files that were opened, as absolute paths; `written` of the latter."""

    executed: set[str]
    opened: set[str]
    written: set[str]

    def inside(self, place: Path) -> "Touched":
        """Return what is below a directory, as paths from there; programs whose path is relative count as inside."""
        top = f"{place}/"
        opened, written = (
            {path.removeprefix(top) for path in paths if path.startswith(top)} for paths in (self.opened, self.written)
        )
        executed = {path for path in self.executed if path.startswith(top) or not path.startswith("/")}
        return Touched(executed, opened, written)


def run_traced(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], trace: Path
) -> tuple["subprocess.CompletedProcess[str]", Touched]:
    """Run a command and all its children under strace."""
    strace = [
        "strace",
        "-f",
        "-y",
        "-s",
        "4096",
        "-o",
        str(trace),
        "-e",
        "trace=execve,execveat,open,openat,openat2,creat",
    ]
    done = subprocess.run(
        [*strace, *command], cwd=cwd, env=dict(env), capture_output=True, text=True, errors="replace", check=False
    )
    return done, read_trace(trace)


def read_trace(trace: Path) -> Touched:
    touched = Touched(set(), set(), set())
    for line in _calls(trace):
        if match := EXECUTED.match(line):
            touched.executed.add(_decoded(match[1]))
        elif (match := OPENED.match(line)) and "O_DIRECTORY" not in match[2] and "O_PATH" not in match[2]:
            path = _decoded(match[3].removesuffix(" (deleted)"))
            if not os.path.isdir(path):  # noqa: PTH112  (the name may have any characters)
                touched.opened.add(path)
                if match[1] == "creat" or re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", match[2]):
                    touched.written.add(path)
    return touched


def _calls(trace: Path) -> Iterator[str]:
    """Yield the lines of a trace; calls that other processes have interrupted are put together."""
    begun: dict[str, str] = {}
    for line in trace.read_text("utf-8", "replace").splitlines():
        if match := UNFINISHED.match(line):
            begun[match[1]] = match[2]
        elif match := RESUMED.match(line):
            yield f"{match[1]} {begun.pop(match[1], '')}{match[2]}"
        else:
            yield line


def _decoded(text: str) -> str:
    return (
        text.encode("latin-1", "backslashreplace")
        .decode("unicode_escape")
        .encode("latin-1", "replace")
        .decode("utf-8", "replace")
    )
