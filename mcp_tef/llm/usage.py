"""Usage and cost as providers report them: numbers from outside, taken only within bounds."""

import math

MOST_TOKENS = 10**9
MOST_USD = 1e6
_SHOWN_CHARACTERS = 40


def known_tokens(value: object) -> int | None:
    """Return a count of tokens, or None if it is no whole number from 0 to 10^9."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def known_cost(value: object) -> float | None:
    """Return a cost in US dollars, or None if it is no number from 0 to one million."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= MOST_USD else None


def usage_notes(tokens_in: object, tokens_out: object) -> tuple[str, ...]:
    """Return one sentence for each count that was reported and is not believed."""
    counts = (("prompt_tokens", tokens_in), ("completion_tokens", tokens_out))
    return tuple(
        f"The reported {name} are {_shown(value)}, not a whole number from 0 to {MOST_TOKENS:,}, and count as unknown."
        for name, value in counts
        if value is not None and known_tokens(value) is None
    )


def _shown(value: object) -> str:
    """Return a value as text, shortened; a whole number of thousands of digits cannot be written out at all."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_CHARACTERS:
        return f"a number of more than {_SHOWN_CHARACTERS} digits"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
