"""The exceptions of the project, and how each one is handled.

JarvisError                one line for the user, exit code 2
├── UsageError             an invalid request: a wrong path, option or id
├── SettingsError          an unknown, mistyped or unreadable setting
├── StoreError             the results store cannot be used
│   ├── StoreOutdated      its schema is missing or too old: an administrator must migrate it
│   ├── StoreUnavailable   it does not respond: retried during a run
│   │   ├── BlobsUnavailable   no blob can be read or written (also a SnapshotError): jobs are released, then retried
│   │   └── StoreRefused   it refuses this user or address until an administrator acts: retried all the same
│   ├── StoreRejected      it refuses the data of a job: a failed attempt
│   └── StoreFull          it responds but cannot write: the run is paused
├── BrokerUnavailable      Redis does not respond: an error at startup, later only latency
│   └── BrokerRefused      its address is wrong, or it refuses this user or command until somebody acts
├── SnapshotError          the source tree or its copy cannot be read
│   └── SnapshotDamaged    a blob does not match its hash: the job fails, its files are not checked
├── ModelError             a model gave no usable answer
│   ├── ModelRefused       a permanent error of its server: a wrong key, model or request
│   ├── ModelUnavailable   no answer in time after all retries: the job is retried later
│   └── BrokenAnswer       the response cannot be parsed: retried, then handled as ModelUnavailable
├── BudgetSpent            the budget of a run is used up: it is paused, its jobs are released without a crash count
├── AgentStopped           a conversation reached a limit: the reason is recorded, its subject stays undecided
├── OutputFailed           standard output cannot be written, or is closed (also an OSError)
├── CommandFailed          a command of the user failed: the last lines of its output follow the message
├── SandboxError           a command could not be confined, and was not run
├── HostExhausted          this machine lacks memory, descriptors or disk space: jobs are released, then retried
├── ScanCancelled          a scan through the Python API was cancelled by its caller
├── StepFailed             a step failed: recorded on the job's row, retried, then not checked
└── GivenUp                a file exceeded a limit of time or memory: it is not checked, its batch continues

Any other exception is a bug, or comes from users' own code. It is caught at these boundaries and nowhere else:

jarvis_workers/pipeline/attempt.py      the attempt at a job: recorded on its row
jarvis_workers/toolchain/forked.py      an item processed in a fork: reported as Crashed
jarvis_workers/futures.py               a call in another thread: raised where its future is waited for
jarvis_workers/agents/loop/plugins.py         users' callbacks, tools, platforms and rules: raised as ForeignError
jarvis_workers/api/child.py     a scan in a child of the Python API: reported to its parent
jarvis_cli/main.py                      a command: a message and an exit code
"""

from collections.abc import Sequence


class JarvisError(Exception):
    """An error message for users: what is wrong, where, and how to fix it."""


def clause(message: str) -> str:
    """Return the first line of a message, such as one of another program, so that a sentence can go on behind it."""
    return message.strip().partition("\n")[0].rstrip(" .:;,")


class UsageError(JarvisError):
    """The request is invalid: a wrong path, option or id.

    The message is the `fact` and the `advice`, which is for users of commands; pages show the fact alone.
    """

    def __init__(self, fact: str, advice: str = "") -> None:
        super().__init__(f"{fact.rstrip('.')}; {advice}" if advice else fact)
        self.fact = fact


class SettingsError(JarvisError):
    """A setting is unknown, has the wrong type or is unreadable."""


class StoreError(JarvisError):
    """The results store cannot be used."""


class StoreOutdated(StoreError):
    """The schema of the results store is missing or too old."""


class StoreUnavailable(StoreError):
    """The results store does not respond."""


class StoreRejected(StoreError):
    """The results store responds but refuses the data of this operation."""


class StoreRefused(StoreUnavailable):
    """The results store refuses this user or address; this lasts until an administrator changes it."""


class StoreFull(StoreError):
    """The results store responds but cannot write."""


class BrokerUnavailable(JarvisError):
    """The broker does not respond."""


class BrokerRefused(BrokerUnavailable):
    """The address of the broker is wrong, or the broker refuses; this lasts until somebody changes it."""


class SnapshotError(JarvisError):
    """The source tree or its copy cannot be read, or its copy cannot be written to an object store."""


class SnapshotDamaged(SnapshotError):
    """A blob is missing or does not match its hash."""


class BlobsUnavailable(StoreUnavailable, SnapshotError):
    """The blob store does not respond: none of its blobs can be read, or none can be written."""


class HostExhausted(JarvisError):
    """This machine lacks memory, file descriptors or disk space, or its disk fails; no fault of the work."""


class OutputFailed(JarvisError, OSError):
    """Standard output cannot be written, or is closed."""

    def __str__(self) -> str:
        return f"cannot write the output: {self.strerror}"


class CommandFailed(JarvisError):
    """A command of the user failed; `output` is the last lines of its output."""

    def __init__(self, message: str, output: Sequence[str]) -> None:
        super().__init__(message)
        self.output = tuple(output)


class SandboxError(JarvisError):
    """A command could not be confined, and was not run."""


class ScanCancelled(JarvisError):
    """The caller cancelled the scan; its data has been removed, or its run is cancelled."""


class StepFailed(JarvisError):
    """The step of a job failed."""


class GivenUp(JarvisError):
    """A work item exceeded a limit of time or memory."""


class ModelError(JarvisError):
    """A model gave no usable answer; `tries` is the number of attempts."""

    tries = 1


class ModelRefused(ModelError):
    """A permanent error of the server."""


class ModelUnavailable(ModelError):
    """The server did not answer in time."""


class BrokenAnswer(ModelError):
    """The server's response cannot be parsed."""


class BudgetSpent(JarvisError):
    """A run has used up its budget, or is no longer active."""


class AgentStopped(JarvisError):
    """A conversation ended without a result; `reason` is one of `agents.loop.limits.Reason`."""

    def __init__(self, reason: str, says: str) -> None:
        super().__init__(says)
        self.reason = reason
