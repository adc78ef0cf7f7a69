"""Attacks that succeed outside the sandbox are held inside, in every tier that this machine offers."""

import pytest

from jarvis_workers.sandbox.confine import LAYERS, RESOURCES
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.probe import selftest
from tests.sandbox.probe.unprivileged import Prober

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

GROUPS = selftest.groups()
NAMES = [name for some in GROUPS.values() for name in some]
ALONE = {"resources", "left behind"}
TOGETHER = [name for group, some in GROUPS.items() if group not in ALONE for name in some]
AT_LEAST = 50
# The attack that only this limit of the kernel's holds.
AGAINST = {
    "memory": "take_memory",
    "cpu": "use_the_processor",
    "processes": "fork_without_end",
    "file size": "write_a_large_file",
    "open files": "open_many_files",
    "core dumps": "allow_core_dumps",
    "signals": "queue_many_signals",
}


@pytest.fixture(scope="session")
def counting(prober: Prober) -> set[str]:
    """The attacks that succeed with nothing in their way."""
    return prober.unconfined(NAMES)


@pytest.fixture(scope="session")
def escaped(prober: Prober) -> dict[str, set[str]]:
    """What escapes from each tier that is not refused."""
    return {tier: prober.confined(tier, NAMES) for tier, why in prober.tiers().items() if not why}


def test_more_than_fifty_attacks_succeed_outside(counting: set[str]) -> None:
    assert len(counting) >= 2 * AT_LEAST


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["A", "B"])
def test_no_attack_escapes(tier: str, prober: Prober, counting: set[str]) -> None:
    if why := prober.tiers()[tier]:
        assert tier == "A"
        pytest.skip(why)

    assert not prober.confined(tier, NAMES) & {*counting, selftest.TREE_CHANGED}


@pytest.mark.parametrize("tier", ["A", "B"])
@pytest.mark.parametrize("name", [*NAMES, selftest.TREE_CHANGED])
def test_an_attack_is_held(
    tier: str, name: str, prober: Prober, counting: set[str], escaped: dict[str, set[str]]
) -> None:
    if tier not in escaped:
        assert tier == "A"
        pytest.skip(str(prober.tiers()[tier]))
    if name not in counting | {selftest.TREE_CHANGED}:
        pytest.skip("fails outside too")

    assert name not in escaped[tier]


def test_with_loopback_nothing_escapes_but_the_use_of_an_own_loopback(prober: Prober) -> None:
    if why := prober.tiers()["A"]:
        pytest.skip(why)

    escaped = prober.confined("A", TOGETHER, loopback=True)

    assert escaped == {"listen_over_tcp", "send_over_udp", "send_over_udp_of_version_6"}


@pytest.mark.parametrize("layer", LAYERS)
def test_without_any_one_layer_something_escapes(layer: str, prober: Prober) -> None:
    names = [AGAINST[layer]] if layer in RESOURCES else TOGETHER

    assert prober.confined("B", names, without=(layer,))


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_an_older_landlock_holds_as_much(version: int, prober: Prober) -> None:
    assert not prober.confined("B", TOGETHER, handled_rights=version)


def test_what_is_judged_names_what_does_not_count() -> None:
    some = {"files": ["write_outside", "create_outside"], "network": ["ping"]}

    verdicts = selftest.judge(Tier.B, some, {"write_outside"})

    assert [(verdict.attack, verdict.escaped, verdict.counts) for verdict in verdicts] == [
        ("write_outside", False, True),
        ("create_outside", False, False),
        ("ping", False, False),
        (selftest.TREE_CHANGED, False, True),
    ]
