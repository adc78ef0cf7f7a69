"""What templates and pages name: no package by its name on an index, no moving tag, branch or version."""

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
LISTED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
NOT_READ = ("tests/", "jarvis_workers/", "jarvis_cli/", "CHANGELOG", "requirements", "deploy/build-tools.lock")
TEXTS = {
    name: (ROOT / name).read_text("utf-8", "replace")
    for name in filter(None, LISTED.split("\0"))
    if not name.startswith(NOT_READ)
}
INSTALLERS = re.compile(r"^.*\b(?:pip3?|pipx|uvx?|poetry|pdm)\b.*\bjarvis[-_]workers\b.*$", re.MULTILINE)
BY_ADDRESS = re.compile(r"://|/jarvis_workers-\*\.whl|uv pip compile")
BY_VERSION = re.compile(r"jarvis[-_]workers(\[\w+\])?[=<>~]=|SCAN_PACKAGE: *jarvis")
USES = re.compile(r"^\s*-? *uses: (\S+)(?: # v[\d.]+)?$", re.MULTILINE)
IMAGE = re.compile(r"^\s*image: ([^\s{$]+)$|^ARG BASE=(\S+)$|docker pull (\S+)", re.MULTILINE)
EXACT = re.compile(r"[\w./-]+:v?(\d+\.\d+[\w.-]*|bookworm-\d{8}-slim)(@sha256:[0-9a-f]{64})?")
MOVING = re.compile(
    r"(uses: |jarvis-workers).*@(main|master|HEAD|v\d+)(?![\w.])|\b(ref|rev): *(main|master|HEAD)\b"
    r"|:latest\b|runs-on: .*-latest"
)


@pytest.fixture(scope="module")
def images() -> ModuleType:
    spec = importlib.util.spec_from_file_location("images", ROOT / ".ci" / "images.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_templates_and_pages_are_read() -> None:
    assert {
        "action.yml",
        "README.md",
        "docs/ci.md",
        ".pre-commit-hooks.yaml",
        "deploy/gitlab/jarvis.gitlab-ci.yml",
    } <= set(TEXTS)
    assert {"deploy/Dockerfile", "docker-compose.yml", "helm/jarvis/values.yaml", ".ci/run"} <= set(TEXTS)


def test_nothing_installs_the_package_by_a_name_that_nobody_owns() -> None:
    """Who registers the name on an index runs code where this is done."""
    lines = [(name, line) for name, text in TEXTS.items() for line in INSTALLERS.findall(text)]
    assert [one for one in lines if not BY_ADDRESS.search(one[1])] == []
    assert [(name, line) for name, text in TEXTS.items() for line in BY_VERSION.findall(text)] == []


def test_actions_are_named_by_commit() -> None:
    used = [(name, one) for name, text in TEXTS.items() for one in USES.findall(text)]
    assert len(used) >= 5
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@([0-9a-f]{40}|COMMIT)", one[1])] == []


def test_images_are_named_by_exact_version() -> None:
    named = [(name, next(filter(None, match))) for name, text in TEXTS.items() for match in IMAGE.findall(text)]
    assert len(named) >= 8
    assert [one for one in named if not EXACT.fullmatch(one[1])] == []


def test_no_template_names_what_moves() -> None:
    assert [(name, line) for name, text in TEXTS.items() for line in text.splitlines() if MOVING.search(line)] == []


def test_digests_are_filled_in_where_they_are_missing(images: ModuleType) -> None:
    known, new = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
    text = f"""\
    image: redis:7.2.16
    image: a/b:v1@{known}
ARG BASE=debian:12.1-slim
  image: postgres:17.11
  digest: ""
  image: redis:7.4.1
  digest: {known}
"""
    asked: list[str] = []

    def look_up(image: str) -> str:
        asked.append(image)
        return new

    filled, missing = images.filled(text, look_up)

    assert (sorted(asked), missing) == (["debian:12.1-slim", "postgres:17.11", "redis:7.2.16"], [])
    assert filled.splitlines() == [
        f"    image: redis:7.2.16@{new}",
        f"    image: a/b:v1@{known}",
        f"ARG BASE=debian:12.1-slim@{new}",
        "  image: postgres:17.11",
        f"  digest: {new}",
        "  image: redis:7.4.1",
        f"  digest: {known}",
    ]


def test_an_image_whose_digest_is_unknown_is_named(images: ModuleType) -> None:
    text = 'ARG BASE=debian:12.1-slim\n  image: redis:7.4.1\n  digest: ""\n'

    assert images.filled(text, lambda image: None) == (text, ["debian:12.1-slim", "redis:7.4.1"])


def test_every_image_of_the_templates_can_get_a_digest(images: ModuleType) -> None:
    for name in images.FILES:
        filled, missing = images.filled(TEXTS[name], lambda image: f"sha256:{'3' * 64}")
        assert missing == []
        found = [next(filter(None, match)) for match in IMAGE.findall(filled)]
        assert all("@sha256:" in one or f"image: {one}\n  digest: sha256:" in filled for one in found), name


def test_a_release_asks_for_digests_and_a_rehearsal_says_so() -> None:
    release, run = TEXTS[".ci/release"], TEXTS[".ci/run"]
    assert ".ci/images.py" in release and '.ci/audit.py "${offline[@]}"' in release
    assert ".ci/release --offline" in run
