"""Model groups: which model is meant, what its key is, and that no secret is ever told."""

import os
from pathlib import Path

import pytest

from jarvis_workers.errors import SettingsError
from jarvis_workers.models.platforms.groups import ModelGroup, all_groups, choose_group
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.models.ratelimit.policy import RateLimitPolicy
from jarvis_workers.settings import load_settings, origins
from tests.agents.loop.arrange import Scripted
from tests.support.settings_files import trust_file

FAST = ModelGroup.model_validate({"model": "m", "base_url": "http://localhost:8000/v1/"})
OTHER = FAST.model_copy(update={"model": "n"})
MINE = Scripted()
SECRET = "sk-very-secret"


def read(directory: Path, text: str) -> dict[str, ModelGroup]:
    (directory / "jarvis.yaml").write_text(text)
    trust_file(directory / "jarvis.yaml", directory / "data")
    return dict(load_settings(environ=environ_of(directory), directory=directory).models)


def environ_of(directory: Path) -> dict[str, str]:
    return {"JARVIS_DATA_DIR": str(directory / "data")}


def test_the_name_decides_then_the_only_group_then_the_environment() -> None:
    environ = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": "http://there/v1", "OPENAI_MODEL": "gpt"}
    groups = {"fast": FAST, "slow": OTHER}

    assert choose_group(groups, "slow", environ) == "slow"
    assert choose_group({"fast": FAST}, None, environ) == "fast"
    assert choose_group(groups, None, environ) == choose_group(groups, "environment", environ) == "environment"
    chosen = all_groups(groups, environ)["environment"]
    assert (chosen.model, chosen.base_url, chosen.key({})) == ("gpt", "http://there/v1", SECRET)
    assert all_groups(groups, {}) == groups
    assert choose_group(groups, None, {}) is None


def test_the_key_of_the_environment_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{SECRET}\n")
    environ = {"OPENAI_API_KEY_FILE": str(tmp_path / "key"), "OPENAI_MODEL": "gpt"}

    assert all_groups({}, environ)["environment"].key({}) == SECRET
    assert all_groups({}, {**environ, "OPENAI_API_KEY": "sk-2"})["environment"].key({}) == "sk-2"
    with pytest.raises(SettingsError):
        all_groups({}, {**environ, "OPENAI_API_KEY_FILE": str(tmp_path / "none")})["environment"].key({})


def test_a_name_that_no_group_has_is_refused() -> None:
    with pytest.raises(SettingsError, match=r'no group "fats" \(did you mean "fast"'):
        choose_group({"fast": FAST}, "fats", {})
    with pytest.raises(SettingsError, match="available: fast"):
        choose_group({"fast": FAST}, "zzz", {})
    with pytest.raises(SettingsError, match="none is set"):
        choose_group({}, "environment", {})
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL"):
        choose_group({}, None, {"OPENAI_MODEL": "m", "OPENAI_BASE_URL": "there"})


def test_an_address_finds_its_profile_and_a_group_may_change_it() -> None:
    changed = FAST.model_copy(update={"overrides": {"context": 99, "tools": "text"}})

    assert FAST.base_url == "http://localhost:8000/v1"
    assert FAST.quirks.reasoning_field == "reasoning"
    assert (changed.quirks.context, changed.quirks.tools, changed.quirks.seed) == (99, "text", True)
    assert FAST.model_copy(update={"profile": "deepseek"}).quirks.reasoning == "turn"
    with pytest.raises(SettingsError, match="overrides of 'm' do not match any profile"):
        _ = FAST.model_copy(update={"overrides": {"contxt": 1}}).quirks


def test_a_key_stands_in_the_group_a_variable_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{SECRET}\n")
    (tmp_path / "empty").write_text("\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")

    def key(environ: dict[str, str] | None = None, **about: str) -> str:
        return ModelGroup.model_validate({"model": "m", **about}).key(environ or {})

    assert key(api_key=SECRET) == SECRET
    assert key({"MY_KEY": SECRET}, api_key_env="MY_KEY") == SECRET
    assert key(api_key_file=str(tmp_path / "key")) == SECRET
    assert key({"OPENAI_API_KEY": SECRET}) == SECRET
    assert key({"OPENAI_API_KEY": SECRET}, base_url="http://localhost:8000/v1") == "none"
    files = ({"api_key_file": str(tmp_path / name)} for name in ("no", "empty", "pipe", "device", "."))
    for wrong in ({"api_key_env": "MY_KEY"}, *files):
        with pytest.raises(SettingsError):
            key(**wrong)


def test_groups_are_read_from_the_file(tmp_path: Path) -> None:
    limits = "{requests_per_second: 0.5, requests_per_minute: 20, tokens_per_minute: 1000000, concurrent: 8"
    fast = f"{limits}, model: m, prices: {{input: 0.5, output: 2}}}}"
    found = read(tmp_path, f"models:\n  fast: {fast}\n  slow: {{model: n}}\n")

    assert found["fast"].prices.output == 2
    assert found["fast"].limits == RateLimitPolicy(8, 0.5, 20, 1_000_000)
    assert not found["slow"].limits.are_set


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("models: 3", '"models" is 3, should be a mapping of names to values'),
        (f"models: {{fast: {SECRET}}}", '"models.fast" is a str'),
        (
            f"models: {{fast: {{modell: m, api_key: {SECRET}}}}}",
            '"models.fast.modell" is not a setting of a model group',
        ),
        ("models: {fast: {base_url: 'http://x'}}", '"models.fast.model" is missing'),
        ("models: {fast: {model: 3}}", '"models.fast.model" is 3, should be a string'),
        (f"models: {{fast: {{model: m, api_key: [{SECRET}]}}}}", '"models.fast.api_key" is a list'),
        ("models: {fast: {model: m, prices: {inputs: 1}}}", '"models.fast.prices.inputs" is not a setting'),
        ("models: {fast: {model: m, prices: {input: -1}}}", '"models.fast.prices.input" is -1, should be at least 0'),
        (
            "models: {fast: {model: m, requests_per_minute: 0}}",
            '"models.fast.requests_per_minute" is 0, should be greater',
        ),
        ("models: {fast: {model: m, token_per_minute: 1}}", '(did you mean "tokens_per_minute"?)'),
        ("models: {fast: {model: m, profile: opnai}}", "\"models.fast.profile\" is 'opnai', should be one of openai"),
        ("models: {fast: {model: m, base_url: there}}", '"models.fast.base_url" is a str, should start with http'),
    ],
)
def test_what_is_wrong_is_told_in_one_line_without_secrets(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError) as problem:
        read(tmp_path, text)

    assert str(problem.value).startswith("jarvis.yaml:1: ")
    assert says in str(problem.value)
    assert SECRET not in str(problem.value)


def test_what_is_shown_of_the_settings_holds_no_secret(tmp_path: Path) -> None:
    address = f"http://me:{SECRET}@there/v1?key={SECRET}"
    found = read(tmp_path, f"models:\n  fast: {{model: m, base_url: '{address}', api_key: {SECRET}}}\n")

    shown = str(origins(environ=environ_of(tmp_path), directory=tmp_path))

    assert found["fast"].key({}) == SECRET
    assert "'model': 'm'" in shown
    assert SECRET not in shown
    assert SECRET not in repr(found)


def test_a_group_names_its_platform() -> None:
    providers = Providers({}, {"mine": lambda group: MINE})

    assert providers.open(FAST.model_copy(update={"platform": "mine"})) is MINE
    with pytest.raises(SettingsError, match=r'unknown platform "opnai" \(did you mean "openai"'):
        providers.open(FAST.model_copy(update={"platform": "opnai"}))
    with pytest.raises(SettingsError, match="needs a key"):
        providers.open(ModelGroup(model="m"))


def test_one_process_has_one_gate_for_a_model() -> None:
    providers = Providers({})
    first, second, other = (providers.open(group) for group in (FAST, FAST, OTHER))

    gates = [vars(platform)["_gate"] for platform in (first, second, other)]
    assert gates[0] is gates[1] is not gates[2]
