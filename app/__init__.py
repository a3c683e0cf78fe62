"""The window: the only package that imports Qt."""

# PySide6 reads the source of every module that is imported after it, and pydantic cannot be looked at half loaded.
import pydantic.types  # noqa: F401
