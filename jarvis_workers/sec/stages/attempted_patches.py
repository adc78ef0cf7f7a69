"""The attempts of an agent at a patch: one that repeats a refused patch runs no gate.

If the reason is an edit that was refused, such as one of lines behind the end of the file, it is no attempt at all.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.agents.conversations.runtime import JobConversation
from jarvis_workers.agents.conversations.working_copy import without_places
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.tools.editing import EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox, ToolFailed, ToolOutcome
from jarvis_workers.sec.fix.fixing import GATES_TOOL, fix_definition
from jarvis_workers.sec.fix.gates import APPLIES, RESULTS, PatchGateResult, edit_refused, failed, failure_of
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.stages.patch_gates import PatchGates
from jarvis_workers.sec.stages.second_looks import changes_in

SAME = "the patch is the same as one that this check has refused before: {}"


class AttemptedPatches:
    """The patches that the gates have refused, and why the last edit since then was refused, "" if none was."""

    def __init__(self, gates: PatchGates, workspace: EditWorkspace) -> None:
        self._gates, self._workspace = gates, workspace
        self._refusals = dict[bytes, PatchGateResult]()
        self._refused_edit = ""

    @property
    def tool(self) -> Tool:
        """The tool that runs the gates; its output is their results as JSON."""
        return Tool(GATES_TOOL, "", {}, lambda _: None, lambda _: self._check())

    def agent(self, talk: JobConversation) -> Agent:
        """Return the agent that edits the workspace."""
        options, workspace = self._gates.options, self._workspace
        scripts = [_local(tool, workspace.root) for tool in talk.scripts(workspace.root)]
        edits = map(self._watched, edit_tools(workspace))
        tools = Toolbox([watched_reading(workspace), search_code(workspace.tree), *scripts, *edits])
        definition = fix_definition(options.build, options.tests, scripts=bool(scripts))
        return Agent(definition, tools, profile=talk.platform.profile, marks=talk.marks, limits=options.agent_limits)

    def _watched(self, tool: Tool) -> Tool:
        """Return an edit tool whose refusals are noted."""

        def run(arguments: Any) -> ToolOutcome:
            try:
                outcome = tool.run(arguments)
            except ToolFailed as problem:
                self._refused_edit = str(problem)
                raise
            self._refused_edit = "" if outcome.success else outcome.stderr
            return outcome

        return replace(tool, run=run)

    def _check(self) -> ToolOutcome:
        return ToolOutcome(stdout=RESULTS.dump_json(tuple(self._results())).decode())

    def _results(self) -> Sequence[PatchGateResult]:
        changes, problem = changes_in(self._workspace), self._refused_edit
        self._refused_edit, patch = "", patch_text(changes)
        earlier = self._refusals.get(patch)
        if problem and (earlier or not changes):
            return [edit_refused(earlier.gate if earlier else APPLIES, problem)]
        if earlier and changes:
            return [failed(earlier.gate, SAME.format(earlier.reason))]
        results = self._gates.run(changes)
        if (failure := failure_of(results)) and failure.fault == "patch":
            self._refusals[patch] = failure
        return results


def _local(tool: Tool, root: Path) -> Tool:
    """Return a tool whose outcomes do not contain the path of the scratch copy."""
    return replace(tool, run=lambda arguments: without_places(tool.run(arguments), {root: "."}))
