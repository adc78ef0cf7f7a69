"""`jarvis sandbox`: run an untrusted command, and test the sandbox itself."""

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import App
from jarvis_cli.kit.options import not_one_of
from jarvis_workers.errors import SandboxError, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sandbox.limits import CommandOutcome, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import allotments, open_sandbox, refusal

if TYPE_CHECKING:
    from jarvis_workers.sandbox.probe.selftest import AttackResult

TIMED_OUT, NOT_CONFINED, BY_SIGNAL = 124, 125, 128
LAYERS = {
    Tier.A: "bubblewrap, landlock, seccomp, limits",
    Tier.B: "landlock, seccomp, limits",
}
WIDTHS = (5, 39, 22)

app = App(no_args_is_help=True)

EXAMPLES = """\
\b
Examples:
  jarvis sandbox run src -- make -n
  jarvis sandbox run src --tier B --wall-seconds 10 -- sh -c 'ls | wc -l'

\b
Exit codes: the command's own; 124 time limit, 125 no sandbox works here,
126 and 127 cannot be started or found, 128 + the signal that ended it.
"""


@app.command(uses="none", epilog=EXAMPLES)
def run(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that the command may read.")],
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND", help="Command and its arguments.")],
    tier: Annotated[
        str | None, typer.Option(metavar="TIER", help="A or B; default: the strongest that works here.")
    ] = None,
    wall_seconds: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit.")
    ] = SandboxLimits().wall_seconds,
) -> int:
    """Run a command that can read DIR and nothing else; it can write only to $HOME, a temporary directory."""
    try:
        with open_sandbox(directory, tier=_tier(tier)) as box:
            outcome = box.run(command, limits=SandboxLimits(wall_seconds=wall_seconds))
    except SandboxError as error:
        typer.echo(f"jarvis sandbox run: {plain(str(error))}", err=True)
        return NOT_CONFINED
    for stream, written in ((sys.stdout, outcome.stdout), (sys.stderr, outcome.stderr)):
        stream.flush()
        stream.buffer.write(_harmless(written) if stream.isatty() else written)
        stream.flush()
    if outcome.reason:
        typer.echo(f"jarvis sandbox run: ended: {outcome.reason}", err=True)
    return _code(outcome)


@app.command(uses="none", examples="jarvis sandbox selftest")
def selftest() -> int:
    """Attack the sandbox in each tier that works here; exit 0 if nothing escapes. Takes a minute."""
    from jarvis_workers.sandbox.probe.selftest import groups, judge, unconfined  # noqa: PLC0415  (only needed here)

    names = groups()
    counting = unconfined([name for some in names.values() for name in some])
    _write_row("tier", "layers", "attacks", "outcome")
    escaped, tried = 0, 0
    for tier, layers in LAYERS.items():
        if why := refusal(tier):
            _write_row(tier, layers, "all", f"not run: {why}")
            continue
        verdicts = judge(tier, names, counting)
        for group, outcome in _summary(verdicts):
            _write_row(tier, layers, group, outcome)
        escaped += sum(verdict.counts and verdict.escaped for verdict in verdicts)
        tried += 1
    for what, how in allotments().items():
        typer.echo(f"{what}: {plain(how)}")
    return exits.DONE if tried and not escaped else exits.FINDINGS


def _summary(verdicts: "list[AttackResult]") -> Iterator[tuple[str, str]]:
    for group in dict.fromkeys(verdict.group for verdict in verdicts):
        of_group = [verdict for verdict in verdicts if verdict.group == group]
        result = Counter((verdict.counts, verdict.escaped) for verdict in of_group)
        parts = [f"{result[True, False]} blocked"]
        if successes := [verdict.attack for verdict in of_group if verdict.counts and verdict.escaped]:
            parts.append(f"{len(successes)} escaped: {', '.join(successes)}")
        if idle := [verdict.attack for verdict in of_group if not verdict.counts]:
            parts.append(f"{len(idle)} not run, as they also fail without a sandbox: {', '.join(idle)}")
        yield group, "; ".join(parts)


def _write_row(*cells: str) -> None:
    *first, last = cells
    typer.echo("".join(cell.ljust(width) for cell, width in zip(first, WIDTHS, strict=True)) + plain(last))


def _tier(name: str | None) -> Tier | None:
    if name is None:
        return None
    if name.upper() not in (Tier.A, Tier.B):
        raise UsageError(not_one_of("--tier", name, (Tier.A, Tier.B)))
    return Tier(name.upper())


def _harmless(written: bytes) -> bytes:
    """Return output with control characters escaped for a terminal."""
    lines = written.decode(errors="backslashreplace").split("\n")
    return "\n".join(plain(line.expandtabs()) for line in lines).encode(errors="backslashreplace")


def _code(outcome: CommandOutcome) -> int:
    if outcome.reason == "wall time":
        return TIMED_OUT
    return outcome.code if outcome.code is not None else BY_SIGNAL + (outcome.signal or signal.SIGKILL)
