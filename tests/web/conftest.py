"""A store on SQLite with one ended run `one`, and a signed-in client."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from tests.web.sample import add_report, application, issue, signed_in, submitted


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(sqlite_url)


@pytest.fixture
def run(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> Run:
    submitted(store, blobs, tmp_path / "tree")
    said = [{"rule": "gcc:x", "line": 3, "text": "gcc (warning): weak"}]
    lower = issue(
        2, severity="low", pattern="weak_random", category="crypto", file="lib/b.c", score=0.4, witnesses=said
    )
    return add_report(store, blobs, "one", [issue(1), lower])


@pytest.fixture
def app(store: Store, blobs: DirectoryBlobs, run: Run) -> Flask:
    return application(store, blobs)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return signed_in(app)
