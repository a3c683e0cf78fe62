"""The private parts of the mcp library are those that the adapter was written for."""

import inspect
import re

import pytest

from mcp_tef.servers.mcp_internals import PRIVATE_METHODS
from tests.support.command_line import ROOT

METHODS = [(owner, name, said) for owner, methods in PRIVATE_METHODS.items() for name, said in methods.items()]


@pytest.mark.parametrize(("owner", "name", "signature"), METHODS, ids=[name for _, name, _ in METHODS])
def test_private_methods_have_the_signatures_that_are_overridden(owner: type, name: str, signature: str) -> None:
    assert str(inspect.signature(getattr(owner, name))) == signature


def test_no_other_module_reaches_into_the_library() -> None:
    private = re.compile(r"from mcp(_types)?(\.\w+)*\._|from mcp[\w.]* import _|super\(\)\._(?!_)")
    found = [
        file.name for file in (ROOT / "mcp_tef" / "servers").glob("*.py") if private.search(file.read_text("utf-8"))
    ]
    assert found == ["mcp_internals.py"]
