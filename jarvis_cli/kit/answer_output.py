"""Output of a run that ends with an answer: the answer in its format, a summary line, and the exit code."""

import json
from pathlib import Path
from typing import Any

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import Display
from jarvis_cli.kit.terminal_text import for_stdout
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs import conversations
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import cost_text

FORMATS = ("text", "markdown", "json")


def check_format(form: str) -> None:
    """Raise UsageError for a format that is not available for answers."""
    if form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not a format for answers; use one of {", ".join(FORMATS)}')


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the answer; return the exit code."""
    write_answer(stored, delivery)
    return exits.of_state(stored.run.state)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the answer, and print the summary line; return the exit code."""
    answer = write_answer(stored, delivery)
    return conclude_answer(stored, answer, screen, delivery.output)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the summary line; return the exit code."""
    return conclude_answer(stored, conversations.read_answer(stored.store, stored.blobs, stored.run), screen)


def export(stored: StoredRun, _: Path | None) -> int:
    """Raise UsageError: an answer has no files."""
    run = stored.run
    raise UsageError(f"run {run.id} is a run of agents; print its answer with: jarvis runs report {run.id}")


def conclude_answer(stored: StoredRun, answer: dict[str, Any] | None, screen: Display, output: object = None) -> int:
    """Print the summary line of a run with this answer; return the exit code."""
    run = stored.run
    screen.conclude(summary(stored.store, run, answer, output), well=run.state == "done")
    return exits.of_state(run.state)


def write_answer(stored: StoredRun, delivery: Delivery) -> dict[str, Any] | None:
    """Write the answer of a run, and return it."""
    check_format(delivery.form)
    answer = conversations.read_answer(stored.store, stored.blobs, stored.run)
    _write(stored.store, stored.run, answer, delivery)
    return answer


def _write(store: Store, run: Run, answer: dict[str, Any] | None, delivery: Delivery) -> None:
    """Write an answer in a format; without an answer, only JSON output is written."""
    if delivery.form == "json":
        body = {"answer": answer, "run": run_part(store, run)}
        write_report([json.dumps(body, indent=2, ensure_ascii=False), "\n"], delivery.output)
    elif answer and answer["text"]:
        write_report([for_stdout(answer["text"], delivery.output), "\n"], delivery.output)


def summary(store: Store, run: Run, answer: dict[str, Any] | None, output: object = None) -> str:
    """Return a one-line summary of the outcome and the cost."""
    part = run_part(store, run)
    text = f"run {run.id} {run.state}"
    if answer and answer.get("answered_by"):
        text += f"; answered by {plain(answer['answered_by'])} after {counted(len(answer['hops']), 'message')}"
    if answer and answer["stopped"]:
        text += f": stopped ({answer['stopped']['reason']}): {answer['stopped']['says']}"
    elif run.state != "done" and run.reason:
        text += f" ({run.reason})"
    model = part["model"]
    if model:
        tokens = model["prompt"] + model["completion"]
        text += f"; {counted(model['calls'], 'answer')}, {tokens:,} tokens, {cost_text(part['cost'])}"
    if answer and answer["suspicions"]:
        text += f"; {counted(len(answer['suspicions']), 'line')} of the sources look like instructions to the model"
    if answer and (left_out := answer["run"].get("left_out")):
        text += f"; {len(left_out)} left out, see: jarvis runs show {run.id}"
    if run.state == "paused":
        text += f"; continue with: jarvis runs resume {run.id}{resume_flags(run)}"
    elif run.state == "incomplete" and not answer:
        text += f"; try again with: jarvis runs retry {run.id}"
    elif run.state == "incomplete":
        text += f"; see: jarvis runs transcript {run.id}"
    return text + (f"; answer: {output}" if output else "")
