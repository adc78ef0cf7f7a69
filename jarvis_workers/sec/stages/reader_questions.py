"""What readers are asked: the groups of files, within the budget, and the question about one of them."""

from collections.abc import Sequence

from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.reading.group_reading import GroupQuestion
from jarvis_workers.sec.reading.grouping import choose, group
from jarvis_workers.sec.reading.hints import hint_text
from jarvis_workers.sec.reading.outside_definitions import PlacedLines
from jarvis_workers.sec.reading.project_map import map_text
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.map_files import mapped_files
from jarvis_workers.sec.stages.reading_plan import Piece, ReadingPlan
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.languages import language_of


def plan_reading(blobs: Blobs, earlier: StageHistory, options: JudgeOptions) -> ReadingPlan:
    """Group the mapped files, and choose those to read."""
    facts = mapped_files(blobs, earlier)
    groups = group((piece for one in facts for piece in one.pieces), options.code_room)
    chosen = choose(groups, options.read_tokens)
    return ReadingPlan(
        map_text(options.read_intro, facts, options.side_room),
        tuple(tuple((piece.path, piece.first, piece.last) for piece in one.pieces) for one in chosen.groups),
        tuple(one.tokens for one in chosen.groups),
        chosen.left_out,
        budget.shows(budget.cap) if (budget := options.read_budget) else "",
        sum(piece.last - piece.first + 1 for one in facts for piece in one.pieces),
    )


def question_of(
    index: CodeIndex,
    plan: ReadingPlan,
    places: Sequence[Piece],
    findings: Sequence[Candidate],
    options: JudgeOptions,
    *,
    runs: bool = True,
) -> GroupQuestion:
    """Return the question about lines of files; this reads files. Raises StepFailed if one is missing.

    Attempts are asked for if this machine `runs` them.
    """
    pieces = []
    for path, first, last in places:
        file = index.file(path)
        if file is None:
            raise StepFailed(f"{path} cannot be read from the unpacked snapshot")
        pieces.append(PlacedLines(file, first, last))
    inside = [
        one for one in findings if any(path == one.file and first <= one.line <= last for path, first, last in places)
    ]
    question = GroupQuestion(
        index,
        tuple(pieces),
        plan.project,
        hint_text(inside, options.side_room),
        options.read_room,
        len(plan.groups) + (places not in plan.groups),
        options.lang,
        options.notes,
        options.prove if runs and not all(map(_is_rust, pieces)) else None,
        options.proof_build is not None,
    )
    _ = question.code, question.definitions, question.absent
    return question


def _is_rust(piece: PlacedLines) -> bool:
    return language_of(from_shown(piece.file.path)) == "rust"
