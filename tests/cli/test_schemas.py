"""The published JSON schemas are those of this version, and real reports and settings are valid by them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report.json_schema import report_schema
from jarvis_workers.settings.json_schema import settings_schema
from tests.cli.commands import COPY, SYSTEM
from tests.sec.verdicts import EVERY, judged_body

ROOT = Path(__file__).parents[2]
FLOW = (ROOT / "tests" / "data" / "flow" / "flow_double_free.c").read_text()


def errors(schema, value):
    Draft202012Validator.check_schema(schema)
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


@pytest.mark.parametrize(
    ("command", "name"), [(("config", "schema"), "jarvis.yaml.json"), (("sec", "schema"), "report.json")]
)
def test_published_schemas_are_current(jarvis, command, name):
    published = (ROOT / "docs" / "schemas" / name).read_text()

    assert jarvis(*command).out == published, f"write it again: jarvis {' '.join(command)} > docs/schemas/{name}"


@pytest.mark.slow
def test_a_real_report_is_valid_by_its_schema(jarvis):
    ignored = f"// jarvis-ignore: sized\n{COPY}"
    tree = jarvis.tree("tree", {"a.c": COPY + SYSTEM, "flow.c": FLOW, "quiet.c": ignored, "empty.c": ""})
    (tree / "gone.c").symlink_to("nowhere")
    jarvis("sec", "fast", "-p", tree, "-o", "known.json")
    (tree / "new.c").write_text(SYSTEM)

    report = json.loads(jarvis("sec", "fast", "-p", tree, "--json", "--baseline", "known.json").out)
    whole = json.loads(Path("known.json").read_text())

    assert whole["issues"] and whole["suppressed"] and whole["summary"]["not_checked"]
    assert any("path" in issue for issue in whole["issues"]) and any("column" in issue for issue in whole["issues"])
    assert report["summary"]["baseline"]
    assert errors(report_schema(), whole) == errors(report_schema(), report) == []


def test_verdicts_are_valid_and_unknown_fields_are_not():
    run = dict.fromkeys(report_schema()["properties"]["run"]["required"], "") | {"seconds": None, "stages": {}}
    report = json.loads("".join(FORMATS["json"](judged_body(*EVERY), run)))
    report["summary"].pop("clusters", None)

    assert report["dismissed"] and errors(report_schema(), report) == []
    report["issues"][0]["unheard_of"] = 1
    assert errors(report_schema(), report) != []


def test_settings_of_the_readme_are_valid_and_a_misspelt_one_is_not():
    text = (ROOT / "README.md").read_text()
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    settings = [block for block in blocks if set(block) <= set(settings_schema()["properties"])]

    assert settings
    assert [errors(settings_schema(), one) for one in settings] == [[]] * len(settings)
    assert errors(settings_schema(), {"scan": {"languages": "c/cpp,rust", "extensions": ["c"]}}) == []
    assert errors(settings_schema(), {"brokr_url": "redis://"}) != []
    assert errors(settings_schema(), {"scan": {"langages": ["rust"]}}) != []
