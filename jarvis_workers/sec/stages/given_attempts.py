"""The attempts of readers, in a blob of their job, for the jobs that verify what they have named."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jarvis_workers.pipeline.history import read_result
from jarvis_workers.sec.proof.attempt_arguments import RunProof
from jarvis_workers.sec.reading.hypotheses import GivenAttempt, Hypothesis
from jarvis_workers.sec.store.candidates import NamedBy
from jarvis_workers.snapshots.blobs import Blobs

ATTEMPTS = "attempts"
# Of a candidate, with which others may be merged.
GIVEN_MAX = 3
# File, line and description of what a reader has named.
_Claim = tuple[str, int, str]


def blob_of(hypotheses: Iterable[Hypothesis], blobs: Blobs) -> tuple[tuple[str, str], ...]:
    """Put the attempts into the blob store; return them as a blob of a commit, if there are any."""
    given = [(one, one.given) for one in hypotheses if one.given]
    rows = [(one.file, one.line, one.description, _row(attempt)) for one, attempt in given]
    return ((ATTEMPTS, blobs.put(json.dumps(rows).encode())),) if rows else ()


def given_for(named: Iterable[NamedBy], blobs: Blobs) -> Mapping[int, Sequence[GivenAttempt]]:
    """Return the first GIVEN_MAX attempts for each candidate by gid; reads blobs."""
    by_result, found = dict[str | None, Mapping[_Claim, GivenAttempt]](), defaultdict[int, list[GivenAttempt]](list)
    for one in named:
        if one.result not in by_result:
            by_result[one.result] = _of_job(one.result, blobs)
        if attempt := by_result[one.result].get((one.file, one.line, one.description)):
            found[one.gid].append(attempt)
    return {gid: attempts[:GIVEN_MAX] for gid, attempts in found.items()}


def _of_job(result: str | None, blobs: Blobs) -> Mapping[_Claim, GivenAttempt]:
    """Return the attempts of a job by what they shall show."""
    blob = read_result(blobs, result).blobs.get(ATTEMPTS)
    rows = json.loads(blobs.read(blob)) if blob else ()
    return {(file, line, text): _attempt(row) for file, line, text, row in rows}


def _row(given: GivenAttempt) -> dict[str, Any]:
    return {"attempt": given.attempt.model_dump(mode="json"), "reach": given.reach, "severity": given.severity}


def _attempt(row: Mapping[str, Any]) -> GivenAttempt:
    return GivenAttempt(RunProof.model_validate(row["attempt"]), row["reach"], row["severity"])
