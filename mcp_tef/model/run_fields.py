"""Numbers that the user sets for a run: limits and defaults for every check, option, form and settings page."""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.model.variables import Variable, number, whole

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunField(Generic[N]):
    """One number from `low` to `high`, with its texts.

    Attributes:
        name: key in settings and name of the command-line option.
        label: its name within a sentence.
        title, reason: its line on the settings page.
        help, metavar: its line in the help of the command line.
        default: None where nothing is set.
    """

    name: str
    type: type[N]
    low: N
    high: N
    default: Any
    label: str
    title: str
    reason: str
    help: str
    metavar: str = "N"
    unit: str = ""

    @property
    def default_text(self) -> str:
        """The default as users type it; empty where nothing is set."""
        return "" if self.default is None else f"{self.default:g}"

    @property
    def variable(self) -> Variable[Any]:
        """The field as a setting."""
        is_whole = self.type is int
        return Variable(
            name=self.name,
            title=self.title,
            reason=self.reason,
            allowed=f"{'a whole number' if is_whole else 'a number'} from {self.low} to {self.high}",
            read=whole(int(self.low), int(self.high)) if is_whole else number(self.low, self.high),
            default=self.default_text,
            unit=self.unit,
        )

    def check(self, value: float | None) -> None:
        """Raise InputError for a value outside the limits; None means that nothing is set."""
        if value is not None and not self.low <= value <= self.high:
            unit = f" {self.unit}" if self.unit else ""
            raise InputError(
                f"The {self.label} is {value:g}, outside {self.low} to {self.high}{unit}.",
                hint=f"Set it from {self.low} to {self.high}.",
            )

    def parse(self, text: str) -> N:
        """Return the number of a text; InputError where it is none, or outside the limits."""
        value = parse_number(text, self.type, self.label)
        self.check(value)
        return value

    def parse_optional(self, text: str) -> N | None:
        """Return the number of a text, None for an empty one; InputError where it is none, or outside the limits."""
        return self.parse(text) if text.strip() else None


def parse_number(text: str, kind: type[N], label: str) -> N:
    """Return the number of a text, with a point or a comma; InputError where it is none."""
    try:
        return kind(text.strip().replace(",", "."))
    except ValueError:
        whole_number = "a whole number" if kind is int else "a number"
        raise InputError(f"The {label} is “{text.strip()}”.", hint=f"Write {whole_number}.") from None


def parse_prices(text: str) -> tuple[float | None, float | None]:
    """Return the two prices of `IN,OUT`, in US dollars per million tokens; InputError where they are none.

    An empty text gives no prices.
    """
    if not text.strip():
        return None, None
    try:
        price_in, price_out = (float(part.strip().lstrip("$")) for part in text.split(","))
    except ValueError:
        price_in = price_out = -1.0
    if not (0 <= price_in <= MOST_DOLLARS and 0 <= price_out <= MOST_DOLLARS):
        raise InputError(f"The price “{text.strip()}” is not of the form IN,OUT.", hint="Write for example 0.15,0.6.")
    return price_in, price_out


MOST_DOLLARS: Final = 1e6
"""Highest price of a million tokens, and of a whole batch, that is taken for meant."""

REPEATS: Final = RunField(
    name="repeats",
    type=int,
    low=1,
    high=1000,
    default=1,
    label="number of repeats",
    title="Repeats",
    reason="Number of runs of each case. Models do not always give the same answer.",
    help="times each case is run",
)
CONCURRENCY: Final = RunField(
    name="concurrency",
    type=int,
    low=1,
    high=256,
    default=4,
    label="concurrency",
    title="Parallel runs",
    reason="Runs in progress at a time, for each provider. More are faster, until the provider limits them.",
    help="runs at a time",
)
TEMPERATURE: Final = RunField(
    name="temperature",
    type=float,
    low=0,
    high=2,
    default=0.4,
    label="temperature",
    title="Temperature",
    reason="Randomness of the model's choice of words. Answers vary least at 0.",
    help="0 to 2",
    metavar="T",
)
TIMEOUT: Final = RunField(
    name="timeout",
    type=int,
    low=1,
    high=300,
    default=30,
    label="timeout",
    title="Time for one answer",
    reason="Slower answers count as failed and are retried.",
    help="seconds for one answer",
    metavar="S",
    unit="s",
)
RETRIES: Final = RunField(
    name="retries",
    type=int,
    low=0,
    high=10,
    default=3,
    label="number of retries",
    title="Maximum retries",
    reason="Further attempts after a failure that may pass.",
    help="further attempts",
)
SEED: Final = RunField(
    name="seed",
    type=int,
    low=0,
    high=2**31 - 1,
    default=None,
    label="seed",
    title="Seed",
    reason="Makes answers repeatable where the provider supports it.",
    help="for repeatable answers, where the provider supports it",
)
MAX_TOKENS: Final = RunField(
    name="max_tokens",
    type=int,
    low=1,
    high=1_000_000,
    default=None,
    label="answer limit",
    title="Answer limit",
    reason="Longer answers are cut off and count as failed.",
    help="most tokens of one answer (with a cost cap: the model's own limit, at most 1,024)",
    unit="tokens",
)
RUN_FIELDS: Final[tuple[RunField[Any], ...]] = (REPEATS, CONCURRENCY, TEMPERATURE, TIMEOUT, RETRIES)
WRITING_TIMEOUT_S: Final = 60
"""Default time for a text that a model writes: a review or a rewrite is longer than the choice of a tool."""


def require_amount(cap: float | None) -> None:
    """Raise InputError for a cost cap that is no amount of money; None means no cap."""
    if cap is not None and not 0 < cap < float("inf"):
        raise InputError(f"A cost cap of {cap:g} is no amount of money.", hint="Give more than 0, or no cap.")
