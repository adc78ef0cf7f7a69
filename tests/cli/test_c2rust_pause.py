"""A run of `jarvis c2rust transpile` whose budget is used up: its crate so far, and its end; with a scripted model."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.store import runs, translated_functions
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.chaos.commands import until
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_transpile import BODIES, FILES, head_of, transpile
from tests.support.servers import require

# The tokens of each of four answers, and a budget for two of the longest possible answers at a time.
USAGE = {"prompt_tokens": 3_000, "completion_tokens": 5_000}
FUNCTIONS, CAP = 4, 25_000


def model_of(jarvis: Jarvis) -> Callable[[Body], Step]:
    """Return a model whose second answer comes when the first one is accepted."""
    numbers = count()

    def is_accepted() -> bool:
        with wiring.store_of(jarvis.settings) as store, store.read() as session:
            (run,) = runs.newest(session, 1)
            return bool(translated_functions.proofs(session, run.id))

    def answer(body: Body) -> Step:
        name, head = head_of(body)
        if next(numbers) == 1:
            until(is_accepted)
        rust = {**BODIES, "twice": "{ a.wrapping_mul(2) }"}[name]
        return replace(calls("submit_report", rust=f"{head} {rust}"), usage=USAGE)

    return answer


def crate_files(crate: Path) -> dict[str, bytes]:
    """Return the contents of a crate, but for what names its run or was built."""
    files = (path for path in crate.rglob("*") if path.is_file() and "target" not in path.parts)
    return {str(path.relative_to(crate)): path.read_bytes() for path in files if path.suffix in (".rs", ".toml", ".c")}


def build_and_test(crate: Path) -> None:
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_at_the_end_of_the_budget_there_is_a_crate_that_builds(jarvis: Jarvis) -> None:
    """The resumed run ends with the same bytes as one without a budget."""
    require("cc", "make", "cargo")
    library = jarvis.tree("small", FILES)
    crate, so_far, end = library.with_name("small_rs"), jarvis.place / "so_far", jarvis.place / "end"
    with ModelServer(forever=model_of(jarvis)) as server:
        paused = transpile(jarvis, library, server, "--no-review", "--budget", f"{CAP}tok")
        assert paused.code == 3, paused.err
        exported = jarvis.spawn("runs", "export", "last", "-d", so_far)
        assert exported.code == 3, exported.err
        assert f"crate so far: {so_far}/crate/; 5 of 6 functions in Rust" in exported.err
        shown = json.loads(jarvis("runs", "show", "last", "--json").out)
        resumed = jarvis.spawn("runs", "resume", "last", "--budget", f"{10 * CAP}tok")
        assert "4 of them translated by the model" in resumed.err, resumed.err
        assert jarvis.spawn("runs", "export", "last", "-d", end).code == 0
        assert len(server.requests) == FUNCTIONS, "no answer is asked for twice"
        whole = transpile(jarvis, library, server, "--no-review", "-o", jarvis.place / "whole" / "small_rs")
        assert whole.code == resumed.code, whole.err

    found = re.search(rf"crate so far: {crate}/; 5 of 6 functions in Rust; (\d) of them translated by", paused.err)
    assert found, paused.err
    assert 0 < int(found[1]) < FUNCTIONS
    assert f"continue with: jarvis runs resume {shown['id']} --budget AMOUNT" in paused.err
    assert (shown["state"], shown["kind"]) == ("paused", "c2rust.transpile"), "the run of the crate is removed"
    assert 0 < shown["budget"]["spent"] <= CAP
    assert shown["stages"]["translate"]["accepted"] == int(found[1])
    build_and_test(crate)
    states = [json.loads(line)["state"] for line in (so_far / "symbol_map.jsonl").read_text().splitlines()]
    assert states.count("translated") == int(found[1])
    assert crate_files(so_far / "crate") == crate_files(crate)
    assert crate_files(end / "crate") == crate_files(jarvis.place / "whole" / "small_rs") != crate_files(crate)
