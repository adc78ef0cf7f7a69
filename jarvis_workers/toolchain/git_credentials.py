"""Credentials of git servers, read from files or variables and passed only in the environment of `git fetch`.

No argument, address or message contains them: a token is sent as a header to the host of the address, and the path of
an SSH key is in the ssh command that git starts.
"""

import base64
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular

TOKEN, TOKEN_FILE, USER = "JARVIS_GIT_TOKEN", "JARVIS_GIT_TOKEN_FILE", "JARVIS_GIT_USER"
SSH_KEY_FILE, KNOWN_HOSTS_FILE = "JARVIS_GIT_SSH_KEY_FILE", "JARVIS_GIT_SSH_KNOWN_HOSTS_FILE"
# GitHub's user name for tokens; GitLab, Gitea and others accept any name.
DEFAULT_USER = "x-access-token"
TOKEN_MAX = 8_192
# Never prompt, since there is no terminal. Use only the given key, not those of an SSH agent.
SSH_OPTIONS = ("-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes")


@dataclass(frozen=True, slots=True)
class GitCredentials:
    """A token and its user name for https, and files for ssh: a private key and the keys of known hosts."""

    token: str | None = field(default=None, repr=False)
    user: str = DEFAULT_USER
    ssh_key: Path | None = None
    known_hosts: Path | None = None

    def config(self, url: str) -> dict[str, str]:
        """Return the git configuration that sends the token to the host of an address and to no other host."""
        if self.token is None or not url.startswith("https://"):
            return {}
        host = "/".join(url.split("/", 3)[:3])
        secret = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
        return {f"http.{host}/.extraHeader": f"Authorization: Basic {secret}"}

    def variables(self) -> dict[str, str]:
        """Return the variables that make git use the given SSH files; git splits the command as a shell does."""
        command = ["ssh", *SSH_OPTIONS]
        if self.ssh_key:
            command += ["-i", str(self.ssh_key)]
        if self.known_hosts:
            hosts = str(self.known_hosts).replace("\\", "\\\\").replace('"', '\\"')
            command += ["-o", f'UserKnownHostsFile="{hosts}"', "-o", "StrictHostKeyChecking=yes"]
        has_ssh_options = self.ssh_key or self.known_hosts
        return {"GIT_SSH_COMMAND": shlex.join(command), "GIT_SSH_VARIANT": "ssh"} if has_ssh_options else {}


def read_git_credentials(environ: Mapping[str, str]) -> GitCredentials:
    """Return the credentials that the environment specifies. Raises UsageError, whose message contains no secret."""
    user = environ.get(USER) or DEFAULT_USER
    if ":" in user or not user.isprintable():
        raise UsageError(f"{USER}: should be a user name, without a colon")
    return GitCredentials(_token(environ), user, _file(environ, SSH_KEY_FILE), _file(environ, KNOWN_HOSTS_FILE))


def _token(environ: Mapping[str, str]) -> str | None:
    token, file = environ.get(TOKEN), environ.get(TOKEN_FILE)
    if token and file:
        raise UsageError(f"{TOKEN_FILE}: {TOKEN} is set as well; unset one of them")
    if file:
        try:
            token = read_regular(Path(file), TOKEN_MAX)[:TOKEN_MAX].decode("utf-8").strip()
        except (OSError, UnicodeError) as error:
            raise UsageError(f'{TOKEN_FILE}: "{plain(file)}" cannot be read: {_reason(error)}') from error
        if not token:
            raise UsageError(f'{TOKEN_FILE}: "{plain(file)}" is empty')
    if token and not (token.isprintable() and token.isascii()):
        raise UsageError(f"{TOKEN_FILE if file else TOKEN}: contains characters that are invalid in a token")
    return token or None


def _file(environ: Mapping[str, str], name: str) -> Path | None:
    """Return the path in a variable as an absolute path, since git runs ssh in another directory."""
    if not environ.get(name):
        return None
    path = Path(environ[name]).expanduser().absolute()
    if not path.is_file() or not os.access(path, os.R_OK):
        raise UsageError(f'{name}: "{plain(str(path))}" is not a readable file')
    return path


def _reason(error: OSError | UnicodeError) -> str:
    return (error.strerror or "error") if isinstance(error, OSError) else "it is not UTF-8 text"
