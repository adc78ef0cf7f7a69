"""Attacks that leave a process behind; each succeeds if the process outlives the sandbox."""

import os
import signal
import time

from jarvis_workers.sandbox.probe.attacks.target import Target


def leave_a_daemon(_: Target) -> bool:
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(30)
        os._exit(0)
    return True


def leave_a_daemon_that_runs_away(_: Target) -> bool:
    """Fork into new sessions continuously, so that a process has exited before it can be killed."""
    if not os.fork():
        end = time.monotonic() + 8
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
            os.setsid()
            time.sleep(0.002)
        os._exit(0)
    return True


def leave_a_stopped_process(_: Target) -> bool:
    if not os.fork():
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
    return True
