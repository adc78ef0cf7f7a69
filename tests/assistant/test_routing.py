"""Routing: what the router sees, what its answers mean, and that a router that fails routes directly."""

import json
from dataclasses import replace

import pytest

from jarvis_workers.assistant.routing import Direct, NeedClarification, Route, SkillMeta, Skills, route
from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.profiles import PROFILES
from jarvis_workers.models.platforms.protocol import Message
from jarvis_workers.models.platforms.request import RequestWriter
from tests.agents.loop.arrange import TEXT, agent_of, look
from tests.assistant.play import Play, reply

SKILLS = [SkillMeta("review", "How to review C."), SkillMeta("release", "How to release.")]


def routed(answer: object, **about: object) -> tuple[Route, Play]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    play = Play([reply(text)])
    return play.drive(route(agent_of(look([]), profile=PROFILES["openai"]), "Review a.c", SKILLS)), play


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ({"route": "skills", "skills": ["review", "review", "unknown"], "question": ""}, Skills(("review",))),
        ({"route": "skills", "skills": ["unknown"], "question": ""}, Direct()),
        ({"route": "direct", "skills": [], "question": ""}, Direct()),
        ({"route": "clarify", "skills": [], "question": "Which file?"}, NeedClarification("Which file?")),
        ({"route": "clarify", "skills": [], "question": " "}, Direct()),
        ("I will review it for you!", Direct()),
        ("", Direct()),
    ],
)
def test_what_an_answer_means(answer: object, chosen: Route) -> None:
    assert routed(answer)[0] == chosen


def test_the_router_sees_the_skills_the_last_messages_and_no_tools() -> None:
    agent = agent_of(look([]), profile=PROFILES["openai"])
    for number in range(9):
        agent.session.say(Message("user", f"message {number}"))
    play = Play([reply('{"route": "direct", "skills": [], "question": ""}')])
    play.drive(route(agent, "Review a.c", SKILLS))

    (request,) = play.requests
    assert (request.tools, request.temperature, play.asides) == ((), 0.1, [True])
    assert f"{agent.marks.line}- review: How to review C." in request.messages[0].content
    assert [message.content for message in request.messages[1:]] == [
        *(f"message {n}" for n in range(3, 9)),
        "Review a.c",
    ]
    assert len(agent.session.messages) == 10


def test_the_temperature_is_sent_where_the_profile_has_one() -> None:
    request = replace(agent_of().request(), temperature=0.1)
    bodies = [json.loads(RequestWriter("m", PROFILES[name]).write(request).body) for name in ("deepseek", "openai")]

    assert [body.get("temperature") for body in bodies] == [0.1, None]


def test_a_model_without_schemas_answers_between_tags() -> None:
    answer = "<ROUTE>\nroute: skills\nskills: [release]\n</ROUTE>"
    play = Play([reply(answer)])

    assert play.drive(route(agent_of(profile=TEXT), "Release it", SKILLS)) == Skills(("release",))


def test_without_skills_nothing_is_asked_and_an_unavailable_model_routes_directly() -> None:
    assert Play().drive(route(agent_of(), "go", [])) == Direct()
    assert Play([ModelUnavailable("no")]).drive(route(agent_of(), "go", SKILLS)) == Direct()
