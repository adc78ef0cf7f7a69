"""SARIF: what services take, where each finding is, and by what it is known again."""

import gzip
import json
import random
import time
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report_document import IssueSuppression
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.trace import trail_of
from tests.support.machine import assert_cpu_within

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text()))
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
RUN = {
    "id": "a1",
    "state": "done",
    "scanned_root": "/src/a b",
    "version": "1.2",
    "created_at": "2026-01-02T03:04:05.678+00:00",
    "ended_at": "2026-01-02T03:04:06.789+00:00",
}
NAMES = [
    b"sp ace.c",
    b"100%.c",
    b"%41.c",
    b"caf\xc3\xa9.c",
    b"bad\xff\xfe.c",
    rb"looks\xff.c",
    b"new\nline\r\x1b[2J.c",
    b"..c",
    b"...",
    b"a/..b/c..",
    b"http:evil.c",
    b"a?b#c;d&e.c",
    b"//".join([b"a", b"b"]),
    b"[x](http:evil).c",
    b"{0}.c",
    "\u202e\"<'\\.c".encode(),
]


def copy(**changes):
    return COPY._replace(**changes)


def body_of(*candidates, scanned_files=3, **rest):
    return build(gather(enumerate(candidates, start=1)), scanned_files=scanned_files, **rest)


def sarif(body, run=RUN, **limits):
    """Return the one run of a log that the schema accepts."""
    log = json.loads("".join(render_sarif(body, run, **limits)))
    few = log | {"runs": [log["runs"][0] | {"results": log["runs"][0]["results"][:40]}]}
    assert [error.message for error in VALIDATOR.iter_errors(few)] == []
    return log["runs"][0]


def places(run):
    return [result["locations"][0]["physicalLocation"] for result in run["results"]]


def notes(run):
    return run["invocations"][0]["toolExecutionNotifications"]


def prints(run):
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]


def test_a_region_has_the_column_in_characters():
    run = sarif(body_of(COPY._replace(column=5)))

    assert run["columnKind"] == "unicodeCodePoints"
    assert places(run)[0]["region"]["startColumn"] == 5


def test_a_result_says_everything_about_its_finding():
    (result,) = sarif(body_of(COPY))["results"]

    known_by = f"{COPY.fingerprint}:1"
    assert result == {
        "ruleId": "unsafe_api",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "Copies without a bound. Pass the size."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "src/list.c", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 40, "endLine": 40, "snippet": {"text": "strcpy(d, s);"}},
                }
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": known_by, "jarvis/v1": known_by},
        "rank": 85.0,
        "properties": {
            "id": "C3795a7",
            "gid": 1,
            "category": "unsafe_api",
            "confidence": 0.85,
            "score": 2.55,
            "status": "heuristic",
            "root_cause": "D94a5f6a51b",
        },
    }


def test_addresses_begin_at_the_top_of_the_repository():
    gaps = [("b.c", "too large")]
    body, run = body_of(COPY, not_checked=gaps), RUN | {"scanned_root": "/home/p/src", "path_prefix": "src"}

    told = sarif(body, run)

    assert [place["artifactLocation"]["uri"] for place in places(told)] == ["src/src/list.c"]
    assert notes(told)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/b.c"
    assert told["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///home/p/"}}
    assert prints(told) == prints(sarif(body))


def test_severity_is_the_level():
    run = sarif(body_of(copy(confidence=0.9), copy(confidence=0.7), copy(confidence=0.5)))

    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert [result["rank"] for result in run["results"]] == [90.0, 46.7, 16.7]


def test_each_rule_that_fired_is_explained_with_its_weakness_and_examples():
    run = sarif(body_of(*(copy(pattern=rule.pattern, cwe=rule.cwe) for rule in RULES)))
    described = run["tool"]["driver"]["rules"]

    assert [one["id"] for one in described] == sorted(RULES_BY_PATTERN)
    for one in described:
        rule = RULES_BY_PATTERN[one["id"]]
        assert one["name"].isalnum()
        assert one["shortDescription"]["text"] == rule.title
        assert one["fullDescription"]["text"] == rule.description
        assert rule.bad in one["help"]["text"] and rule.good in one["help"]["text"]
        assert rule.bad.strip("\n") in one["help"]["markdown"]
        assert {"security", f"external/cwe/cwe-{rule.cwe:03}"} <= set(one["properties"]["tags"])
        assert len(one["properties"]["tags"]) <= 20
        assert len(one["fullDescription"]["text"]) <= 1024
        assert one["helpUri"].endswith(f"/{rule.cwe}.html")
        assert run["taxonomies"][0]["taxa"][one["relationships"][0]["target"]["index"]]["id"] == str(rule.cwe)
    assert all(described[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_how_sure_a_rule_is_becomes_precision_level_and_severity():
    run = sarif(body_of(*(copy(pattern=name, confidence=sure) for name, sure in (("x", 0.9), ("y", 0.7), ("z", 0.5)))))

    told = [
        (
            rule["properties"]["precision"],
            rule["defaultConfiguration"]["level"],
            rule["properties"]["security-severity"],
        )
        for rule in run["tool"]["driver"]["rules"]
    ]
    assert told == [("high", "error", "8.0"), ("medium", "warning", "5.5"), ("low", "note", "3.0")]


@pytest.mark.parametrize("pattern", ["unsafe_api", "house-rule"])
def test_a_severity_that_the_user_gave_is_the_rules(pattern):
    found = enumerate([copy(pattern=pattern, confidence=0.5), copy(pattern=pattern, confidence=0.9)])

    run = sarif(build(gather(found, severities={pattern: "low"}), scanned_files=1))

    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["defaultConfiguration"]["level"], rule["properties"]["security-severity"]) == ("note", "3.0")
    assert [result["level"] for result in run["results"]] == ["note", "note"]


def test_a_rule_that_nobody_knows_is_explained_by_its_findings():
    (rule,) = sarif(body_of(copy(pattern="house-rule", cwe=0, description="Is *ours*.")))["tool"]["driver"]["rules"]

    assert (rule["name"], rule["shortDescription"]["text"]) == ("HouseRule", "Is *ours*")
    assert rule["help"]["text"] == "Why: Is *ours*.\n\nWhat to do: Pass the size."
    assert "\\*ours\\*" in rule["help"]["markdown"]
    assert rule["properties"]["tags"] == ["security", "unsafe_api"]
    assert "helpUri" not in rule


@pytest.mark.parametrize("name", NAMES)
def test_an_address_is_the_bytes_of_the_path_and_nothing_else(name):
    run = sarif(body_of(copy(file=shown(name)), not_checked=[(shown(name), "too large")]))

    uri = places(run)[0]["artifactLocation"]["uri"]
    assert unquote_to_bytes(uri) == name
    assert uri.isascii() and uri.isprintable()
    assert (urlsplit(uri).scheme, urlsplit(uri).netloc, urlsplit(uri).query) == ("", "", "")
    assert notes(run)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_hostile_name_starts_no_link_and_leaves_no_place_to_fill_in():
    run = sarif(body_of(not_checked=[("[x](http://evil)", "gone"), ("{0}\x1b", "gone")]))

    assert [note["message"]["text"] for note in notes(run)] == [
        "Not checked: \\[x\\](http://evil): gone.",
        "Not checked: {{0}}\\x1b: gone.",
    ]


def test_what_a_terminal_would_obey_is_nowhere_in_the_text():
    letters = "\x1b\x9b\u202e\ufeff\U000e0041"
    text = "".join(render_sarif(body_of(copy(file=letters, evidence=letters), not_checked=[(letters, letters)]), RUN))

    assert not any(letter in text for letter in letters)


def test_a_finding_is_known_without_its_line_and_told_from_its_twins():
    before = prints(sarif(body_of(COPY, copy(line=50), copy(line=60, evidence="strcat(d, s);"))))
    after = prints(sarif(body_of(copy(line=51), copy(line=61), copy(line=71, evidence="strcat(d, s);"))))

    assert before == after
    assert len(set(before)) == 3
    assert before[:2] == [f"{COPY.fingerprint}:1", f"{COPY.fingerprint}:2"]


def test_a_suppressed_finding_is_written_as_one_and_its_twins_stay_who_they_are():
    body = body_of(COPY, copy(line=50), copy(line=60))
    whole = prints(sarif(body))
    first, second, third = body.issues
    quiet = second._replace(gid=7, suppression=IssueSuppression("inSource", "checked\x1b above"))

    inside = sarif(body._replace(issues=[first, quiet, third]))
    beside = sarif(body._replace(issues=[first, third], suppressed=[quiet]))

    assert prints(inside) == prints(beside) == whole
    assert inside["results"] == beside["results"]
    assert [result.get("suppressions") for result in inside["results"]] == [
        None,
        [{"kind": "inSource", "justification": "checked\\x1b above"}],
        None,
    ]


def test_a_clean_scan_has_no_results_and_has_succeeded():
    run = sarif(body_of())

    assert run["results"] == run["tool"]["driver"]["rules"] == []
    assert run["invocations"][0] == {
        "executionSuccessful": True,
        "startTimeUtc": "2026-01-02T03:04:05.678Z",
        "endTimeUtc": "2026-01-02T03:04:06.789Z",
        "toolExecutionNotifications": [],
    }
    assert "taxonomies" not in run


def test_what_was_not_checked_is_named_and_the_scan_has_not_succeeded():
    run = sarif(body_of(COPY, not_checked=[("a.c", "too large")]))

    assert run["invocations"][0]["executionSuccessful"] is False
    assert notes(run) == [
        {
            "descriptor": {"id": "not-checked", "index": 0},
            "level": "error",
            "message": {"text": "Not checked: a.c: too large."},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.c", "uriBaseId": "%SRCROOT%"}}}],
        }
    ]
    assert run["tool"]["driver"]["notifications"][0]["id"] == "not-checked"


@pytest.mark.parametrize("state", ["incomplete", "cancelled", "failed", "paused", "running"])
def test_a_run_that_is_not_done_has_not_succeeded(state):
    assert sarif(body_of(), RUN | {"state": state})["invocations"][0]["executionSuccessful"] is False


def test_a_thousand_files_are_named_and_the_others_counted():
    run = sarif(body_of(not_checked=[(f"{number:05}.c", "too large") for number in range(2_234)]))

    assert len(notes(run)) == 1_001
    assert notes(run)[-1]["message"]["text"] == "Not checked: 1,234 more; see the JSON report."


def test_an_endless_name_is_cut_in_a_notification():
    (note,) = notes(sarif(body_of(not_checked=[("a" * 60_000, "too deep")])))

    assert len(note["message"]["text"]) < 400
    assert "locations" not in note


@pytest.mark.slow
@pytest.mark.parametrize("most", [25_000, 2**31])
def test_of_thirty_thousand_findings_the_highest_scores_are_written_in_their_order(most):
    sure = [0.5 if number % 6 == 0 else 0.9 for number in range(30_000)]
    findings = gather(((number, copy(line=number, confidence=sure[number])) for number in range(30_000)), most=most)

    run = sarif(build(findings, scanned_files=1))

    lines = [place["region"]["startLine"] for place in places(run)]
    assert lines == [number for number in range(30_000) if number % 6]
    assert [note["message"]["text"] for note in notes(run)] == [
        "Not listed: 5,000 findings; only those with the highest scores are listed."
    ]
    assert notes(run)[0]["descriptor"]["id"] == "not-listed"


def test_suppressed_findings_give_way_to_the_others():
    found = [(1, copy(suppressed="checked above")), (2, copy(line=50, confidence=0.5))]

    run = sarif(build(gather(found), scanned_files=1), most=1)

    assert [place["region"]["startLine"] for place in places(run)] == [50]
    assert [note["message"]["text"] for note in notes(run)] == [
        "Not listed: 1 suppressed findings; only those with the highest scores are listed."
    ]


def test_a_comment_that_suppresses_nothing_is_remarked():
    body = body_of(remarks=[("a b.c", 7, "jarvis-ignore[x]", "no rule fires here")])

    (note,) = notes(sarif(body))

    assert (note["level"], note["message"]["text"]) == ("note", "jarvis-ignore[x]: no rule fires here.")
    assert note["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.c", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7},
    }


@pytest.mark.slow
def test_what_would_not_fit_when_pressed_is_not_written():
    draw = random.Random(7)
    found = [copy(file=draw.randbytes(200).hex(), line=line + 1) for line in range(3_000)]
    body = body_of(*found)

    text = "".join(render_sarif(body, RUN, gzipped_max=200_000)).encode()

    kept = len(json.loads(text)["runs"][0]["results"])
    assert 100_000 < len(gzip.compress(text)) < 250_000
    assert notes(sarif(body, gzipped_max=200_000))[0]["message"]["text"].startswith(f"Not listed: {3_000 - kept:,} ")
    assert sarif(body, gzipped_max=1)["results"] == []


@pytest.mark.slow
@pytest.mark.timing
def test_a_large_report_is_written_soon_and_far_below_what_services_take():
    body = body_of(*(copy(file=f"src/é{number % 97}.c", line=number) for number in range(1, 25_001)))
    started = time.process_time()

    text = "".join(render_sarif(body, RUN))

    assert_cpu_within(5, since=started)
    assert len(gzip.compress(text.encode(), 1)) < 4_000_000


def test_addresses_begin_at_the_root_of_the_scan():
    assert sarif(body_of(COPY))["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///src/a%20b/"}}
    assert sarif(body_of(COPY), RUN | {"scanned_root": "/"})["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///"
    assert "uri" not in sarif(body_of(COPY), {})["originalUriBaseIds"]["%SRCROOT%"]


def test_the_address_of_a_file_scanned_alone_begins_beside_it():
    run = sarif(body_of(copy(file="a.c")), RUN | {"scanned_root": "/src/a.c"})

    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///src/"


@pytest.mark.parametrize(
    ("address", "uri"),
    [
        ("https://host/a/b.git", "https://host/a/b.git"),
        ("git@host:a/b.git", "ssh://git@host/a/b.git"),
        ("ssh://git@host:22/a b", "ssh://git@host:22/a%20b"),
        ("file:///src/repo", "file:///src/repo"),
    ],
)
def test_a_repository_is_named_with_its_revision(address, uri):
    commit = "0123456789" * 4
    run = sarif(body_of(COPY), RUN | {"scanned_root": f"{address}@{commit}"})

    (provenance,) = run["versionControlProvenance"]
    assert (provenance["repositoryUri"], provenance["revisionId"]) == (uri, commit)
    assert "uri" not in run["originalUriBaseIds"]["%SRCROOT%"]


def test_the_upload_may_choose_its_own_category():
    assert "automationDetails" not in sarif(body_of(COPY))


def test_a_result_names_the_other_places_of_its_root_cause():
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    null = COPY._replace(pattern="flow_null_dereference")
    files = ["a.c", "b [1](2).c", *(f"{n}.c" for n in range(20))]
    run = sarif(body_of(*(null._replace(file=file, trail=trail_of(way, file)) for file in files), COPY))
    first, second, *_, alone = run["results"]
    related = first["relatedLocations"]

    assert first["message"]["text"].endswith(
        "Same root cause: [line 40](1), [0.c:40](2), [1.c:40](3), [2.c:40](4), [3.c:40](5), [4.c:40](6), [5.c:40](7), "
        "[6.c:40](8), [7.c:40](9), [8.c:40](10)."
    )
    assert " [a.c:40](1), [0.c:40](2)," in second["message"]["text"]
    assert [one["id"] for one in related] == list(range(1, 11))
    assert related[1]["physicalLocation"]["artifactLocation"]["uri"] == "0.c"
    assert len({one["properties"]["root_cause"] for one in run["results"]}) == 2
    assert len(run["results"]) == len(files) + 1
    assert "relatedLocations" not in alone
