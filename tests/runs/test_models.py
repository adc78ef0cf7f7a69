"""Which models a user has set; their keys go to those who ask them, and are shown to nobody."""

from pathlib import Path

import pytest

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.runs.models import model_facts, model_name
from jarvis_workers.settings import Settings

SECRET = "sk-not-to-be-seen"
ENVIRONMENT = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
OWN = ModelGroup(model="own", base_url="http://127.0.0.1:2/v1")
OTHER = ModelGroup(model="other", base_url="http://127.0.0.1:3/v1", api_key_env="OTHER_KEY")


def settings(model_group: str | None = None, **models: ModelGroup) -> Settings:
    return Settings(models=models, model_group=model_group)


@pytest.mark.parametrize(
    ("said", "asked", "environ", "name"),
    [
        (settings(own=OWN), None, {}, "own"),
        (settings(own=OWN), None, ENVIRONMENT, "own"),
        (settings(), None, ENVIRONMENT, "environment"),
        (settings(own=OWN, other=OTHER), "other", {}, "other"),
        (settings("other", own=OWN, other=OTHER), None, {}, "other"),
        (settings("other", own=OWN, other=OTHER), "own", {}, "own"),
        (settings(own=OWN, other=OTHER), None, ENVIRONMENT, "environment"),
    ],
)
def test_the_group_that_is_meant_is_found(
    said: Settings, asked: str | None, environ: dict[str, str], name: str
) -> None:
    assert model_name(said, asked, environ) == name


@pytest.mark.parametrize(
    ("said", "asked", "why"),
    [
        (settings(), None, "no model is set"),
        (settings(own=OWN, other=OTHER), None, "several model groups are set"),
        (settings(own=OWN), "owm", r'there is no group "owm" \(did you mean "own"\?\)'),
        (settings("gone", own=OWN), None, 'there is no group "gone"'),
    ],
)
def test_a_group_that_is_not_there_is_told_in_a_line(said: Settings, asked: str | None, why: str) -> None:
    with pytest.raises((UsageError, SettingsError), match=why) as told:
        model_name(said, asked, {})

    assert "\n" not in str(told.value)


def test_a_key_from_a_variable_goes_along_with_its_group_alone() -> None:
    facts = model_facts(settings(own=OWN, other=OTHER), {"OTHER_KEY": SECRET})

    assert (facts["other"]["api_key"], facts["other"]["api_key_env"]) == (SECRET, None)
    assert SECRET not in str(facts["own"])


def test_a_key_from_a_file_goes_along_and_not_its_place(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{SECRET}\n")
    own = OWN.model_copy(update={"api_key_file": str(tmp_path / "key")})
    facts = model_facts(settings(own=own), {})["own"]

    assert (facts["api_key"], facts["api_key_file"]) == (SECRET, None)


def test_who_is_told_needs_no_environment_to_ask() -> None:
    for facts in model_facts(settings(own=OWN), ENVIRONMENT).values():
        assert Providers({}).open(ModelGroup.model_validate(facts)).model in ("own", "m")


def test_a_key_that_is_not_there_is_missed_by_who_asks_and_by_nobody_else() -> None:
    facts = model_facts(settings(own=OWN, other=OTHER), {})

    assert Providers({}).open(ModelGroup.model_validate(facts["own"])).model == "own"
    with pytest.raises(SettingsError, match="takes its key from OTHER_KEY, which is not set"):
        Providers({}).open(ModelGroup.model_validate(facts["other"]))


def test_no_key_is_shown_with_its_group() -> None:
    said = settings(own=OWN.model_copy(update={"api_key": None}), other=ModelGroup(model="m", api_key=SECRET))
    group = ModelGroup.model_validate(model_facts(said, ENVIRONMENT)["environment"])

    for shown in (repr(said), str(said.models), repr(group), str(group), group.model_dump_json()):
        assert SECRET not in shown
