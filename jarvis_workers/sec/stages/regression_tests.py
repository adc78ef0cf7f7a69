"""The regression tests of a patch: the minimised inputs of the proofs that the gate `proof` ran."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from jarvis_workers.sec.fix.regression_test import directory_of_tests, regression_test
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.stages.patch_proofs import BaselineProof


def regression_tests(proofs: Iterable[BaselineProof], base: Path, options: FixOptions) -> dict[str, bytes]:
    """Return the new files of a commit by path, for the proofs that fire in the sources without the patch."""

    def is_directory(path: str) -> bool:
        parts = [PurePosixPath(path), *PurePosixPath(path).parents]
        is_closed = any(str(part) in options.closed for part in parts)
        return (base / path).is_dir() and not is_closed and not any((base / part).is_symlink() for part in parts)

    def is_free(path: str) -> bool:
        return not (base / path).exists() and not (base / path).is_symlink()

    directory = directory_of_tests(options.below, is_directory, is_free)
    found = dict[str, bytes]()
    if directory is None:
        return found
    for baseline in proofs:
        if not baseline.problem and baseline.proof.state == "proved":
            found |= regression_test(baseline.finding, baseline.attempts[-1], directory, options.proof_build)
    return {path: content for path, content in found.items() if is_free(path)}
