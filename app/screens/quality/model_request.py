"""Request for model reviews: scope, estimated cost and progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import CoreCall, ModelForm, WritingModels
from app.core_link.session import Session
from app.dialogs.model_request import AskedFor, ModelSheet
from app.screens.quality.labels import tokens
from app.screens.quality.presenter import QualityPresenter
from app.text.formatting import count, duration, money
from app.widgets import Field, Segmented
from mcp_tef import Estimate, ModelSettings, ToolQuality

KEPT: Final = ("model", "base_url")


def estimate_text(tools: int, estimate: Estimate) -> str:
    """What it would take, before anything is spent; what cannot be known says so."""
    parts = [count(tools, "question")]
    parts += [f"about {tokens(rounded(estimate.tokens))}"] if estimate.tokens else []
    parts += [f"about {duration(estimate.seconds)}"] if estimate.seconds else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


def rounded(number: int) -> int:
    """A number with two digits that mean something."""
    return int(float(f"{number:.1e}"))


class ReviewRequest(WritingModels):
    """Models, keys and cost of a review."""

    def __init__(self, ask: CoreCall, presenter: QualityPresenter) -> None:
        super().__init__(ask)
        self._presenter = presenter

    async def estimate(self, tools: Sequence[ToolQuality], model: ModelSettings) -> str:
        """Return the cost of reviewing these tools in one line."""
        return estimate_text(len(tools), await self._presenter.estimate(tools, model))


@dataclass(slots=True)
class ReviewProgress:
    """How far the asking is."""

    model: str
    total: int
    done: int = 0
    failed: int = 0
    spent: float = 0.0
    priced: bool = True

    def take(self, quality: ToolQuality) -> None:
        """Count one answer."""
        self.done += 1
        self.failed += quality.failure is not None
        cost = quality.review.cost_usd if quality.review else None
        self.spent += cost or 0.0
        self.priced = self.priced and (cost is not None or quality.review is None)

    @property
    def lead(self) -> str:
        """ "12 of 60"."""
        return f"{self.done:,} of {self.total:,}"

    @property
    def parts(self) -> list[str]:
        """What else is known while it goes on."""
        failed = [f"{self.failed:,} failed"] if self.failed else []
        return [*failed, *self._cost(), f"{self.model} reads the definitions"]

    def summary(self, *, stopped: bool) -> str:
        """What came of it, in one sentence."""
        heard = self.done - self.failed
        what = f"{self.model} reviewed {count(heard, 'tool')}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "".join(f" · {part}" for part in self._cost())
        return f"{'Stopped: ' if stopped else ''}{what}{failed}{cost}"

    def _cost(self) -> list[str]:
        return [money(self.spent)] if self.priced and self.spent else []


WHAT = (
    "A model reads each definition, grades its clarity, completeness and conciseness, and suggests a description. "
    "That is an opinion beside the findings; the score stays as it is."
)
Scopes = Sequence[tuple[str, Sequence[ToolQuality]]]


class ReviewRequestDialog(ModelSheet):
    """`tools` are those that were chosen to be asked about."""

    def __init__(
        self, session: Session, asking: ReviewRequest, form: ModelForm, scopes: Scopes, parent: QWidget
    ) -> None:
        self._scopes = tuple((name, tuple(tools)) for name, tools in scopes)
        self.scope = Segmented([(str(n), name) for n, (name, _) in enumerate(self._scopes)], "Tools")
        wanted = AskedFor(
            title="Ask a model",
            what=WHAT,
            button=lambda: f"Ask about {count(len(self.tools()), 'tool')}",
            cost=lambda model: asking.estimate(self.tools(), model),
        )
        super().__init__(session, asking, form, wanted, parent, [Field("Tools", self.scope)])
        self.scope.changed.connect(lambda _: self.look_again())

    def tools(self) -> tuple[ToolQuality, ...]:
        """The tools of the chosen scope."""
        return self._scopes[int(self.scope.current())][1]
