"""The differences between providers as data: adding a provider is adding a row.

`reasoning` states which reasoning of the model is sent back to it: none, that of the current turn, or all.
Prices are in dollars per million tokens; those that a group does not set are unknown.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Tools = Literal["native", "text"]
Schemas = Literal["json_schema", "none"]
Replay = Literal["none", "turn", "all"]
Api = Literal["chat", "responses", "messages"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EffortField = Literal["reasoning_effort", "thinking", "enable_thinking"]
# Fields of a request that this program sets itself.
OWN_FIELDS = frozenset(
    {
        "input",
        "instructions",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "messages",
        "model",
        "n",
        "parallel_tool_calls",
        "stream",
        "stream_options",
        "system",
        "tool_choice",
        "tools",
    }
)


def _check_extra(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    own = sorted(OWN_FIELDS.intersection(fields))
    if own:
        raise ValueError(f"should not contain {', '.join(own)}, which jarvis sets itself")
    return fields


ExtraFields = Annotated[Mapping[str, Any], AfterValidator(_check_extra)]


class FrozenProfile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Prices(FrozenProfile):
    """Dollars per million tokens; `cached`: tokens from the prompt cache, `cache_write`: tokens added to it.

    The prices of a free model are 0; without `input` and `output` they are unknown.
    """

    input: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    output: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    @property
    def are_set(self) -> bool:
        return self.input is not None or self.output is not None


class Profile(FrozenProfile):
    """The API features and limits of a provider.

    `api`: chat.completions, OpenAI's Responses or Anthropic's Messages. `tools`: function calling of the API, or text
    blocks (`agents.loop.text_tool_call`). `schemas`: whether an answer may be bound to a JSON schema,
    `schema_with_tools`: also with tools. `parallel_calls`: whether an answer may contain several calls of tools that
    only read, `parallel_switch`: whether a request states that. `context` and `answer_tokens` are in tokens. A
    `temperature` of None is not sent. `stream_usage`: whether a streamed answer may be asked for its usage.
    `reasoning_effort` is sent in the `effort_field` (of chat.completions), which some providers have as a switch only;
    None leaves it to the provider. `extra_body` has further fields of the request.
    """

    api: Api = "chat"
    tools: Tools = "native"
    schemas: Schemas = "none"
    schema_with_tools: bool = False
    reasoning_field: str = "reasoning_content"
    reasoning: Replay = "none"
    parallel_calls: bool = True
    parallel_switch: bool = False
    max_tokens_field: Literal["max_tokens", "max_completion_tokens", "max_output_tokens"] = "max_tokens"
    temperature: float | None = 0.2
    seed: bool = False
    context: int = 32_768
    answer_tokens: int = 8_192
    stream_usage: bool = True
    effort_field: EffortField = "reasoning_effort"
    reasoning_effort: Effort | None = None
    extra_body: ExtraFields = Field(default={}, repr=False)


GENERIC = Profile(tools="text", stream_usage=False)
PROFILES: dict[str, Profile] = {
    "openai": Profile(
        schemas="json_schema",
        schema_with_tools=True,
        parallel_switch=True,
        max_tokens_field="max_completion_tokens",
        temperature=None,
        seed=True,
        context=128_000,
        answer_tokens=16_384,
    ),
    "openai-responses": Profile(
        api="responses",
        schemas="json_schema",
        schema_with_tools=True,
        reasoning="turn",
        parallel_switch=True,
        max_tokens_field="max_output_tokens",
        temperature=None,
        context=128_000,
        answer_tokens=16_384,
        stream_usage=False,
    ),
    "anthropic": Profile(
        api="messages",
        reasoning="turn",
        parallel_switch=True,
        temperature=None,
        context=200_000,
        answer_tokens=16_384,
        stream_usage=False,
    ),
    "deepseek": Profile(reasoning="turn", context=131_072, effort_field="thinking"),
    "qwen": Profile(parallel_switch=True, seed=True, context=131_072, effort_field="enable_thinking"),
    "glm": Profile(reasoning="turn", context=131_072, effort_field="thinking"),
    "kimi": Profile(schemas="json_schema", reasoning="turn", context=131_072, temperature=0.6, effort_field="thinking"),
    "vllm": Profile(
        schemas="json_schema", reasoning="turn", reasoning_field="reasoning", parallel_switch=True, seed=True
    ),
    "ollama": Profile(
        schemas="json_schema",
        parallel_calls=False,
        seed=True,
        reasoning_field="reasoning",
        context=8_192,
        answer_tokens=2_048,
    ),
    "llama.cpp": Profile(
        schemas="json_schema", reasoning="turn", parallel_calls=False, seed=True, context=8_192, answer_tokens=2_048
    ),
    "generic": GENERIC,
}
HOSTS = (
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    ("deepseek.com", "deepseek"),
    ("dashscope", "qwen"),
    ("bigmodel.cn", "glm"),
    ("z.ai", "glm"),
    ("moonshot", "kimi"),
)
PORTS = {11434: "ollama", 8000: "vllm", 8080: "llama.cpp"}


def profile_for(base_url: str) -> str:
    """Return the name of the profile that most likely fits an address."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "generic"
    by_host = next((name for part, name in HOSTS if part in host), None)
    return by_host or (PORTS.get(port or 0, "generic") if host in ("localhost", "127.0.0.1", "::1") else "generic")
