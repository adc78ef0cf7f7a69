"""Review an accepted body by a model: advice to the translator and in the report, never a gate."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.c2rust.body_question import BodyQuestion
from jarvis_workers.c2rust.conversion import Review
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile

PROMPTS = Path(__file__).parent / "prompts"
TOPICS = ("logic", "borders")
# Both topics, each once more about the body that answers the issues.
MOST_CALLS = 2 * len(TOPICS)
ISSUES_MAX, ISSUE_MAX = 8, 400


class ReviewIssue(BaseModel):
    """A flaw that a reviewer sees in a body."""

    line: int = Field(description="The line of the Rust function, from 1.")
    text: str = Field(description="What is wrong, and how to correct it.")


class ReviewAnswer(BaseModel):
    """The answer of a reviewer."""

    issues: list[ReviewIssue] = Field(description="The issues that you are sure of; empty if the function is right.")


def reviewer(profile: Profile, marks: Marks, limits: AgentLimits) -> Agent:
    """Return the agent that reviews the bodies of one function, without tools, in at most MOST_CALLS answers."""
    about = Definition(system_prompt=fill_from(PROMPTS, "review_system"), name="reviewer", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, MOST_CALLS))
    form = ReportForm(ReviewAnswer, "REVIEW")
    return Agent(about, Toolbox(), profile=profile, marks=marks, form=form, limits=limits)


def review_body(
    agent: Agent, question: BodyQuestion, text: str, topics: Sequence[str] = TOPICS
) -> Conversation[list[Review]]:
    """Return a review of a body per topic; fewer if a limit ends the conversation."""
    reviews: list[Review] = []
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(text.split("\n"), 1))
    try:
        for topic in topics:
            task = _task(agent, question, "" if reviews else numbered, topic)
            result: TaskResult = yield from run_task(agent, task)
            reviews.append(Review(topic, tuple(map(_issue_text, result.report.issues[:ISSUES_MAX]))))
    except AgentStopped:
        return reviews
    return reviews


def _task(agent: Agent, question: BodyQuestion, rust: str, topic: str) -> str:
    """Return the question on a topic; what the conversation has shown before is not repeated."""
    texts = {name: "" if agent.session.task else getattr(question, name) for name in ("c", "shim", "types")}
    admitted = {name: agent.guard.admit(text) if text else "" for name, text in {**texts, "rust": rust}.items()}
    return fill_from(PROMPTS, "review", topic=topic, **admitted)


def _issue_text(issue: ReviewIssue) -> str:
    return f"line {issue.line}: {' '.join(issue.text.split())}"[:ISSUE_MAX]


def numbered_issues(reviews: Sequence[Review]) -> str:
    """Return the issues of all reviews as a numbered list; "" if there are none."""
    issues = [f"{one.topic}, {issue}" for one in reviews for issue in one.issues]
    return "\n".join(f"{number}. {issue}" for number, issue in enumerate(issues, 1))
