"""The reasoning effort and extra fields of a model group: what a request has, and what the answer cache depends on."""

import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.errors import SettingsError
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.protocol import Message, ModelRequest
from jarvis_workers.models.platforms.request import RequestWriter, Written, streamed
from jarvis_workers.settings import load_settings

ASKED = ModelRequest((Message("system", "Be careful."), Message("user", "hello")))
SECRET = "sk-0123456789abcdef"


def written(profile: str, request: ModelRequest = ASKED, **about: Any) -> Written:
    return RequestWriter("m", ModelGroup(model="m", profile=profile, **about).quirks).write(request)


def added(profile: str, **about: Any) -> dict[str, Any]:
    """Return the fields of a request that these settings of a group add or change."""
    plain = json.loads(written(profile).body)
    body: dict[str, Any] = json.loads(written(profile, **about).body)
    return {name: value for name, value in body.items() if plain.get(name) != value}


@pytest.mark.parametrize(
    ("profile", "high", "none"),
    [
        ("openai", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
        ("vllm", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
        ("llama.cpp", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
        ("ollama", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
        ("deepseek", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("glm", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("kimi", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("qwen", {"enable_thinking": True}, {"enable_thinking": False}),
        ("openai-responses", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "none"}}),
        (
            "anthropic",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
            {"thinking": {"type": "disabled"}},
        ),
    ],
)
def test_each_profile_sends_the_reasoning_effort_in_its_own_field(
    profile: str, high: dict[str, Any], none: dict[str, Any]
) -> None:
    assert added(profile, reasoning_effort="high") == high
    assert added(profile, reasoning_effort="none") == none
    assert added(profile) == {}


def test_extra_fields_are_sent_and_join_those_of_the_effort() -> None:
    assert added("vllm", extra_body={"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}) == {
        "top_k": 20,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert added("openai-responses", reasoning_effort="low", extra_body={"reasoning": {"summary": "auto"}}) == {
        "reasoning": {"effort": "low", "summary": "auto"}
    }
    assert added("anthropic", extra_body={"thinking": {"type": "enabled", "budget_tokens": 4096}}) == {
        "thinking": {"type": "enabled", "budget_tokens": 4096}
    }


@pytest.mark.parametrize("profile", ["openai", "openai-responses", "anthropic"])
def test_only_fields_that_change_answers_are_part_of_the_cache_key(profile: str) -> None:
    plain = written(profile)
    billed = written(profile, extra_body={"service_tier": "flex", "metadata": {"team": "a"}})
    keys = {
        plain.key,
        written(profile, reasoning_effort="high").key,
        written(profile, reasoning_effort="low").key,
        written(profile, extra_body={"top_p": 0.5}).key,
        written(profile, extra_body={"top_p": 0.9}).key,
    }

    assert billed.key == plain.key and billed.body != plain.body
    assert json.loads(billed.body) == {**json.loads(plain.body), "service_tier": "flex", "metadata": {"team": "a"}}
    assert json.loads(streamed(billed.body, ModelGroup(model="m", profile=profile).quirks))["stream"] is True
    assert len(keys) == 5


def test_a_mark_for_the_prompt_cache_of_the_provider_is_no_part_of_the_key() -> None:
    longer = ModelRequest((*ASKED.messages, Message("assistant", "hi"), Message("user", "more")))
    profile = ModelGroup(model="m", profile="anthropic").quirks
    writer = RequestWriter("m", profile)
    first, second = writer.write(ASKED), writer.write(longer)

    assert [body.count(b'"cache_control"') for body in (first.body, second.body)] == [2, 2]
    assert second == RequestWriter("m", profile).write(longer)
    assert first == RequestWriter("m", profile).write(ASKED)


def test_results_of_parallel_calls_are_one_message_for_anthropic() -> None:
    results = (Message("tool", "one", call_id="a"), Message("tool", "two", call_id="b"))
    said = (*ASKED.messages, Message("assistant", "I look."))
    profile = ModelGroup(model="m", profile="anthropic").quirks
    writer = RequestWriter("m", profile)
    writer.write(ModelRequest((*said, results[0])))
    written_later = writer.write(ModelRequest((*said, *results)))

    assert written_later == RequestWriter("m", profile).write(ModelRequest((*said, *results)))
    last = json.loads(written_later.body)["messages"][-1]
    assert [block["tool_use_id"] for block in last["content"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("reasoning_effort: hig", "\"models.a.reasoning_effort\" is 'hig', should be 'none', 'minimal', 'low'"),
        ("reasoning_efort: high", '(did you mean "reasoning_effort"?)'),
        ("extra_body: [1]", '"models.a.extra_body" is a list, should be a mapping of names to values'),
        (f"extra_body: {{messages: {SECRET}}}", "should not contain messages, which jarvis sets itself"),
        ("extra_body: {max_tokens: 9, stream: true}", "should not contain max_tokens, stream"),
    ],
)
def test_a_wrong_field_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "jarvis.yaml").write_text(f"models: {{a: {{model: m, {text}}}}}\n")
    with pytest.raises(SettingsError) as problem:
        load_settings(environ={}, directory=tmp_path)

    assert says in str(problem.value)
    assert SECRET not in str(problem.value) and "\n" not in str(problem.value)


def test_overrides_cannot_bring_what_extra_fields_cannot() -> None:
    group = ModelGroup(model="m", overrides={"extra_body": {"model": "other"}})

    with pytest.raises(SettingsError, match="should not contain model"):
        _ = group.quirks


def test_extra_fields_are_not_in_the_text_of_a_group() -> None:
    group = ModelGroup(model="m", extra_body={"user": SECRET})

    assert SECRET not in repr(group) + repr(group.quirks)
