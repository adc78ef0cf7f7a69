"""`jarvis c2rust scan --dot, --subgraphs-dir`: write the graphs of the symbols of this scan, or of an earlier one."""

from collections.abc import Callable
from pathlib import Path

from jarvis_cli.kit import exits
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.c2rust.commands.options import ProjectScan
from jarvis_workers.c2rust.runs.scan_graphs import GraphRequest, default_dot, default_subgraphs, write_graphs
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import is_address

REMARKS_MAX = 20


def graph_request(scan: ProjectScan) -> GraphRequest:
    """Return the requested graphs. Raises UsageError without a project on this machine, or without a result."""
    root = Path(scan.path)
    dot = default_dot(root) if scan.only_dot and scan.dot is None else scan.dot
    subgraphs = scan.subgraphs_dir
    if scan.only_subgraphs and subgraphs is None:
        subgraphs = default_subgraphs(root)
    request = GraphRequest(dot, subgraphs, scan.png)
    if request and is_address(scan.path):
        raise UsageError("--dot and --subgraphs-dir need a project on this machine; see jarvis runs export")
    if request and scan.detach:
        raise UsageError("--dot and --subgraphs-dir need the result: leave out --detach, or see jarvis runs export")
    return request


def is_without_scan(request: ProjectScan) -> bool:
    return request.only_dot or request.only_subgraphs


def deliver_graphs(scan: ProjectScan, request: GraphRequest, say: Callable[[str], None] = write_line) -> int:
    """Write the graphs, and print the names of those without a picture; return the exit code."""
    written = write_graphs(Path(scan.path), request)
    for remark in written.remarks[:REMARKS_MAX]:
        say(remark)
    if len(written.remarks) > REMARKS_MAX:
        say(f"and {len(written.remarks) - REMARKS_MAX:,} more")
    if not scan.quiet:
        say(f"{len(written.paths):,} graph files; the first is {written.paths[0]}")
    return exits.DONE
