"""The first message of a verification: the condition, the candidates, and the code."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.tool import Language
from jarvis_workers.sec.judge.question import VerificationQuestion
from jarvis_workers.sec.judge.slices import Role, View

PROMPTS = Path(__file__).parent / "prompts"
ROLES: Mapping[Language, Mapping[Role, str]] = {
    "en": {
        "code": "code of the candidates",
        "way": "on the path",
        "caller": "calls it",
        "callee": "is called",
        "definition": "types and macros",
    },
    "zh": {
        "code": "候选项的代码",
        "way": "在路径上",
        "caller": "调用它",
        "callee": "被它调用",
        "definition": "类型和宏",
    },
}


def question_text(
    prepared: VerificationQuestion,
    numbers: Sequence[int],
    guard: Guard,
    *,
    view: View = "decided",
    execution: str = "",
    renamed: bool = False,
) -> str:
    """Return the question about the candidates with these numbers.

    `execution` is what is said of attempts; of a question with `renamed` names the text says so.
    """
    language = prepared.cluster.language
    roles = ROLES[language]
    return fill_from(
        PROMPTS,
        "verify",
        verification=guard.admit(prepared.cluster.condition.strip()),
        candidates=[(number, guard.admit(prepared.texts[number])) for number in numbers],
        parts=[(roles[part.role], guard.admit(part.text(view))) for part in prepared.code.parts],
        left_out=prepared.code.left_out,
        with_comments=view == "commented",
        renamed=renamed,
        claim=guard.admit_claim(prepared.cluster.claim) if prepared.cluster.claim else "",
        reasons=[guard.admit_claim(one.text) for one in prepared.cluster.reasons],
        execution=execution,
        language=language,
    )
