"""A store with runs that have reports, and the application over it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache

from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import WebSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import artifacts, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.web.access.sign_in import sign_in_of
from jarvis_workers.web.app import create_app
from jarvis_workers.web.background_runs import BackgroundRuns
from jarvis_workers.web.context import WebContext
from tests.runs.test_submit import asking
from tests.support.issues import FACTS

TOKEN = "t" * 43
LOCAL = ("localhost", "127.0.0.1")


class CompiledTemplates(BytecodeCache):
    """Templates compiled once per process: otherwise each test would compile those of its pages."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


COMPILED = CompiledTemplates()


def issue(number: int, **facts: Any) -> dict[str, Any]:
    """The JSON of a finding in line `number` of a.c."""
    own = {"id": f"C{number:06x}", "gid": number, "line": number, "fingerprint": f"{number:016x}"}
    return FACTS | own | facts


def summary_of(issues: Sequence[dict[str, Any]]) -> dict[str, Any]:
    levels = ("high", "medium", "low")
    counts = {name: sum(one["severity"] == name for one in issues) for name in levels}
    return {"total": len(issues), "by_severity": counts, "scanned_files": 1}


def add_report(store: Store, blobs: DirectoryBlobs, run_id: str, issues: Sequence[dict[str, Any]], **parts: Any) -> Run:
    """Complete a run with a report."""
    body = {
        "summary": summary_of(issues) | parts.pop("summary", {}),
        "issues": issues,
        "dismissed": [],
        "suppressed": [],
    }
    content = json.dumps(body | parts).encode()
    with store.write() as session:
        artifacts.save(session, run_id, [("report", blobs.put(content), len(content))])
        runs.finish(session, run_id, "done")
    return find_run(store, run_id)


def submitted(store: Store, blobs: DirectoryBlobs, tree: Path, run_id: str = "one", **changes: Any) -> Run:
    """A run over a tree with 99 lines of C."""
    tree.mkdir(exist_ok=True)
    (tree / "a.c").write_text("".join(f"int a{number};\n" for number in range(1, 100)))
    request = asking(tree, run_id)
    return find_run(store, submit(store, blobs, replace(request, **changes) if changes else request))


def application(store: Store, blobs: DirectoryBlobs, web: WebSettings | None = None, **changes: Any) -> Flask:
    """Return the application with these access settings."""
    app = create_app(world_of(store, blobs, web, **changes))
    app.jinja_env.bytecode_cache = COMPILED
    return app


def world_of(store: Store, blobs: DirectoryBlobs, web: WebSettings | None = None, **changes: Any) -> WebContext:
    """Return the parts of the application."""
    web = web or WebSettings()
    sign_in, api_tokens = sign_in_of(web, TOKEN, "ann")
    settings = Settings(web=web, data_dir=blobs.root.parent, processes=1)
    return WebContext(
        settings=settings,
        store=store,
        blobs=blobs,
        background=BackgroundRuns(settings, store),
        sign_in=sign_in,
        api_tokens=api_tokens,
        **{"hosts": LOCAL if web.auth == "token" else ()} | changes,
    )


def signed_in(app: Flask) -> FlaskClient:
    """Return a client that has opened the printed address."""
    client = app.test_client()
    answer = client.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    return client


def csrf_token(client: FlaskClient, page: str) -> str:
    """The CSRF token in the first form of a page."""
    text = client.get(page).get_data(as_text=True)
    return text.partition('name="csrf_token" value="')[2].partition('"')[0]
