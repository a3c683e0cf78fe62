"""Gives programs that the built app starts the library path that its own starter has changed."""

import os

for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
    before = os.environ.pop(f"{name}_ORIG", None)
    if before:
        os.environ[name] = before
    else:
        os.environ.pop(name, None)
