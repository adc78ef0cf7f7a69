"""Read SARIF 2.1.0 (OASIS, 2020-03-27) of any analyzer: CodeQL, Semgrep, clang, Snyk, Coverity, GitHub's exports.

Parts of a wrong type count as missing. Results that say that nothing is wrong, or that a later version no longer has,
are counted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.sec.alerts.alert import (
    TEXT_MAX,
    Alert,
    AlertIdentity,
    AlertReport,
    FlowStep,
    UnreadableReport,
    counted,
    cwe_in,
    natural,
    shortened,
)

VERSION = "2.1"
NO_FAILURE = {"pass": "passed", "notApplicable": "not applicable", "informational": "only information"}
# Of a message, more than is kept: links in it are shortened.
STEPS_MAX, READ_MAX = 100, 4_000
FINGERPRINTS_MAX = 20
REGION = ("startLine", "startColumn", "endLine", "endColumn")
PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")
# A link in a message: [text](target).
LINK = re.compile(r"\[([^\[\]]{0,400})\]\([^()\s]{1,400}\)")


def read_sarif(document: Mapping[str, Any]) -> AlertReport:
    """Return the alerts of all runs. Raises UnreadableReport."""
    version = document.get("version")
    if not isinstance(version, str) or not version.startswith(VERSION):
        shown = shortened(str(version))[:20]
        raise UnreadableReport(f"SARIF {shown} is not supported: convert it to 2.1.0 (npx @microsoft/sarif-multitool)")
    left_out: Counter[str] = Counter()
    alerts = [alert for run in _items(document, "runs") for alert in _SarifRun(run).alerts(left_out)]
    return AlertReport(counted(alerts), dict(left_out))


def _items(of: Any, name: str) -> list[Mapping[str, Any]]:
    value = of.get(name) if isinstance(of, dict) else None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _part(of: Any, *names: str) -> Any:
    """Return the value behind names, an empty object if there is none."""
    for name in names:
        of = of.get(name) if isinstance(of, dict) else None
    return {} if of is None else of


def _text(of: Any, *names: str) -> str:
    value = _part(of, *names)
    return value if isinstance(value, str) else ""


class _SarifRun:
    """One run of an analyzer, with what its results refer to."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._run = run
        self._tool = shortened(_text(run, "tool", "driver", "name")) or "unknown"
        components = [_part(run, "tool", "driver"), *_items(_part(run, "tool"), "extensions")]
        self._rules = [_items(component, "rules") for component in components]
        self._by_id = {_text(rule, "id"): rule for rules in reversed(self._rules) for rule in rules}
        artifacts = _part(run, "artifacts")
        self._artifacts = artifacts if isinstance(artifacts, list) else []
        self._bases = _part(run, "originalUriBaseIds")

    def alerts(self, left_out: Counter[str]) -> Iterator[Alert]:
        results = _part(self._run, "results")
        if bad := (len(results) if isinstance(results, list) else 0) - len(_items(self._run, "results")):
            left_out["no object"] += bad
        if any(_part(one, "executionSuccessful") is False for one in _items(self._run, "invocations")):
            left_out["a run of the analyzer that failed"] += 1
        for result in _items(self._run, "results"):
            kind, state = _text(result, "kind"), _text(result, "baselineState")
            reason = NO_FAILURE.get(kind) or ("gone since its baseline" if state == "absent" else None)
            if reason:
                left_out[reason] += 1
            else:
                yield self._alert(result)

    def _alert(self, result: Mapping[str, Any]) -> Alert:
        rule = self._rule(result)
        name = _text(result, "ruleId") or _text(result, "rule", "id") or _text(rule, "id") or "unknown"
        places = [_part(one, "physicalLocation") for one in _items(result, "locations")]
        place: Mapping[str, Any] = next((one for one in places if _part(one, "artifactLocation")), {})
        region = _part(place, "region")
        properties = _part(rule, "properties")
        taxa = [f"CWE-{_text(one, 'id').removeprefix('CWE-')}" for one in _items(result, "taxa") if _is_weakness(one)]
        related = [
            f"CWE-{_text(one, 'target', 'id').removeprefix('CWE-')}"
            for one in _items(rule, "relationships")
            if _is_weakness(_part(one, "target"))
        ]
        return Alert(
            self._tool,
            shortened(name),
            shortened(self._message(result, rule)),
            self._path(_part(place, "artifactLocation")),
            natural(_part(region, "startLine")),
            natural(_part(region, "startColumn")),
            cwe_in(
                _part(properties, "tags"),
                _part(properties, "cwe"),
                related,
                taxa,
                _part(result, "properties", "cwe"),
                _text(rule, "helpUri"),
                name,
            ),
            shortened(_text(result, "level") or _text(rule, "defaultConfiguration", "level") or "warning"),
            _text(region, "snippet", "text").strip("\r\n").partition("\n")[0].strip(),
            shortened(_text(rule, "shortDescription", "text") or _text(rule, "fullDescription", "text")),
            _suppressed(result),
            tuple(self._steps(result)),
            identity=_identity(result, self._artifact(_part(place, "artifactLocation")), region),
        )

    def _rule(self, result: Mapping[str, Any]) -> Mapping[str, Any]:
        component = _part(result, "rule", "toolComponent", "index")
        rules = self._rules[0]
        if isinstance(component, int) and 0 <= component < len(self._rules) - 1:
            rules = self._rules[component + 1]
        for number in (_part(result, "rule", "index"), _part(result, "ruleIndex")):
            if isinstance(number, int) and 0 <= number < len(rules):
                return rules[number]
        named: Mapping[str, Any] = self._by_id.get(_text(result, "ruleId") or _text(result, "rule", "id"), {})
        return named

    def _message(self, result: Mapping[str, Any], rule: Mapping[str, Any]) -> str:
        message = _part(result, "message")
        text = _text(message, "text") or _text(rule, "messageStrings", _text(message, "id"), "text")
        given = _part(message, "arguments")
        values = [shortened(one) for one in given] if isinstance(given, list) else []
        text = PLACEHOLDER.sub(
            lambda one: values[int(one[1])] if int(one[1]) < len(values) else one[0], text[:READ_MAX]
        )
        return LINK.sub(r"\1", text[:READ_MAX])

    def _path(self, location: Any) -> str:
        """Return the address of a file, with that of its base."""
        uri, base = self._artifact(location)
        above = _text(self._bases, base, "uri")
        return f"{above.rstrip('/')}/{uri}" if above and uri and ":" not in uri and uri[0] != "/" else uri

    def _artifact(self, location: Any) -> tuple[str, str]:
        """Return the address of a file as the report gives it, or by the index of an artifact, and the base's id."""
        uri, base = _text(location, "uri"), _text(location, "uriBaseId")
        number = _part(location, "index")
        if not uri and isinstance(number, int) and 0 <= number < len(self._artifacts):
            named = _part(self._artifacts[number], "location")
            uri, base = _text(named, "uri"), _text(named, "uriBaseId")
        return uri, base

    def _steps(self, result: Mapping[str, Any]) -> Iterator[FlowStep]:
        """Yield the first code flow, or what the analyzer notes beside the place, as compilers do."""
        flows = [thread for flow in _items(result, "codeFlows") for thread in _items(flow, "threadFlows")]
        steps = [_part(one, "location") for one in _items(next(iter(flows), {}), "locations")]
        for one in (steps or _items(result, "relatedLocations"))[:STEPS_MAX]:
            place = _part(one, "physicalLocation")
            line = natural(_part(place, "region", "startLine"))
            if line:
                text = LINK.sub(r"\1", _text(one, "message", "text")[:READ_MAX])
                yield FlowStep(self._path(_part(place, "artifactLocation")), line, shortened(text))


def _identity(result: Mapping[str, Any], artifact: tuple[str, str], region: Any) -> AlertIdentity | None:
    """Return what a service knows a result by; None without a place."""
    uri, base = artifact
    if not uri or len(uri) > READ_MAX or len(base) > READ_MAX:
        return None
    numbers = ((name, natural(_part(region, name))) for name in REGION)
    prints = (_fingerprints(_part(result, name)) for name in ("fingerprints", "partialFingerprints"))
    return AlertIdentity(uri, base, tuple(one for one in numbers if one[1]), *prints)


def _fingerprints(of: Any) -> tuple[tuple[str, str], ...]:
    found = sorted(of.items()) if isinstance(of, dict) else []
    short = [(name, one) for name, one in found if isinstance(one, str) and max(len(name), len(one)) <= TEXT_MAX]
    return tuple(short[:FINGERPRINTS_MAX])


def _is_weakness(taxon: Any) -> bool:
    """Return whether a reference to a taxon is one to the CWE list."""
    return "cwe" in (_text(taxon, "toolComponent", "name") or _text(taxon, "id")).lower()


def _suppressed(result: Mapping[str, Any]) -> str | None:
    """Return why a result does not count: all its suppressions are accepted, which is the default (3.35.3)."""
    found = _items(result, "suppressions")
    if not found or any(_text(one, "status") not in ("", "accepted") for one in found):
        return None
    why = next((text for one in found if (text := shortened(_text(one, "justification")))), "")
    return why or f"suppressed ({shortened(_text(found[0], 'kind')) or 'in the report'})"
