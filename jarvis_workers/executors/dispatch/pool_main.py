"""Entry point of a pool process: tie its lifetime to that of its parent before slow imports.

Otherwise a pool whose parent is killed while the pool imports Celery would run forever, and claim jobs for a dead
worker.  Standard input provides the configuration and then stays open as long as the parent lives.
"""

import os
import sys
import threading

from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.toolchain.die_with_parent import die_with_parent


def main() -> None:
    """Read the configuration and run the pool; return at once if the parent died before it sent the configuration."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return
    config = PoolConfig.parse(line)
    die_with_parent(config.parent)
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    from jarvis_workers.executors.dispatch.pool import serve  # noqa: PLC0415  (takes seconds, during which the parent may die)

    serve(config)


def _exit_at_end_of_input() -> None:
    """End the process when the parent closes its end of the pipe.

    Reads the descriptor, not `sys.stdin`, whose lock the interpreter needs at exit.
    """
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
