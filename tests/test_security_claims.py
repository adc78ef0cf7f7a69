"""SECURITY.md: each claim of what an actor cannot do names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.syntax import parse

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
ROW = re.compile(r"^\| (?!cannot \||---)(.+?) \| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
CLAIMS = [(actor, claim, tests) for actor, part in SECTIONS.items() for claim, tests in ROW.findall(part)]
ACTORS = {
    "Hostile repository under scan",
    "Hostile model or provider",
    "Hostile MCP server or search endpoint",
    "Another tenant of the store",
    "Another user of the machine",
    "Broker or Redis attacker",
    "Network",
    "User of the web interface",
    "Compromised dependency",
}


@cache
def functions(path: str) -> frozenset[str]:
    tree = parse((ROOT / path).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_actor_has_claims_and_says_what_it_can_do() -> None:
    assert {actor for actor, _, _ in CLAIMS} == ACTORS
    for actor in ACTORS:
        assert SECTIONS[actor].rpartition(" |\n")[2].strip(), f"{actor}: nothing after the table"


@pytest.mark.parametrize(("claim", "tests"), [claim[1:] for claim in CLAIMS], ids=lambda text: text[:40])
def test_a_claim_names_tests_that_exist(claim: str, tests: str) -> None:
    named = TEST.findall(tests)
    assert named, claim
    assert TEST.sub("", tests).strip(", ") == "", f"more than tests: {tests}"
    for path, name in named:
        assert (ROOT / path).is_file(), path
        assert name in functions(path), f"{path} has no {name}"


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (ROOT / target).exists(), target
