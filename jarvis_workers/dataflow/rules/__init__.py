"""The rules of the data-flow analysis, one file each: its id in rules.json, when it fires, and its report.

A rule listens to events of the engine; every module of this package is loaded with it.
"""

import pkgutil
from importlib import import_module

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
