"""Patches: every operation as RFC 6902 has it, and one sentence for whatever does not apply, however hostile."""

import copy
from typing import Any

import jsonpatch  # type: ignore[import-untyped]  # it has no types
import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.model.json import canonical
from mcp_tef.model.json_patch import DEEPEST, MOST_OPERATIONS, apply_patch, pointer, pointer_parts, read_patch

NAMES = st.sampled_from(["a", "b", "a/b", "~", "", "0"])
VALUES = st.recursive(
    st.none() | st.integers(0, 3) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
PATHS = st.lists(NAMES | st.sampled_from(["1", "2", "-"]), max_size=3).map(lambda parts: pointer(*parts))
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
        "path": PATHS,
        "from": PATHS,
        "value": VALUES,
    }
)
NOT_OURS = (
    jsonpatch.JsonPatchException,
    jsonpointer.JsonPointerException,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
)
"""Errors of the other implementation, some by accident."""


def other_answer(document: Any, operations: list[dict[str, Any]]) -> Any:
    """What another implementation makes of it; `InputError` where it refuses."""
    try:
        return jsonpatch.apply_patch(copy.deepcopy(document), copy.deepcopy(operations))
    except NOT_OURS:
        return InputError


def our_answer(document: Any, operations: list[dict[str, Any]]) -> Any:
    """What we make of it."""
    try:
        return apply_patch(document, operations)
    except InputError:
        return InputError


@given(VALUES.filter(lambda value: isinstance(value, dict)), st.lists(OPERATIONS, max_size=4))
def test_patches_do_what_another_implementation_does_and_change_nothing_in_place(
    document: dict[str, Any], operations: list[dict[str, Any]]
) -> None:
    before = canonical([document, operations])
    ours, theirs = our_answer(document, operations), other_answer(document, operations)
    assert canonical([document, operations]) == before
    if InputError not in (ours, theirs):
        assert canonical(ours) == canonical(theirs)


DOCUMENT = {"tools": [{"name": "a", "on": True}, {"name": "b", "x/y": {"~": 1}}]}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/tools/1", "value": 5}, [DOCUMENT["tools"][0], 5, DOCUMENT["tools"][1]]),
        ({"op": "add", "path": "/tools/-", "value": 5}, [*DOCUMENT["tools"], 5]),
        (
            {"op": "add", "path": "/tools/0/title", "value": "A"},
            [{"name": "a", "on": True, "title": "A"}, DOCUMENT["tools"][1]],
        ),
        ({"op": "remove", "path": "/tools/0"}, [DOCUMENT["tools"][1]]),
        (
            {"op": "replace", "path": "/tools/1/x~1y/~0", "value": 2},
            [DOCUMENT["tools"][0], {"name": "b", "x/y": {"~": 2}}],
        ),
        ({"op": "move", "from": "/tools/1", "path": "/tools/0"}, [DOCUMENT["tools"][1], DOCUMENT["tools"][0]]),
        (
            {"op": "copy", "from": "/tools/0/name", "path": "/tools/1/name"},
            [DOCUMENT["tools"][0], {"name": "a", "x/y": {"~": 1}}],
        ),
        ({"op": "test", "path": "/tools/0/name", "value": "a"}, DOCUMENT["tools"]),
    ],
    ids=lambda value: value["op"] if isinstance(value, dict) else "",
)
def test_each_operation(operation: dict[str, Any], expected: list[Any]) -> None:
    assert apply_patch(DOCUMENT, [operation]) == {"tools": expected}


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"op": "replace", "path": "/tools/7/name", "value": 1}, "there is no place 7 in a list of 2"),
        ({"op": "add", "path": "/tools/3", "value": 1}, "there is no place 3 in a list of 2"),
        ({"op": "remove", "path": f"/tools/{'9' * 5000}"}, "there is no place 999"),
        ({"op": "remove", "path": "/tools/-1"}, "there is no place -1"),
        ({"op": "remove", "path": "/tools/01"}, "there is no place 01"),
        ({"op": "replace", "path": "/tools/0/title", "value": 1}, "there is no “title” there"),
        ({"op": "add", "path": "/tools/0/name/x", "value": 1}, "nothing can be put below the value at “x”"),
        ({"op": "test", "path": "/tools/0/on", "value": 1}, "there is not 1 but true"),
        ({"op": "test", "path": "/tools/0/name", "value": "b"}, 'there is not "b" but "a"'),
        ({"op": "move", "from": "/tools", "path": "/tools/0"}, "a value cannot be moved into itself"),
        ({"op": "remove", "path": ""}, "the whole document cannot be removed"),
    ],
)
def test_what_does_not_apply_is_told_in_one_sentence(operation: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        apply_patch(DOCUMENT, [{"op": "test", "path": "/tools/0/name", "value": "a"}, operation])
    assert caught.value.message.startswith(f"Operation 2 of the patch ({operation['op']} {operation['path'][:50]}")
    assert said in caught.value.message
    assert len(caught.value.message) < 400
    assert caught.value.hint


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"op": "add"}, "The patch is not a list of operations."),
        ([5], "Operation 1 of the patch is not an object."),
        ([{"path": ""}], "has the op None, not one of add, copy, move, remove, replace, test"),
        ([{"op": ["add"], "path": ""}], "has the op ['add'], not one of"),
        ([{"op": "add", "path": "tools", "value": 1}], "has no JSON pointer as its path"),
        ([{"op": "add", "path": "/~2", "value": 1}], "has no JSON pointer as its path"),
        ([{"op": "add", "path": 5, "value": 1}], "has no JSON pointer as its path"),
        ([{"op": "add", "path": "/x" * 1000, "value": 1}], "has no JSON pointer as its path"),
        ([{"op": "copy", "path": "/x"}], "has no JSON pointer as its from"),
        ([{"op": "add", "path": "/x"}], "has no value to add"),
        ([{"op": "remove", "path": "/x"}] * (MOST_OPERATIONS + 1), "more than 5,000"),
        ([{"op": "add", "path": "/x", "value": [0] * 600_000}], "holds more than 500,000 values"),
    ],
)
def test_a_malformed_patch_is_told_in_one_sentence(patch: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_patch(patch)
    assert said in caught.value.message
    assert caught.value.hint


def test_deep_values_are_refused_wherever_they_come_from() -> None:
    deep: Any = "x"
    for _ in range(DEEPEST - 5):
        deep = [deep]
    with pytest.raises(InputError, match="nests more than"):
        read_patch([{"op": "add", "path": "/x", "value": [[[[[deep]]]]]}])
    nested = [{"op": "add", "path": "/x", "value": deep}, {"op": "copy", "from": "/x", "path": f"/x{'/0' * 10}"}]
    with pytest.raises(InputError, match="would nest more than 64 levels deep"):
        apply_patch({}, nested)


def test_copies_that_double_a_document_are_stopped() -> None:
    again = {"op": "copy", "from": "/a", "path": "/a/-"}
    doubled: list[dict[str, Any]] = [{"op": "add", "path": "/a", "value": [0]}, *[again] * 4000]
    wide: list[dict[str, Any]] = [{"op": "add", "path": "/a", "value": [[0] * 999]}, *[again | {"from": "/a/0"}] * 600]
    for bomb, said in (
        (doubled, "the patch copies more than 500,000 values"),
        (wide, "the patch copies more than 500,000 values"),
    ):
        with pytest.raises(InputError, match=said):
            apply_patch({}, bomb)


@given(st.lists(st.text(max_size=5), max_size=5))
def test_pointers_come_back_as_they_were(parts: list[str]) -> None:
    assert pointer_parts(pointer(*parts)) == tuple(parts)
