"""The model catalogue as rows to search: thousands of models, each with context, price and abilities."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.screens.runs.words import BASELINE, is_baseline
from mcp_tef import ModelInfo

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model: its label, and its facts ready to show; `searched` is what a search looks in."""

    label: str
    context: str
    price: str
    tools: str
    vision: str
    searched: str


def model_rows(catalogue: Sequence[ModelInfo]) -> tuple[ModelRow, ...]:
    """A row for every model but the baseline, which has a choice of its own."""
    return tuple(model_row(info) for info in catalogue if not is_baseline(info.label))


def model_row(info: ModelInfo) -> ModelRow:
    """The row of a model; what is not known says "unknown", never "no" or "free"."""
    return ModelRow(
        label=info.label,
        context=tokens(info.context_tokens),
        price=price(info),
        tools=_ability(info.tool_calling),
        vision=_ability(info.vision),
        searched=info.label.casefold(),
    )


def tokens(number: int | None) -> str:
    """`128 k`, `1 M`, `unknown`."""
    if not number:
        return UNKNOWN
    if number >= 1_000_000:
        return f"{number / 1_000_000:.3g} M"
    return f"{number / 1000:.3g} k" if number >= 1000 else str(number)


def price(info: ModelInfo) -> str:
    """US dollars per million tokens in and out, `$0.40 / $1.60`; `unknown` where the table has none."""
    if info.input_price is None or info.output_price is None:
        return UNKNOWN
    return f"${_million(info.input_price)} / ${_million(info.output_price)}"


def _million(per_token: float) -> str:
    amount = per_token * 1_000_000
    return f"{amount:.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"


def _ability(known: bool | None) -> str:
    return UNKNOWN if known is None else "yes" if known else "no"


def search(rows: Sequence[ModelRow], text: str) -> tuple[ModelRow, ...]:
    """The models whose label holds every word typed; those that start with the first word come first."""
    words = text.casefold().split()
    if not words:
        return tuple(rows)
    found = [row for row in rows if all(word in row.searched for word in words)]
    return tuple(sorted(found, key=lambda row: (_distance(row, words[0]), row.searched.count("/"), row.searched)))


def _distance(row: ModelRow, word: str) -> int:
    if row.searched == word:
        return 0
    name = row.searched.rsplit("/", 1)[-1]
    return 1 if name.startswith(word) else 2 if row.searched.startswith(word) else 3


def summary(info: ModelInfo | None) -> str:
    """One line under the chosen model; says plainly where the catalogue knows nothing."""
    if info is None:
        return "Not in the catalogue: context, price and abilities are unknown."
    if is_baseline(info.label):
        return f"The {BASELINE} ranks tools by the words of the query. It needs no key and no network."
    calls = {None: "tool calling unknown", True: "calls tools natively", False: "no native tool calling"}
    cost = price(info)
    paid = f"{cost} per million tokens in / out" if cost != UNKNOWN else "price unknown"
    context = "context unknown" if not info.context_tokens else f"{tokens(info.context_tokens)} tokens of context"
    return " · ".join((context, paid, calls[info.tool_calling]))
