"""A command may wait at its start for a database that restarts (`store.start_seconds`)."""

from pathlib import Path
from threading import Timer

import pytest

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.runs.wiring import store_of
from jarvis_workers.settings import Settings
from tests.support.proxy import proxy_to
from tests.support.servers import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timing]


def test_a_start_waits_for_the_database_as_long_as_the_settings_say(
    postgres_server: Postgres, postgres_url: str, tmp_path: Path
) -> None:
    with proxy_to(postgres_server.socket) as proxy:
        url = postgres_server.url_of(proxy.port, postgres_url)
        settings = Settings(data_dir=tmp_path, store_url=url)
        proxy.refuse()
        with pytest.raises(StoreUnavailable), store_of(settings):
            pass
        back = Timer(0.5, proxy.accept)
        back.start()
        patient = settings.model_copy(update={"store": settings.store.model_copy(update={"start_seconds": 60.0})})
        with store_of(patient) as store:
            assert store.now() > 0
        back.join()
