"""Open the fsspec client of an object store, with timeouts and a bounded number of retries.

Credentials come from the standard variables and files of the provider, never from the URL, which is shown in messages.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

# In object stores directories need not be created; the clients would create a missing bucket instead.
OBJECT_STORES = ("s3", "s3a", "gs", "gcs")
PARAMETERS = ("endpoint_url", "region", "addressing_style")
ATTEMPTS_MAX = 10
STYLES = ("auto", "path", "virtual")


class RequestLimits(NamedTuple):
    """Timeouts of a request, and its number of attempts; between them are pauses of at most 1 and 2 seconds."""

    connect_seconds: float = 5
    read_seconds: float = 10
    attempts: int = 3


DEFAULT_LIMITS = RequestLimits()


def connect(
    url: str, limits: RequestLimits = DEFAULT_LIMITS, environ: Mapping[str, str] = os.environ
) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it. No request is sent.

    Raises ValueError for a URL that cannot be used, ImportError if the client is not installed.
    """
    scheme, _, place = url.partition("://")
    if scheme in OBJECT_STORES and "@" in place.partition("/")[0]:
        raise ValueError("do not put credentials in the URL; docs/sources.md describes where they belong")
    if scheme in ("s3", "s3a"):
        return _s3(place, limits, environ)
    if scheme in ("http", "https"):
        raise ValueError(f"not an object store; expected s3://BUCKET/PREFIX, or s3://…?endpoint_url={scheme}://HOST")
    if not scheme:
        raise ValueError("it has no scheme; expected s3://BUCKET/PREFIX or gs://BUCKET/PREFIX")
    import fsspec

    try:
        files, root = fsspec.core.url_to_fs(url)
    except OSError as error:
        raise ValueError(f"its client does not start: {error.strerror or error}") from error
    return files, root.rstrip("/")


def _s3(place: str, limits: RequestLimits, environ: Mapping[str, str]) -> tuple[Any, str]:
    path, _, query = place.partition("?")
    parameters = _parameters(query)
    endpoint = parameters.get("endpoint_url") or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    region = parameters.get("region") or environ.get("AWS_REGION")
    if not path.partition("/")[0]:
        raise ValueError("no bucket; expected s3://BUCKET/PREFIX")
    config: dict[str, Any] = {
        "connect_timeout": limits.connect_seconds,
        "read_timeout": limits.read_seconds,
        "retries": {"mode": "standard", "total_max_attempts": _attempts(limits, environ)},
        # Other servers rarely have a DNS name for each bucket.
        "s3": {"addressing_style": parameters.get("addressing_style", "path" if endpoint else "auto")},
    }
    from s3fs import S3FileSystem

    if endpoint:
        _check_endpoint(endpoint)
    files = S3FileSystem(
        endpoint_url=endpoint,
        client_kwargs={"region_name": region} if region else {},
        config_kwargs=config,
        use_listings_cache=False,
    )
    # The client of s3fs retries on top of the retries of botocore: their numbers would multiply.
    files.retries = 1
    return files, path.rstrip("/")


def _parameters(query: str) -> dict[str, str]:
    try:
        parameters = dict(parse_qsl(query, strict_parsing=True)) if query else {}
    except ValueError:
        raise ValueError("its query string should be NAME=VALUE pairs, separated by &") from None
    for name in parameters:
        if name not in PARAMETERS:
            raise ValueError(f'unknown parameter "{name[:40]}"; expected {", ".join(PARAMETERS)}')
    if parameters.get("addressing_style", STYLES[0]) not in STYLES:
        raise ValueError(f"addressing_style should be {', '.join(STYLES)}")
    return parameters


def _attempts(limits: RequestLimits, environ: Mapping[str, str]) -> int:
    """Return the number of attempts: AWS_MAX_ATTEMPTS if set, at most ATTEMPTS_MAX, else the default of `limits`."""
    text = environ.get("AWS_MAX_ATTEMPTS", "")
    return min(max(int(text), 1), ATTEMPTS_MAX) if text.isdecimal() else limits.attempts


def _check_endpoint(endpoint: str) -> None:
    from botocore.utils import is_valid_endpoint_url, is_valid_ipv6_endpoint_url

    parts = urlsplit(endpoint)
    wrong = parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.query
    if wrong or not (is_valid_endpoint_url(endpoint) or is_valid_ipv6_endpoint_url(endpoint)):
        raise ValueError("the endpoint URL should be https://HOST[:PORT] or http://…, without credentials")
