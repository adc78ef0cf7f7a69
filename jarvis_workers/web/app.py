"""The web application: configuration, pages and errors."""

import secrets
from importlib.metadata import version

from flask import Flask, Response, jsonify, make_response, render_template, request
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI
from flask_wtf.csrf import CSRFError, CSRFProtect
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException, TooManyRequests
from werkzeug.wrappers import Response as AnyResponse

from jarvis_workers.errors import JarvisError, SnapshotError, StoreError, UsageError
from jarvis_workers.runs.runs import RunNotFound
from jarvis_workers.sec.report.html.page import asset
from jarvis_workers.sec.run_reports.gate import ScopesDiffer
from jarvis_workers.sec.runs.scan_runs import NotAScan
from jarvis_workers.web.access.guard import API, ProxyAwareSessions, guard
from jarvis_workers.web.api.routes import SECURITY, routes
from jarvis_workers.web.context import EXTENSION, RunMissing, WebContext, text_of
from jarvis_workers.web.formats import install_formats
from jarvis_workers.web.pages import comparison, conversation, findings, run, run_actions, runs, trend

BODY_BYTES = 64 * 1024
FIELDS_MAX = 20
STYLE_SECONDS = 3600
COOKIE = "jarvis_session"
DESCRIPTION = "Runs, findings and triage. Send an API token as a bearer token; docs/web.md describes how to create one."
PAGES = (runs.pages, run.pages, findings.pages, conversation.pages, run_actions.pages, comparison.pages, trend.pages)

CONFIG = {
    "SESSION_COOKIE_NAME": COOKIE,
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Strict",
    "MAX_CONTENT_LENGTH": BODY_BYTES,
    "MAX_FORM_MEMORY_SIZE": BODY_BYTES,
    "MAX_FORM_PARTS": FIELDS_MAX,
    "SEND_FILE_MAX_AGE_DEFAULT": STYLE_SECONDS,
    "WTF_CSRF_CHECK_DEFAULT": False,
    "WTF_CSRF_TIME_LIMIT": None,
    "WTF_CSRF_SSL_STRICT": False,
}


def create_app(world: WebContext, secret: bytes | None = None) -> OpenAPI:
    """Return the application; `secret` signs the sessions, by default a random one for this process."""
    app = OpenAPI(
        __name__,
        info=Info(title="Jarvis Workers", version=version("jarvis-workers"), description=DESCRIPTION),
        security_schemes=SECURITY,
        validation_error_callback=_invalid,
        doc_ui=False,
    )
    app.config.update(SECRET_KEY=secret or secrets.token_bytes(32), **CONFIG)
    app.session_interface = ProxyAwareSessions()
    app.extensions[EXTENSION] = world
    install_formats(app)
    csrf = CSRFProtect(app)
    guard(app, csrf)
    _add_errors(app)
    for pages in PAGES:
        app.register_blueprint(pages)
    csrf.exempt(routes)
    app.register_api(routes)

    @app.get("/api/v1/openapi.json", endpoint="openapi", doc_ui=False)
    def describe() -> Response:
        return jsonify(app.api_doc)

    @app.get("/healthz", endpoint="health", doc_ui=False)
    def health() -> Response:
        world.store.now()
        return Response("ok\n", mimetype="text/plain")

    @app.get("/style/report.css", endpoint="report_style", doc_ui=False)
    def report_style() -> Response:
        return Response(asset("report.css"), mimetype="text/css", headers={"Cache-Control": f"max-age={STYLE_SECONDS}"})

    return app


def _add_errors(app: Flask) -> None:
    @app.errorhandler(HTTPException)
    def refuse(error: HTTPException) -> AnyResponse:
        answer = make_response(_answer(error.description or error.name, error.code or 500))
        if isinstance(error, TooManyRequests) and error.retry_after is not None:
            answer.headers["Retry-After"] = str(error.retry_after)
        return answer

    @app.errorhandler(CSRFError)
    def forged(error: CSRFError) -> AnyResponse | tuple[str, int]:
        return _answer(f"{error.description} Load the page again, then repeat the action.", 400)

    @app.errorhandler(JarvisError)
    def explain(error: JarvisError) -> AnyResponse | tuple[str, int]:
        return _answer(text_of(error), _status_of(error), error.run.id if isinstance(error, NotAScan) else None)


def _invalid(error: ValidationError) -> Response:
    """Answer an invalid API request; the response does not repeat the invalid input."""
    first = error.errors(include_input=False, include_url=False)[0]
    return make_response({"error": f"{'.'.join(map(str, first['loc']))}: {first['msg']}"}, 400)


def _status_of(error: JarvisError) -> int:
    if isinstance(error, RunMissing | RunNotFound):
        return 404
    if isinstance(error, NotAScan | ScopesDiffer):
        return 409
    if isinstance(error, UsageError):
        return 400
    return 503 if isinstance(error, StoreError | SnapshotError) else 500


def _answer(message: str, code: int, run_id: str | None = None) -> AnyResponse | tuple[str, int]:
    if request.path.startswith(API):
        answer = jsonify(error=message)
        answer.status_code = code
        return answer
    return render_template("error.html", message=message, code=code, run_id=run_id), code
