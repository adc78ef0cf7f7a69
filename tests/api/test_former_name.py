"""Programs that import from the former name of the API go on working."""

import jarvis_workers.api
import jarvis_workers.service


def test_the_former_name_is_the_api() -> None:
    assert jarvis_workers.service is jarvis_workers.api
    assert jarvis_workers.service.scan is jarvis_workers.api.scan
