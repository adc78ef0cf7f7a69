"""Entry point of a pool process: tie its lifetime to its parent's before anything slow is imported.

A pool whose parent is killed while the pool still imports Celery would otherwise run for ever, and claim jobs for a
worker that is gone.  Standard input holds the orders and then stays open as long as the parent lives.
"""

import os
import sys
import threading

from jarvis_workers.dispatch.pool_config import Orders
from jarvis_workers.toolchain.die_with_parent import die_with_parent


def main() -> None:
    """Read the orders and serve them; return at once when the parent died before it had sent them."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return
    orders = Orders.parse(line)
    die_with_parent(orders.parent)
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    from jarvis_workers.dispatch.pool import serve  # noqa: PLC0415  (takes seconds, during which the parent may die)

    serve(orders)


def _exit_at_end_of_input() -> None:
    """End the process when the parent closes its end of the pipe; not through `sys.stdin`, whose lock exit needs."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
