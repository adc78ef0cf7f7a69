"""Without a complete scan, nothing reads as passed or clean: every kind of run, state, page, format and number."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry, generate_latest

from jarvis_workers.operate.metrics.store_collector import StoreCollector
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.webhook import run_ended
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.run_reports.gate import ScopesDiffer, evaluate_gate
from jarvis_workers.sec.run_reports.scan_series import newest_comparable
from jarvis_workers.sec.run_reports.totals import TotalsCache
from jarvis_workers.sec.runs.scan_runs import NotAScan, find_scan, scan_of
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store.engine import Store, open_store
from tests.support.every_kind import EMPTY, StoredRun, every_run, fill, insert_run
from tests.web.sample import application, signed_in

# What a person takes for "nothing is wrong", in both languages.
ALL_IS_WELL = re.compile(
    r"\bpassed\b|\bclean\b|\b(?:0|no|none|nothing) (?:new )?(?:findings?|found\b(?! so far))|no rule fired|nothing new"
    r"|>none<|没有问题|没有新问题|没有规则命中|\b0 个问题",
    re.IGNORECASE,
)
SAID_TO_BE_INCOMPLETE = re.compile(r"(?:incomplete|不完整)\W{1,8}[^\n<]*", re.IGNORECASE)
TAGS = re.compile(r"<(?:style|script).*?</(?:style|script)>|</?[a-z][^>]*>", re.DOTALL)
NOT_CHECKED = re.compile(r"not.checked|incomplete|未检查|未能检查|没有检查", re.IGNORECASE)
# Pages about the application, which name no run.
STATIC = {"static", "openapi", "report_style", "health"}
# Pages and answers about two runs.
COMPARING = {"comparison.show", "api.compare"}
RUNS = every_run()
# In the quick set: every state of a scan, another kind of scan, and runs of other kinds.
FEW = [run for run in RUNS if run.kind == "sec.fast" or (run.kind, run.state) == ("sec.agent", "incomplete")]
FEW += [run for run in RUNS if run.kind in ("code", "c2rust.fast") and run.state == "done"]


class FilledStore(NamedTuple):
    """A store with runs, which no test changes."""

    store: Store
    blobs: DirectoryBlobs
    runs: list[StoredRun]


@pytest.fixture(scope="module", params=[FEW, pytest.param(RUNS, marks=pytest.mark.slow)], ids=["few", "all"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[FilledStore]:
    """A store with these runs."""
    place = tmp_path_factory.mktemp("filled")
    store = open_store(f"sqlite:///{shutil.copyfile(sqlite_template, place / 'jarvis.db')}")
    blobs = DirectoryBlobs(place / "blobs")
    fill(store, blobs, place / "tree", request.param)
    yield FilledStore(store, blobs, request.param)
    store.close()


def test_there_are_kinds_states_and_outputs() -> None:
    assert {"sec.fast", "sec.agent", "code", "agent", "c2rust.fast", "fix"} <= {run.kind for run in RUNS}
    assert {run.state for run in RUNS} >= {"planning", "running", "paused", "failed", "done"}
    assert {run.kind for run in RUNS if run.is_scan} >= {"sec.fast", "sec.agent", "sec.ranked"}


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_report_of_a_scan_that_is_not_complete_names_what_was_not_checked(filled: FilledStore, lang: str) -> None:
    scans = [scan_of(find_run(filled.store, one.id)) for one in filled.runs if one.is_scan]
    for scan, form in product(scans, FORMATS):
        scan.options["lang"] = lang
        text = reports.render(filled.store, filled.blobs, scan, form)
        assert_silent(text, f"{scan.kind} {scan.state} as {form}")
        assert NOT_CHECKED.search(text), f"{scan.kind} {scan.state} as {form}: {text}"


def test_no_other_run_has_a_report_of_findings(filled: FilledStore) -> None:
    for one in filled.runs:
        run = find_run(filled.store, one.id)
        if not one.is_scan:
            with pytest.raises(NotAScan, match=rf"run {one.id} is no scan \(kind {one.kind}\)"):
                find_scan(filled.store, one.id)
            assert TotalsCache().read(filled.store, filled.blobs, [run]) == {}
        elif one.state not in ("done", "incomplete"):
            assert TotalsCache().read(filled.store, filled.blobs, [run]) == {}


def test_no_gate_passes(filled: FilledStore) -> None:
    scans = [find_scan(filled.store, one.id) for one in filled.runs if one.is_scan]

    outcomes = {
        evaluate_gate(filled.store, filled.blobs, scan, "low", base).outcome
        for scan in scans
        for base in (None, "last")
    }

    assert outcomes == {"incomplete"}


def test_the_last_scan_is_a_scan(filled: FilledStore) -> None:
    last = find_scan(filled.store, "last")
    assert next(one for one in filled.runs if one.id == last.id).is_scan


def test_a_webhook_counts_the_findings_of_scans_only(filled: FilledStore) -> None:
    for one in filled.runs:
        sent = run_ended(filled.store, filled.blobs, find_run(filled.store, one.id))
        if one.is_scan and one.state == "incomplete":
            assert sent["not_checked"] == 1
        else:
            assert (sent["findings"], sent["not_checked"]) == (None, None), one


def test_metrics_have_no_number_of_findings(filled: FilledStore) -> None:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StoreCollector(lambda: filled.store, 60.0))

    text = generate_latest(registry).decode()

    assert "jarvis_findings{" not in text and "jarvis_model_cost_dollars{" not in text
    assert 'jarvis_runs{kind="code",state="done"} 1.0' in text


@pytest.mark.slow
def test_no_page_and_no_answer_of_the_api_says_that_all_is_well(filled: FilledStore) -> None:
    app = application(filled.store, filled.blobs)
    client = signed_in(app)
    asked = [(one, address) for one in filled.runs for address in addresses(app, one.id)]
    asked += [(filled.runs[0], address) for address in addresses_of_lists(app)]
    for one, address in asked:
        answer = client.get(address)
        text = answer.get_data(as_text=True)
        assert answer.status_code in (200, 302, 400, 404, 409, 503), (one, address, text)
        assert_silent(text, f"{one} at {address}")
        if not one.is_scan and address.endswith(("/gate", "/findings", "/not-checked")):
            assert (answer.status_code, f"(kind {one.kind})" in text) == (409, True), (one, address, text)
        if answer.is_json:
            assert_incomplete(answer.json, f"{one} at {address}")
    assert len(asked) >= 10 * len(filled.runs)


def test_without_a_scan_last_is_refused(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    fill(store, blobs, tmp_path / "tree", [StoredRun("one", "code", "done")])
    client = signed_in(application(store, blobs))

    for address in ("gate", "findings"):
        answer = client.get(f"/api/v1/runs/last/{address}")
        assert (answer.status_code, answer.json) == (404, {"error": "no such run: there is no scan yet"})
    assert client.get("/api/v1/runs/last").status_code == 200
    assert "There is no ended scan to show" in client.get("/trend").get_data(as_text=True)
    assert "/tree (1)" not in client.get("/trend").get_data(as_text=True)
    assert "/tree (1)" in client.get("/runs").get_data(as_text=True)


@pytest.fixture
def scopes(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> Callable[..., Any]:
    """Insert a complete scan with these options."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.c").write_text("int a;\n")
    snapshot = pack(tree, Selection(frozenset({b".c"})), blobs)

    def insert(name: str, **options: object) -> Any:
        with store.write() as session:
            insert_run(session, blobs, snapshot, tree, StoredRun(name, "sec.fast", "done"), EMPTY, **options)
        return find_scan(store, name)

    return insert


def test_a_complete_scan_without_findings_passes(
    store: Store, blobs: DirectoryBlobs, scopes: Callable[..., Any]
) -> None:
    scan = scopes("one")

    assert evaluate_gate(store, blobs, scan, "low", None).outcome == "passed"
    assert "No findings." in reports.render(store, blobs, scan, "text")


@pytest.mark.parametrize(
    "narrower",
    [
        {"paths": ["a.c"]},
        {"min_confidence": 0.9},
        {"selection": {"include": ["*.h"]}},
        {"selection": {"since": "HEAD~1"}},
        {
            "rules": {
                "off": ["unsafe_api"],
                "severity": {},
                "project": [],
                "packages": {},
                "learned": {},
                "depth": "flow",
            }
        },
        {"rules": {"off": [], "severity": {}, "project": [], "packages": {}, "learned": {}, "depth": "rules"}},
    ],
)
@pytest.mark.slow
def test_scans_of_different_scope_are_not_compared(
    store: Store, blobs: DirectoryBlobs, scopes: Callable[..., Any], narrower: dict[str, Any]
) -> None:
    whole, part, again = scopes("one"), scopes("two", **narrower), scopes("six")
    client = signed_in(application(store, blobs))

    with pytest.raises(ScopesDiffer, match="runs one and two have different scopes"):
        evaluate_gate(store, blobs, part, "low", "one")
    assert client.get("/api/v1/runs/two/gate?baseline=one").status_code == 409
    assert newest_comparable(store, again) == whole
    assert newest_comparable(store, part) is None
    found = client.get(f"/api/v1/trend?root={whole.root}").json
    assert [one["id"] for one in found["runs"]] == ["one", "six"]
    assert [one["runs"] for one in found["scopes"]] == [2, 1]
    other = client.get(f"/api/v1/trend?root={whole.root}&scope={found['scopes'][1]['id']}").json
    assert [one["id"] for one in other["runs"]] == ["two"]
    assert client.get("/api/v1/diff?before=one&after=two").json["different_scopes"]
    assert "different scopes" in client.get("/compare?before=one&after=two").get_data(as_text=True)


def assert_silent(text: str, where: str) -> None:
    shown = " ".join(TAGS.sub(" ", text).split(" ")) if text.startswith("<!doctype html>") else text
    rest = SAID_TO_BE_INCOMPLETE.sub("", shown)
    found = ALL_IS_WELL.search(rest)
    assert found is None, f"{where}: {rest[max(0, found.start() - 80) : found.end() + 80]}"


def assert_incomplete(answer: Any, where: str) -> None:
    """An object with no finding says that the scan is not complete."""
    for part in objects(answer):
        findings = part.get("findings")
        if part.get("total") == 0 and "findings" in part:
            assert part["complete"] is False, f"{where}: {json.dumps(part)}"
        elif isinstance(findings, dict) and not any(findings.values()):
            assert part["not_checked"], f"{where}: {json.dumps(part)}"


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from objects(part)


def addresses(app: Flask, run_id: str) -> Iterator[str]:
    """The address of every page and answer about a run."""
    values = {"run_id": run_id, "finding_id": "C000001", "job_id": 1, "action": "cancel"}
    with app.test_request_context():
        for endpoint, arguments in endpoints(app):
            if arguments:
                yield app.url_for(endpoint, **{name: values[name] for name in arguments})
            elif endpoint in COMPARING:
                yield f"{app.url_for(endpoint)}?after={run_id}&before=r1"


def addresses_of_lists(app: Flask) -> Iterator[str]:
    """The address of every page and answer about all runs."""
    with app.test_request_context():
        for endpoint, arguments in endpoints(app):
            if not arguments and endpoint not in COMPARING:
                yield app.url_for(endpoint)


def endpoints(app: Flask) -> list[tuple[str, set[str]]]:
    rules = [rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    return [(rule.endpoint, rule.arguments) for rule in rules if rule.endpoint not in STATIC]
