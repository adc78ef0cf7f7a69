"""A model that replays a reader's recordings: what it named, how it judged it, and how it proved it.

A recording belongs to a place, `FILE#FUNCTION:LINE` with the lines of the function, and a kind of weakness; it has a
part for each kind of question (`Part`). It is not tied to the words of a prompt. It applies as long as the line has the
code that it had (a hash: recordings contain no code of a tree); those that do not apply any more, or that nothing asked
for, are counted and listed, and so are questions without a recording.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

from jarvis_workers.sec.judge.slices.places import SourceFile
from jarvis_workers.sec.same_defect import is_same_weakness
from tests.agents.loop.server import Body, Step
from tests.support.judging import AGAIN, CANDIDATE, PLACE, answer, judge, place_of, task_of
from tests.support.proving import answers_since, gives_up, to_show, tries
from tests.support.reading_files import is_reading, reported

Part = Literal["read", "verify", "prove"]
PARTS: tuple[Part, ...] = ("read", "verify", "prove")
# A place as questions name it; the rule of a candidate with the number of its weakness.
NAMED_PLACE = re.compile(r"([^#]+)#(.+):(\d+)")
RULE_CWE = re.compile(r"^.rule: .*CWE-(\d+)", re.MULTILINE)
NO_PROOF = "no recorded attempt has shown the defect"


@dataclass(frozen=True)
class Recording:
    """What a reader said of a place: the fields of an item, of a verdict, and the arguments of attempts to prove it."""

    place: str
    code: str
    cwe: int
    read: Mapping[str, Any] | None = None
    verify: Mapping[str, Any] | None = None
    prove: tuple[Mapping[str, Any], ...] | None = None


class RecordedLine(NamedTuple):
    """A recording, and where its place is in a tree."""

    recording: Recording
    file: str
    line: int
    code: str


@dataclass
class Replay:
    """Answers requests with the recordings that apply to the tree in `directory`."""

    directory: Path
    recordings: Iterable[Recording]
    stale: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._used = set[tuple[str, int, Part]]()
        self._lines = list[RecordedLine]()
        for one in self.recordings:
            if found := located(one, self.directory):
                self._lines.append(found)
            else:
                self.stale.append(f"{one.place} (CWE-{one.cwe}): the code of this line has changed")

    def __call__(self, body: Body) -> Step:
        with self._lock:
            return self._respond(body)

    @property
    def unused(self) -> list[str]:
        """The recordings that apply, but that no question asked for."""
        parts = [(one.recording, part) for one in self._lines for part in PARTS]
        return [
            f"{one.place} (CWE-{one.cwe}): no question for {part}"
            for one, part in parts
            if getattr(one, part) is not None and (one.place, one.cwe, part) not in self._used
        ]

    def _respond(self, body: Body) -> Step:
        task = task_of(body)
        if AGAIN in task:
            return judge(body)
        if is_reading(body):
            return reported(body, self._items(task))
        if shown := to_show(body):
            return self._attempt(body, shown)
        if not CANDIDATE.search(task):
            self.unanswered.append(f"a question that begins {task[:60]!r}")
        return answer(body, self._verdicts)

    def _items(self, task: str) -> list[dict[str, Any]]:
        """Return an item for each recorded line that a request shows."""
        items = []
        for one in self._lines:
            shown = re.search(rf"^.{one.line}\|[ \t]*{re.escape(one.code)}$", task, re.MULTILINE)
            if shown and one.file in task and (said := self._use(one, "read")):
                items.append({"file": one.file, "line": one.line, "quote": one.code, "cwe": one.recording.cwe, **said})
        return items

    def _verdicts(self, number: int, text: str) -> list[dict[str, Any]]:
        _, file, line, code = place_of(text)
        said = self._said(f"{file}:{line}", text, "verify")
        if said is None:
            return []
        quotes = [{"quote": self._code(one), **one} for one in said.get("evidence", ())]
        return [{"gid": number, **said, "evidence": quotes or [{"file": file, "line": line, "quote": code}]}]

    def _code(self, place: Mapping[str, Any]) -> str:
        found = code_at(f"{place['file']}:{place['line']}", self.directory)
        return found[1] if found else ""

    def _attempt(self, body: Body, shown: Mapping[int, str]) -> Step:
        """Return the next recorded attempt for each of some candidates, or that there is no more for any."""
        turn, next_ones = answers_since(body), dict[int, Any]()
        for number, text in shown.items():
            file, line = PLACE.findall(text)[0]
            attempts = self._said(f"{file}:{line}", text, "prove") or ()
            if turn < len(attempts):
                next_ones[number] = attempts[turn]
        return tries(body, next_ones) if next_ones else gives_up(body, NO_PROOF)

    def _said(self, place: str, text: str, part: Part) -> Any:
        """Return a part of the recording for a place and the weakness that a question names, None without one."""
        cwe = int((RULE_CWE.findall(text) or ["0"])[0])
        at_place = [one for one in self._lines if one.recording.place == place]
        for one in at_place:
            if is_same_weakness(one.recording.cwe, cwe) and (said := self._use(one, part)) is not None:
                return said
        self.unanswered.append(f"{place} (CWE-{cwe}): no recording for {part}")
        return None

    def _use(self, one: RecordedLine, part: Part) -> Any:
        said = getattr(one.recording, part)
        if said is not None:
            self._used.add((one.recording.place, one.recording.cwe, part))
        return said


def load_recordings(file: Path) -> list[Recording]:
    """Read recordings, a line each."""
    return [Recording(**json.loads(line)) for line in file.read_text().splitlines()]


def located(recording: Recording, directory: Path) -> RecordedLine | None:
    """Return where a recording is, None if the function or its line is not what it was."""
    found = code_at(recording.place, directory)
    if found is None or code_hash(found[1]) != recording.code:
        return None
    return RecordedLine(recording, recording.place.partition("#")[0], *found)


def code_at(place: str, directory: Path) -> tuple[int, str] | None:
    """Return the line of a file at a place, and its code as models see it; None if there is no such place."""
    match = NAMED_PLACE.fullmatch(place)
    if not match or not (path := directory / match[1]).is_file():
        return None
    source = SourceFile(match[1], path.read_bytes())
    function = source.named(match[2])
    line = function.first + int(match[3]) - 1 if function else 0
    return (line, source.decided[line - 1].strip()) if function and line <= function.last else None


def code_hash(code: str) -> str:
    """Return the hash of a line without its indentation."""
    return sha256(code.strip().encode()).hexdigest()[:12]
