"""A model that replays recorded conversations about the labelled code.

A recording belongs to the place of a candidate, `FILE#FUNCTION:LINE`: the functions that the model read first, and its
verdict. It is not tied to the words of a prompt, so that a changed prompt needs no new recordings; a candidate without
one gets no verdict. These recordings were written by hand, as a strong model would answer.
"""

import json
from typing import Any

from tests.agents.loop.server import Body, Step, calls
from tests.bench.verdicts.scoring import OWN
from tests.support.judging import AGAIN, answer, judge, place_of, usage_of

OF_VERDICT = ("preconditions", "trigger_path", "consequences", "suggestions", "evidence")


class Replay:
    """Answers each request with the next turn of the recordings of its candidates."""

    def __init__(self) -> None:
        rows = map(json.loads, (OWN / "recorded.jsonl").read_text().splitlines())
        self._recorded: dict[str, dict[str, Any]] = {row["place"]: row for row in rows}

    def __call__(self, body: Body) -> Step:
        task = next(message["content"] for message in body["messages"] if message["role"] == "user")
        if task.startswith(AGAIN):
            return judge(body)
        reads: list[str] = []

        def items(number: int, text: str) -> list[dict[str, Any]]:
            _, file, line, _ = place_of(text)
            recorded = self._recorded.get(f"{file}:{line}")
            if recorded is None:
                return []
            reads.extend(recorded["reads"])
            return [{"gid": number, "has_risk": recorded["risk"], **{name: recorded[name] for name in OF_VERDICT}}]

        report = answer(body, items)
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if turn < len(reads):
            return Step(content=None, calls=calls("read_code", path=reads[turn]).calls, usage=usage_of(body))
        return report
