"""Shared parts of verification tests: a tree in memory, candidates in it, a scripted model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import Marks, make_marks
from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome, execute_script
from jarvis_workers.models.platforms.profiles import PROFILES, Profile
from jarvis_workers.models.platforms.protocol import Platform, Reply
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.finding import Candidate, candidate
from jarvis_workers.sec.judge.question import ClusterQuestion, VerificationQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.verification import Verification
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.trace import trail_of
from tests.agents.loop.arrange import call, drive
from tests.sec.agreeing import Agreeing
from tests.sec.slicing import FILES, Files

MARKS = make_marks(b"secret", "cluster")
RISK = {
    "gid": 1,
    "has_risk": True,
    "preconditions": "s is longer than d",
    "trigger_path": "src/main.c#main:4 -> src/a.c#copy_it:4",
    "consequences": "a write behind d",
    "suggestions": "use strlcpy",
    "evidence": [{"file": "src/a.c#copy_it", "line": 4, "quote": "strcpy(d, s);"}],
}
SAFE = {
    "gid": 1,
    "has_risk": False,
    "preconditions": "none: room holds all that main is given",
    "trigger_path": "",
    "consequences": "",
    "suggestions": "",
    "evidence": [{"file": "src/main.c", "line": 6, "quote": "return copy_it(box.room, argv[1]);"}],
}
UNCLEAR = {
    "gid": 1,
    "verdict": "unclear",
    "analysis": "s may be any argument.",
    "preconditions": "no caller of copy_it is in the project",
    "evidence": [],
}


def found(
    file: str = "src/a.c",
    line: int = 8,
    pattern: str = "unsafe_api",
    *,
    confidence: float = 0.9,
    way: Sequence[tuple[str | None, int, str]] = (),
) -> Candidate:
    """A candidate."""
    made = candidate(Hit(pattern, line, confidence, "strcpy(d, s); // it fits"), file)
    return made._replace(trail=trail_of(way, file))


def prepared(
    *candidates: Candidate, files: Mapping[str, str | bytes] = FILES, first_gid: int = 71, **about: Any
) -> VerificationQuestion:
    """Return a prepared cluster over a tree."""
    numbered = tuple(enumerate(candidates or (found(),), first_gid))
    cluster = ClusterQuestion(about.pop("verification", "Does s fit into d?"), numbered, **about)
    return prepare(cluster, CodeIndex(Files(files)))


def toolbox(ready: VerificationQuestion) -> Toolbox:
    """Return the tools of a verification; a script prints the file that it names last."""

    def run(_: str, script: str) -> ToolOutcome:
        return ToolOutcome(stdout=ready.index.tree.read(script.split()[-1]).decode("utf-8", "backslashreplace"))

    return reading_toolbox(ready.index, execute_script(run))


def verify(
    platform: Platform,
    ready: VerificationQuestion | None = None,
    *,
    profile: Profile = PROFILES["deepseek"],
    marks: Marks = MARKS,
    limits: AgentLimits | None = None,
    tools: Toolbox | None = None,
    agrees: bool = True,
) -> list[Verdict]:
    """Run a verification to its end; with `agrees`, what is asked with replaced names is dismissed as before."""
    ready = ready or prepared()
    profiles = (profile, profile, profile)
    verification = Verification(ready, tools or toolbox(ready), profiles=profiles, marks=marks, limits=limits)
    world = AgentWorld(Agreeing(platform) if agrees else platform, verification.agent.tools.plus(*verification.hidden))
    return drive(verification.run(), world)


def report(*items: Mapping[str, Any]) -> Reply:
    """Return an answer that submits a report."""
    return call("submit_report", json.dumps({"report": [dict(item) for item in items]}))


def item(number: int, of: Mapping[str, Any] = RISK, **about: Any) -> dict[str, Any]:
    """Return an item of a report with some changed fields."""
    return {**of, "gid": number, **about}
