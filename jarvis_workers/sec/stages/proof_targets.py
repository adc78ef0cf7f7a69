"""Where the error of a sanitizer must lie to prove a finding."""

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.proof import ProofTarget, TreeLine
from jarvis_workers.sec.trace import read_trail


def target_of(candidate: Candidate, index: CodeIndex) -> ProofTarget:
    """Return where the sanitizer's error must lie; reads files."""
    file, sink = index.file(candidate.file), TreeLine(candidate.file, candidate.line)
    around = file.at(candidate.line) if file else None
    steps = read_trail(candidate.trail) if candidate.trail else ()
    first, last = (around.first, around.last) if around else (candidate.line, candidate.line)
    path = tuple(TreeLine(step.file, step.line) for step in steps)
    lines = file.masked.decode(errors="replace").split("\n")[first - 1 : last] if file else []
    return ProofTarget(sink, candidate.cwe, first, last, path, tuple(lines))
