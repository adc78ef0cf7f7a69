"""Ways to identify the user of a request: a token in the URL, a password, or headers of a trusted proxy."""

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from flask import Request, session

from jarvis_workers.errors import SettingsError
from jarvis_workers.settings.schema import WebSettings
from jarvis_workers.web.access.credentials import CredentialFile, Passwords, Tokens
from jarvis_workers.web.access.guess_limits import Address
from jarvis_workers.web.access.identity import Identity, Role

SESSION_KEY = "signed_in"
NAME_MAX = 100
GROUPS_MAX = 200
FORWARDED_MAX = 20


def is_trusted_proxy(settings: WebSettings, address: str | None) -> bool:
    """Return whether a connection from an address comes from a proxy of `web.trusted_proxies`. Raises SettingsError."""
    try:
        networks = [ip_network(one, strict=False) for one in settings.trusted_proxies]
    except ValueError as error:
        raise SettingsError(f"web.trusted_proxies: {error}; expected addresses or networks") from error
    peer = _read_address(address)
    return peer is not None and any(peer in network for network in networks)


def client_address(settings: WebSettings, request: Request) -> Address:
    """Return the address of a client: of a trusted proxy, the last one that it names and that is no proxy itself."""
    peer = request.remote_addr
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")[-FORWARDED_MAX:]
    while is_trusted_proxy(settings, peer) and forwarded and _read_address(last := forwarded.pop().strip()):
        peer = last
    return _read_address(peer)


def _read_address(text: str | None) -> Address:
    try:
        return ip_address(text or "")
    except ValueError:
        return None


class SignIn(Protocol):
    """A way to identify users; `challenge` is the WWW-Authenticate value for unidentified users, "" for none."""

    @property
    def challenge(self) -> str: ...

    def identify(self, request: Request) -> Identity | None: ...


@dataclass(frozen=True)
class TokenSignIn:
    """The single user of a local page, identified first by the token in the address and then by a session cookie."""

    token: str
    user: str
    challenge: str = ""

    def identify(self, request: Request) -> Identity | None:
        """Return the user if the session was opened with the token of this process."""
        return Identity(self.user, Role.EDITOR) if session.get(SESSION_KEY) is True else None

    def open_session(self, offered: str) -> bool:
        """Open a session if the token is correct."""
        if not hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode()):
            return False
        session.clear()
        session[SESSION_KEY] = True
        return True


@dataclass(frozen=True)
class BasicSignIn:
    """Users with passwords, identified by HTTP basic authentication."""

    passwords: Passwords
    settings: WebSettings
    challenge: str = 'Basic realm="jarvis", charset="UTF-8"'

    def identify(self, request: Request) -> Identity | None:
        """Return the user with this password."""
        sent = request.authorization
        if sent is None or sent.type != "basic" or not sent.username or sent.password is None:
            return None
        user = self.passwords.verify(sent.username, sent.password, client_address(self.settings, request))
        return Identity(user.name, user.role) if user else None


class ProxySignIn:
    """Users authenticated by a proxy, such as oauth2-proxy, which sends their names and groups in headers."""

    challenge = ""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        if not settings.trusted_proxies:
            raise SettingsError("web.auth is proxy: set web.trusted_proxies to the addresses of the proxy")
        is_trusted_proxy(settings, None)

    def identify(self, request: Request) -> Identity | None:
        """Return the user in the headers, if they come from a trusted proxy."""
        if not is_trusted_proxy(self._settings, request.remote_addr):
            return None
        name = request.headers.get(self._settings.user_header, "").strip()
        if not name or len(name) > NAME_MAX or not name.isprintable():
            return None
        sent = request.headers.get(self._settings.groups_header, "").split(",")
        groups = {group.strip() for group in sent[:GROUPS_MAX]}
        role = self._role(groups)
        return Identity(name, role) if role else None

    def _role(self, groups: Collection[str]) -> Role | None:
        if set(self._settings.editor_groups) & set(groups):
            return Role.EDITOR
        viewers = self._settings.viewer_groups
        return Role.VIEWER if not viewers or set(viewers) & set(groups) else None


class ApiTokens:
    """Bearer tokens of programs; the token of a local page is also accepted."""

    def __init__(self, tokens: Tokens | None, local: TokenSignIn | None) -> None:
        self._tokens = tokens
        self._local = local

    def identify(self, request: Request) -> Identity | None:
        """Return the owner of the bearer token in a request."""
        sent = request.authorization
        if sent is None or sent.type != "bearer" or not sent.token:
            return None
        if self._local and hmac.compare_digest(sent.token.encode("utf-8", "replace"), self._local.token.encode()):
            return Identity(self._local.user, Role.EDITOR, is_ambient=False)
        user = self._tokens.verify(sent.token) if self._tokens else None
        return Identity(user.name, user.role, is_ambient=False) if user else None


def sign_in_of(settings: WebSettings, token: str, user: str) -> tuple[SignIn, ApiTokens]:
    """Return the sign-in methods; `token` and `user` are for a local page. Raises SettingsError."""
    tokens = Tokens(CredentialFile(settings.tokens_file)) if settings.tokens_file else None
    if settings.auth == "token":
        local = TokenSignIn(token, user)
        return local, ApiTokens(tokens, local)
    if settings.auth == "proxy":
        return ProxySignIn(settings), ApiTokens(tokens, None)
    if settings.users_file is None:
        raise SettingsError("web.auth is basic: set web.users_file; create its lines with: jarvis web user NAME")
    is_trusted_proxy(settings, None)
    return BasicSignIn(Passwords(CredentialFile(settings.users_file)), settings), ApiTokens(tokens, None)
