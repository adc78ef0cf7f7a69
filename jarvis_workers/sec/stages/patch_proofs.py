"""Run the stored proofs of a finding over a patched tree, for the gate `proof` and for the regression test.

A proof says something of a patch only if it fires on the same machine without the patch: that run, the minimised input
and the results of benign inputs are determined once, over the sources without any patch.
"""

import gzip
import io
import json
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.conversations.working_copy import unpack_sources
from jarvis_workers.agents.tools.edits import is_inside
from jarvis_workers.errors import SandboxError, StepFailed
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.bench.host_trouble import AT_LIMIT
from jarvis_workers.sec.bench.proof_bench import ProofTree
from jarvis_workers.sec.bench.proof_link import BuiltProgram
from jarvis_workers.sec.fix.fixable import RelatedFinding
from jarvis_workers.sec.fix.gates import CodeAt, OlderError, ProofOutcome, errors_before, older_error, place_of, reached
from jarvis_workers.sec.proof.minimisation import Minimisation, ObservedRun, benign_runs, emptied
from jarvis_workers.sec.proof.proof import MEMORY_GROWTH, Attempt, Proof, ProofRun, ProofTarget, TreeLine
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, AttemptResult, Repetition, compare
from jarvis_workers.sec.proof.weaknesses import weakness_of
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.stages.proof_runner import BenchRunner, open_runner
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.toolchain.temporary import temporary_directory

SCRATCH = "jarvis-proofs"
LINES_SHOWN = 8
# The files of an archive have the same time, so that make does not make committed files anew.
FILE_TIME = 1_000_000_000
# A hanging run is slow, so that only a few are tried.
HANGS_MAX = 2
NO_SANDBOX = "this machine has no sandbox to run it in"
UNKNOWN = (
    "No run without the patch shows this error. If the patch causes it, correct the patch; if it is an older defect,"
    " which the proved one has hidden, mend both in this patch."
)
LEFT_OUT = "the build of the patched tree leaves out the sanitizers where the proof has failed"
INTERNAL = "it calls an internal function, which a check in the callers does not change"


@dataclass(frozen=True)
class BaselineProof:
    """A proof without a patch: its attempts, all of which fire there, and benign inputs with their results.

    The last attempt has the minimised input. `problem` says why the proof does not fire. `older` are other errors that
    its inputs have shown. `has_sanitizers` is whether they are seen in the code of the function that fails.
    """

    finding: RelatedFinding
    proof: Proof
    attempts: tuple[Attempt, ...]
    benign: tuple[ObservedRun, ...] = ()
    problem: str = ""
    older: tuple[OlderError, ...] = ()
    has_sanitizers: bool = False


@dataclass
class PatchProofs:
    """The proofs of `findings` (`sec.fix.gates.PatchProofRunner`); `archive` has the sources without patches.

    Without `minimise`, only the stored attempts run, and only over patched trees. `other_proofs` are those of other
    findings, `accepted` errors that have been found to be older than the patch.
    """

    runtime: AgentRuntime
    blobs: Blobs
    options: FixOptions
    findings: Sequence[RelatedFinding]
    archive: bytes
    minimise: bool = True
    other_proofs: Sequence[RelatedFinding] = ()
    accepted: Sequence[OlderError] = ()

    @cached_property
    def baselines(self) -> tuple[BaselineProof, ...]:
        """The proofs without a patch; blocks."""
        stored = [(one, one.proof) for one in self.findings if one.proof]
        if not self.minimise or not stored or self.runtime.tier == Tier.C:
            return tuple(BaselineProof(one, proof, (self._attempt(proof),)) for one, proof in stored)
        with self._sources() as root:
            tree = self._tree(root)
            return tuple(self._baseline(tree, one, proof) for one, proof in stored)

    def run(self, root: str) -> ProofOutcome | None:
        """Run the proofs over a patched tree, up to the first that fires; None if the finding has none."""
        if not self.baselines:
            return None
        if self.runtime.tier == Tier.C:
            return ProofOutcome(problem=NO_SANDBOX)
        outcomes, tree = list[ProofOutcome](), self._tree(Path(root))
        for baseline in self.baselines:
            outcomes.append(self._outcome(baseline, tree))
            if outcomes[-1].failure:
                return outcomes[-1]
        if problem := next((one.problem for one in outcomes if one.problem), ""):
            return ProofOutcome(problem=problem)
        works = {one.benign_works for one in outcomes} - {None}
        older = tuple(dict.fromkeys(error for one in outcomes for error in one.older))
        return ProofOutcome(benign_works=all(works) if works else None, older=older)

    def _attempt(self, proof: Proof) -> Attempt:
        assert proof.blob
        return Attempt.from_json(json.loads(self.blobs.read(proof.blob)))

    @contextmanager
    def _sources(self) -> Iterator[Path]:
        with temporary_directory(SCRATCH) as directory:
            unpack_sources(self.archive, directory / "sources")
            yield directory / "sources"

    def _baseline(self, tree: ProofTree, finding: RelatedFinding, proof: Proof) -> BaselineProof:
        attempt = self._attempt(proof)
        try:
            with ExitStack() as resources:
                runner = self._open(tree, finding, resources)
                first = compare(runner.attempt(attempt), proof.stack)
                if first.outcome != "fires":
                    why = first.reason or "another error is reported"
                    return BaselineProof(
                        finding, proof, (attempt,), problem=f"it does not fire without the patch: {why}"
                    )
                observations = _Observations(runner, attempt, runner.build(attempt), proof)
                minimal, benign = observations.conclude()
                is_seen = runner.has_sanitizers(runner.build(attempt), place_of(proof.stack)[0])
        except (SandboxError, StepFailed) as error:
            return BaselineProof(finding, proof, (attempt,), problem=str(error))
        errors = (older_error(stack, _code_in(tree.root)) for stack in observations.other_errors())
        older = tuple(filter(None, errors))
        attempts = tuple(dict.fromkeys((attempt, minimal)))
        return BaselineProof(finding, proof, attempts, benign, older=older, has_sanitizers=is_seen)

    @cached_property
    def _older(self) -> tuple[OlderError, ...]:
        """The errors that are known to stand without the patch."""
        observed = (*self.accepted, *(one for baseline in self.baselines for one in baseline.older))
        if not self.other_proofs:
            return observed
        with self._sources() as root:
            code_at = _code_in(root / self.options.below)
            proved = [older_error(one.proof.stack, code_at, one.id) for one in self.other_proofs if one.proof]
        return (*filter(None, proved), *observed)

    def _tree(self, root: Path) -> ProofTree:
        """Return the scanned directory of some sources for a bench; reads all of its files."""
        tree, command = root / self.options.below, self.options.proof_build
        archive = _pack(tree) if command is not None else b""
        return ProofTree(tree, sha256(archive).hexdigest() if archive else _digest(tree), command, archive)

    def _open(self, tree: ProofTree, finding: RelatedFinding, resources: ExitStack) -> BenchRunner:
        file = Path(finding.place.file).relative_to(self.options.below)
        grows = finding.proof is not None and finding.proof.stack[:1] == (MEMORY_GROWTH,)
        cwe = weakness_of(MEMORY_GROWTH, "") if grows else 0
        target = ProofTarget(TreeLine(str(file), finding.place.line), cwe, 0, 0)
        return open_runner(self.runtime, tree, target, resources)

    def _outcome(self, baseline: BaselineProof, tree: ProofTree) -> ProofOutcome:
        """Return the result of a proof over a patched tree."""
        if baseline.problem:
            return ProofOutcome(problem=baseline.problem)
        try:
            with ExitStack() as resources:
                runner = self._open(tree, baseline.finding, resources)
                outcome = self._repeated(runner, baseline, tree)
                failure = outcome.failure
                if NEEDS_TIER_A in failure:
                    return ProofOutcome(problem=NEEDS_TIER_A)
                if not failure and baseline.has_sanitizers and not _has_sanitizers(runner, baseline):
                    return ProofOutcome(problem=LEFT_OUT)
                if not failure:
                    return outcome._replace(benign_works=_benign_works(runner, baseline))
        except (SandboxError, StepFailed) as error:
            if isinstance(error, SandboxError) or not self._opens(baseline):
                return ProofOutcome(problem=str(error))
            failure = f"the proof cannot be built any more: {error}"
        return ProofOutcome(problem=INTERNAL) if baseline.proof.state != "proved" else ProofOutcome(failure=failure)

    def _repeated(self, runner: BenchRunner, baseline: BaselineProof, tree: ProofTree) -> ProofOutcome:
        """Return the failure of the first attempt that fails over a patched tree, or the older errors of all."""
        older = list[OlderError]()
        for attempt in baseline.attempts:
            result = runner.attempt(attempt)
            again = compare(result, baseline.proof.stack)
            if again.outcome == "other_error" and (
                found := reached(result.runs, baseline.proof.stack, self._older, _code_in(tree.root))
            ):
                older += found
            elif failure := _failure(again):
                return ProofOutcome(failure=failure)
        return ProofOutcome(older=tuple(dict.fromkeys(older)))

    def _opens(self, baseline: BaselineProof) -> bool:
        """Return whether this machine can still build the sources without a patch."""
        try:
            with self._sources() as root, ExitStack() as resources:
                self._open(self._tree(root), baseline.finding, resources)
        except (SandboxError, StepFailed):
            return False
        return True


@dataclass
class _Observations:
    """The runs of an attempt without a patch, with other input; `program` is the one that was built last."""

    runner: BenchRunner
    attempt: Attempt
    program: BuiltProgram
    proof: Proof
    hangs: int = 0
    runs: dict[Attempt, ProofRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._code = self.attempt.code
        self._faults = _faults(self._run(self.attempt))

    def conclude(self) -> tuple[Attempt, tuple[ObservedRun, ...]]:
        """Return the attempt with the smallest input that fires reliably, and benign inputs with reliable results."""
        nothing = self._run(emptied(self.attempt))
        # Of other harnesses, the arguments are not checked, so that a shorter text may be one that nobody may pass.
        is_checked = self.proof.state == "proved" and self.attempt.language == "c"
        minimal = Minimisation(self.attempt, self._fires, literals=is_checked).run()
        if not self._fires_again(minimal):
            minimal = self.attempt
        benign = benign_runs([ObservedRun(*one) for one in self.runs.items()], nothing)
        return minimal, tuple(one for one in benign if _same(one, self.runner.run(one.attempt, self.program)))

    def other_errors(self) -> list[tuple[str, ...]]:
        """Return the errors other than that of the proof, as far as it cannot have caused them."""
        valid = (run for run in self.runs.values() if _faults(run) <= self._faults)
        return list(dict.fromkeys(stack for run in valid for stack in errors_before(run, self.proof.stack)))

    def _fires(self, attempt: Attempt) -> bool:
        return self._is_error(self._run(attempt)) if self.hangs < HANGS_MAX else False

    def _fires_again(self, attempt: Attempt) -> bool:
        return attempt == self.attempt or self._is_error(self._run_anew(attempt))

    def _is_error(self, run: ProofRun) -> bool:
        """Return whether a run is that of the proof, and passes no arguments that it did not pass."""
        is_same = compare(AttemptResult((run,)), self.proof.stack).outcome == "fires"
        return is_same and _faults(run) <= self._faults

    def _run(self, attempt: Attempt) -> ProofRun:
        if attempt not in self.runs:
            run = self.runs[attempt] = self._run_anew(attempt)
            self.hangs += AT_LIMIT in run.ended or run.hangs
        return self.runs[attempt]

    def _run_anew(self, attempt: Attempt) -> ProofRun:
        if attempt.code != self._code:
            self.program, self._code = self.runner.build(attempt), attempt.code
        if self.program.problem:
            return ProofRun(f"was not built: {self.program.problem}", "")
        return self.runner.run(attempt, self.program)


def _faults(run: ProofRun) -> frozenset[tuple[str, int, str]]:
    """Return the faults of arguments that a harness passed."""
    return frozenset((one.function, one.number, one.fault) for one in run.arguments if one.fault)


def _failure(again: Repetition) -> str:
    """Return why runs over a patched tree show that the defect remains, or ""."""
    stack = "\n".join(again.stack[:LINES_SHOWN])
    if again.outcome == "fires":
        return f"the proof still fires: the defect can still be reached:\n{stack}"
    if again.outcome == "other_error":
        return f"with the input of the proof, a sanitizer reports another error:\n{stack}\n{UNKNOWN}"
    if again.outcome == "not_run":
        return f"the proof cannot be built any more; keep the interfaces: {again.reason}"
    return f"with the input of the proof, {again.reason}" if again.outcome == "unclear" else ""


def _has_sanitizers(runner: BenchRunner, baseline: BaselineProof) -> bool:
    program = runner.build(baseline.attempts[0])
    return runner.has_sanitizers(program, place_of(baseline.proof.stack)[0])


def _benign_works(runner: BenchRunner, baseline: BaselineProof) -> bool | None:
    """Return whether at least half of the benign inputs have the same results as before; None if none is known."""
    if not baseline.benign:
        return None
    program = runner.build(baseline.attempts[0])
    same = [_same(one, runner.run(one.attempt, program)) for one in baseline.benign]
    return 2 * sum(same) >= len(same)


def _same(one: ObservedRun, again: ProofRun) -> bool:
    return one.result == (again.ended, again.output)


def _code_in(root: Path) -> CodeAt:
    """Return a function that reads a line of a file below a directory; names of files are untrusted."""

    def code_at(path: str, line: int) -> str:
        file = root / path
        if not (is_inside(path) and file.resolve().is_relative_to(root.resolve()) and file.is_file()):
            return ""
        lines = file.read_bytes().split(b"\n")
        return " ".join(lines[line - 1].decode("utf-8", "backslashreplace").split()) if 0 < line <= len(lines) else ""

    return code_at


def _digest(root: Path) -> str:
    """Return the hash of the files of a tree."""
    digest = sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name, content = str(path.relative_to(root)), path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


def _pack(root: Path) -> bytes:
    """Return a tree as an archive; equal trees have equal archives."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 1, buffer, mtime=0) as compressed,
        tarfile.open(mode="w", fileobj=compressed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(root.rglob("*")):
            archive.add(path, str(path.relative_to(root)), recursive=False, filter=_plain_entry)
    return buffer.getvalue()


def _plain_entry(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = FILE_TIME
    return entry
