"""Measure the prompt tokens of a verdict with a scripted model: python -m tests.bench.verdict_tokens TREE…

Each tree is scanned by `jarvis sec agent` in a store of its own, twice, with the model of `tests.support.judging`.
Tokens are those of the project's estimator. The static part of a request is its tools and system message; it counts
once a run if all requests share it and it has the 1,024 tokens from which providers cache a prefix, else with each
request.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.models.platforms.protocol import estimate
from tests.agents.loop.server import Body, ModelServer
from tests.support.judging import AGAIN, judge
from tests.support.settings_files import write_settings

CACHED_FROM = 1_024
FINDINGS = 40


class Prompts(NamedTuple):
    """The requests of a run for verdicts: their number, tokens, and those of the static part if it is cached."""

    requests: int
    tokens: int
    static: int

    @property
    def counted(self) -> int:
        return self.tokens - max(self.requests - 1, 0) * self.static


def prompts_of(bodies: Sequence[Body]) -> Prompts:
    """Return the totals of the requests for verdicts."""
    verifying = [body for body in bodies if AGAIN not in str(_task(body))]
    heads = {_head(body) for body in verifying}
    tokens = sum(estimate(_head(body)) + sum(map(estimate, _rest(body))) for body in verifying)
    static = estimate(heads.pop()) if len(heads) == 1 else 0
    return Prompts(len(verifying), tokens, static if static >= CACHED_FROM else 0)


def measure(tree: Path, place: Path) -> tuple[Prompts, int, int]:
    """Return the prompts of a run, its verdicts, and the number of requests of a second run."""
    with ModelServer(forever=judge) as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(place, {"models": {"m": group}, "model_group": "m"})
        report = _run(tree, place)
        first = list(server.requests)
        _run(tree, place)
        again = len(server.requests) - len(first)
    findings = [*report["issues"], *report.get("dismissed", ())]
    return prompts_of(first), sum(issue["status"] != "undecided" or _is_unclear(issue) for issue in findings), again


def _is_unclear(issue: Mapping[str, Any]) -> bool:
    """Whether the model has been asked about an undecided finding."""
    return "max-findings" not in str(issue["reason"])


def _run(tree: Path, place: Path) -> dict[str, Any]:
    program = [sys.executable, "-m", "jarvis_cli", "sec", "agent", "-p", str(tree), "--format", "json"]
    options = ["--lang", "en", "--read", "none", "--max-findings", str(FINDINGS), "-o", str(place / "report.json")]
    environment = os.environ | {"HOME": str(place), "JARVIS_STORE_URL": f"sqlite:///{place / 'store.db'}"}
    root = str(Path(__file__).parents[2])
    subprocess.run(
        [*program, *options], cwd=place, env=environment | {"PYTHONPATH": root}, check=False, capture_output=True
    )
    report: dict[str, Any] = json.loads((place / "report.json").read_text())
    return report


def _task(body: Body) -> object:
    return next(message["content"] for message in body["messages"] if message["role"] == "user")


def _head(body: Body) -> str:
    system = body["messages"][0]["content"]
    return f"{json.dumps(body.get('tools', []))}\n{json.dumps(body.get('response_format', {}))}\n{system}"


def _rest(body: Body) -> Iterator[str]:
    for message in body["messages"][1:]:
        yield str(message.get("content") or "")
        yield from (str(call["function"]) for call in message.get("tool_calls") or ())


def main(trees: Sequence[str]) -> None:
    print("| tree | verdicts | requests | prompt tokens a verdict | with the static part once | second run |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for tree in trees:
        with tempfile.TemporaryDirectory() as place:
            prompts, verdicts, again = measure(Path(tree).resolve(), Path(place))
        each, counted = prompts.tokens / verdicts, prompts.counted / verdicts
        print(f"| {Path(tree).name} | {verdicts} | {prompts.requests} | {each:,.0f} | {counted:,.0f} | {again} |")


if __name__ == "__main__":
    main(sys.argv[1:])
