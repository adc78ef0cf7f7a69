"""Run the gates of a patch over a working copy, in order, up to the first that fails.

What a gate reports depends on the sources and the patch alone: no times, and no paths of this machine.
"""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.conversations.working_copy import CommandLimits, run_in_copy
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import shown
from jarvis_workers.sec.fix.fixable import FixFinding, FixLine
from jarvis_workers.sec.fix.gates import (
    APPLIES,
    BUILD,
    TESTS,
    Changes,
    PatchGateResult,
    check_applies,
    check_files,
    check_proof,
    failed,
    impossible,
    not_checked,
    passed,
)
from jarvis_workers.sec.fix.kept_functions import check_function
from jarvis_workers.sec.fix.patch_text import patch_text
from jarvis_workers.sec.fix.rule_sites import RuleSite, RuleSites, check_rule
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.stages.patch_proofs import PatchProofs
from jarvis_workers.sec.stages.patched_scan import TreesScan, files_for_scan, scan_trees
from jarvis_workers.sec.stages.unpatched_results import UnpatchedResults
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.languages import is_header, language_of
from jarvis_workers.toolchain.git_apply import apply_patch
from jarvis_workers.toolchain.gittree import GitFailed

C_SUFFIXES = frozenset({".c"})
COMPILE = "{compiler} -fsyntax-only -w -I. -Iinclude -Isrc -I{directory} {file}"
# The exit code of a shell that does not find a command.
NOT_FOUND = 127


@dataclass(frozen=True)
class PatchGates:
    """The gates of one finding: the tree `base` without the patch beside the tree `root` with it.

    `files` are those to scan, `protected` the lines that earlier patches added, by file, `unpatched` what is known of
    the tree without the patch.
    """

    runtime: AgentRuntime
    blobs: Blobs
    options: FixOptions
    finding: FixFinding
    base: Path
    root: Path
    files: Sequence[str]
    protected: Mapping[str, Sequence[bytes]]
    proof: PatchProofs
    unpatched: UnpatchedResults

    def run(self, changes: Changes) -> tuple[PatchGateResult, ...]:
        """Return the results of the gates, up to the first that fails."""
        return self._up_to_failure(self._results(changes))

    def run_again(self, changes: Changes) -> tuple[PatchGateResult, ...]:
        """Return the results of the gates that depend on other patches in the tree."""
        return self._up_to_failure(self._repeated(changes))

    def _up_to_failure(self, gates: Iterator[PatchGateResult]) -> tuple[PatchGateResult, ...]:
        results = list[PatchGateResult]()
        for result in gates:
            results.append(result)
            if result.state == "failed":
                break
        return tuple(results)

    def _results(self, changes: Changes) -> Iterator[PatchGateResult]:
        yield self._applies(changes)
        yield check_files(changes, self.options.below)
        yield check_function(changes, self.finding.cwe, self.protected)
        yield from self._repeated(changes)

    def _repeated(self, changes: Changes) -> Iterator[PatchGateResult]:
        yield self._build(changes)
        yield check_proof(self.proof, str(self.root))
        yield self._rule(changes)
        yield self._tests()

    def _applies(self, changes: Changes) -> PatchGateResult:
        """Check that `git apply` turns the sources into the patched ones."""
        result = check_applies(changes)
        texts = {path: file for path, file in changes.items() if None not in file}
        if result.state == "failed" or len(texts) < len(changes):
            return result
        before = {path: file.before or b"" for path, file in texts.items()}
        try:
            after = apply_patch(patch_text(changes), before, os.environ)
        except GitFailed as problem:
            return failed(APPLIES, f"the patch does not apply: {problem}")
        except UsageError as problem:
            return not_checked(APPLIES, str(problem))
        if after != {path: file.after for path, file in changes.items()}:
            return failed(APPLIES, "the patch does not give the edited files")
        return result

    def _build(self, changes: Changes) -> PatchGateResult:
        if self.options.build:
            return self._command(BUILD, self.options.build)
        units = sorted(path for path in {*changes, self.finding.place.file} if _is_unit(path))
        if not units:
            return not_checked(BUILD, "no file of the patch can be compiled on its own; give --build")
        command = "\n".join(f"{_compile(path)} || exit" for path in units)
        return self._command(BUILD, command, own=False)

    def _tests(self) -> PatchGateResult:
        if not self.options.tests:
            return not_checked(TESTS, "no command is set (--test)")
        return self._command(TESTS, self.options.tests)

    def _command(self, gate: str, command: str, *, own: bool = True) -> PatchGateResult:
        """Run a command of the user (`own`) or of this gate in a copy of the patched tree.

        If it fails there, it decides only if it succeeds without the patch.
        """
        outcome = self._run(self.root, command)
        if outcome.success:
            return passed(gate)
        name = command if own else "the compiler"
        if outcome.state == "error":
            return impossible(gate, outcome.stderr) if own else not_checked(gate, outcome.stderr)
        output = shorten(outcome.text(), self.options.agent_limits.output_tokens)
        if self.unpatched.outcome_of(command, lambda: self._run(self.base, command)).success:
            return failed(gate, f"{name}: {output}")
        if own:
            return impossible(gate, f"{name} fails without the patch as well: {output}")
        missing = "there is no compiler in the sandbox" if outcome.exit == NOT_FOUND else "it did not before the patch"
        return not_checked(gate, f"the changed files do not compile on their own ({missing}); give --build")

    def _run(self, root: Path, command: str) -> ToolOutcome:
        options = self.options
        limits = CommandLimits(options.gate_seconds, options.gate_memory_mb, options.gate_disk_mb)
        return run_in_copy(self.runtime, root, command, limits)

    def _rule(self, changes: Changes) -> PatchGateResult:
        options, below = self.options, self.options.below
        names = {PurePosixPath(path) for path in changes}
        inside = [str(path.relative_to(below)) for path in names if path.is_relative_to(below)]
        rules, flags = (blob and self.blobs.read(blob) for blob in (options.rules.blob, options.build_flags))
        request = TreesScan(
            trees=(),
            files=tuple(files_for_scan([*self.files, *inside])),
            rules=rules or None,
            flags=flags or None,
            min_confidence=options.min_confidence,
            depth=options.rules.depth,
        )
        before, after = self._scanned(request)
        sites = [self._site(one.pattern, one.place) for one in (self.finding, *self.finding.others)]
        return check_rule(sites, before, after)

    def _scanned(self, request: TreesScan) -> tuple[RuleSites, RuleSites]:
        """Return the findings of the tree without the patch and of that with it; only the latter is always scanned."""
        before = self.unpatched.sites_of(request)
        roots = [self.base, self.root] if before is None else [self.root]
        trees = [str(root / self.options.below) for root in roots]
        *first, after = scan_trees(request._replace(trees=trees), self.root.parent, os.environ)
        if before is None:
            (before,) = first
            self.unpatched.add_sites(request, before)
        return before, after

    def _site(self, pattern: str, place: FixLine) -> RuleSite:
        file = str(PurePosixPath(place.file).relative_to(self.options.below))
        return RuleSite(shown(os.fsencode(file)), pattern, place.line, place.text)


def _is_unit(path: str) -> bool:
    name = os.fsencode(path)
    return language_of(name) == "c/cpp" and not is_header(name)


def _compile(path: str) -> str:
    file = PurePosixPath(path)
    compiler = '"${CC:-cc}"' if file.suffix in C_SUFFIXES else '"${CXX:-c++}"'
    directory, name = (shlex.quote(f"./{part}") for part in (file.parent, file))
    return COMPILE.format(compiler=compiler, directory=directory, file=name)
