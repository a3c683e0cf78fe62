"""The front door and the tree of errors are what they say they are."""

import ast
import re
from pathlib import Path

import mcp_tef
from mcp_tef import errors

STUB = ast.parse(Path(mcp_tef.__file__).with_suffix(".pyi").read_text("utf-8"))


def test_every_name_of_the_front_door_can_be_had() -> None:
    assert [name for name in mcp_tef.__all__ if not hasattr(mcp_tef, name)] == []


def test_the_front_door_names_nothing_twice() -> None:
    assert len(mcp_tef.__all__) == len(set(mcp_tef.__all__))


def test_type_checkers_see_the_names_that_can_be_imported_and_where_they_come_from() -> None:
    imports = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
    typed = {alias.name: node.module for node in imports for alias in node.names}
    assert typed == vars(mcp_tef)["_MODULES"]
    exported = next(node.value for node in STUB.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(exported)) == sorted(mcp_tef.__all__)


def test_every_error_is_at_the_front_door() -> None:
    assert {error.__name__ for error in family(errors.TefError)} <= set(mcp_tef.__all__)


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    drawn = re.findall(r"^[│├└─ ]*(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    assert drawn == [error.__name__ for error in family(errors.TefError)]


def family(error: type[errors.TefError]) -> list[type[errors.TefError]]:
    """An error class with all below it, depth first, in the order of definition."""
    return [error, *(below for child in error.__subclasses__() for below in family(child))]
