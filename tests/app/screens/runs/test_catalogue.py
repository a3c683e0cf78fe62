"""The model catalogue as rows to search."""

from app.screens.runs.model_field import model_row, model_rows, search, summary, tokens
from mcp_tef import ModelInfo, ModelSettings

MINI = ModelInfo(
    provider="openai",
    model="gpt-4.1-mini",
    context_tokens=1_047_576,
    input_price=0.4e-6,
    output_price=1.6e-6,
    tool_calling=True,
    vision=True,
)
UNKNOWN = ModelInfo(provider="ollama", model="mystery")
BASELINE = ModelInfo(provider=ModelSettings().provider, model=ModelSettings().model)


def test_a_model_shows_context_price_and_abilities() -> None:
    row = model_row(MINI)
    assert (row.label, row.context, row.price, row.tools, row.vision) == (
        "openai/gpt-4.1-mini",
        "1.05 M",
        "$0.40 / $1.60",
        "yes",
        "yes",
    )


def test_what_is_not_known_is_unknown_and_neither_no_nor_free() -> None:
    row = model_row(UNKNOWN)
    assert (row.context, row.price, row.tools, row.vision) == ("unknown",) * 4


def test_the_baseline_is_no_row_among_models() -> None:
    assert [row.label for row in model_rows((BASELINE, MINI))] == ["openai/gpt-4.1-mini"]


def test_every_word_typed_must_be_found_and_names_that_start_with_it_come_first() -> None:
    rows = model_rows([ModelInfo(provider=p, model=m) for p, m in (("azure", "my-gpt"), ("openai", "gpt-4.1"))])
    assert [row.label for row in search(rows, "gpt")] == ["openai/gpt-4.1", "azure/my-gpt"]
    assert [row.label for row in search(rows, "azure gpt")] == ["azure/my-gpt"]
    assert search(rows, "") == rows


def test_a_thousand_tokens_are_short() -> None:
    assert [tokens(number) for number in (512, 8192, 128_000, 2_000_000, None)] == [
        "512",
        "8.19 k",
        "128 k",
        "2 M",
        "unknown",
    ]


def test_a_model_outside_the_catalogue_may_be_used_and_says_what_is_missing() -> None:
    assert summary(None) == "Not in the catalogue: context, price and abilities are unknown."
    assert summary(MINI) == (
        "1.05 M tokens of context · $0.40 / $1.60 per million tokens in / out · calls tools natively"
    )
    assert summary(UNKNOWN) == "context unknown · price unknown · tool calling unknown"
