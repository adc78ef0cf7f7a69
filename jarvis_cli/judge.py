"""Carry out `jarvis sec triage`: what is said is saved at once."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from jarvis_cli import exits
from jarvis_cli.deliver import STDOUT, counted, write_report
from jarvis_cli.keys import read_key, read_line
from jarvis_cli.showing import card, listing
from jarvis_cli.sitting import KEYS, Ask, Keep, Show, Sitting, sit
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.judgement import Judgement
from jarvis_workers.service import desk, judging, sifting
from jarvis_workers.service.baselines import of_run
from jarvis_workers.service.export import write_whole
from jarvis_workers.service.judging import Triage, kept_judgements
from jarvis_workers.service.runs import find_run
from jarvis_workers.service.sifting import Excerpts, Issue, Sheet
from jarvis_workers.service.triagefile import read_triage, triage_text, would_lose
from jarvis_workers.settings import load_settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

PROBLEMS_SHOWN = 20
LISTED = ("id", "fingerprint", "status", "severity", "score", "file", "line", "pattern")


@dataclass(frozen=True)
class Place:
    """The store, and the run that was named, if any."""

    store: Store
    blobs: Blobs
    named: Run | None

    @property
    def run(self) -> Run:
        if self.named is None:
            raise UsageError("name a run, such as last; see: jarvis runs list")
        return self.named

    def sheet(self) -> Sheet:
        return sifting.findings_of(self.store, self.blobs, self.run)


@contextmanager
def opened(run: str | None) -> Iterator[Place]:
    """Open the store of this directory's settings, and find the run."""
    settings = load_settings(directory=Path.cwd())
    with desk.store_of(settings) as store:
        yield Place(store, desk.blobs_of(settings), None if run is None else find_run(store, run))


def heeded(named: str | None, *, nobody: bool, learned: bool) -> Triage:
    """Return what a scan heeds; `named` is a file of judgements. Raises UsageError."""
    if nobody and named is not None:
        raise UsageError("--triage and --no-triage: give one of the two")
    more = () if named is None else _taken(named)
    return Triage(kept=not nobody, more=more, named=None if named is None else plain(named), learns=learned)


def take_in(place: Place, named: str) -> int:
    """Keep the judgements of a file, unless there is a later word."""
    said = _taken(named)
    news = judging.take_in(place.store, said)
    return _done(f"{plain(named)}: {counted(len(said), 'judgement')}, {news:,} of them new here")


def hand_out(place: Place, named: str) -> int:
    """Write what was said of the findings of the run, or all that is kept."""
    said = list(kept_judgements(place.store).values())
    if place.named is not None:
        known = of_run(place.store, place.named, "", {}).known
        said = [one for one in said if one.fingerprint in known]
    output = None if named == STDOUT else Path(named)
    if output and (lost := would_lose(output, said)):
        what = f"holds {counted(lost, 'judgement')} that the new file would not"
        raise UsageError(f"--export {plain(named)}: {what}; take it in with --import, or remove it")
    if output is None:
        write_report(triage_text(said), None)
        return exits.DONE
    try:
        write_whole(output.resolve(), triage_text(said))
    except OSError as error:
        raise UsageError(f"--export {plain(named)}: cannot be written: {error.strerror}") from error
    return _done(f"{counted(len(said), 'judgement')} written to {plain(named)}")


def mark(place: Place, marks: Sequence[tuple[str, bool, str]]) -> int:
    """Judge findings by name: all of them or none."""
    findings = place.sheet().findings
    said = [sifting.judgement(sifting.told(findings, named), verdict, reason) for named, verdict, reason in marks]
    judging.judge(place.store, said)
    return _done(f"{counted(len(said), 'finding')} judged")


def forget(place: Place, names: Sequence[str]) -> int:
    """Take back what was said of findings."""
    findings = place.sheet().findings
    judging.forget(place.store, [sifting.told(findings, named)["fingerprint"] for named in names])
    return _done(f"{counted(len(names), 'judgement')} taken back")


def show(place: Place, *, as_json: bool) -> int:
    """List the findings."""
    findings, known = _listed(place), kept_judgements(place.store)
    if as_json:
        typer.echo(json.dumps([_row(issue, known.get(issue["fingerprint"])) for issue in findings], indent=2))
    else:
        typer.echo(listing(findings, known))
    return exits.DONE


def sit_down(place: Place, *, everything: bool) -> int:
    """Go through the findings with whoever is at the terminal; those that are judged only if `everything` is wanted."""
    known = kept_judgements(place.store)
    each = sifting.one_each(_listed(place))
    open_ones = [pair for pair in each if everything or (_is_open(pair[0]) and pair[0]["fingerprint"] not in known)]
    if not open_ones:
        return _done(f"nothing is left to judge in run {place.run.id}; see it again with: --all")
    findings, twins = [issue for issue, _ in open_ones], [lines for _, lines in open_ones]
    excerpts = Excerpts(place.blobs, place.run.snapshot_id, findings)

    def draw(wanted: Show) -> str:
        number = f"{wanted.place + 1} of {len(findings)}"
        issue, lines = findings[wanted.place], twins[wanted.place]
        return card(issue, excerpts.at(wanted.place), twins=lines, said=wanted.said, place=number)

    said: dict[str, Judgement] = {}
    try:
        for judgement in _converse(sit(findings, known), draw):
            judging.judge(place.store, [judgement])
            said[judgement.fingerprint] = judgement
    except KeyboardInterrupt:
        typer.echo(f"\n{_summed(place.run, said, len(findings))}", err=True)
        raise
    return _done(_summed(place.run, said, len(findings)))


def _listed(place: Place) -> list[Issue]:
    sheet = place.sheet()
    if sheet.not_listed:
        typer.echo(f"not here: {counted(sheet.not_listed, 'finding')} that the report does not list", err=True)
    return sheet.findings


def _converse(sitting: Sitting, draw: Callable[[Show], str]) -> Iterator[Judgement]:
    """Do what the sitting wants of the terminal, and yield what is to be kept."""
    terminal = sys.stdin.fileno()
    with suppress(StopIteration):
        wanted = next(sitting)
        while True:
            answer = ""
            if isinstance(wanted, Keep):
                yield wanted.said
            else:
                answer = _asked(terminal, wanted, draw)
            wanted = sitting.send(answer)


def _asked(terminal: int, wanted: Show | Ask, draw: Callable[[Show], str]) -> str:
    if isinstance(wanted, Ask):
        typer.echo("why is it false? ", nl=False)
        return read_line(terminal)
    typer.echo(plain(wanted.hint) if wanted.hint else f"{draw(wanted)}\n")
    key = read_key(terminal, lambda: typer.echo(f"{KEYS} > ", nl=False))
    typer.echo(key if key.isprintable() else "")
    return key


def _taken(named: str) -> tuple[Judgement, ...]:
    """Read a file of judgements; one that cannot be taken is no reason to heed the others."""
    said = read_triage(Path(named))
    for problem in said.problems[:PROBLEMS_SHOWN]:
        typer.echo(problem, err=True)
    if said.problems:
        what = f"{len(said.problems):,} of its entries cannot be taken, so none is"
        raise UsageError(f"{plain(named)}: {what}; mend or remove what is named above")
    return said.judgements


def _row(issue: Issue, said: Judgement | None) -> dict[str, Any]:
    told = {"verdict": None} if said is None else said.model_dump(include={"verdict", "reason", "by", "at"})
    return {name: issue[name] for name in LISTED} | told


def _is_open(issue: Issue) -> bool:
    return issue["status"] not in ("dismissed", "suppressed")


def _summed(run: Run, said: dict[str, Judgement], findings: int) -> str:
    true = sum(one.verdict for one in said.values())
    told = f"{true:,} judged true, {len(said) - true:,} false"
    left = findings - len(said)
    return told + (f"; {left:,} left, go on with: jarvis sec triage {run.id}" if left else "; none is left")


def _done(says: str) -> int:
    typer.echo(says, err=True)
    return exits.DONE
