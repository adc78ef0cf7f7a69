"""Questions of a person about one finding: an agent answers them with the code at hand."""

from dataclasses import dataclass

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.sec.judge.question import VerificationQuestion
from jarvis_workers.sec.judge.question_text import PROMPTS, ROLES
from jarvis_workers.sec.judge.quotes import called_lines
from jarvis_workers.sec.judge.tool_calls import RUN


@dataclass(frozen=True)
class FindingQuestion:
    """A question about the only candidate of `prepared`; `verdict` is the earlier verdict, "" for none."""

    prepared: VerificationQuestion
    verdict: str
    text: str


def answering_agent(
    question: FindingQuestion, tools: Toolbox, profile: Profile, marks: Marks, limits: AgentLimits
) -> Agent:
    """Return the agent that answers a question."""
    cluster = question.prepared.cluster
    language = cluster.language
    system = fill_from(PROMPTS, "ask_system", language=language, scripts=RUN in tools.names, notes=cluster.notes)
    about = Definition(system, name="Jarvis reviewer", auto_complete=False, language=language)
    return Agent(about, tools, profile=profile, marks=marks, limits=limits)


def answer_question(agent: Agent, question: FindingQuestion) -> Conversation[str]:
    """Return the answer, with line numbers of files. Raises AgentStopped."""
    prepared, admit, language = question.prepared, agent.guard.admit, question.prepared.cluster.language
    task = fill_from(
        PROMPTS,
        "ask",
        finding=admit(prepared.texts[1]),
        # A model wrote the verdict; words of the report form are what it is about.
        verdict=agent.guard.mark_lines(iter(escape(question.verdict).split("\n"))) if question.verdict else "",
        parts=[(ROLES[language][part.role], admit(part.text())) for part in prepared.code.parts],
        question=question.text,
        language=language,
    )
    result: TaskResult = yield from run_task(agent, task)
    return called_lines(result.text, prepared.index)
