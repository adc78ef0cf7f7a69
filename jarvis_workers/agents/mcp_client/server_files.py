"""The deprecated configuration of MCP servers in files, `~/.jarvis/mcp/*.yaml`: a server or a list of servers each.

The files are read only if the setting `mcp` is empty. A file that cannot be used is reported in one line and skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from jarvis_workers.paths import read_regular
from jarvis_workers.settings.mcp_servers import McpServer, check_servers, describe_fault, read_yaml

DIRECTORY = Path("~/.jarvis/mcp")
FILE_CHARACTERS = 1_000_000
SERVERS = TypeAdapter(tuple[McpServer, ...])


def servers_or_files(
    servers: Sequence[McpServer], tell: Callable[[str], None], directory: Path = DIRECTORY
) -> Sequence[McpServer]:
    """Return the configured servers, or those of the deprecated files if there are none."""
    if servers:
        return servers
    files = sorted([*directory.expanduser().glob("*.yaml"), *directory.expanduser().glob("*.yml")])
    if not files:
        return ()
    tell(f"MCP servers in {directory} are deprecated and will be ignored; move them to mcp in jarvis.yaml")
    selection: dict[str, McpServer] = {}
    for server in (server for file in files for server in _read(file, tell)):
        if server.name in selection:
            tell(f'{directory}: two servers are called "{server.name}"; the second is ignored')
        selection.setdefault(server.name, server)
    try:
        return check_servers(tuple(selection.values()))
    except ValueError as problem:
        tell(f"{directory}: {problem}; no server is used")
        return ()


def _read(file: Path, tell: Callable[[str], None]) -> Iterator[McpServer]:
    try:
        text = read_regular(file, FILE_CHARACTERS).decode("utf-8")
        if len(text) > FILE_CHARACTERS:
            raise ValueError(f"longer than {FILE_CHARACTERS:,} characters")
        document = read_yaml(text)
        yield from check_servers(SERVERS.validate_python([document] if isinstance(document, dict) else document))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        tell(f"{file}: {describe_fault(('mcp', *wrong['loc']), wrong)}")
    except OSError as error:
        tell(f"{file} cannot be read: {error.strerror}")
    except ValueError as error:
        tell(f"{file}: {error}")
