"""The tree of a run on this machine: unpacked, indexed, and built on a bench for the attempts of a conversation."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.bench.proof_bench import ProofBench, ProofTree
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.proof import ProofTarget
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.proof_runner import BenchRunner, LazyBench, open_bench, open_runner
from jarvis_workers.sec.stages.tree_index import index_of
from jarvis_workers.snapshots.blobs import Blobs


def has_sandbox(runtime: AgentRuntime) -> bool:
    """Return whether this machine can run what is built from a tree."""
    return runtime.tier != Tier.C


@dataclass(frozen=True)
class ScannedTree:
    """The unpacked tree of a run, and what its options say of its build; a bench is closed with `resources`."""

    root: Path
    snapshot_id: str
    options: JudgeOptions
    blobs: Blobs
    runtime: AgentRuntime

    @classmethod
    async def unpack(cls, runtime: AgentRuntime, blobs: Blobs, snapshot_id: str, options: JudgeOptions) -> Self:
        """Unpack the snapshot of a run."""
        return cls(await runtime.unpack(blobs, snapshot_id), snapshot_id, options, blobs, runtime)

    @property
    def index(self) -> CodeIndex:
        """The index of the tree, which the conversations of a process share."""
        return index_of(self.root)

    def open_bench(self, resources: ExitStack) -> ProofBench:
        """Open a bench with the compiled tree; blocks. Raises StepFailed if it cannot be built, HostExhausted."""
        return open_bench(self.runtime, self._sources(), resources)

    def open_runner(self, target: ProofTarget, resources: ExitStack) -> BenchRunner:
        """Open a bench for the attempts on one finding; blocks. Raises StepFailed, HostExhausted."""
        return open_runner(self.runtime, self._sources(), target, resources)

    def lazy_bench(self, resources: ExitStack) -> LazyBench:
        """Return a bench that is opened when it is first needed."""
        return LazyBench(self.runtime, self._sources, resources)

    def _sources(self) -> ProofTree:
        """Return the tree for a bench; reads the archive of the project."""
        build, archive = self.options.proof_build, self.options.proof_archive
        return ProofTree(self.root, self.snapshot_id, build, self.blobs.read(archive) if build and archive else b"")
