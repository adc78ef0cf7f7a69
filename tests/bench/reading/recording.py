"""Turn the requests and answers of a live run into recordings by place (`replay`).

The exchanges are files below a directory, each a JSON object with a `request` and its `takes` (answers): either whole
chat completions, or objects with `content` and `tool_calls`. Recordings have hashes in place of code, and no quotes.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.sec.judge.slices.places import SourceFile
from tests.bench.reading.replay import RULE_CWE, code_at, code_hash
from tests.support.judging import CANDIDATE, PLACE, place_of, task_of
from tests.support.proving import to_show
from tests.support.reading_files import is_reading

OF_ITEM = ("description", "reach", "severity", "sure", "suggestion", "cause", "look_at")
PROVE = "run_proof"
LIST = re.compile(r"\[.*\]", re.DOTALL)
# A place and the number of a weakness.
Key = tuple[str, int]


class Exchange(NamedTuple):
    """A request and its answer: the calls by name and arguments, and the items of a report."""

    request: Mapping[str, Any]
    calls: list[tuple[str, dict[str, Any]]]
    items: list[dict[str, Any]]

    @property
    def turn(self) -> int:
        """The number of answers before this one."""
        return sum(message["role"] == "assistant" for message in self.request["messages"])


class RecordedRun(NamedTuple):
    """The recordings of a run as lines of JSON, and what could not be recorded."""

    lines: list[str]
    problems: list[str]


def record(exchanges: Path, directory: Path) -> RecordedRun:
    """Return the recordings of the exchanges below a directory about the tree in `directory`."""
    rows = defaultdict[Key, dict[str, Any]](dict)
    problems = list[str]()
    for one in sorted(_exchanges(exchanges), key=lambda exchange: exchange.turn):
        task = task_of(one.request)
        if is_reading(one.request):
            problems += _record_items(one, directory, rows)
            continue
        _record_verdicts(one, task, rows)
        texts = to_show(one.request) or dict(_candidates(task))
        for given in (given for name, given in one.calls if name == PROVE):
            key = _place(texts[given.pop("candidate", min(texts))])
            rows[key].setdefault("prove", []).append(given)
    lines = list[str]()
    for (place, cwe), row in sorted(rows.items()):
        if found := code_at(place, directory):
            lines.append(json.dumps({"place": place, "code": code_hash(found[1]), "cwe": cwe, **row}))
        else:
            problems.append(f"{place}: no such place")
    return RecordedRun(lines, problems)


def _record_items(one: Exchange, directory: Path, rows: dict[Key, dict[str, Any]]) -> Iterator[str]:
    """Record what a reader names, by the nearest line with its quote; yield what has none."""
    for item in one.items:
        path = directory / str(item["file"])
        if place := _quoted(path, item):
            rows[place, int(item["cwe"])]["read"] = {name: item[name] for name in OF_ITEM if name in item}
        else:
            yield f"{item['file']}:{item['line']}: its quote is no line of the file"


def _quoted(path: Path, item: Mapping[str, Any]) -> str | None:
    if not path.is_file():
        return None
    source = SourceFile(str(item["file"]), path.read_bytes())
    first = str(item["quote"]).strip().partition("\n")[0].strip()
    lines = [number for number, text in enumerate(source.decided, 1) if text.strip() == first]
    if not lines:
        return None
    line = min(lines, key=lambda number: abs(number - int(item["line"])))
    function = source.at(line)
    return f"{item['file']}#{function.name}:{line - function.first + 1}"


def _record_verdicts(one: Exchange, task: str, rows: dict[Key, dict[str, Any]]) -> None:
    texts = dict(_candidates(task))
    for item in one.items:
        if (text := texts.get(item.get("gid", 0))) and not to_show(one.request):
            _, file, line, _ = place_of(text)
            evidence = [{"file": quote["file"], "line": quote["line"]} for quote in item.pop("evidence", ())]
            said = {name: value for name, value in item.items() if name not in ("gid", "other_findings")}
            rows[f"{file}:{line}", _cwe(text)]["verify"] = {**said, "evidence": evidence}


def _candidates(task: str) -> Iterator[tuple[int, str]]:
    return ((int(number), text) for number, text in CANDIDATE.findall(task))


def _place(text: str) -> Key:
    file, line = PLACE.findall(text)[0]
    return f"{file}:{line}", _cwe(text)


def _cwe(text: str) -> int:
    return int((RULE_CWE.findall(text) or ["0"])[0])


def _exchanges(directory: Path) -> Iterator[Exchange]:
    for file in sorted(directory.rglob("*.json")):
        row = json.loads(file.read_text())
        if "request" in row:
            for take in row["takes"]:
                yield _exchange(row["request"], take)


def _exchange(request: Mapping[str, Any], take: Mapping[str, Any]) -> Exchange:
    message = take["choices"][0]["message"] if "choices" in take else take
    named = [call.get("function", call) for call in message.get("tool_calls") or ()]
    calls = [(call["name"], _object(call["arguments"])) for call in named]
    reports = [given["report"] for name, given in calls if name == "submit_report"]
    match = LIST.search(message.get("content") or "")
    items = reports[0] if reports else json.loads(match[0]) if match else []
    return Exchange(request, calls, [item for item in items if isinstance(item, dict)])


def _object(arguments: Any) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(arguments) if isinstance(arguments, str) else arguments
    return given
