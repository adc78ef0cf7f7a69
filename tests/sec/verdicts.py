"""The body of a report of a run with a model: a finding of every status, with all fields of a verdict."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_from_json, body_to_json, issue_to_json
from jarvis_workers.sec.trace import trail_of

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="src/list.c",
    line=40,
    evidence="strcpy(d, s);",
    description="Copies without a bound.",
    suggestion="Pass the size.",
    confidence=0.85,
    cwe=676,
)
TWICE = COPY._replace(
    category="memory_mgmt",
    pattern="flow_double_free",
    file="src/end.c",
    line=70,
    evidence="free(text);",
    confidence=0.7,
    cwe=415,
    trail=trail_of([("lib/free.c", 5, "release frees it"), (None, 70, "text is freed again")], "src/end.c"),
)
OPEN = ("confirmed", "review", "undecided", "heuristic")
NOTHING: dict[str, Any] = {
    "has_risk": None,
    "analysis": "",
    "exposure": "",
    "verdict_severity": "",
    "verdict_confidence": None,
    "preconditions": "",
    "trigger_path": "",
    "consequences": "",
    "suggestions": "",
    "quotes": [],
    "reason": None,
    "commands": [],
    "verification": "Is there room for what is copied?",
    "cluster": 1,
}
RISK = {
    "status": "confirmed",
    "has_risk": True,
    "preconditions": "s comes from the network.",
    "trigger_path": "main reads it.\nlist_add copies it.",
    "consequences": "The stack is overwritten.",
    "suggestions": "Use strlcpy with sizeof d.",
    "quotes": [
        {"file": "src/list.c", "line": 38, "quote": "char d[8];"},
        {"file": "src/main.c", "line": 9, "quote": "read(fd, s, 4096);\nlist_add(s);"},
    ],
    "commands": [{"interpreter": "bash", "script": "grep -n strcpy src/list.c\ncat src/main.c"}],
}
DOUBT = RISK | {"status": "review", "reason": "its evidence does not stand where it was said to", "commands": []}
OPEN_END = {"status": "undecided", "reason": "unavailable: no answer from the model for 600 s"}
NO_RISK = {
    "status": "dismissed",
    "has_risk": False,
    "preconditions": "None: the length is checked.",
    "quotes": [{"file": "src/list.c", "line": 50, "quote": "if (strlen(s) < sizeof d)"}],
}
RUN = {
    "id": "a1b2",
    "kind": "sec.agent",
    "state": "done",
    "scanned_root": "/home/ci/redis",
    "version": "0.1.0",
    "ended_at": "2026-03-04T05:06:07.890+00:00",
    "seconds": 61.5,
    "cost": 0.0421,
    "sandbox": ["A"],
    "model": {
        "group": "good",
        "calls": 12,
        "remembered": 3,
        "prompt": 81_000,
        "cached": 20_000,
        "completion": 4_200,
        "seconds": 33.25,
        "latency": [{"to": 1.0, "calls": 2}, {"to": 4.0, "calls": 6}, {"to": None, "calls": 1}],
        "by_stage": {
            "cluster": {"calls": 2, "prompt": 9_000, "cached": 0, "completion": 600, "cost": 0.0051, "seconds": 4.5},
            "verify": {
                "calls": 10,
                "prompt": 72_000,
                "cached": 20_000,
                "completion": 3_600,
                "cost": 0.037,
                "seconds": 28.75,
            },
        },
    },
}

Decided = tuple[Candidate, Mapping[str, Any]]


def like(one: Candidate, **changes: object) -> Candidate:
    return one._replace(**changes)


EVERY: tuple[Decided, ...] = (
    (TWICE, RISK | {"cluster": 2, "commands": [], "consequences": "The heap is corrupted."}),
    (COPY, RISK),
    (like(COPY, line=55), DOUBT),
    (like(COPY, file="src/main.c", line=12), OPEN_END | {"cluster": 3}),
    (like(COPY, file="src/zip.c", line=7, confidence=0.5), OPEN_END | {"cluster": 4}),
    (like(COPY, line=51, evidence="strcpy(d, t);"), NO_RISK),
    (like(COPY, line=52, evidence="strcpy(e, t);", confidence=0.65), {"status": "dismissed", "has_risk": False}),
)


def judged_body(*decided: Decided, scanned_files: int = 3, **rest: Any) -> ReportBody:
    """Return a body in which each candidate has the verdict paired with it."""
    told = [NOTHING | verdict for _, verdict in decided]
    numbered = list(enumerate((found for found, _ in decided), start=1))
    issues = [row | told[row["gid"] - 1] for row in map(issue_to_json, gather(numbered).issues)]
    kept = [numbered[place] for place, verdict in enumerate(told) if verdict["status"] != "dismissed"]
    body = body_to_json(build(gather(kept), scanned_files=scanned_files, **rest))
    dismissed = [issue for issue in issues if issue["status"] == "dismissed"]
    statuses = Counter(issue["status"] for issue in issues)
    body["issues"] = [issue for issue in issues if issue["status"] != "dismissed"]
    body["summary"] |= {
        "by_status": {status: statuses[status] for status in OPEN if statuses[status]},
        "dismissed": len(dismissed),
        "confirmed_root_causes": len({one["root_cause"] for one in issues if one["status"] == "confirmed"}),
        "clusters": len({verdict["cluster"] for verdict in told}),
    }
    return body_from_json(body | {"dismissed": dismissed})


def hostile(text: str) -> tuple[Decided, ...]:
    """Return candidates of every status in which all texts of code and model are this one."""
    step = trail_of([(text, 1, text)], text)
    found = like(COPY, file=text, evidence=text, description=text, suggestion=text, trail=step)
    said = {name: text for name in ("preconditions", "trigger_path", "consequences", "suggestions", "verification")}
    shown = {"quotes": [{"file": text, "line": 1, "quote": text}], "commands": [{"interpreter": text, "script": text}]}
    return tuple(
        (like(found, line=line), {"status": status, "has_risk": None, **said, **shown, "reason": text})
        for line, status in enumerate(("confirmed", "review", "undecided", "dismissed"), start=1)
    )
