"""The configuration of MCP servers: the setting `mcp`, a list of servers, or the YAML text of such a list.

This module does not import mcp, which takes more than a second.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from jarvis_workers.constraints import requirement

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SERVERS_MAX = 50
NAME = r"^[A-Za-z0-9_-]{1,40}$"
# In ASCII, without user and password, which must not be in a setting that messages quote.
ADDRESS = r"^https?://([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?([/?][!-~]*)?$"


def _sequence(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_sequence, json_schema_input_type=list[str])]
Secrets = Mapping[str, SecretStr]
Limit = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class McpServer(BaseModel):
    """A server: a command (stdio) or an address (sse, streamable).

    The command gets `env` and no other variables with secrets; `headers` are sent with each request to an address. A
    start is limited to `start_seconds`, a call to `call_seconds`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=NAME)]
    type: Literal["stdio", "sse", "streamable"]
    command: Annotated[str, Field(min_length=1)] | None = None
    args: Words = ()
    env: Secrets = Field(default_factory=dict)
    base_url: Annotated[str, Field(pattern=ADDRESS, max_length=2000)] | None = Field(default=None, repr=False)
    headers: Secrets = Field(default_factory=dict)
    start_seconds: Limit = 30
    call_seconds: Limit = 120

    @model_validator(mode="after")
    def _check_transport(self) -> Self:
        own, other = ("command", "base_url") if self.type == "stdio" else ("base_url", "command")
        if getattr(self, own) is None:
            raise ValueError(f'server "{self.name}" is of type {self.type}, which needs {own}')
        unused = [other] + (["headers"] if self.type == "stdio" else ["args", "env"])
        surplus = next((name for name in unused if getattr(self, name)), None)
        if surplus:
            raise ValueError(f'server "{self.name}" is of type {self.type}, which has no {surplus}')
        texts = (self.command or "", *self.args, *self.env, *(one.get_secret_value() for one in self.env.values()))
        if any("\0" in text for text in texts) or any(not name or "=" in name for name in self.env):
            raise ValueError(f'server "{self.name}" has a command, argument or variable that no process can have')
        return self

    def facts(self) -> dict[str, Any]:
        """Return the fields as JSON data including secrets, which may only be written to a pipe of a child."""
        shown = {name: one.get_secret_value() for name, one in self.env.items()}
        sent = {name: one.get_secret_value() for name, one in self.headers.items()}
        return self.model_dump(mode="json") | {"env": shown, "headers": sent}


def read_servers(value: object) -> object:
    """Return the value of the setting `mcp` for validation; text is YAML or JSON. Raises ValueError."""
    servers = read_yaml(value) if isinstance(value, str) else value
    if not isinstance(servers, list | tuple):
        raise ValueError("should be a list of servers, each with a name and a type")
    return tuple(servers)


def read_yaml(text: str) -> object:
    """Return a YAML or JSON document. Raises ValueError without a part of the text, which may hold secrets."""
    import yaml  # noqa: PLC0415  (slow to import, and most have no such setting)

    from jarvis_workers.yamlloader import UniqueKeys  # noqa: PLC0415

    try:
        return yaml.load(text, UniqueKeys)  # noqa: S506  a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"should be a list of servers in YAML or JSON{line}") from error


def check_servers(servers: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
    """Return the servers; raises ValueError if two have the same name or there are too many."""
    names = [server.name for server in servers]
    double = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if double:
        raise ValueError(f'two servers are called "{double}"; rename one')
    if len(servers) > SERVERS_MAX:
        raise ValueError(f"{len(servers)} servers, at most {SERVERS_MAX} are possible")
    return servers


def describe_fault(place: Sequence[int | str], wrong: "ErrorDetails") -> str:
    """Return a one-line description of an invalid server at `place`, without its values, which may be secrets."""
    name, last = f'"{".".join(map(str, place))}"', place[-1]
    says = requirement(wrong)
    match wrong["type"]:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            close = get_close_matches(str(last), McpServer.model_fields, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; it has {', '.join(McpServer.model_fields)}"
            return f"{name} is not a setting of an MCP server{hint}"
        case "string_pattern_mismatch" if last == "name":
            return f"{name} should be 1 to 40 letters, digits, _ or -"
        case "string_pattern_mismatch":
            return f"{name} should be an address such as http://127.0.0.1:8000/mcp, without user and password"
        case "value_error":
            return f"{name}: {says}"
    return f"{name} {says}"
