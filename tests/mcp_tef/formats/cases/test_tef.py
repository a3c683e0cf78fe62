"""Our own form, and the JSON Schema that is published for it."""

import json
from importlib.resources import files
from typing import Any

import pytest
import yaml
from hypothesis import given
from jsonschema import Draft202012Validator

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import Item
from mcp_tef.formats.cases.texts import parse_yaml
from mcp_tef.model.cases import CaseDraft
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import drafts, read, stored

SCHEMA = json.loads(files("resources").joinpath("case.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_published_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@given(drafts)
def test_what_is_exported_fits_the_published_schema(draft: CaseDraft) -> None:
    document = json.loads(tef.text([tef.row(Item(stored(draft)))], ".json"))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def test_the_sample_suite_fits_the_published_schema() -> None:
    suite = files("resources").joinpath("sample/suite.yaml").read_text("utf-8")
    document = parse_yaml(suite, "suite.yaml")
    assert document == yaml.safe_load(suite)
    assert list(VALIDATOR.iter_errors(document)) == []


@pytest.mark.parametrize(
    "case",
    [
        {"name": "no query"},
        {"query": "  "},
        {"query": "x", "expected": 7},
        {"query": "x", "expected": [{"server": "desk"}]},
        {"query": "x", "expected": [{"tool": "find", "parameters": {"q": {"$anyof": [1]}}}]},
        {"query": "x", "tags": "one"},
        {"query": "x", "servers": [1]},
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(case: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors({"cases": [case]}))
    [entry] = read(CaseFileFormat.TEF, json.dumps([case]), "cases.json")
    assert entry.refused


def test_a_matcher_that_cannot_be_understood_is_refused_by_name() -> None:
    [entry] = read(CaseFileFormat.TEF, "[{query: x, expected: [{tool: find, parameters: {q: {$regex: '('}}}]}]")
    assert "$regex" in (entry.refused or "")


def test_a_file_of_a_later_version_is_refused() -> None:
    with pytest.raises(InputError, match="version 2"):
        read(CaseFileFormat.TEF, "version: 2\ncases: []")
