"""The window: the only package that imports Qt."""

import builtins
from contextlib import suppress

# PySide6 replaces the import function by one that reads the source of every module, for a feature that nothing here
# uses. Other imports take longer by it, and pydantic fails where it is looked at half loaded.
_import = builtins.__import__
with suppress(ImportError):
    import PySide6.QtCore  # noqa: F401
builtins.__import__ = _import
