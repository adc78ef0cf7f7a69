"""A worker's parent that is killed as soon as it has sent orders to its pool; it first prints the pool's pid."""

import os
import signal
import sys
from dataclasses import replace

from jarvis_workers.executors.dispatch.pool_config import POOL_MODULE, PoolConfig
from jarvis_workers.toolchain.children import Child

MODULE = "tests.executors.dispatch.orphaning"

if __name__ == "__main__":
    pool = Child(POOL_MODULE, [], os.environ, sys.stderr.buffer)
    pool.send(replace(PoolConfig.parse(sys.stdin.buffer.readline()), parent=os.getpid()).line())
    sys.stdout.write(str(pool.pid))
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
