"""Output of `jarvis code`: the answer, the preview of the change, a summary line, and the exit code."""

import json
from pathlib import Path
from typing import Any

from jarvis_cli.kit import exits
from jarvis_cli.kit.answer_output import check_format
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.run_outcome import counted, not_written
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_cli.kit.terminal_text import for_stdout
from jarvis_workers.assistant.chat.code_branches import (
    ACCEPTED,
    CodeBranch,
    CodeChange,
    decision_of,
    publish_change,
    read_change,
)
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import cost_text


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the branch of a change, print the answer and the preview, and return the exit code."""
    settings, store, blobs, run = stored
    check_format(delivery.form)
    change = read_change(store, blobs, run)
    published, problem = _published(store, change, settings.data_dir)
    write_change(store, run, change, published, delivery)
    code = _conclude(store, run, change, published, problem, screen)
    if change and change.answer["lint"] and not delivery.quiet:
        screen.finding(f"linters for the changed files: {change.answer['lint']}")
    return code


def conclude(stored: StoredRun, screen: Display) -> int:
    """Write the branch of a change, print the summary line, and return the exit code."""
    settings, store, blobs, run = stored
    change = read_change(store, blobs, run)
    return _conclude(store, run, change, *_published(store, change, settings.data_dir), screen)


def export(stored: StoredRun, _: Path | None) -> int:
    """Raise UsageError: a change is on a branch."""
    run = stored.run
    raise UsageError(f"run {run.id} changes code; print its change with: jarvis code diff {run.id}")


def _conclude(
    store: Store, run: Run, change: CodeChange | None, published: CodeBranch | None, problem: str, screen: Display
) -> int:
    """Print the summary line, and return the exit code."""
    code = exit_code(run, change, problem)
    screen.conclude(_summary(store, run, change, published, problem), well=code == exits.DONE)
    return code


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Print the answer and the preview of a change, and return the exit code."""
    settings, store, blobs, run = stored
    check_format(delivery.form)
    change = read_change(store, blobs, run)
    published, problem = _published(store, change, settings.data_dir)
    write_change(store, run, change, published, delivery)
    code = exit_code(run, change, problem) if run.ended else exits.INCOMPLETE
    if problem:
        write_line(f"exit {code}: {problem}")
    return code


def _published(store: Store, change: CodeChange | None, data: Path) -> tuple[CodeBranch | None, str]:
    """Write the branch of a change, unless something was decided about it; return it, or why there is none."""
    if change is None or decision_of(store, change.run):
        return None, ""
    try:
        return publish_change(change, data), ""
    except (UsageError, OSError) as problem:
        return None, not_written("its branch and worktree", problem, change.run)


def write_change(
    store: Store, run: Run, change: CodeChange | None, published: CodeBranch | None, delivery: Delivery
) -> None:
    """Write an answer in a format; without one, only JSON output is written."""
    if delivery.form == "json":
        body = {"answer": _document(store, change, published), "run": run_part(store, run)}
        write_report([json.dumps(body, indent=2, ensure_ascii=False), "\n"], delivery.output)
    elif change:
        fence = ("```diff\n", "\n```") if delivery.form == "markdown" else ("", "")
        preview = change.answer["preview"]
        parts = [change.answer["text"], f"{fence[0]}{_printable(preview)}{fence[1]}" if preview else ""]
        if text := "\n\n".join(part for part in parts if part):
            write_report([for_stdout(text, delivery.output), "\n"], delivery.output)


def _document(store: Store, change: CodeChange | None, published: CodeBranch | None) -> dict[str, Any] | None:
    """Return the answer as JSON data, with the commit and the statistics of commits."""
    if change is None:
        return None
    made, accepted = int(bool(change.files)), int(decision_of(store, change.run) == ACCEPTED)
    commits = {"commits_made": made, "commits_accepted": accepted}
    facts = {**change.answer, "statistics": {**change.answer["statistics"], **commits}}
    branch, commit, worktree = published or (None, None, None)
    return {**facts, "branch": branch, "commit": commit, "worktree": str(worktree) if worktree else None}


def _printable(text: str) -> str:
    return "\n".join(plain(line.expandtabs()) for line in text.split("\n"))


def _summary(store: Store, run: Run, change: CodeChange | None, published: CodeBranch | None, problem: str) -> str:
    """Return a one-line summary: what changed, where it is, what it cost, and what to do next."""
    parts = [f"run {run.id} {change.answer['state'] if change else run.state}"]
    if change is None:
        parts += [run.reason] if run.reason and run.state != "done" else []
        parts += [_advice(run)]
    else:
        parts += [_changed(change)]
        parts += [change.answer["problem"]] if change.answer["problem"] else [_gate(change)]
        parts += [problem] if problem else []
    part = run_part(store, run)
    if model := part["model"]:
        tokens = model["prompt"] + model["completion"]
        parts += [f"{counted(model['calls'], 'answer')}, {tokens:,} tokens, {cost_text(part['cost'])}"]
    if change and (suspicions := change.answer["suspicions"]):
        parts += [f"{counted(len(suspicions), 'line')} of the sources look like instructions to the model"]
    if change and (left_out := change.answer["run"].get("left_out")):
        parts += [f"{len(left_out)} left out, see: jarvis runs show {run.id}"]
    if published:
        parts += [f"branch {published.branch} at {published.commit[:12]}, worktree {plain(str(published.worktree))}"]
        done = exit_code(run, change, problem) == exits.DONE
        parts += [f"accept it with: jarvis code accept {run.id}" if done else f"see: jarvis code diff {run.id}"]
    return "; ".join(part for part in parts if part)


def _changed(change: CodeChange) -> str:
    numbers = change.answer["statistics"]
    if not change.files:
        return "nothing changed"
    return f"{counted(len(change.answer['changes']), 'file')}, +{numbers['lines_added']} -{numbers['lines_removed']}"


def _gate(change: CodeChange) -> str:
    gate = change.answer["gate"]
    if not gate:
        return "not checked by a gate" if change.files else ""
    return f"the gate passed (attempt {gate['runs']})"


def _advice(run: Run) -> str:
    if run.state == "paused":
        return f"continue with: jarvis runs resume {run.id}{resume_flags(run)}"
    return f"try again with: jarvis runs retry {run.id}" if run.state == "incomplete" else ""


def exit_code(run: Run, change: CodeChange | None, problem: str) -> int:
    """Return the exit code of a run that has ended or is paused: REFUSED if the gate failed to the end.

    INCOMPLETE if there was a `problem`, so that the change has no branch.
    """
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    if problem:
        return exits.INCOMPLETE
    if change and change.answer["state"] == "refused":
        return exits.REFUSED
    return exits.of_run(findings=False, incomplete=run.state != "done")
