"""The choice of who writes candidates: rules, the model that answers, or a model of its own; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mcp_tef import WRITING_TIMEOUT_S, InputError, ModelSettings, parse_model, parse_prices

SETTING = "workshop.writer"


class WriterKind(StrEnum):
    """Kinds of writers."""

    RULES = "rules"
    SAME = "same"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class WriterChoice:
    """A kind of writer; `model` is one of its own, as it was chosen last."""

    kind: WriterKind = WriterKind.SAME
    model: ModelSettings | None = None

    def beside(self, target: ModelSettings) -> "WriterChoice":
        """Return the choice as it holds with a model that answers: the baseline writes nothing, so rules do."""
        needs_target = self.kind is WriterKind.SAME and target.offline
        return WriterChoice(WriterKind.RULES, self.model) if needs_target else self

    def writer(self, target: ModelSettings) -> ModelSettings | None:
        """Return the model that writes; None where only rules do."""
        chosen = {WriterKind.SAME: target, WriterKind.OTHER: self.model}
        return chosen.get(self.beside(target).kind)

    def saved(self) -> dict[str, str]:
        """Return what is remembered: the kind, and the model with its address and typed prices; never a key."""
        if self.model is None:
            return {"kind": self.kind.value}
        price = f"{self.model.input_price},{self.model.output_price}" if self.model.token_prices else ""
        place = {"model": self.model.label, "base_url": self.model.base_url or "", "price": price}
        return {"kind": self.kind.value, **place}


def remembered_writer(saved: Mapping[str, object]) -> WriterChoice:
    """Return the choice that was remembered, the usual one where it cannot be read."""
    label, address, price = (str(saved.get(name) or "") for name in ("model", "base_url", "price"))
    try:
        model = _model(label, address, price) if label else None
        kind = WriterKind(str(saved.get("kind") or WriterKind.SAME))
    except (InputError, ValueError):
        return WriterChoice()
    return WriterChoice(kind if model or kind is not WriterKind.OTHER else WriterKind.SAME, model)


def _model(label: str, address: str, price: str) -> ModelSettings:
    provider, name = parse_model(label)
    price_in, price_out = parse_prices(price)
    return ModelSettings(
        provider=provider,
        model=name,
        base_url=address or None,
        timeout=WRITING_TIMEOUT_S,
        input_price=price_in,
        output_price=price_out,
    )
