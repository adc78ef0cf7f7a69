"""Output of `jarvis agent` and `jarvis team`: the answer, and what the agent has learned."""

from pathlib import Path

from jarvis_cli.kit import answer_output
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.status_output import Display
from jarvis_workers.assistant.chat.learned_methodologies import keep_methodologies
from jarvis_workers.runs import conversations
from jarvis_workers.runs.run_kinds import StoredRun

KIND = "agent"
TEAM = "team"


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the answer; return the exit code."""
    return answer_output.report(stored, delivery)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the answer, and save what the agent has learned; return the exit code."""
    answer = answer_output.write_answer(stored, delivery)
    keep_methodologies(stored.settings.data_dir, answer, screen.tell)
    return answer_output.conclude_answer(stored, answer, screen, delivery.output)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the summary line, and save what the agent has learned; return the exit code."""
    answer = conversations.read_answer(stored.store, stored.blobs, stored.run)
    keep_methodologies(stored.settings.data_dir, answer, screen.tell)
    return answer_output.conclude_answer(stored, answer, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Raise UsageError: an answer has no files."""
    return answer_output.export(stored, directory)
