"""Child processes on a machine whose kernel refuses every tier of the sandbox."""

from jarvis_workers.sandbox import kernel, landlock

# https://docs.kernel.org/userspace-api/landlock.html: a process has at most 16 layers of restrictions.
LAYERS = 16
EVERYTHING = (1 << 16) - 1


def refuse_sandboxes() -> None:
    """Use up the layers of Landlock of this process, each of which allows every access.

    As `preexec_fn`: its children can add no layer (tier B), and mount nothing (tier A).
    """
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    for _ in range(LAYERS):
        landlock.restrict([("/", EVERYTHING)], min(landlock.version(), max(landlock.RIGHTS)))
