"""Which pools a worker starts."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from jarvis_workers.errors import UsageError
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.operate.pool_plans import plan_pools
from jarvis_workers.runs.central_repository import central_checkout
from jarvis_workers.settings import Settings
from jarvis_workers.settings.mcp_servers import McpServer
from jarvis_workers.settings.schema import SearchSettings

pytestmark = pytest.mark.timing


def planned(home: Path, *queues: str) -> list[str]:
    settings = Settings(data_dir=home, broker_url="redis://127.0.0.1:1/0")
    return [config.queue for config, _ in plan_pools(settings, queues, None)]


@pytest.mark.parametrize(
    ("queues", "pools"),
    [
        ((), ["scan", "agent", "build", "translate", "control"]),
        (("control",), ["control"]),
        (("scan", " control "), ["scan", "control"]),
        (("scan", "control", " scan"), ["scan", "control"]),
    ],
)
def test_every_queue_that_is_named_has_one_pool(tmp_path: Path, queues: tuple[str, ...], pools: list[str]) -> None:
    assert planned(tmp_path, *queues) == pools


@pytest.mark.parametrize("queue", ["", " ", "scans"])
def test_a_queue_that_is_none_is_refused(tmp_path: Path, queue: str) -> None:
    with pytest.raises(
        UsageError, match=f'--queues: "{queue.strip()}" is not one of scan, agent, build, translate, control'
    ):
        planned(tmp_path, "scan", queue)


def test_jobs_that_build_projects_have_a_lease_of_their_own(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0")
    plans = plan_pools(settings, ("scan", "build"), 3)

    assert [config.slots for config, _ in plans] == [3, 3]
    assert [config.job_lease_seconds for config, _ in plans] == [310, 14_410]


def test_slots_are_fixed_or_per_processor(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0")
    plans = plan_pools(settings, ("agent", "translate", "control"), 3)

    assert [config.slots for config, _ in plans] == [200, 48, 2]


def test_only_conversations_of_agents_get_tools_of_the_central_repository(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0", central_repo="https://h/r.git", central_tools=("look",)
    )
    checkout = central_checkout(settings)
    assert checkout
    for name in (".git/FETCH_HEAD", "tools/look.py"):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).touch()

    assert {config.queue for config, _ in plan_pools(settings, (), 3) if config.tools} == {"agent"}


def test_only_conversations_of_agents_get_servers_and_the_search_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "k")
    server = McpServer(name="files", type="stdio", command="serve", env={"TOKEN": SecretStr("t")})
    search = SearchSettings(url="http://h/?q={query}", key_env="SEARCH_KEY")
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0", mcp=(server,), search=search)
    configs = [PoolConfig.parse(config.line()) for config, _ in plan_pools(settings, (), 3)]
    agent, *others = sorted(configs, key=lambda config: config.queue != "agent")

    assert (agent.queue, agent.search_url, agent.search_key) == ("agent", "http://h/?q={query}", "k")
    assert [McpServer.model_validate(facts) for facts in agent.mcp] == [server]
    assert [(len(config.mcp), config.search_url) for config in others] == [(0, None)] * len(others)
