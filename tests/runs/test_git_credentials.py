"""Private repositories: credentials from files reach the server that they are for, and nothing else."""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import open_source
from jarvis_workers.toolchain.git_credentials import GitCredentials, read_git_credentials
from tests.support.git_server import GitServer, git_server

TOKEN = "glpat-5Hq2xWvT8rPz"
WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A directory with the bare repository private.git, whose branch `main` holds a.c."""
    root, place = tmp_path / "root", tmp_path / "work"
    place.mkdir()
    (place / "a.c").write_text("int a;\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-C", place, *command], env=os.environ | WHO, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", place, root / "private.git"], check=True)
    return root


@pytest.fixture
def server(repositories: Path, tmp_path: Path) -> Iterator[GitServer]:
    with git_server(repositories, tmp_path / "server", user="deploy", password=TOKEN) as running:
        yield running


@pytest.fixture
def environ(server: GitServer, tmp_path: Path) -> dict[str, str]:
    """What a command in a container sees: the token is in a file that a secret is mounted at."""
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_SSL_CAINFO": str(server.authority),
        "JARVIS_GIT_TOKEN_FILE": str(tmp_path / "token"),
        "JARVIS_GIT_USER": "deploy",
    }


@pytest.mark.timing
def test_a_private_repository_is_fetched_with_the_token_of_a_file(server: GitServer, environ: dict[str, str]) -> None:
    with open_source(f"{server.url}/private.git@main", environ) as source:
        assert (source.path / "a.c").read_text() == "int a;\n"
        assert source.branch == "main"
        assert source.root.startswith(f"{server.url}/private.git@".encode())
        kept = b"".join(file.read_bytes() for file in (source.path / ".git").rglob("*") if file.is_file())
    assert TOKEN.encode() not in kept and server.expected.encode() not in kept
    assert set(server.authorizations) == {server.expected}


@pytest.mark.timing
def test_a_wrong_token_is_one_line_without_it(server: GitServer, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("wrong-token-of-mine")
    with pytest.raises(UsageError, match="git: fatal: ") as problem, open_source(f"{server.url}/private.git", environ):
        pass
    assert "wrong-token" not in str(problem.value) and "\n" not in str(problem.value)

    del environ["JARVIS_GIT_TOKEN_FILE"]
    with pytest.raises(UsageError, match="could not read Username"), open_source(f"{server.url}/private.git", environ):
        pass


@pytest.mark.slow
@pytest.mark.timing
def test_a_redirect_does_not_take_the_token_to_another_server(
    server: GitServer, repositories: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    with git_server(repositories, tmp_path / "other", user="deploy", password=TOKEN) as other:
        both = tmp_path / "both.pem"
        both.write_bytes(server.authority.read_bytes() + other.authority.read_bytes())
        server.redirect = other.url
        named = f"{server.url}/private.git"
        with pytest.raises(UsageError), open_source(named, environ | {"GIT_SSL_CAINFO": str(both)}):
            pass
        assert server.expected in server.authorizations
        assert other.authorizations == [None]


@pytest.mark.timing
def test_only_the_fetch_sees_the_token_and_no_command_line_does(
    server: GitServer, environ: dict[str, str], tmp_path: Path
) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    real = shlex.quote(str(next(Path(one, "git") for one in environ["PATH"].split(":") if Path(one, "git").exists())))
    spy.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/args; env > {tmp_path}/env-$$; exec {real} "$@"\n')
    spy.chmod(0o755)

    with open_source(f"{server.url}/private.git", environ | {"PATH": f"{spy.parent}:{environ['PATH']}"}):
        pass

    secret = server.expected.removeprefix("Basic ")
    seen = [file for file in tmp_path.glob("env-*") if secret in file.read_text()]
    assert len(seen) == 1 and len(list(tmp_path.glob("env-*"))) > 3
    assert not [file for file in tmp_path.glob("env-*") if TOKEN in file.read_text()]
    arguments = (tmp_path / "args").read_text()
    assert TOKEN not in arguments and secret not in arguments


@pytest.mark.timing
def test_ssh_gets_the_key_file_whatever_its_name(repositories: Path, tmp_path: Path) -> None:
    """A stand-in for ssh records its arguments, and runs the command of git on this machine."""
    key, hosts = tmp_path / "a 'key'; touch ran", tmp_path / 'known "hosts"'
    key.write_text("key")
    hosts.write_text("hosts")
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/args\nfor last; do :; done; exec sh -c "$last"\n')
    ssh.chmod(0o755)
    environ = {
        "PATH": f"{ssh.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "JARVIS_GIT_SSH_KEY_FILE": str(key),
        "JARVIS_GIT_SSH_KNOWN_HOSTS_FILE": str(hosts),
    }

    with open_source(f"ssh://git@host.example{repositories}/private.git@main", environ) as source:
        assert (source.path / "a.c").read_text() == "int a;\n"

    arguments = (tmp_path / "args").read_text().splitlines()
    assert arguments[arguments.index("-i") + 1] == str(key)
    assert {"BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes"} <= set(arguments)
    assert f'UserKnownHostsFile="{tmp_path}/known \\"hosts\\""' in arguments
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"JARVIS_GIT_TOKEN": TOKEN, "JARVIS_GIT_TOKEN_FILE": "x"}, "JARVIS_GIT_TOKEN is set as well"),
        ({"JARVIS_GIT_TOKEN_FILE": "/nowhere"}, 'JARVIS_GIT_TOKEN_FILE: "/nowhere" cannot be read: No such file'),
        ({"JARVIS_GIT_TOKEN_FILE": "/dev/null"}, "cannot be read: not a regular file"),
        ({"JARVIS_GIT_TOKEN": f"{TOKEN}\nX-Other: 1"}, "JARVIS_GIT_TOKEN: contains characters"),
        ({"JARVIS_GIT_USER": "a:b"}, "JARVIS_GIT_USER: should be a user name"),
        ({"JARVIS_GIT_SSH_KEY_FILE": "/nowhere"}, 'JARVIS_GIT_SSH_KEY_FILE: "/nowhere" is not a readable file'),
        ({"JARVIS_GIT_SSH_KNOWN_HOSTS_FILE": "/tmp"}, "is not a readable file"),
    ],
)
def test_credentials_that_cannot_be_used_are_one_line(environ: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_git_credentials(environ)
    assert problem in str(refused.value)
    assert TOKEN not in str(refused.value) and "\n" not in str(refused.value)


def test_a_token_is_for_https_and_is_not_shown() -> None:
    credentials = GitCredentials(TOKEN)

    assert TOKEN not in repr(credentials)
    assert list(credentials.config("https://host:8443/a/b.git")) == ["http.https://host:8443/.extraHeader"]
    assert credentials.config("ssh://git@host/a.git") == credentials.config("file:///a.git") == {}
    assert credentials.variables() == {}
