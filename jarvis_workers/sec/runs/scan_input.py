"""The input of a scan: its options, and the data to insert into the store with it. Avoids slow imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.paths import shown
from jarvis_workers.runs.request import RunInput
from jarvis_workers.sec.rules import RULES, Rule
from jarvis_workers.sec.stages.options import RuleFacts, SecOptions
from jarvis_workers.snapshots.selection import EXCLUDED_DIRECTORIES, IGNORE_FILES, Selection
from jarvis_workers.source.languages import EXTENSIONS

if TYPE_CHECKING:
    from jarvis_workers.sec.triage_record import Judgement
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.session import Session


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules of a run: `content` is the blob for workers (None: built-in rules only), `facts` its options."""

    rules: tuple[Rule, ...] = RULES
    content: bytes | None = None
    facts: RuleFacts = field(default_factory=RuleFacts)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The number of earlier findings per fingerprint; `facts` describe the baseline in reports."""

    counts: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Triage:
    """The verdicts of a run: those of the store if `stored`, and `more` from the file `named`, which take precedence.

    With `learns`, confidences are adjusted by the verdicts on other findings.
    """

    stored: bool = True
    more: "tuple[Judgement, ...]" = ()
    named: str | None = None
    learns: bool = False


class WitnessInput(NamedTuple):
    """The plan of the analyzers to run, the commands of their units, and the archives of units and of crates."""

    plan: bytes
    commands: bytes
    archive: bytes
    crates: bytes


@dataclass(frozen=True)
class ScanInput(RunInput):
    """The input of a scan; `baseline` and triage verdicts are copied to the run, so that its report does not change.

    `build` are the macros and include directories of files, `alerts` the findings of other analyzers, `witness` the
    analyzers to run, `archive` is the project in which findings are proved after a build. With profiling, the result
    cache is not read, as cached results would have no times.
    """

    options: SecOptions = field(default_factory=SecOptions)
    rules: Chosen = field(default_factory=Chosen)
    baseline: Baseline | None = None
    triage: Triage = field(default_factory=Triage)
    build: bytes | None = None
    alerts: bytes | None = None
    archive: bytes | None = None
    witness: WitnessInput | None = None

    @property
    def contents(self) -> Sequence[bytes]:
        """Return the rules, unless they are the built-in ones, the flags of files, alerts, and the project to build."""
        contents = (self.rules.content, self.build, self.alerts, self.archive, *(self.witness or ()))
        return tuple(content for content in contents if content is not None)

    @property
    def build_blob(self) -> str | None:
        """The name of the blob with the flags of files."""
        return sha256(self.build).hexdigest() if self.build is not None else None

    @property
    def alerts_blob(self) -> str | None:
        """The name of the blob with the findings of other analyzers."""
        return sha256(self.alerts).hexdigest() if self.alerts is not None else None

    @property
    def witness_blob(self) -> str | None:
        """The name of the blob with the analyzers to run."""
        return sha256(self.witness.plan).hexdigest() if self.witness is not None else None

    def complete(self, selection: Selection, store: "Store | None") -> SecOptions:
        """Return the options with the facts of rules, baseline and triage."""
        options, rules, baseline = self.options, self.rules.facts, self.baseline
        if store and self.triage.learns:
            from jarvis_workers.sec.triage.records import learned_shifts  # noqa: PLC0415  (needs a store)

            rules = replace(rules, learned=learned_shifts(store, self.rules.rules))
        partial = {"partial": True} if selection.unchanged or not selection.is_whole else {}
        proving: dict[str, Any] = (
            {"proof_archive": sha256(self.archive).hexdigest()} if self.archive is not None else {}
        )
        return replace(
            options,
            **proving,
            cache=options.cache and not options.profile,
            rules=rules,
            baseline=None if baseline is None else {**baseline.facts, **partial},
            triage=self.triage.named,
            build=self.build_blob,
            selection=selection_facts(selection) or None,
        )

    def insert(self, session: "Session", run_id: str) -> None:
        """Insert the baseline and the triage verdicts."""
        from jarvis_workers.sec.store import baselines, judgements  # noqa: PLC0415  (the database libraries are slow to import)

        if self.baseline:
            baselines.add(session, run_id, self.baseline.counts)
        judgements.attach(session, run_id, self.triage.more, stored=self.triage.stored)


def selection_facts(selection: Selection) -> dict[str, Any]:
    """Return the options that select files, except named paths, where they differ from the defaults."""
    suffixes, usual = selection.suffixes, {b"." + suffix for suffix in EXTENSIONS}
    return {
        **({"include": list(selection.include)} if selection.include else {}),
        **({"exclude": list(selection.exclude)} if selection.exclude else {}),
        **({"since": selection.unchanged.revision} if selection.unchanged else {}),
        **({"suffixes": sorted(map(shown, suffixes))} if suffixes is not None and suffixes != usual else {}),
        **(
            {"excluded_directories": sorted(map(shown, selection.exclude_dirs))}
            if selection.exclude_dirs != EXCLUDED_DIRECTORIES
            else {}
        ),
        **({"ignore_files": list(selection.ignore_files)} if selection.ignore_files != IGNORE_FILES else {}),
    }
