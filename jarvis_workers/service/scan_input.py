"""What a scan is asked for: its options, and what the store is given beside them. Light, and without a store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jarvis_workers.sec.rules import RULES, Rule
from jarvis_workers.service.request import RunInput
from jarvis_workers.steps.sec.options import RuleFacts, SecOptions

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.sec.triage_record import Judgement
    from jarvis_workers.snapshots.selection import Selection
    from jarvis_workers.store.engine import Store

__all__ = ["Baseline", "Chosen", "ScanInput", "Triage"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules of a run: `content` is the blob that workers read (None: those built in), `facts` its options."""

    rules: tuple[Rule, ...] = RULES
    content: bytes | None = None
    facts: RuleFacts = field(default_factory=RuleFacts)


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each fingerprint was known; `facts` say in reports what the findings were compared with."""

    known: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Triage:
    """What a run heeds: what the store keeps, if `kept`, and `more` of the file `named`, which wins.

    One that `learns` weighs findings as judgements of others suggest.
    """

    kept: bool = True
    more: "tuple[Judgement, ...]" = ()
    named: str | None = None
    learns: bool = False


@dataclass(frozen=True)
class ScanInput(RunInput):
    """What the `baseline` knew, and what people had said of findings, is kept with the run: its report stays the same.

    Where times are taken, nothing is taken from the cache, as what is not done takes no time.
    """

    options: SecOptions = field(default_factory=SecOptions)
    rules: Chosen = field(default_factory=Chosen)
    baseline: Baseline | None = None
    triage: Triage = field(default_factory=Triage)

    @property
    def contents(self) -> Sequence[bytes]:
        """Return the rules, unless they are those built in."""
        return () if self.rules.content is None else (self.rules.content,)

    def complete(self, selection: "Selection", store: "Store | None") -> SecOptions:
        """Return the options with what rules, baseline and triage say of themselves."""
        options, rules, baseline = self.options, self.rules.facts, self.baseline
        if store and self.triage.learns:
            from jarvis_workers.service.triage.records import learned_shifts  # noqa: PLC0415  (needs a store)

            rules = replace(rules, learned=learned_shifts(store, self.rules.rules))
        partial = {"partial": True} if selection.unchanged or not selection.is_whole else {}
        return replace(
            options,
            cache=options.cache and not options.profile,
            rules=rules,
            baseline=None if baseline is None else {**baseline.facts, **partial},
            triage=self.triage.named,
        )

    def insert(self, session: "Session", run_id: str) -> None:
        """Insert what the baseline knew, and the triage verdicts."""
        from jarvis_workers.store import baselines, judgements  # noqa: PLC0415  (the database libraries are slow to import)

        if self.baseline:
            baselines.add(session, run_id, self.baseline.known)
        judgements.give(session, run_id, self.triage.more, kept=self.triage.kept)
