"""Run cargo so that nothing which untrusted code has written decides what it does.

Cargo reads configuration in the current directory, in those above it, and in CARGO_HOME: wrappers of the compiler,
programs that run the tests, and variables for both.  Of a crate, only where its vendored crates are is taken; a crate
below a directory that tests can write is no member of a workspace there.  What cargo has built is built again if
anything else has changed it since.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from jarvis_workers.c2rust.bench.tree_state import TreeState, read_tree
from jarvis_workers.c2rust.vendored_crates import CONFIG, MANIFEST
from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.toolchain import scratch

# Where no test writes, nor anywhere above it.
NEUTRAL = "/usr"
SOURCE, REPLACED, DIRECTORY = "source", "replace-with", "directory"
# Arguments: the manifest above that of the crate, which a test may have left, the configuration, and the command.
START = f"""\
rm -rf "$CARGO_HOME" "$1" && mkdir -p "$CARGO_HOME" && printf %s "$2" > "$CARGO_HOME/config.toml" &&
cd {NEUTRAL} && shift 2 && exec "$@"
"""


def cargo_command(crate: Path, command: str, words: Sequence[str]) -> list[str]:
    """Return the words that run a command of cargo on the crate in a directory, with an empty CARGO_HOME."""
    above, configuration = crate.parent / MANIFEST, _configuration(crate)
    run = ["cargo", command, "--manifest-path", str(crate / MANIFEST), "--offline", *words]
    return ["sh", "-c", START, "sh", str(above), configuration, *run]


def _configuration(crate: Path) -> str:
    """Return the configuration that a crate may have: which directories of its own replace a registry."""
    try:
        read = tomllib.loads(read_untrusted(crate / CONFIG).decode())
    except (ValueError, RecursionError):
        return ""
    found = read.get(SOURCE)
    sources = found.items() if isinstance(found, dict) else ()
    return "".join(_source(crate, name, one) for name, one in sources if isinstance(one, dict))


def _source(crate: Path, name: str, facts: Mapping[str, object]) -> str:
    lines = [f"[{SOURCE}.{_quoted(name)}]"]
    if isinstance(replaced := facts.get(REPLACED), str):
        lines.append(f"{REPLACED} = {_quoted(replaced)}")
    directory = facts.get(DIRECTORY)
    if isinstance(directory, str) and not PurePosixPath(directory).is_absolute() and ".." not in directory.split("/"):
        lines.append(f"{DIRECTORY} = {_quoted(str(crate / directory))}")
    return "\n".join([*lines, ""]) if len(lines) > 1 else ""


def _quoted(text: str) -> str:
    """Return a string of TOML."""
    escaped = (one if one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(escaped)}"'


class BuiltTarget:
    """The directory in which cargo builds, which tests can write, too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: TreeState = {}

    def renew(self) -> None:
        """Remove what was built if it is not as cargo has left it."""
        if self._path.is_symlink():
            self._path.unlink()
        elif read_tree(self._path) != self._state:
            scratch.remove(str(self._path))

    def keep(self) -> None:
        """Take what is there for what cargo has built: call it before anything else runs."""
        self._state = read_tree(self._path)
