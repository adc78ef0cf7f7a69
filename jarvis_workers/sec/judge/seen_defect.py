"""A defect that a model sees beside its candidates, placed in the code: a wrong quote does not void what it says."""

from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.judge.lost_quote import LostQuote
from jarvis_workers.sec.judge.question import VerificationQuestion
from jarvis_workers.sec.judge.quotes import called_lines, find_quote, stated_place
from jarvis_workers.sec.judge.verdict import OtherFinding, SeenDefect, short

DESCRIPTION_MAX = 400


def seen_defect(prepared: VerificationQuestion, number: int, other: OtherFinding) -> SeenDefect:
    """Return a defect at its quote, else at the line that the model states, else at its candidate of this number."""
    index, code = prepared.index, prepared.code
    text = short(called_lines(other.description, index), DESCRIPTION_MAX) or f"CWE-{other.cwe}"
    place = find_quote(index, code, other)
    if isinstance(place, LostQuote):
        stated = stated_place(index, code, other.file, other.line)
        if stated is None:
            text = f"{text} (at {short(other.file, DESCRIPTION_MAX)}:{other.line}, which does not exist)"
        place = stated or _place_of(prepared, number)
    return SeenDefect(place.file, place.line, place.quote, text, other.cwe)


def _place_of(prepared: VerificationQuestion, number: int) -> EvidenceQuote:
    defects = prepared.cluster.defects
    _, candidate = defects[number - 1 if 0 < number <= len(defects) else 0][0]
    return EvidenceQuote(candidate.file, candidate.line, candidate.evidence)
