"""What a reader has said, as the commit of its job: candidates, and what was not read or cannot be used."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jarvis_workers.paths import from_shown, plain
from jarvis_workers.sec.finding import DISCOVERED
from jarvis_workers.sec.reading.group_reading import ReadingResult
from jarvis_workers.sec.reading.hypotheses import CONFIDENCE, ITEMS_MAX, Hypothesis
from jarvis_workers.sec.reading.work_list import WorkList
from jarvis_workers.sec.stages.payloads import ReadPayload
from jarvis_workers.sec.stages.reading_plan import NOT_LOOKED_AT, NOT_READ, ReadingPlan
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.languages import language_of
from jarvis_workers.store.values import Commit, Meaning, Spot

# Of a job; those beyond are counted.
UNUSABLE_MAX = 20
UNUSABLE = "not asked about: the reader (--read) reported {text}"
MORE_UNUSABLE = "not asked about: {count} more reports of the reader (--read), whose quotes do not stand in the code"
GOES_WRONG = "goes wrong here"
SURPLUS = f"not asked about: the reader (--read) reported {{text}}, because at most {ITEMS_MAX} reports are checked"
MORE_SURPLUS = "not asked about: {count} more reports of the reader (--read) beyond those that are checked"
MORE_PLACES = "not looked at, although a reader (--read) asked for them: {count} more places"
NO_WORK = WorkList((), ())
CUT = "{count} of its lines too long to be shown whole: read only in part (--read)"


@dataclass(frozen=True)
class ReaderOutcome:
    """What a job has read; `cut` is the number of lines that were too long to be shown whole, by path."""

    payload: ReadPayload
    plan: ReadingPlan
    result: ReadingResult
    queue: WorkList = NO_WORK
    cut: Mapping[str, int] = field(default_factory=dict)

    def to_commit(self) -> Commit:
        """Return the commit of the job, with a candidate for each hypothesis."""
        payload, result, gaps = self.payload, self.result, self._unread()
        for path, reason in self._unused():
            gaps[path].append(reason)
        return Commit(
            files=0 if result.reason or payload.lines else len(payload.files),
            results=tuple(map(_result, result.hypotheses)),
            not_checked=tuple((from_shown(path), reason) for path, reasons in gaps.items() for reason in reasons),
        )

    def _unread(self) -> defaultdict[str, list[str]]:
        """Return the reasons why files are not read, or not to their end, by path."""
        payload, plan, result = self.payload, self.plan, self.result
        gaps: defaultdict[str, list[str]] = defaultdict(list)
        for path, count in self.cut.items():
            gaps[path].append(CUT.format(count=count))
        for path in plan.left_out if payload.place == 0 else ():
            gaps[path].append(plan.over_budget)
        if result.reason:
            of_place = NOT_LOOKED_AT.format(name=payload.name, reason=result.reason)
            for path in payload.files:
                gaps[path].append(of_place if payload.lines else NOT_READ + result.reason)
        return gaps

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Yield what a reader has said and what nobody is asked about, each with a file."""
        files, result, queue = self.payload.files, self.result, self.queue
        for name, why in queue.left_out[:UNUSABLE_MAX]:
            yield files[0], NOT_LOOKED_AT.format(name=plain(name), reason=why)
        if more := len(queue.left_out[UNUSABLE_MAX:]):
            yield files[0], MORE_PLACES.format(count=more)
        for problem in result.unusable[:UNUSABLE_MAX]:
            path = next((file for file in files if problem.item.file.partition("#")[0] == file), files[0])
            yield path, UNUSABLE.format(text=problem.text)
        if more := len(result.unusable[UNUSABLE_MAX:]):
            yield files[0], MORE_UNUSABLE.format(count=more)
        for text in result.surplus[:UNUSABLE_MAX]:
            yield files[0], SURPLUS.format(text=text)
        if more := len(result.surplus[UNUSABLE_MAX:]):
            yield files[0], MORE_SURPLUS.format(count=more)


def _result(one: Hypothesis) -> CandidateResult:
    """Return the candidate of a hypothesis; each has a description of its own, which otherwise belongs to the rule."""
    path = from_shown(one.file)
    language = base_language(language_of(path) or "c/cpp")
    meaning = Meaning(DISCOVERED, language, one.category, one.cwe, one.description, one.suggestion)
    trail = trail_of([one.cause, (one.file, one.line, GOES_WRONG)], one.file) if one.cause else None
    return CandidateResult((Spot(path, DISCOVERED, one.line, CONFIDENCE, one.code, trail=trail),), (meaning,))
