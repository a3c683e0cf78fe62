"""What a form holds comes back equal; what it cannot hold it says; nothing falls out in between."""

import pytest
from hypothesis import assume, given, settings

from mcp_tef.formats.cases.entries import differences
from mcp_tef.model.cases import CaseDraft
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import drafts, one_call, plain_values, stored, there_and_back


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@settings(max_examples=60)
@given(drafts)
def test_our_own_form_holds_every_case(suffix: str, draft: CaseDraft) -> None:
    entry = there_and_back(CaseFileFormat.TEF, draft, suffix)
    assert entry
    assert (entry.draft, entry.id) == (draft, stored(draft).id)


@settings(max_examples=60)
@given(drafts)
def test_csv_holds_every_case(draft: CaseDraft) -> None:
    entry = there_and_back(CaseFileFormat.CSV, draft, ".csv")
    assert entry
    assert entry.draft
    assert differences(entry.draft, draft) == {}


@pytest.mark.parametrize("form", [CaseFileFormat.BFCL, CaseFileFormat.PROMPTFOO, CaseFileFormat.MCP_EVAL])
@settings(max_examples=60)
@given(drafts)
def test_another_form_holds_a_case_or_says_that_it_cannot(form: CaseFileFormat, draft: CaseDraft) -> None:
    entry = there_and_back(form, draft)
    assume(entry)
    assert entry
    assert entry.draft
    lost = differences(draft, entry.draft)
    assert set(lost) <= {"name", "expected"}, lost


@pytest.mark.parametrize("form", list(CaseFileFormat))
@settings(max_examples=60)
@given(value=plain_values)
def test_every_form_holds_one_call_with_a_plain_value(form: CaseFileFormat, value: object) -> None:
    entry = there_and_back(form, one_call(parameters={"what": value}))
    assume(entry)
    assert entry
    assert entry.draft
    assert differences(entry.draft, one_call(parameters={"what": value})) == {}


@pytest.mark.parametrize("form", list(CaseFileFormat))
@pytest.mark.parametrize("draft", [one_call(server="desk"), one_call(exact=True), one_call(parameters={"q": "it"})])
def test_every_form_holds_the_everyday_cases(form: CaseFileFormat, draft: CaseDraft) -> None:
    entry = there_and_back(form, draft)
    assert entry
    assert entry.draft
    assert differences(entry.draft, draft) == {}
