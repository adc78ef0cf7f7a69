"""The settings: which place wins, what is refused, and in what words."""

import json
from operator import attrgetter
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from jarvis_workers.errors import SettingsError
from jarvis_workers.redact import redact
from jarvis_workers.settings import Origin, Settings, load_settings, origins
from jarvis_workers.settings.field_types import SettingPath
from tests.support.settings_files import trust_file


def read(directory, environ=None, **flags):
    return load_settings(flags, environ=environ or {}, directory=directory)


def refused(directory, environ=None, **flags):
    with pytest.raises(SettingsError) as problem:
        read(directory, environ, **flags)
    message = str(problem.value)
    assert "\n" not in message
    return message


def yaml(directory, text):
    (directory / "jarvis.yaml").write_text(text)


def toml(directory, text):
    (directory / "pyproject.toml").write_text(text)


def test_with_nothing_set_the_store_is_a_file_in_the_data_directory(tmp_path):
    settings = read(tmp_path, {"JARVIS_DATA_DIR": "data"})

    assert settings.effective_store_url == f"sqlite:///{tmp_path}/data/jarvis.db"
    assert settings.effective_blobs_url == f"{tmp_path}/data/blobs"
    assert (settings.place, settings.lease_seconds, settings.report.min_confidence) == ("local", 30, 0.4)
    assert settings.process_count >= 1


def test_a_flag_wins_over_a_variable_that_over_yaml_that_over_pyproject(tmp_path):
    toml(tmp_path, "[tool.jarvis]\nlease_seconds = 10\ntick_seconds = 1\nresend_seconds = 1\nprocesses = 1\n")
    yaml(tmp_path, "lease_seconds: 20\ntick_seconds: 2\nresend_seconds: 2\n")
    environ = {"JARVIS_LEASE_SECONDS": "30", "JARVIS_TICK_SECONDS": "3"}

    settings = read(tmp_path, environ, lease_seconds=40.0)

    found = (settings.lease_seconds, settings.tick_seconds, settings.resend_seconds, settings.processes)
    assert found == (40, 3, 2, 1)


def test_a_flag_that_was_not_given_wins_over_nothing(tmp_path):
    assert read(tmp_path, {"JARVIS_PROCESSES": "7"}, processes=None).process_count == 7


def test_no_processes_are_not_the_default_number_of_them(tmp_path):
    assert read(tmp_path, {"JARVIS_PROCESSES": "0"}).process_count == 0
    assert read(tmp_path).process_count > 0


def test_sections_are_joined_setting_by_setting(tmp_path):
    yaml(tmp_path, "scan:\n  batch_mb: 4\n  extensions: [.c, h]\n")
    environ = {"JARVIS_SCAN__EXTENSIONS": "C, .rs", "JARVIS_SCAN__USE_IGNORE_FILES": "no"}

    scan = load_settings({"scan.languages": ["rust"]}, environ=environ, directory=tmp_path).scan

    assert (scan.batch_mb, scan.extensions, scan.languages) == (4, ("C", "rs"), ("rust",))
    assert not scan.use_ignore_files


def test_a_broker_means_the_cluster_unless_said_otherwise(tmp_path):
    broker = {"JARVIS_BROKER_URL": "redis://localhost"}

    assert read(tmp_path, broker).place == "cluster"
    assert read(tmp_path, broker, where="local").place == "local"
    assert read(tmp_path, {"JARVIS_BROKER_URL": ""}).place == "local"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("brokr_url: x", 'jarvis.yaml:1: unknown setting "brokr_url" (did you mean "broker_url"?)'),
        ("scan: {extensons: [c]}", 'jarvis.yaml:1: unknown setting "scan.extensons" (did you mean "scan.extensions"?)'),
        ("processes: 1\nscan:\n  extensons: [c]", 'jarvis.yaml:3: unknown setting "scan.extensons"'),
        (
            "processes: 1\nscan:\n  languages:\n    - rust\n    - go",
            "jarvis.yaml:5: \"scan.languages\" is ['rust', 'go']",
        ),
        ("where: local\nscan.batch_files: 0", 'jarvis.yaml:2: "scan.batch_files" is 0, should be at least 1'),
        ("zzz: 1", 'jarvis.yaml:1: unknown setting "zzz"'),
        ("lease_seconds: soon", "jarvis.yaml:1: \"lease_seconds\" is 'soon', should be a number"),
        ("lease_seconds: true", 'jarvis.yaml:1: "lease_seconds" is True, should be a number'),
        ("lease_seconds: 0", 'jarvis.yaml:1: "lease_seconds" is 0, should be greater than 0'),
        ("lease_seconds: .inf", 'jarvis.yaml:1: "lease_seconds" is inf, should be a finite number'),
        ("processes: 1.5", 'jarvis.yaml:1: "processes" is 1.5, should be a whole number'),
        ("where: moon", "jarvis.yaml:1: \"where\" is 'moon', should be 'local' or 'cluster'"),
        ("scan: {languages: [go]}", "jarvis.yaml:1: \"scan.languages\" is ['go'], should be 'c/cpp' or 'rust'"),
        ("agent: {budget: 5}", 'jarvis.yaml:1: "agent.budget" is 5, should be a string'),
        ("agent: {budget: 5eur}", "jarvis.yaml:1: \"agent.budget\" is '5eur', should be an amount and a unit"),
        ("data_dir: 3", 'jarvis.yaml:1: "data_dir" is 3, should be a path'),
        ('data_dir: "a\\0b"', "jarvis.yaml:1: \"data_dir\" is 'a\\x00b', should be a path"),
        ("data_dir: ~nosuch/x", "jarvis.yaml:1: \"data_dir\" is '~nosuch/x', should be a path of an existing user"),
        ("scan: 3", 'jarvis.yaml:1: "scan" is 3; expected a mapping of setting names to values'),
        ("report: {min_confidence: 2}", 'jarvis.yaml:1: "report.min_confidence" is 2, should be at most 1'),
        ("- a\n- b", "jarvis.yaml is ['a', 'b']; expected a mapping of setting names to values"),
        ("where: local\nwhere: cluster", 'jarvis.yaml:2: "where" occurs twice'),
        ("scan: [", "jarvis.yaml:1: "),
        ("? [a]\n: b", "jarvis.yaml:1: found unhashable key"),
        ("a: !!bool x", "jarvis.yaml:1: cannot be read as bool: 'x'"),
        ("a: !!map [1]", "jarvis.yaml:1: expected a mapping node"),
        ("a: 1" + ":00" * 3000, "jarvis.yaml:1: a number with too many digits"),
        ("where: \x07", "jarvis.yaml: cannot be read as YAML: unacceptable character"),
        ("[" * 5000, "jarvis.yaml: cannot be read as YAML: maximum recursion depth"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(tmp_path, text, says):
    yaml(tmp_path, text)

    assert refused(tmp_path).startswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.jarvis]\nplace = 1", 'pyproject.toml [tool.jarvis]: unknown setting "place"'),
        ("[tool.jarvis]\nwhere = 1", "pyproject.toml [tool.jarvis]: \"where\" is 1, should be 'local' or 'cluster'"),
        ("[tool]\njarvis = 1", "pyproject.toml [tool.jarvis] is 1; expected a mapping of setting names to values"),
        ("[tool", "pyproject.toml: "),
    ],
)
def test_what_is_wrong_in_pyproject_is_said_in_one_line(tmp_path, text, says):
    toml(tmp_path, text)

    assert refused(tmp_path).startswith(says)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        (
            "JARVIS_BROKR_URL",
            "x",
            'environment: unknown setting "JARVIS_BROKR_URL" (did you mean "JARVIS_BROKER_URL"?)',
        ),
        ("JARVIS_SCANN__X", "1", 'environment: unknown setting "JARVIS_SCANN__X" (did you mean "JARVIS_SCAN__…"?)'),
        (
            "JARVIS_SCANN__FILE_SECOND",
            "1",
            'environment: unknown setting "JARVIS_SCANN__FILE_SECOND" (did you mean "JARVIS_SCAN__FILE_SECONDS"?)',
        ),
        ("JARVIS_SCAN", "{}", 'environment: unknown setting "JARVIS_SCAN"'),
        ("JARVIS_PROCESSES", "many", "JARVIS_PROCESSES: is 'many', should be a whole number"),
        ("JARVIS_STORE_URL_FILE", "/no/such", 'JARVIS_STORE_URL_FILE: "/no/such" cannot be read: No such file'),
    ],
)
def test_what_is_wrong_in_a_variable_is_said_in_one_line(tmp_path, variable, value, says):
    assert refused(tmp_path, {variable: value}).startswith(says)


@pytest.mark.parametrize(
    "name", ["DELAY_ENTRIES", "DELAY_ENTRY_SYMBOLS", "RECORD", "CC", "ROOT", "LOG", "TRACE", "RUST"]
)
def test_variables_of_other_commands_are_no_settings(tmp_path, name):
    """They may be exported in a shell that runs several commands."""
    assert read(tmp_path, {f"JARVIS_C2RUST_{name}": "x"}) == read(tmp_path)


def test_what_a_stronger_place_covers_is_checked_all_the_same(tmp_path):
    yaml(tmp_path, "processes: many\n")

    assert refused(tmp_path, processes=2).startswith("jarvis.yaml")


def test_a_mapping_stands_in_a_file_or_a_variable(tmp_path):
    yaml(tmp_path, "rules:\n  severity: {atoi_family: low}\n  disable: [unsafe]\n")

    assert read(tmp_path).rules.severity == {"atoi_family": "low"}
    rules = read(tmp_path, {"JARVIS_RULES__SEVERITY": "unsafe_api=high, vla_usage = low"}).rules
    assert (rules.severity, rules.disable) == ({"unsafe_api": "high", "vla_usage": "low"}, ("unsafe",))
    assert refused(tmp_path, {"JARVIS_RULES__SEVERITY": "unsafe_api"}).startswith(
        "JARVIS_RULES__SEVERITY: is 'unsafe_a"
    )
    yaml(tmp_path, "rules: {severity: {unsafe: urgent}}\n")
    assert refused(tmp_path).startswith('jarvis.yaml:1: "rules.severity" is')


def test_other_peoples_variables_and_files_are_left_alone(tmp_path):
    toml(tmp_path, "[tool.black]\nline-length = 3\n")
    yaml(tmp_path, "# nothing yet\nscan: {}\n")

    assert read(tmp_path, {"HOME": "/", "JARVIS_DEBUG": "1"}).scan == Settings().scan


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "jarvis.yaml").mkdir()
    assert refused(tmp_path) == "jarvis.yaml cannot be read: Is a directory"

    (tmp_path / "jarvis.yaml").rmdir()
    (tmp_path / "jarvis.yaml").write_bytes(b"where: \xff")
    assert refused(tmp_path) == "jarvis.yaml is not UTF-8 (byte 7)"


def test_a_secret_is_read_from_its_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("postgresql://me:word@db/jarvis\n")
    environ = {"JARVIS_STORE_URL_FILE": str(secret)}

    assert read(tmp_path, environ).store_url == "postgresql://me:word@db/jarvis"
    assert refused(tmp_path, {**environ, "JARVIS_STORE_URL": "x"}).endswith("set as well; unset one of them")

    secret.write_text("\n")
    assert refused(tmp_path, environ).endswith("is empty")


def test_a_secret_of_the_wrong_type_is_not_quoted(tmp_path):
    yaml(tmp_path, "store_url: [sesame]\n")

    assert refused(tmp_path) == 'jarvis.yaml:1: "store_url" is a list, should be a string'


def test_every_setting_says_where_it_comes_from_without_its_secret(tmp_path):
    toml(tmp_path, "[tool.jarvis.report]\nmin_confidence = 0.5\n")
    yaml(tmp_path, "tick_seconds: 1\nstore_url: postgresql://me:word@localhost/jarvis\n")
    trust_file(tmp_path / "jarvis.yaml", tmp_path)

    found = {
        origin.setting: origin
        for origin in origins({"where": "local"}, environ={"JARVIS_DATA_DIR": str(tmp_path)}, directory=tmp_path)
    }

    assert found["report.min_confidence"] == Origin("report.min_confidence", 0.5, "pyproject.toml [tool.jarvis]")
    assert found["tick_seconds"].source == "jarvis.yaml"
    assert found["store_url"].value == "postgresql://me:***@localhost/jarvis"
    assert found["where"] == Origin("where", "local", "command line")
    assert found["data_dir"].source == "JARVIS_DATA_DIR"
    assert found["blobs_url"] == Origin("blobs_url", str(tmp_path / "blobs"), "default")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sqlite:////data/jarvis.db", "sqlite:////data/jarvis.db"),
        ("redis://:word@host:6379/0", "redis://:***@host:6379/0"),
        ("postgresql://me:w@o/r:d@host/db", "postgresql://me:***@host/db"),
        ("sentinel://:a@h1:1;sentinel://:b@h2:1", "sentinel://:***@h2:1"),
        ("postgresql://h/db?user=me&sslPassword=word&x=1", "postgresql://h/db?user=me&sslPassword=***&x=1"),
    ],
)
def test_no_password_is_shown(address, shown):
    assert redact(address) == shown


def test_settings_cannot_be_changed(tmp_path):
    settings = read(tmp_path)

    with pytest.raises(ValueError, match="frozen"):
        settings.data_dir = Path("/")


def test_a_tick_that_outlasts_a_lease_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r'"tick_seconds" is 20, should be at most 0\.333333'):
        read(tmp_path, lease_seconds=1.0, tick_seconds=20.0)


def test_an_address_with_a_nul_is_refused(tmp_path):
    with pytest.raises(SettingsError, match='"store_url" contains a NUL'):
        read(tmp_path, store_url="sqlite:///a\0b")


def paths_of(model, above=""):
    for name, field in model.model_fields.items():
        types = (field.annotation, *get_args(field.annotation))
        yield from ([above + name] if Path in types or SettingPath in types else [])
        for one in types:
            if isinstance(one, type) and issubclass(one, BaseModel):
                yield from paths_of(one, f"{above}{name}.")


@pytest.mark.parametrize("name", list(paths_of(Settings)))
def test_each_setting_that_is_a_path_can_be_set_in_a_file_and_by_a_variable(tmp_path, name):
    variable = {"JARVIS_" + name.replace(".", "__").upper(): "~/a"}
    values = "~/a"
    for part in reversed(name.split(".")):
        values = {part: values}
    assert attrgetter(name)(read(tmp_path, variable)) == Path.home() / "a"

    yaml(tmp_path, json.dumps(values))
    trust_file(tmp_path / "jarvis.yaml", tmp_path)
    settings = load_settings({}, environ={"JARVIS_DATA_DIR": str(tmp_path)}, directory=tmp_path)

    assert attrgetter(name)(settings) == (tmp_path if name == "data_dir" else Path.home() / "a")


def test_the_settings_that_are_paths():
    assert set(paths_of(Settings)) == {
        *("data_dir", "sec.notes", "notify.webhook_secret_file", "web.users_file", "web.tokens_file"),
    }
