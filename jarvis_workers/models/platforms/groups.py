"""Model groups: a configured model with its address, limits and prices.

Groups are listed in `models:` of jarvis.yaml; the variables OPENAI_API_KEY (or OPENAI_API_KEY_FILE), OPENAI_BASE_URL
and OPENAI_MODEL alone define a group as well, called "environment". An API key is a secret: it is never shown, and may
be in a variable or a file.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, SecretStr

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import SettingsError
from jarvis_workers.models.platforms.profiles import (
    PROFILES,
    Effort,
    ExtraFields,
    FrozenProfile,
    Prices,
    Profile,
    profile_for,
)
from jarvis_workers.models.ratelimit.policy import MANY, ModelKey, RateLimitPolicy
from jarvis_workers.paths import read_regular

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

OPENAI_URL = "https://api.openai.com/v1"
ENVIRONMENT = "environment"
NO_KEY = "none"
KEY_BYTES = 16_384
FASTEST = 1e12
SHOWN = frozenset({"model", "profile", "platform", "api_key_env", "api_key_file", "reasoning_effort"})


def _check_profile(name: str) -> str:
    if name not in PROFILES:
        raise ValueError(f"should be one of {', '.join(PROFILES)}")
    return name


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("should start with http:// or https://")
    return url.rstrip("/")


class ModelGroup(FrozenProfile):
    """The settings of one model; a value of None is taken from the profile."""

    model: Annotated[str, Field(min_length=1)]
    platform: str = "openai"
    base_url: Annotated[str, AfterValidator(_address)] = Field(default=OPENAI_URL, repr=False)
    profile: Annotated[str, AfterValidator(_check_profile)] | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    api_key_file: str | None = None
    overrides: Mapping[str, Any] = Field(default_factory=dict)
    reasoning_effort: Effort | None = None
    extra_body: ExtraFields = Field(default_factory=dict, repr=False)
    prices: Prices = Prices()
    max_connections: Annotated[int, Field(ge=1, le=100_000)] = 1000
    concurrent: Annotated[int, Field(ge=1, le=MANY)] | None = None
    requests_per_second: Annotated[float, Field(gt=0, le=FASTEST, allow_inf_nan=False)] | None = None
    requests_per_minute: Annotated[float, Field(gt=0, le=FASTEST, allow_inf_nan=False)] | None = None
    tokens_per_minute: Annotated[float, Field(gt=0, le=FASTEST, allow_inf_nan=False)] | None = None
    answer_seconds: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] = 300

    @property
    def limited(self) -> ModelKey:
        """The key under which all users of this model share its rate limits."""
        return ModelKey(self.base_url, self.model)

    @property
    def limits(self) -> RateLimitPolicy:
        """The rate limits of the provider."""
        return RateLimitPolicy(
            self.concurrent, self.requests_per_second, self.requests_per_minute, self.tokens_per_minute
        )

    @property
    def quirks(self) -> Profile:
        """The profile with this group's overrides. Raises SettingsError."""
        base = PROFILES[self.profile or profile_for(self.base_url)]
        try:
            return Profile.model_validate({**base.model_dump(), **self.overrides, **self._request_fields})
        except ValueError as error:
            raise SettingsError(
                f"models: the overrides of {self.model!r} do not match any profile: {_first_line(error)}"
            ) from error

    @property
    def _request_fields(self) -> dict[str, Any]:
        """The fields of a request that this group sets, as fields of a profile."""
        effort = {} if self.reasoning_effort is None else {"reasoning_effort": self.reasoning_effort}
        return {**effort, "extra_body": self.extra_body} if self.extra_body else effort

    def key(self, environ: Mapping[str, str]) -> str:
        """Return the API key; self-hosted servers often need none. Raises SettingsError."""
        if self.api_key is not None:
            return self.api_key.get_secret_value()
        if self.api_key_file is not None:
            return _read_key(self.api_key_file)
        if self.api_key_env is not None and not environ.get(self.api_key_env):
            raise SettingsError(f"models: {self.model!r} takes its key from {self.api_key_env}, which is not set")
        return environ.get(self.api_key_env or "OPENAI_API_KEY", "") if self._wants_key else NO_KEY

    @property
    def _wants_key(self) -> bool:
        return self.api_key_env is not None or self.base_url == OPENAI_URL


def all_groups(groups: Mapping[str, ModelGroup], environ: Mapping[str, str]) -> dict[str, ModelGroup]:
    """Return the groups, including the one from the environment if its variables are set."""
    from_environment = None if ENVIRONMENT in groups else _of_environment(environ)
    return {**groups, **({ENVIRONMENT: from_environment} if from_environment else {})}


def choose_group(groups: Mapping[str, ModelGroup], name: str | None, environ: Mapping[str, str]) -> str | None:
    """Return `name`, else the name of the only group, else "environment" if it exists, else None.

    Raises SettingsError for an unknown name.
    """
    available = all_groups(groups, environ)
    if name is not None:
        if name not in available:
            raise SettingsError(f'models: there is no group "{name}"{_hint(name, groups)}')
        return name
    if len(groups) == 1:
        return next(iter(groups))
    return ENVIRONMENT if ENVIRONMENT in available else None


def describe_problem(wrong: "ErrorDetails", groups: object) -> str:
    """Return a one-line description of an invalid group setting, without secrets."""
    names = [str(part) for part in wrong["loc"]]
    place, last = f'"{".".join(names)}"', names[-1]
    if wrong["type"] == "missing":
        return f"{place} is missing"
    if wrong["type"] == "extra_forbidden":
        model_class = Prices if "prices" in names else ModelGroup
        close = get_close_matches(last, model_class.model_fields, n=1)
        return f"{place} is not a setting of a model group{_suggestion(close)}"
    value = groups
    for part in wrong["loc"][1:]:
        value = value.get(part) if isinstance(value, Mapping) else None
    shown = repr(value) if isinstance(value, int | float) or last in SHOWN else f"a {type(value).__name__}"
    return f"{place} is {shown}, {requirement(wrong)}"


def _suggestion(close: list[str]) -> str:
    return f' (did you mean "{close[0]}"?)' if close else ""


def _of_environment(environ: Mapping[str, str]) -> ModelGroup | None:
    key, file, url, model = (environ.get(f"OPENAI_{name}") for name in ("API_KEY", "API_KEY_FILE", "BASE_URL", "MODEL"))
    if not model:
        return None
    read_later = bool(file and not key)
    secret = None if read_later else SecretStr(key or NO_KEY)
    try:
        return ModelGroup(
            model=model, base_url=url or OPENAI_URL, api_key=secret, api_key_file=file if read_later else None
        )
    except ValueError as error:
        raise SettingsError(f"OPENAI_BASE_URL: {_first_line(error)}") from error


def _hint(name: str, groups: Mapping[str, ModelGroup]) -> str:
    close = get_close_matches(name, groups, n=1)
    if close:
        return _suggestion(close)
    return f"; available: {', '.join(groups)}" if groups else "; none is set in jarvis.yaml"


def _read_key(path: str) -> str:
    try:
        content = read_regular(Path(path).expanduser(), KEY_BYTES)
        key = content.decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f'models: the key file "{path}" cannot be read: {error}') from error
    if not key or len(content) > KEY_BYTES:
        what = "longer than any key" if key else "empty"
        raise SettingsError(f'models: the key file "{path}" is {what}')
    return key


def _first_line(error: ValueError) -> str:
    return " ".join(str(error).splitlines()[1:3]).strip()
