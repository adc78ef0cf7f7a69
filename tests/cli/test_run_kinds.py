"""A kind of run is a row: commands and the page ask it alone, for the kinds of other packages as well."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from sqlmodel import update

from jarvis_cli.kit.run_results import RunOutput
from jarvis_workers.pipeline.stages import kinds, optional_function
from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.run_kinds import RunResult
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.store.tables import RUN
from tests.cli.commands import Jarvis
from tests.toy import KIND, LINES, ToyOptions
from tests.web.sample import application, signed_in

COUNTED = "a.c: 2 lines\nb.c: 1 lines\nall: 3 lines\n"


@pytest.fixture
def submit_toy(jarvis: Jarvis) -> Callable[[], str]:
    """Submit a run of the toy domain whose command has ended before it was executed."""

    def start() -> str:
        tree = jarvis.tree("tree", {"a.c": "1\n2\n", "b.c": "1\n"})
        settings = jarvis.settings
        with wiring.store_of(settings) as store:
            LINES.create(store.engine)
            selection = selection_of(settings)
            options = RunInput(ToyOptions(batch_files=2, batch_bytes=1 << 20))
            return submit(
                store,
                blobs_of(settings),
                RunRequest("toy", KIND, tree, selection, "local:gone-1-0", options),
            )

    return start


@pytest.fixture
def counted(jarvis: Jarvis, submit_toy: Callable[[], str]) -> str:
    run = submit_toy()
    ended = jarvis("runs", "resume", run)
    assert (ended.code, ended.out) == (0, COUNTED)
    assert ended.err.endswith("jarvis: run toy has 3 lines\n")
    return run


def test_a_kind_of_another_package_prints_reports_and_exports(jarvis: Jarvis, counted: str, tmp_path: Path) -> None:
    waited = jarvis("runs", "wait", counted)
    exported = jarvis("runs", "export", counted, "-d", tmp_path)

    assert (waited.code, waited.line) == (0, "jarvis: run toy has 3 lines")
    assert jarvis("runs", "report", counted).out == COUNTED
    assert json.loads(jarvis("runs", "report", counted, "--format", "json").out)["total"] == 3
    assert jarvis("runs", "report", counted, "--format", "sarif").line.endswith("use text or json")
    assert (exported.code, exported.out) == (0, f"{tmp_path / 'lines.json'}\n")
    assert json.loads((tmp_path / "lines.json").read_text())["files"] == {"a.c": 2, "b.c": 1}
    assert "count stage   closed, 1/1 batches" in jarvis("runs", "show", counted).out


def test_a_kind_of_another_package_shows_itself_in_the_page(jarvis: Jarvis, counted: str) -> None:
    with wiring.store_of(jarvis.settings) as store:
        client = signed_in(application(store, blobs_of(jarvis.settings)))  # type: ignore[arg-type]
        page = client.get(f"/runs/{counted}").get_data(as_text=True)
        graph = client.get(f"/runs/{counted}/graph").get_data(as_text=True)
        gate = client.get(f"/api/v1/runs/{counted}/gate")

    assert "<h3>lines</h3>" in page and "all: 3 lines" in page
    assert f'href="/runs/{counted}/graph">Interactive page' in page
    assert "<title>Lines</title>" in graph and COUNTED in graph
    assert (gate.status_code, gate.json) == (409, {"error": "run toy is no scan (kind toy.lines)"})


@pytest.fixture
def unknown(jarvis: Jarvis, counted: str) -> Iterator[str]:
    """A run of a kind that no installed package provides."""
    with wiring.store_of(jarvis.settings) as store:
        with store.write() as session:
            session.execute(update(RUN).where(RUN.c.id == counted).values(kind="gone.kind"))
        yield counted


def test_a_kind_that_is_not_installed_is_an_error_and_no_scan(jarvis: Jarvis, unknown: str) -> None:
    for words in (("wait", unknown), ("report", unknown), ("export", unknown, "-d", "out"), ("diff", unknown, unknown)):
        ended = jarvis("runs", *words)
        assert (ended.code, ended.line.partition(": install")[0]) == (
            2,
            'jarvis: no pipeline for runs of kind "gone.kind"',
        )
    assert "kind          gone.kind" in jarvis("runs", "show", unknown).out
    with wiring.store_of(jarvis.settings) as store:
        client = signed_in(application(store, blobs_of(jarvis.settings)))  # type: ignore[arg-type]
        page = client.get(f"/runs/{unknown}")
        gate = client.get(f"/api/v1/runs/{unknown}/gate")
    assert page.status_code == 200
    assert "no pipeline for runs of kind" in page.get_data(as_text=True)
    assert gate.status_code == 409


@pytest.mark.parametrize("name", sorted(kinds()))
def test_the_modules_of_a_kind_have_the_functions_of_their_interface(name: str) -> None:
    kind = kinds()[name]
    for module, interface in ((kind.output, RunOutput), (kind.result, RunResult)):
        found = {function: optional_function(module, function) for function in interface.__annotations__}
        assert module is None or any(found.values()), f"{module} has no function of a kind"
        for function, hint in interface.__annotations__.items():
            if implemented := found[function]:
                inspect.signature(implemented).bind(*get_args(hint)[0])
    if kind.compare:
        assert optional_function(kind.compare, "compare")
