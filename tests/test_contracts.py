"""The contracts of imports hold for packages that do not exist yet, and for what a reader of imports does not see."""

import re
import sys
import tomllib
from collections import defaultdict
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter import Contract, ContractCheck
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

ROOT = Path(__file__).parents[1]
PACKAGES = ("jarvis_workers", "jarvis_cli")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = {one["name"]: one for one in CONFIG["contracts"]}
TYPES: dict[str, type[Contract]] = {
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
    "protected": ProtectedContract,
}
KEPT = {module for one in CONTRACTS.values() for module in one.get("protected_modules", ())}
NEWCOMER = "jarvis_workers.newcomer"
# Values, texts and retries: any package may.
FREE = {"pydantic", "tenacity", "yaml"}
# Names by which code leaves its process without an import of its own, and the packages that may write them.
NAMES = {
    r"\bos\.(environb?|getenvb?|putenv|unsetenv)\b": (
        "jarvis_cli",
        "jarvis_workers/agents/mcp_client",
        "jarvis_workers/api",
        "jarvis_workers/assistant/chat",
        "jarvis_workers/c2rust/bench",
        "jarvis_workers/c2rust/commands/cc.py",
        "jarvis_workers/c2rust/runs",
        "jarvis_workers/c2rust/stages/unit_cache.py",
        "jarvis_workers/executors/dispatch",
        "jarvis_workers/operate/pool_plans.py",
        "jarvis_workers/operate/worker.py",
        "jarvis_workers/runs",
        "jarvis_workers/sandbox",
        "jarvis_workers/sec/bench",
        "jarvis_workers/sec/commands/triage_terminal.py",
        "jarvis_workers/sec/fix_runs",
        "jarvis_workers/sec/stages/patch_gates.py",
        "jarvis_workers/settings",
        "jarvis_workers/snapshots",
        "jarvis_workers/toolchain",
    ),
    r"\bos\.(fork\w*|exec[lv]\w*|spawn\w+|posix_spawn\w*|system|popen)\b|\bcreate_subprocess_\w+": (
        "jarvis_workers/agents/mcp_client",
        "jarvis_workers/sandbox",
        "jarvis_workers/sec/bench/server_client.py",
        "jarvis_workers/toolchain",
    ),
    r"\burllib\.request\b|\b(open|create)(_unix)?_connection\b|\bstart(_unix)?_server\b": (
        "jarvis_workers/sec/bench/server_client.py",
        "jarvis_workers/agents/conversations/web_fetch.py",
        "jarvis_workers/sandbox/probe",
        "jarvis_workers/runs/webhook.py",
    ),
    # Imports that no contract sees.
    r"""\b(import_module|__import__)\(\s*["'](?!importlib\b|pkgutil\b)|\bfrom os import\b""": (),
}


@cache
def _graph(*, types: bool = False) -> grimp.ImportGraph:
    return grimp.build_graph(
        *PACKAGES, include_external_packages=True, exclude_type_checking_imports=not types, cache_dir=None
    )


def _check(graph: grimp.ImportGraph, options: dict[str, Any]) -> ContractCheck:
    configure()
    texts = {key: "true" if one is True else one for key, one in options.items()}
    return TYPES[options["type"]](options["name"], CONFIG, texts).check(deepcopy(graph), verbose=False)


@pytest.mark.parametrize("place", [NEWCOMER, "jarvis_workers.sec.newcomer"])
def test_a_new_package_may_import_nothing_that_a_contract_keeps_for_others(place: str) -> None:
    graph = deepcopy(_graph())
    for module in KEPT:
        graph.add_import(importer=place, imported=module)

    refused = [
        _check(graph, one).metadata["illegal_imports"] for one in CONTRACTS.values() if one["type"] == "protected"
    ]

    assert {one.top_level_module for found in refused for one in found} == KEPT


@pytest.mark.parametrize("face", ["jarvis_cli", "jarvis_workers.web"])
def test_commands_and_pages_import_no_new_package(face: str) -> None:
    (contract,) = (one for one in CONTRACTS.values() if one.get("source_modules") == [face])
    graph = deepcopy(_graph())
    graph.add_import(importer=f"{face}.newcomer", imported=NEWCOMER)

    assert not _check(graph, contract).kept


def test_a_new_package_must_have_its_place_in_the_layers() -> None:
    graph = deepcopy(_graph())
    graph.add_module(NEWCOMER)

    assert not _check(graph, CONTRACTS["Imports point down"]).kept


def test_every_library_is_kept_by_a_contract() -> None:
    """One that is not imported at all cannot stand in a contract: import-linter refuses to check it."""
    libraries = {
        name for name in _graph().modules if name.partition(".")[0] not in {*PACKAGES, *sys.stdlib_module_names}
    }

    assert libraries - KEPT == FREE


def test_the_tables_are_known_to_the_store_alone_as_types_too() -> None:
    graph = _graph(types=True)
    importers = {
        name
        for module in ("sqlalchemy", "sqlmodel", "alembic")
        for name in graph.find_modules_that_directly_import(module)
    }

    assert {name for name in importers if ".store." not in name} == set()


def test_environment_processes_and_connections_are_reached_where_they_may_be() -> None:
    places = defaultdict[str, set[str]](set)
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        text = file.read_text()
        for name in NAMES:
            if re.search(name, text):
                places[name].add(file.relative_to(ROOT).as_posix())

    for name, allowed in NAMES.items():
        assert {file for file in places[name] if not file.startswith(allowed)} == set()
        assert [place for place in allowed if not any(file.startswith(place) for file in places[name])] == []
