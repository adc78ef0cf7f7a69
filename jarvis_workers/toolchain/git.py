"""Run git: fetch one revision of a repository, trusting nothing that it brings.

Credentials come from the environment and go to git in its environment: never in arguments,
addresses or logs.  No hooks, no prompts, no `ext::` transports, no configuration of the host but the user's.
"""

import base64
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from jarvis_workers.errors import UsageError

FETCH_SECONDS = 1800
KEPT = ("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")
CONFIG = {
    "core.hooksPath": os.devnull,
    "core.symlinks": "true",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.file.allow": "always",
    "transfer.fsckObjects": "true",
    "advice.detachedHead": "false",
}


def fetch(url: str, revision: str, into: Path, *, token: str | None, environ: Mapping[str, str]) -> str:
    """Check a revision out into an empty directory; return its commit. Raises UsageError with git's reason."""
    seen = {name: environ[name] for name in KEPT if name in environ} | _settings(url, token)
    _git(["init", "--quiet", str(into)], seen)
    _git(["-C", str(into), "fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, revision], seen)
    _git(["-C", str(into), "checkout", "--quiet", "--detach", "FETCH_HEAD"], seen)
    return _git(["-C", str(into), "rev-parse", "HEAD"], seen).strip()


def _settings(url: str, token: str | None) -> dict[str, str]:
    """Return git's configuration as variables, with the token for this address alone."""
    config = dict(CONFIG)
    if token and url.startswith("https://"):
        host = "/".join(url.split("/", 3)[:3])
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        config[f"http.{host}/.extraHeader"] = f"Authorization: Basic {secret}"
    variables = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_CONFIG_COUNT": str(len(config))}
    for number, (name, value) in enumerate(config.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _git(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=FETCH_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; install it, or give a directory") from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"git {arguments[0]}: no end after {FETCH_SECONDS} s; clone it yourself and give the directory"
        ) from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith(("fatal:", "error:"))]
        raise UsageError(f"git: {said[0] if said else f'ended with code {done.returncode}'}")
    return done.stdout
