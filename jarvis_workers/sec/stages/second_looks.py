"""Prepare the second look at a function in the tree with its patch, in a hidden tool of the conversation that fixes it.

The conversation is one generator, so that the job has one transcript. Preparing reads files: the tool runs in a thread,
and again when the conversation resumes.
"""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.agents.conversations.runtime import JobConversation
from jarvis_workers.agents.conversations.working_copy import mode_of
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, RunTool
from jarvis_workers.agents.tools.editing import EditWorkspace
from jarvis_workers.agents.tools.tool import Tool, ToolOutcome
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.fixing import FixOutcome, FixTask, fix
from jarvis_workers.sec.fix.function_search import FunctionSearch, prepare
from jarvis_workers.sec.fix.gates import Changes, FileContents
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.result import (
    FIXED,
    NOT_DONE,
    REFUSED,
    FixResult,
    PatchedFile,
    SecondLook,
    commit_message,
    look_values,
    reason_of,
    second_look,
)
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.stages.fix_options import FixOptions

PREPARE = "prepare_second_look"
NO_ARGUMENTS: Mapping[str, Any] = {}
NO_FUNCTION = "the finding is in no function of the patched file"
NOT_C = "only functions in C and C++ are looked at"


class PatchedFunction:
    """The function of a task after its patch; `outcome` is that of the fix, `look` that of the second look."""

    def __init__(self, task: FixTask, workspace: EditWorkspace, talk: JobConversation, options: FixOptions) -> None:
        self.outcome: FixOutcome | None = None
        self.look: SecondLook | None = None
        self._task, self._workspace, self._talk, self._options = task, workspace, talk, options
        self._search: FunctionSearch | None = None

    @property
    def tool(self) -> Tool:
        """The hidden tool that prepares the question; its output is a hash of the question, or why there is none."""
        return Tool(PREPARE, "", {}, lambda _: None, lambda _: self._prepare(), replayed=True)

    def fix(self, agent: Agent) -> Conversation[FixOutcome]:
        """Fix the finding, then look at the function again; the gates alone decide on the patch."""
        task = self._task
        self.outcome = outcome = yield from fix(agent, task)
        if reason_of(outcome.results, outcome.attempts) or not self._options.second_look:
            return outcome
        self.look = SecondLook(function=task.function, reason="it did not end")
        prepared = yield RunTool(PREPARE, NO_ARGUMENTS, untimed=True)
        if self._search is None:
            self.look = SecondLook(function=task.function, reason=prepared.stderr)
        else:
            self.look = second_look(task.function, (yield from self._search.run()))
        return outcome

    def stop(self, reason: str) -> None:
        """Note why the second look ended early."""
        self.look = SecondLook(function=self._task.function, reason=reason)

    def result(self, finding: FixFinding, stopped: str) -> FixResult:
        """Return the result of the conversation about a finding; `stopped` is why it ended before its gates."""
        outcome, changes = self.outcome, changes_in(self._workspace)
        files = {
            path: PatchedFile(before=file.before, after=file.after, mode=mode_of(self._workspace.root / path))
            for path, file in changes.items()
            if file.before is not None and file.after is not None
        }
        gates = outcome.results if outcome else ()
        reason = stopped or (reason_of(gates, outcome.attempts) if outcome else "")
        text = outcome.text if outcome else ""
        return FixResult(
            finding=finding,
            state=NOT_DONE if stopped or outcome is None else REFUSED if reason else FIXED,
            reason=reason,
            gates=gates,
            attempts=outcome.attempts if outcome else 0,
            message=commit_message(finding, text),
            text=text,
            patch=patch_text(changes) if len(files) == len(changes) else b"",
            files=files,
            second_look=self.look,
        )

    def _prepare(self) -> ToolOutcome:
        finding, name = self._task.finding, self._task.function
        if finding.language != "c/cpp":
            return ToolOutcome("failed", stderr=NOT_C)
        index = CodeIndex(self._workspace.tree)
        file = index.file(finding.place.file)
        twins = [one for one in file.places if one.function and one.name == name] if file and name else []
        if not twins:
            return ToolOutcome("failed", stderr=NO_FUNCTION)
        place = min(twins, key=lambda one: abs(one.first - finding.place.line))
        question = prepare(index, finding.place.file, place.first)
        if question is None:
            return ToolOutcome("failed", stderr=NO_FUNCTION)
        talk, limits = self._talk, self._options.agent_limits
        values = look_values(finding, patch_text(changes_in(self._workspace)))
        self._search = FunctionSearch(question, values, profile=talk.platform.profile, marks=talk.marks, limits=limits)
        return ToolOutcome(stdout=question.about)


def changes_in(workspace: EditWorkspace) -> Changes:
    """Return the changed files of a workspace."""
    return {path: FileContents(file.before, file.after) for path, file in workspace.changes().items()}
