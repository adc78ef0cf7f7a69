"""Reports that are not quite YAML: most are read, none is read as something that it does not say."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.report import BadReport, ReportForm
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import PROFILES
from tests.agents.loop.arrange import TEXT, Scripted, agent_of, call, look, run, text


class Verdict(BaseModel):
    """What is said of a candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    gid: int
    has_risk: bool
    preconditions: str
    trigger_path: str
    consequences: str
    suggestions: str


class Group(BaseModel):
    """Candidates that are checked together."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    verification: str
    gids: list[int]


REPORT = ReportForm(list[Verdict])
CLUSTERS = ReportForm(list[Group], tag="CLUSTERS")
SAID: list[dict[str, Any]] = [
    {
        "gid": 1,
        "has_risk": True,
        "preconditions": "len: from the network, not checked",
        "trigger_path": "main -> read_all: copy_it # line 12",
        "consequences": 'a write of 3 bytes after buf[16], then "x"',
        "suggestions": "no",
    },
    {
        "gid": 10,
        "has_risk": False,
        "preconditions": "it's 'never' called",
        "trigger_path": "- none -",
        "consequences": "50% of {cases} & more",
        "suggestions": "检查：长度，或者不用",
    },
]
MEANT = REPORT.read_value(SAID)


def plain(items: list[dict[str, Any]], indent: str = "  ", bullet: str = "- ") -> str:
    """The way most models write it: every text on its line, without quotes."""
    lines = []
    for item in items:
        for place, (name, value) in enumerate(item.items()):
            shown = str(value).lower() if isinstance(value, bool) else value
            lines.append(f"{bullet if place == 0 else indent}{name}: {shown}")
    return "\n".join(lines)


def blocks(items: list[dict[str, Any]]) -> str:
    """Texts as blocks."""
    lines = []
    for item in items:
        for place, (name, value) in enumerate(item.items()):
            lead = "- " if place == 0 else "  "
            shown = f"|\n      {value}" if isinstance(value, str) else str(value)
            lines.append(f"{lead}{name}: {shown}")
    return "\n".join(lines)


WRITTEN = {
    "dumped": yaml.safe_dump(SAID, allow_unicode=True, sort_keys=False),
    "flow": yaml.safe_dump(SAID, allow_unicode=True, default_flow_style=True, width=10_000),
    "json": json.dumps(SAID, ensure_ascii=False, indent=2),
    "plain": plain(SAID),
    "wide": plain(SAID, indent="    ", bullet="-   "),
    "blocks": blocks(SAID),
}
AROUND: dict[str, Callable[[str], str]] = {
    "as asked": lambda body: f"<REPORT>\n{body}\n</REPORT>",
    "with words": lambda body: f"Here is my report.\n\n<REPORT>\n{body}\n</REPORT>\n\nThat is all: done.",
    "fence inside": lambda body: f"<REPORT>\n```yaml\n{body}\n```\n</REPORT>",
    "fence outside": lambda body: f"```\n<REPORT>\n{body}\n</REPORT>\n```",
    "small tag": lambda body: f"<report>\n{body}\n</report>",
    "spaced tag": lambda body: f"< REPORT >\n{body}\n</ REPORT >",
    "escaped tag": lambda body: f"&lt;REPORT&gt;\n{body}\n&lt;/REPORT&gt;",
    "thinking": lambda body: f"<think>Is it <REPORT>?</think>\n<REPORT>\n{body}\n</REPORT>",
    "twice the same": lambda body: f"<REPORT>\n{body}\n</REPORT>\nAgain:\n<REPORT>\n{body}\n</REPORT>",
    "indented": lambda body: "<REPORT>\n" + "\n".join(f"    {line}" for line in body.split("\n")) + "\n</REPORT>",
    "crlf": lambda body: f"<REPORT>\n{body}\n</REPORT>".replace("\n", "\r\n"),
    "byte order mark": lambda body: f"\ufeff<REPORT>\ufeff\n{body}\n</REPORT>",
    "zero widths": lambda body: f"<REPORT>\n\u200b{body}\u200b\n</REPORT>",
    "trailing blanks": lambda body: f"<REPORT>\n{body}\n</REPORT>".replace("\n", "   \n"),
    "hard blanks": lambda body: "<REPORT>\n" + body.replace("  ", "\u00a0\u00a0") + "\n</REPORT>",
    "document marks": lambda body: f"<REPORT>\n---\n{body}\n</REPORT>",
    "empty lines": lambda body: "<REPORT>\n\n\n" + body + "\n\n\n</REPORT>",
    "no tags": lambda body: f"```yaml\n{body}\n```",
    "on one line with the tag": lambda body: f"<REPORT>{body}</REPORT>",
    "a heading": lambda body: f"<REPORT>\n# the report\n{body}\n</REPORT>",
}
SPOILED: dict[str, Callable[[str], str]] = {
    "capital names": lambda body: body.replace("has_risk", "Has_Risk").replace("gid", "GID"),
    "dashed names": lambda body: body.replace("has_risk", "has-risk").replace("trigger_path", "trigger-path"),
    "bold names": lambda body: body.replace("has_risk:", "**has_risk**:"),
    "quoted names": lambda body: body.replace("has_risk:", '"has_risk":'),
    "tight colons": lambda body: body.replace("has_risk: ", "has_risk:").replace("gid: ", "gid:"),
    "wide colons": lambda body: body.replace("has_risk: ", "has_risk：").replace("gid: ", "gid："),
    "yes and no": lambda body: body.replace("has_risk: true", "has_risk: yes").replace(
        "has_risk: false", "has_risk: no"
    ),
    "capital truth": lambda body: body.replace("true", "True").replace("false", "False"),
    "quoted truth": lambda body: body.replace("has_risk: true", "has_risk: 'true'"),
    "stars": lambda body: body.replace("- gid", "* gid"),
    "tabs": lambda body: body.replace("\n  ", "\n\t"),
    "line commas": lambda body: body.replace("has_risk: true", "has_risk: true,").replace("gid: 1\n", "gid: 1,\n"),
    "leading noughts": lambda body: body.replace("gid: 10", "gid: 010"),
    "a comment": lambda body: body.replace("has_risk: true", "has_risk: true  # sure"),
    "wrapped": lambda body: "report:\n" + body,
    "wrapped deeper": lambda body: "reports:\n" + "\n".join(f"  {line}" for line in body.split("\n")),
}
SPOILED_JSON: dict[str, Callable[[str], str]] = {
    "trailing comma": lambda body: body.replace("\n  }", ",\n  }"),
    "trailing comma at the end": lambda body: body.rstrip("]").rstrip() + ",\n]",
    "smart quotes": lambda body: body.replace('"gid"', "“gid”").replace('"has_risk"', "“has_risk”"),
    "wrapped": lambda body: '{"report": ' + body + "}",
    "one name in capitals": lambda body: body.replace('"gid"', '"GID"'),
    "texts of truth": lambda body: body.replace("true", '"true"').replace("false", '"false"'),
    "texts of numbers": lambda body: body.replace('"gid": 10', '"gid": "10"'),
}


def variants() -> dict[str, str]:
    """All that can be read, by what was done to it."""
    found = {f"{how}, {kind}": AROUND[how](WRITTEN[kind]) for how, kind in product(AROUND, WRITTEN)}
    for kind, how in product(("plain", "wide", "dumped"), SPOILED):
        for around in ("as asked", "fence inside"):
            found[f"{how}, {kind}, {around}"] = AROUND[around](SPOILED[how](WRITTEN[kind]))
    for how in SPOILED_JSON:
        for around in ("as asked", "fence inside", "no tags"):
            found[f"{how}, json, {around}"] = AROUND[around](SPOILED_JSON[how](WRITTEN["json"]))
    return found


ONE, OTHER = plain(SAID[:1]), plain([{**SAID[0], "has_risk": False}])
UNREADABLE = {
    "nothing": "",
    "words": "There is no risk in any of them.",
    "no end": f"<REPORT>\n{ONE}",
    "no start": f"{ONE}\n</REPORT>",
    "cut": AROUND["as asked"](WRITTEN["plain"])[:200],
    "still thinking": f"<think>\n<REPORT>\n{ONE}\n</REPORT>",
    "only thought": f"<think>\n<REPORT>\n{ONE}\n</REPORT>\n</think>",
    "two that differ": f"<REPORT>\n{ONE}\n</REPORT>\n<REPORT>\n{OTHER}\n</REPORT>",
    "one in another": f"<REPORT>\n<REPORT>\n{ONE}\n</REPORT>\n</REPORT>",
    "said twice": f"<REPORT>\n{ONE}\n  has_risk: false\n</REPORT>",
    "said twice in json": '<REPORT>[{"gid": 1, "has_risk": true, "has_risk": false}]</REPORT>',
    "said twice in two spellings": f"<REPORT>\n{ONE}\n  Has-Risk: false\n</REPORT>",
    "perhaps": f"<REPORT>\n{ONE.replace('true', 'perhaps')}\n</REPORT>",
    "not a number": f"<REPORT>\n{ONE.replace('gid: 1', 'gid: one')}\n</REPORT>",
    "a range": f"<REPORT>\n{ONE.replace('gid: 1', 'gid: 1-3')}\n</REPORT>",
    "half a number": f"<REPORT>\n{ONE.replace('gid: 1', 'gid: 1.5')}\n</REPORT>",
    "a field is missing": "<REPORT>\n- gid: 1\n  has_risk: true\n</REPORT>",
    "a field too many": f"<REPORT>\n{ONE}\n  certain: true\n</REPORT>",
    "a reference": f"<REPORT>\n{ONE.replace('gid: 1', 'gid: &a 1')}\n  suggestions: *a\n</REPORT>",
    "a python object": "<REPORT>\n!!python/object/apply:os.system ['true']\n</REPORT>",
    "two documents": f"<REPORT>\n{ONE}\n---\n{OTHER}\n</REPORT>",
    "a list of words": "<REPORT>\n- a\n- b\n</REPORT>",
    "much too long": "<REPORT>\n" + "- a: b\n" * 100_000 + "</REPORT>",
    "deep": "<REPORT>\n" + "[" * 5_000 + "</REPORT>",
    "in a quotation": "The file says `<REPORT>` somewhere.",
}
VARIANTS = variants()


def read(answer: str, form: ReportForm = REPORT) -> Any:
    """What an answer is read as; None for what cannot be read."""
    try:
        return form.read_text(answer)
    except BadReport:
        return None


def test_nine_in_ten_are_read_and_none_is_read_wrongly() -> None:
    found = {name: read(answer) for name, answer in VARIANTS.items()}
    wrong = [name for name, value in found.items() if value not in (None, MEANT)]
    unread = [name for name, value in found.items() if value is None]

    assert len(VARIANTS) >= 200
    assert wrong == []
    assert len(unread) <= len(VARIANTS) // 10, unread


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_says_nothing_or_two_things_is_no_report(name: str) -> None:
    assert read(UNREADABLE[name]) is None


@pytest.mark.parametrize(("form", "value", "place"), [(ReportForm(Verdict), 3, "the report"), (REPORT, [3], "0")])
def test_a_value_that_is_no_object_is_refused_without_the_name_of_a_class(
    form: ReportForm, value: Any, place: str
) -> None:
    with pytest.raises(BadReport, match=f"^{place}: Input should be an object with the fields of the report$"):
        form.read_value(value)


@pytest.mark.parametrize("length", range(20, 420, 7))
def test_no_beginning_of_a_report_is_a_report(length: int) -> None:
    for around in ("as asked", "fence inside", "no tags"):
        for kind in WRITTEN:
            whole = AROUND[around](WRITTEN[kind])
            if length < len(whole) - 12:
                value = read(whole[:length])
                assert value is None or value == MEANT[: len(value)], (kind, around)


def test_clusters_are_read_by_their_own_tag() -> None:
    body = "- verification: len is checked: always\n  gids: [1, 2]\n- verification: p is freed once\n  gids:\n  - 3"

    found = read(f"<CLUSTERS>\n{body}\n</CLUSTERS>", CLUSTERS)

    assert [(group.verification, group.gids) for group in found] == [
        ("len is checked: always", [1, 2]),
        ("p is freed once", [3]),
    ]
    assert read(f"<REPORT>\n{body}\n</REPORT>", CLUSTERS) is None


class Attempt(BaseModel):
    """A report with free maps and a union."""

    files: dict[str, str]
    steps: dict[str, list[Group]] = {}
    last: Group | Verdict | None = None


def test_names_of_fields_are_normalised_and_keys_of_free_maps_are_not() -> None:
    group = {"Verification": "v", "GIDs": [1]}
    plain = {"verification": "v", "gids": [1]}
    form = ReportForm(Attempt)

    body = json.dumps({"Files": {"Makefile": "all:", "my-file": "a"}, "STEPS": {"Gids": [group]}, "last": group})
    found = form.read_text(f"<REPORT>{body}</REPORT>")
    assert found == Attempt.model_validate(
        {"files": {"Makefile": "all:", "my-file": "a"}, "steps": {"Gids": [plain]}, "last": plain}
    )
    with pytest.raises(BadReport, match="a key occurs twice"):
        form.read_text('<REPORT>{"files": {}, "Files": {}}</REPORT>')


@pytest.mark.parametrize(
    ("profile", "has_tools", "way"),
    [
        ("openai", True, "schema"),
        ("vllm", False, "schema"),
        ("vllm", True, "tool"),
        ("deepseek", False, "tool"),
        ("generic", True, "tags"),
    ],
)
def test_how_a_report_is_asked_for_depends_on_the_model(profile: str, has_tools: bool, way: str) -> None:
    assert REPORT.way(PROFILES[profile], has_tools=has_tools) == way


def test_the_schema_wants_every_field_and_no_other() -> None:
    schema = REPORT.schema
    verdict = schema["$defs"]["Verdict"]

    assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", ["report"], False)
    assert verdict["required"] == list(SAID[0])
    assert "title" not in json.dumps(schema)


def test_a_call_of_submit_report_ends_the_task() -> None:
    agent = agent_of(look([]), form=REPORT)

    result = run(agent, Scripted(call("look"), call("submit_report", json.dumps({"report": SAID}))))

    assert (result.ending, result.report) == ("report", MEANT)


def test_a_whole_answer_of_the_schema_ends_the_task() -> None:
    platform = Scripted(text(json.dumps({"report": SAID})))

    result = run(agent_of(profile=PROFILES["openai"], form=REPORT), platform)

    assert result.report == MEANT
    assert platform.requests[0].schema == REPORT.schema


def test_a_report_between_tags_ends_the_task() -> None:
    result = run(agent_of(profile=TEXT, form=REPORT), Scripted(text(AROUND["with words"](WRITTEN["plain"]))))

    assert result.report == MEANT


@pytest.mark.parametrize("profile", [TEXT, PROFILES["deepseek"], PROFILES["openai"]])
def test_after_two_more_questions_it_is_inconclusive(profile: Any) -> None:
    platform = Scripted(*[text("All is safe.")] * 3)

    with pytest.raises(AgentStopped) as stop:
        run(agent_of(profile=profile, form=REPORT, limits=AgentLimits(malformed=9)), platform)

    assert stop.value.reason == "inconclusive"
    assert len(platform.requests) == 3


def test_a_bad_report_is_asked_for_again_with_the_reason() -> None:
    bad, good = (json.dumps({"report": report}) for report in ([{**SAID[0], "has_risk": "perhaps"}], SAID))
    platform = Scripted(call("submit_report", bad), call("submit_report", good))

    result = run(agent_of(form=REPORT), platform)

    assert result.report == MEANT
    assert "has_risk" in platform.requests[1].messages[-1].content


def test_a_report_in_an_answer_that_was_cut_off_is_none() -> None:
    cut = text(AROUND["as asked"](WRITTEN["plain"]), finish="length")
    whole = text(AROUND["as asked"](plain(SAID[:1])))

    assert run(agent_of(profile=TEXT, form=REPORT), Scripted(cut, whole)).report == MEANT[:1]
