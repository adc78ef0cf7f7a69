"""What a run that proves needs: a compiler on this machine, and the archive of a project that is built."""

from dataclasses import replace
from pathlib import Path

from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.bench.proof_compilers import installed_compilers
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.settings import Settings


def can_compile() -> bool:
    """Return whether this machine has a compiler for proofs; whether it has sanitizers is found out by the first."""
    return bool(installed_compilers())


def with_project(settings: Settings, scan_input: ScanInput, root: Path) -> ScanInput:
    """Return the input of a scan with the archive of the project, if it is to be built for proofs, or to be fuzzed."""
    options = scan_input.options
    if not isinstance(options, JudgeOptions):
        return scan_input
    is_built = bool(options.prove or options.fuzz_seconds) and options.proof_build is not None
    if is_built and not root.is_dir():
        raise UsageError("--build needs a directory")
    # The inputs of its tests are seeds of fuzzing.
    if not is_built and not (options.fuzz_seconds and root.is_dir()):
        return scan_input
    return replace(scan_input, archive=pack_project(root, settings.c2rust.build_disk_mb))
