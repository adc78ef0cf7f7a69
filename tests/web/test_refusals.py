"""A refusal is told in the words of readers: without commands, addresses and paths of the server."""

import re
from itertools import product
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import budgets, runs
from jarvis_workers.store.engine import Store
from tests.support.every_kind import StoredRun, fill
from tests.web.sample import application, csrf_token, signed_in
from tests.web.test_absent_findings import addresses, addresses_of_lists

COMMAND = re.compile(r"jarvis (?:runs|sec|admin|doctor|config|web)|--[a-z]")
RUNS = [StoredRun(state, "sec.fast", state) for state in ("failed", "cancelled", "cancelling", "running", "incomplete")]
RUNS += [StoredRun("noscan", "code", "done"), StoredRun("spent", "code", "paused")]
NAMES = ("failed", "running", "incomplete", "noscan", "nobody", "no%20id")
ACTIONS = ("cancel", "resume", "retry")


@pytest.fixture
def client(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> FlaskClient:
    fill(store, blobs, tmp_path / "tree", RUNS)
    with store.write() as session:
        budgets.put(session, "spent", RunBudget("s", 1))
        runs.pause(session, "spent", budgets.REASON)
    return signed_in(application(store, blobs))


def refusals(client: FlaskClient) -> dict[str, tuple[int, str]]:
    """Return the status and the text of every refused request."""
    asked = [*addresses_of_lists(client.application)]
    asked += [address for name in NAMES for address in addresses(client.application, name)]
    answers = {address: client.get(address) for address in asked}
    form = {"csrf_token": csrf_token(client, "/runs/running")}
    for name, action in product(["failed", "cancelled", "cancelling", "noscan", "spent", "nobody"], ACTIONS):
        if (name, action) in (("cancelling", "cancel"), ("spent", "cancel")):
            continue
        page, api = f"/runs/{name}/{action}", f"/api/v1/runs/{name}/{action}"
        answers |= {
            page: client.post(page, data=form),
            api: client.post(api, headers={"X-CSRFToken": form["csrf_token"]}),
        }
    return {
        address: (answer.status_code, answer.get_data(as_text=True))
        for address, answer in answers.items()
        if answer.status_code >= 400
    }


def assert_for_readers(found: dict[str, tuple[int, str]], store: Store, place: Path) -> None:
    for address, (code, text) in found.items():
        shown = re.sub(r"<(?:style|script).*?</(?:style|script)>", "", text, flags=re.DOTALL)
        for private in (store.where, "sqlite:", "postgresql:", f"{place}/blobs", str(place / "data")):
            assert private not in shown, (address, code, shown)
        assert not COMMAND.search(shown), (address, code, shown)


@pytest.mark.slow
def test_no_refusal_names_a_command_or_a_place_of_the_server(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    found = refusals(client)

    assert {code for code, _ in found.values()} >= {400, 404, 409}
    for action in ACTIONS[:2]:
        assert found[f"/runs/failed/{action}"][0] == found[f"/api/v1/runs/failed/{action}"][0] == 400, found
    assert_for_readers(found, store, tmp_path)


@pytest.mark.slow
def test_nor_does_one_for_want_of_the_store(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    for blob in blobs.root.rglob("*"):
        if blob.is_file():
            blob.unlink()
    found = refusals(client)

    assert 503 in {code for code, _ in found.values()}
    assert_for_readers(found, store, tmp_path)
