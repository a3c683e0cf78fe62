"""Distinct types for ids, so that type checkers refuse one kind in the place of another."""

from typing import NewType
from uuid import uuid4

ServerId = NewType("ServerId", str)
CaseId = NewType("CaseId", str)
RunId = NewType("RunId", str)
BatchId = NewType("BatchId", str)
SnapshotId = NewType("SnapshotId", str)
ToolCallId = NewType("ToolCallId", str)
DraftId = NewType("DraftId", str)
LibraryToolId = NewType("LibraryToolId", str)
ExecutionId = NewType("ExecutionId", str)


def new_id() -> str:
    """Return a fresh random id (UUID 4, as text)."""
    return str(uuid4())
