"""Results of conversations: the answer of an `agent` run, and transcripts of jobs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jarvis_workers.agents.conversations.runtime import ANSWER
from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import Panel, StoredRun
from jarvis_workers.runs.runs import find_run
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, events, jobs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import CONVERSATION_QUEUES
from jarvis_workers.store.values import Run


@dataclass(frozen=True)
class TranscriptEntry:
    """An entry of a transcript for display: speaker and text; `facts` are tokens, cost, seconds, states."""

    who: str
    text: str
    facts: dict[str, Any]


def panel(stored: StoredRun) -> Panel | None:
    """Return the answer of an agent, for the page of its run."""
    return read_answer(stored.store, stored.blobs, stored.run)


def read_answer(store: Store, blobs: Blobs, run: Run) -> dict[str, Any] | None:
    """Return the result of an agent's run, or None while there is none."""
    with store.read() as session:
        blob = artifacts.find(session, run.id, ANSWER)
    if blob is None:
        return None
    found: dict[str, Any] = json.loads(blobs.read(blob))
    return found


def left_out_files(store: Store, blobs: Blobs, run: Run) -> list[str]:
    """Return a line for each file and server of a user that a run could not use, or that failed."""
    answer = read_answer(store, blobs, run) or {}
    with store.read() as session:
        recorded = [event for event in events.read(session, run.id) if event["name"] == events.LEFT_OUT]
    lines = [*answer.get("run", {}).get("left_out", ()), *(line for event in recorded for line in event["lines"])]
    return list(dict.fromkeys(lines))


def jobs_of(store: Store, run: Run) -> list[tuple[int, str, str]]:
    """Return the conversations of a run: id, label and state."""
    with store.read() as session:
        return jobs.named(session, run.id, CONVERSATION_QUEUES)


def find_job(store: Store, named: str) -> int:
    """Return a job by its id, or the only conversation of a run. Raises UsageError."""
    if named.isdecimal() and len(named) < 18:
        with store.read() as session:
            if jobs.run_of(session, int(named), CONVERSATION_QUEUES):
                return int(named)
    run = find_run(store, named)
    talks = jobs_of(store, run)
    if not talks:
        raise UsageError(f"run {run.id} has no conversations; it is a {run.kind} run")
    if len(talks) > 1:
        raise UsageError(
            f"run {run.id} has {len(talks)} conversations; give the job id of one, such as {talks[0][0]}; "
            f"to list them: jarvis runs show {run.id}"
        )
    return talks[0][0]


def read_transcript(store: Store, blobs: Blobs, job_id: int) -> list[dict[str, Any]]:
    """Return the records of a conversation, including one that is still running."""
    with store.read() as session:
        lines = transcripts.lines(session, job_id)
        run_id = jobs.run_of(session, job_id, CONVERSATION_QUEUES)
        blob = artifacts.find(session, run_id, artifacts.transcript_name(job_id)) if run_id and not lines else None
    if blob:
        lines = blobs.read(blob).split(b"\n")
    return [record for record in map(read_line, lines) if record]


def transcript_entries(records: list[dict[str, Any]], *, questions: bool = False) -> Iterator[TranscriptEntry]:
    """Convert records to entries for display, with the questions to the model on request."""
    for record in records:
        match record["kind"]:
            case "start":
                yield TranscriptEntry("start", "", {name: value for name, value in record.items() if name != "kind"})
            case "answer":
                for text in record.get("asked", ()) if questions else ():
                    yield TranscriptEntry("question", text, {})
                yield from _reply(record["reply"])
            case "result":
                outcome = record["outcome"]
                text = "\n".join(part for part in (outcome["stdout"], outcome["stderr"]) if part)
                facts = {"state": outcome["state"], "exit": outcome["exit"], "seconds": outcome["seconds"]}
                yield TranscriptEntry(f"result of {record['of']}", text, facts)
            case "call":
                yield TranscriptEntry(
                    f"started {record['of']}", json.dumps(record["arguments"], ensure_ascii=False), {}
                )


def _reply(reply: dict[str, Any]) -> Iterator[TranscriptEntry]:
    usage = reply["usage"]
    facts = {
        "model": reply["model"],
        "tokens": f"{usage['prompt']}+{usage['completion']}",
        "cost": reply["cost"],
        "seconds": reply["seconds"],
    }
    if reply["reasoning"]:
        yield TranscriptEntry("thoughts", reply["reasoning"], {})
    yield TranscriptEntry(
        "model", reply["content"], facts | ({"finish": reply["finish"]} if reply["finish"] != "stop" else {})
    )
    for call in reply["calls"]:
        yield TranscriptEntry(f"calls {call['name']}", call["arguments"], {})
