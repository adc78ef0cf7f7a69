"""The table of platforms by name, and the creation of a platform from a model group."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from jarvis_workers.errors import SettingsError
from jarvis_workers.models.platforms.compatible import Compatible, Terms
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.openai_transport import Clients, Sdk
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.models.ratelimit.gate import in_process
from jarvis_workers.models.ratelimit.policy import Limiter, MakeLimiter, ModelKey, RateLimitPolicy

Maker = Callable[[ModelGroup], Platform]


class Providers:
    """The platforms of a process. There is one instance, so that clients and rate limiters are shared.

    `environ` contains the API keys; `own` are user-defined platforms by name; `limiter` creates rate limiters, by
    default ones that are local to the process.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        own: Mapping[str, Maker] | None = None,
        limiter: MakeLimiter = in_process,
    ) -> None:
        self._environ, self._limiter = environ, limiter
        self._clients = Clients()
        self._gates: dict[ModelKey, Limiter] = {}
        self._makers: dict[str, Maker] = {**(own or {}), "openai": self._compatible}

    def open(self, group: ModelGroup) -> Platform:
        """Return the platform of a group. Raises SettingsError."""
        make = self._makers.get(group.platform)
        if make is None:
            close = get_close_matches(group.platform, self._makers, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; available: {', '.join(self._makers)}"
            raise SettingsError(f'models: unknown platform "{group.platform}"{hint}')
        return make(group)

    def _compatible(self, group: ModelGroup) -> Compatible:
        key = group.key(self._environ)
        if not key:
            raise SettingsError(f"models: {group.model!r} needs a key: set OPENAI_API_KEY, or api_key_env in its group")
        profile = group.quirks
        wire = Sdk(self._clients, group.base_url, key=key, max_connections=group.max_connections, api=profile.api)
        terms = Terms(profile, group.prices, group.answer_seconds)
        return Compatible("openai", group.model, wire=wire, gate=self._gate(group.limited, group.limits), terms=terms)

    def _gate(self, model: ModelKey, limits: RateLimitPolicy) -> Limiter:
        if model not in self._gates:
            self._gates[model] = self._limiter(model, limits)
        return self._gates[model]
