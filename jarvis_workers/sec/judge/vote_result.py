"""What several verdicts about one candidate come to."""

from collections.abc import Sequence

from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.judge.question import ClusterQuestion
from jarvis_workers.sec.judge.tool_calls import COMMANDS_MAX


def votes_of(cluster: ClusterQuestion) -> int:
    """Return the number of votes on a cluster: one, unless one of its candidates has high severity."""
    is_high = any(cluster.severity(candidate) == "high" for _, candidate in cluster.candidates)
    return max(1, cluster.votes) if is_high else 1


def agreed(votes: Sequence[Verdict]) -> Verdict:
    """Return the common verdict of all votes, or one for review if they differ."""
    statuses = [vote.status for vote in votes]
    if len(set(statuses)) == 1:
        commands = tuple(dict.fromkeys(command for vote in votes for command in vote.commands))
        return votes[0]._replace(commands=commands[:COMMANDS_MAX])
    return differing(votes, f"the {len(votes)} votes differ: " + ", ".join(map(verdict_text, votes)))


def differing(verdicts: Sequence[Verdict], reason: str) -> Verdict:
    """Return a verdict for review, with the texts of a vote with `has_risk`, if there is one."""
    worst = next((one for one in verdicts if one.has_risk), verdicts[0])
    commands = tuple(dict.fromkeys(command for one in verdicts for command in one.commands))
    return worst.for_review(reason)._replace(commands=commands[:COMMANDS_MAX])


def verdict_text(verdict: Verdict) -> str:
    return verdict.status if verdict.reason is None else f"{verdict.status} ({verdict.reason})"
