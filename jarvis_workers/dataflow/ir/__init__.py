"""Intermediate representation of C and C++: named tuples whose first field is the tag of their kind.

The front end emits JSON lists, tag first; `decode` turns them into nodes for the analysis, and `validator` checks
them.  Outside of this package nothing depends on the order of fields: nodes are read by name.
"""

from jarvis_workers.dataflow.ir.expr import *  # noqa: F403
from jarvis_workers.dataflow.ir.stmt import *  # noqa: F403
