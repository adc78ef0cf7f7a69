"""The table of a benchmark: a line for each tree and reader, and the sum of each reader."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.bench.reading.scoring import Cost, Result, Score

UNKNOWN, NOT_APPLICABLE = "unknown", "-"
HEAD = (
    "tree",
    "reader",
    "fixes named",
    "confirmed",
    "proved",
    "other true defects",
    "false claims",
    "false proofs",
    "tokens",
    "tokens a line, reading",
    "tokens a line, all",
    "tokens a true defect",
    "usd a true defect",
    "answers a proof, judging included",
    "lines read",
)


class Row(NamedTuple):
    """A result and its score."""

    tree: str
    result: Result
    score: Score


def table(rows: Sequence[Row]) -> str:
    """Return a table in Markdown, with the readers of a tree below each other."""
    lines = [_line(row.tree, row.result, row.score, row.result.cost) for row in rows]
    for reader in dict.fromkeys(row.result.reader for row in rows):
        own = [row for row in rows if row.result.reader == reader]
        if len(own) > 1:
            total = sum((row.score for row in own), Score())
            lines.append(_line("all", own[0].result, total, _sum(row.result.cost for row in own)))
    rule = ["---"] * 2 + ["---:"] * (len(HEAD) - 2)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, rule, *lines))


def _line(tree: str, result: Result, score: Score, cost: Cost) -> list[str]:
    return [
        tree,
        result.reader,
        f"{score.named} of {score.fixes}",
        f"{score.confirmed}" if result.proves else NOT_APPLICABLE,
        f"{score.proved}" if result.proves else NOT_APPLICABLE,
        f"{score.others}",
        _judged(score.false_claims, score.claims, score.unknown_claims, UNKNOWN),
        _judged(score.false_proofs, score.proofs, score.unread_proofs, "unread") if result.proves else NOT_APPLICABLE,
        UNKNOWN if cost.tokens is None else f"{cost.tokens:,}",
        _share(cost.reading, score.lines),
        _share(cost.tokens, score.lines),
        _share(cost.tokens, score.true_defects, "{:,.0f}"),
        _share(cost.dollars, score.true_defects, "{:.3f}"),
        _share(cost.answers, score.proofs) if result.proves else NOT_APPLICABLE,
        NOT_APPLICABLE if result.lines_read is None else f"{score.lines_read:,} of {score.lines:,}",
    ]


def _judged(false: int, total: int, unjudged: int, word: str) -> str:
    """Return how many of the judged are false, and how many nobody has judged."""
    text = f"{false} of {total - unjudged}" if total > unjudged else NOT_APPLICABLE
    return f"{text}, {unjudged} {word}" if unjudged else text


def _share(part: float | None, whole: int, form: str = "{:.1f}") -> str:
    if part is None:
        return UNKNOWN
    return form.format(part / whole) if whole else NOT_APPLICABLE


def _sum(costs: Iterable[Cost]) -> Cost:
    """Return the sum of each part, unknown if one is."""
    parts = zip(*costs, strict=True)
    return Cost(*(None if None in part else sum(part) for part in parts))
