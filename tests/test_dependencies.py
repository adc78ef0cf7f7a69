"""What is installed with the package is enough to run it: nothing is there only because the tests want it."""

import subprocess
import sys
import tomllib
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
IMPORT = """
import importlib, sys
from importlib.metadata import packages_distributions
known, modules = sys.argv[1].split(","), sys.argv[2].split(",")
from packaging.utils import canonicalize_name
owners = {name: {canonicalize_name(one) for one in ones} for name, ones in packages_distributions().items()}
for name in [name for name in sys.modules if name.partition(".")[0] == "packaging"]:
    del sys.modules[name]

class OnlyKnown:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if owners.get(top) and not owners[top] & set(known):
            raise ModuleNotFoundError(f"No module named {top!r}: nothing that is declared brings it", name=top)

sys.meta_path.insert(0, OnlyKnown())
for module in modules:
    importlib.import_module(module)
"""
# Modules, with what is imported late, and the extras that they may import from.
USED: dict[str, tuple[str, ...]] = {
    "jarvis_cli.main": (),
    "jarvis_workers.sec.commands.scan": (),
    "jarvis_workers.sec.commands.main": (),
    "jarvis_cli.runs": (),
    "jarvis_cli.run_views": (),
    "jarvis_workers.assistant.commands.agent": (),
    "jarvis_cli.worker": (),
    "jarvis_workers.executors.local.executor": (),
    "jarvis_workers.executors.local.child": (),
    "openai": ("agents",),
    "httpx2": ("agents",),
    "jinja2": ("agents",),
    "jarvis_workers.executors.dispatch.pool": ("cluster",),
    "kombu.transport.redis": ("cluster",),
    "jarvis_workers.runs.remote": ("cluster",),
}


def declared(extras: Collection[str]) -> set[str]:
    """Return the names of all that `dependencies` and extras bring, by what is installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = [line for extra in extras for line in project["optional-dependencies"][extra]]
    found: set[str] = {"jarvis-workers"}
    seen: set[tuple[str, frozenset[str]]] = set()
    todo = [Requirement(line) for line in [*project["dependencies"], *own]]
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        which = (name, frozenset(wanted.extras))
        if which in seen:
            continue
        seen.add(which)
        found.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue
        names = {"", *wanted.extras}
        inner = map(Requirement, lines)
        todo += [one for one in inner if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in names)]
    return found


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("module", USED)
def test_a_module_imports_nothing_that_is_not_declared(module: str) -> None:
    command = [sys.executable, "-c", IMPORT, ",".join(sorted(declared(USED[module]))), module]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    assert done.returncode == 0, done.stderr
