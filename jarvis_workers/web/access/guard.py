"""Checks before every request (host, origin, user, role, CSRF token) and security headers of every response.

Requests are rejected by default: every address except SIGN_IN_FREE needs a user, and every method except SAFE needs an
editor.
"""

from urllib.parse import urlsplit

from flask import Flask, Response, abort, g, make_response, redirect, render_template, request
from flask.sessions import SecureCookieSessionInterface
from flask_wtf.csrf import CSRFProtect
from werkzeug.sansio.utils import host_is_trusted
from werkzeug.wrappers import Response as AnyResponse

from jarvis_workers import telemetry
from jarvis_workers.web.access.identity import Identity
from jarvis_workers.web.access.sign_in import TokenSignIn, is_trusted_proxy
from jarvis_workers.web.context import context

SAFE = ("GET", "HEAD", "OPTIONS")
SIGN_IN_FREE = ("health", "static", "report_style")
API = "/api/"
CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
OK = 200
GRAPH_PAGE = "run.graph"
# The page allows its own script and style by their hashes; its sandbox has no access to the session.
GRAPH_CSP = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class ProxyAwareSessions(SecureCookieSessionInterface):
    """Session cookies that are restricted to HTTPS if the request used HTTPS."""

    def get_cookie_secure(self, app: Flask) -> bool:
        if is_trusted_proxy(context().settings.web, request.remote_addr):
            return request.headers.get("X-Forwarded-Proto") == "https"
        return request.is_secure


def guard(app: Flask, csrf: CSRFProtect) -> None:
    """Install the checks; automatic checking must be disabled in `csrf`."""

    @app.before_request
    def check() -> AnyResponse | None:
        if request.endpoint == "health":
            return None
        if not request.path.isprintable():
            abort(400, "The address contains characters that cannot be printed.")
        _check_host()
        if request.endpoint in SIGN_IN_FREE:
            return None
        if (answer := _open_session()) is not None:
            return answer
        identity = _identify()
        if identity is None:
            return _refuse()
        g.identity = identity
        if request.method not in SAFE:
            _check_change(csrf, identity)
        return None

    app.after_request(_harden)


def _harden(response: Response) -> Response:
    """Add security headers and disable caching of pages."""
    response.headers.update(HEADERS)
    if request.endpoint == GRAPH_PAGE and response.status_code == OK:
        response.headers["Content-Security-Policy"] = GRAPH_CSP
    if request.endpoint not in SIGN_IN_FREE:
        response.headers["Cache-Control"] = "no-store"
    if request.method not in SAFE:
        _log_change(response)
    return response


def _log_change(response: Response) -> None:
    """Log the user of a request that changed something or tried to."""
    identity: Identity | None = getattr(g, "identity", None)
    facts = {"method": request.method, "path": request.path, "status": response.status_code}
    telemetry.info("change requested", user=identity.name if identity else "", address=request.remote_addr, **facts)


def _check_host() -> None:
    hosts = context().hosts
    if hosts and not host_is_trusted(request.headers.get("Host", ""), hosts):
        abort(421, "This host is not listed in web.hosts.")


def _open_session() -> AnyResponse | None:
    """Exchange the token in the address for a session, and remove the token from the address."""
    sign_in = context().sign_in
    offered = request.args.get("token")
    if offered is None or request.method != "GET" or not isinstance(sign_in, TokenSignIn):
        return None
    if not sign_in.open_session(offered):
        return _refuse()
    return redirect(request.path if not request.path.startswith("//") else "/", 303)


def _identify() -> Identity | None:
    user = context().api_tokens.identify(request) if request.path.startswith(API) else None
    identity = user or context().sign_in.identify(request)
    if identity and context().read_only:
        return identity._replace(role=type(identity.role).VIEWER)
    return identity


def _refuse() -> AnyResponse:
    sign_in = context().sign_in
    headers = {"WWW-Authenticate": sign_in.challenge} if sign_in.challenge else {}
    if request.path.startswith(API):
        return make_response({"error": "sign in, or send an API token"}, 401, headers)
    page = render_template("sign_in.html", by_token=isinstance(sign_in, TokenSignIn))
    return make_response(page, 401, headers)


def _check_change(csrf: CSRFProtect, identity: Identity) -> None:
    if identity.is_ambient:
        _check_origin()
        csrf.protect()
    if not identity.may_edit:
        abort(403, "The viewer role cannot change anything.")


def _check_origin() -> None:
    """Reject requests that a browser attributes to another site; for older browsers, the CSRF token does this."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin", "null")
    # A page with the policy no-referrer sends the origin null, even to its own site.
    is_other = site not in (None, "same-origin", "none") or (
        origin != "null" and urlsplit(origin).netloc != request.headers.get("Host")
    )
    if is_other:
        abort(403, "This request comes from another site.")
