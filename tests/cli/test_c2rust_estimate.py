"""`--dry-run` of commands over C projects: what it prints, and that it asks no model and leaves nothing behind."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.c2rust.commands.estimate import estimate_json, estimate_lines
from jarvis_workers.c2rust.runs.run_estimate import ASSUMED, BudgetFit, RunEstimate
from jarvis_workers.models.platforms.usage_profile import ConversationProfile
from jarvis_workers.runs.stage_measure import StageShare
from tests.agents.loop.planning import answer_about_plan
from tests.agents.loop.server import Body, ModelServer, Step
from tests.agents.loop.translating import with_reviews
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_lib_replace import PACKER
from tests.cli.test_c2rust_transpile import COMMANDS, FILES, perfect
from tests.support.servers import require
from tests.support.settings_files import write_settings

DRIVER = StageShare(4, 0, 6, 9_400, 3_000, 0.0094, 0.012, ASSUMED["driver"])
TRANSLATE = StageShare(40, 10, 108, 234_567, 42_000, 0.2346, 0.168, ConversationProfile(3.6, -196, 389, seen=310))
FOUND = RunEstimate(
    "fast", {"driver": DRIVER, "translate": TRANSLATE}, 452, 0.93, priced=True, drivers=4, budget=BudgetFit(True, "a")
)


def test_people_see_the_table_of_sec_and_the_limit() -> None:
    assert (
        "\n".join(estimate_lines(FOUND))
        == """\
                 jobs      known      questions      their tokens      answers' tokens      dollars
driver              4          0              6             9,400                3,000       0.0214
translate          40         10            108           234,567               42,000       0.4026
total              44         10            114           243,967               45,000       0.4240

never more than 452 questions; model group: fast
no test reaches 4 functions: half of them are assumed to be translated, by drivers
writing a driver: 1.6 questions, 700 tokens added per conversation, 500 per answer (assumed until more jobs have run)
translating and reviewing a function: 3.6 questions, -196 tokens added per conversation, 389 per answer\
 (the mean of 310 jobs)
tokens counted by the server per estimated token: 0.93
known: answers that are cached and cost nothing
answers are 42% of the cost; the estimate ignores the provider's prompt cache
budget: the estimate fits: a"""
    )


def test_people_are_told_what_the_estimate_lacks() -> None:
    found = replace(FOUND, stages={"replace": DRIVER}, drivers=0, gaps=2, priced=False, improves=True)
    found = replace(found, budget=BudgetFit(False, "b"))
    *_, unpriced, budget = shown = list(estimate_lines(found))

    assert "NOT CHECKED: 2 units, whose functions are not in the estimate" in shown
    assert "it is assumed that no function is replaced by a library" in shown
    assert "the edits of --improve are not included" in shown
    assert unpriced.startswith("cost not estimated")
    assert budget == "budget: the estimate exceeds it: b"


def test_programs_see_all_numbers() -> None:
    told = json.loads(estimate_json(FOUND))

    assert (told["most_calls"], told["drivers"], told["budget"]) == (452, 4, {"fits": True, "says": "a"})
    assert told["stages"]["translate"]["habit"]["seen"] == 310
    assert told["stages"]["total"]["calls"] == 114


@pytest.mark.parametrize("command", ["transpile", "prepare", "run", "lib-replace"])
@pytest.mark.parametrize(("more", "says"), [(("--detach",), "--detach cannot be combined with --dry-run"), ((), "")])
def test_a_dry_run_cannot_be_detached_and_json_is_for_dry_runs(
    jarvis: Jarvis, command: str, more: tuple[str, ...], says: str
) -> None:
    dry = ("--dry-run", *more) if more else ("--json",)
    ended = jarvis("c2rust", command, *dry, *(("--no-replace",) if command == "run" else ()))

    assert ended.code == 2
    assert (says or "--json is for --dry-run") in ended.line


@pytest.mark.parametrize("command", ["transpile", "run", "lib-replace"])
def test_a_dry_run_fetches_no_crates(jarvis: Jarvis, command: str) -> None:
    roots = ("--root-list-syms", "f") if command == "run" else ()
    ended = jarvis("c2rust", command, *roots, "--dry-run", "--fetch-crates")

    assert ended.code == 2
    assert "--fetch-crates cannot be combined with --dry-run" in ended.line


@pytest.mark.parametrize("more", [("--name", "n"), ("--branch", "b"), ("--interface", ".")], ids=lambda more: more[0])
def test_a_dry_run_has_no_name_and_no_branch_and_no_interface(jarvis: Jarvis, more: tuple[str, ...]) -> None:
    ended = jarvis("c2rust", "transpile", "--dry-run", *more)

    assert ended.code == 2
    assert "--dry-run" in ended.line


def set_model(jarvis: Jarvis, server: ModelServer) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k", "prices": {"input": 1}}
    write_settings(jarvis.place, {"models": {"m": group}})


def estimate(jarvis: Jarvis, command: str, *options: object) -> dict[str, Any]:
    ended = jarvis.spawn("c2rust", command, "-q", *options, "--dry-run", "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.mark.slow
def test_a_dry_run_asks_nobody_and_foresees_the_run_and_its_repetition(jarvis: Jarvis) -> None:
    require("cc", "make", "cargo")
    library = jarvis.tree("small", FILES)
    options = ("-p", library, *COMMANDS, "--only", "clamp", "--only", "total")
    with ModelServer(forever=with_reviews(perfect)) as server:
        set_model(jarvis, server)
        new = estimate(jarvis, "transpile", *options, "--budget", "1ktok")
        assert (server.requests, library.with_name("small_rs").exists()) == ([], False)
        assert jarvis("runs", "list").out == ""
        assert jarvis.spawn("c2rust", "transpile", "-q", *options).code == 0
        again = estimate(jarvis, "transpile", *options)

    assert (new["stages"]["translate"]["jobs"], new["stages"]["translate"]["known"]) == (2, 0)
    assert (new["most_calls"], new["budget"]["fits"]) == (2 * 10, False)
    assert len(server.requests) == 2 * 3
    assert (again["stages"]["translate"]["jobs"], again["stages"]["translate"]["known"]) == (2, 2)
    assert again["stages"]["total"]["prompt"] == 0


@pytest.mark.slow
def test_all_stages_of_a_run_are_estimated_and_cached_plans_are_used(jarvis: Jarvis) -> None:
    require("cc", "make", "cargo")
    library = jarvis.tree("small", FILES)

    def planner(body: Body) -> Step:
        answer = answer_about_plan(body, "src/all.rs")
        assert answer
        return answer

    with ModelServer(forever=planner) as server:
        set_model(jarvis, server)
        prepared = estimate(jarvis, "prepare", "-p", library, *COMMANDS)
        assert server.requests == []
        assert jarvis.spawn("c2rust", "prepare", "-q", "-p", library, *COMMANDS).code in (0, 3)
        asked = len(server.requests)
        found = estimate(jarvis, "run", "-p", library, *COMMANDS, "--no-replace")
        assert len(server.requests) == asked

    stages = found["stages"]
    assert prepared["stages"]["total"]["jobs"] == asked
    assert "replace" not in stages
    assert (stages["layout"]["known"], stages["signatures"]["known"]) == (1, 1)
    assert stages["translate"]["jobs"] > 0
    assert not (library / ".jarvis" / "c2rust" / "roots.txt").exists()


@pytest.mark.slow
def test_all_functions_are_judged_if_none_is_replaced(jarvis: Jarvis) -> None:
    project = Path(shutil.copytree(PACKER, jarvis.place / "packer"))
    assert jarvis("c2rust", "scan", "-q", "-p", project).code == 0
    with ModelServer() as server:
        set_model(jarvis, server)
        found = estimate(jarvis, "lib-replace", "-p", project)

    # All functions but main.
    assert found["stages"]["replace"]["jobs"] == 16
    assert found["most_calls"] == 3 * 16
    assert jarvis("runs", "list").out.count("c2rust") == 1
