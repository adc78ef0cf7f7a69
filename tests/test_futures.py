"""A future gets what a call returns, or whatever it raises."""

from concurrent.futures import Future

import pytest

from jarvis_workers.futures import settle


def test_a_future_gets_the_result_of_a_call() -> None:
    assert settle(Future[int](), divmod, 7, 2).result(0) == (3, 1)


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(3), KeyboardInterrupt()])
def test_a_future_raises_what_a_call_raises(error: BaseException) -> None:
    def fail() -> None:
        raise error

    future = settle(Future[None](), fail)

    assert future.exception(0) is error
