"""The base of all tables, which are described in a catalogue of their own."""

from sqlalchemy import MetaData, Table
from sqlalchemy import text as sql
from sqlmodel import SQLModel

VISIBLE = sql("removed_at IS NULL")


class Row(SQLModel):
    """Base of all tables, with a catalogue of their own."""

    metadata = MetaData()


def table_of(row: type[Row]) -> Table:
    """The table behind a class, for statements over many rows."""
    return Row.metadata.tables[str(row.__tablename__)]
