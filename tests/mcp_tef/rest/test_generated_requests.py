"""Requests generated from the OpenAPI document: no answer that it does not describe. The long form is a benchmark."""

from tests.support.openapi_requests import answers_to

EXAMPLES = 40


def test_no_generated_request_has_an_answer_that_the_document_does_not_describe() -> None:
    statuses, problems = answers_to(EXAMPLES)
    assert not problems, "\n".join(problems[:5])
    assert statuses[200]
    assert statuses.total() >= EXAMPLES
