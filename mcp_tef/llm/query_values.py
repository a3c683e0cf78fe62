"""Values in the text of a query: quoted texts, numbers, dates, addresses and names."""

import re
from dataclasses import dataclass, field
from datetime import date

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|‘([^’]+)’|«([^»]+)»")
_URL = re.compile(r"https?://[^\s\"'<>“”]+[^\s\"'<>“”.,;:!?)\]]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PATH = re.compile(r"(?<![\w:/])(?:~?/|\.{1,2}/|[A-Za-z]:\\)[\w./\\-]*[\w]|\b[\w-]+\.(?:[a-z]{2,4}|json|html|yaml)\b")
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\b")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?))?")
_YEAR = "january february march april may june july august september october november december"
_MONTHS = _YEAR.split()
_MONTH = "|".join([*_MONTHS, *(month[:3] for month in _MONTHS), "sept"])
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE)
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_NUMBER = re.compile(
    r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)|(?<![\w.])-?\d+(?:\.\d+)?(?=[a-z%°]{1,3}\b)"
)
_COUNT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = _COUNT.split()
_SPELLED = re.compile(rf"\b({'|'.join(_NUMBER_WORDS[2:])})\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w’'-]*(?:(?:,? (?:of |the |de )?)(?!(?:Can|Could|I|Please|What|The)\b)[A-Z][\w’'-]*)*"
)
_CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b")
_BRACKETED = re.compile(r"\[([^\[\]]+)\]")
_NOT_NAMES = frozenset({"I", "I'm", "I’m", "I'd", "I've", "OK", "Please", "What", "Can", "Could", "The"})


@dataclass(frozen=True, slots=True)
class Clue:
    """A value that a query holds, and where it starts."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Clues:
    """Everything in a query that can be a value, by kind, in reading order."""

    query: str
    quoted: tuple[Clue, ...] = ()
    urls: tuple[Clue, ...] = ()
    emails: tuple[Clue, ...] = ()
    paths: tuple[Clue, ...] = ()
    dates: tuple[Clue, ...] = ()
    moments: tuple[Clue, ...] = ()
    times: tuple[Clue, ...] = ()
    numbers: tuple[Clue, ...] = ()
    names: tuple[Clue, ...] = ()
    codes: tuple[Clue, ...] = ()
    lists: tuple[Clue, ...] = ()
    words: tuple[Clue, ...] = field(default=())


def find_clues(query: str) -> Clues:
    """Read a query once. Dates become ISO dates; numbers in words and with thousands become digits."""
    urls, emails = _whole(_URL, query), _whole(_EMAIL, query)
    rest = _blanked(query, (*urls, *emails))
    dates, moments = _dates(rest)
    times = _whole(_TIME, _blanked_dates(rest))
    plain = _blanked(_blanked_dates(rest), times)
    quoted = tuple(Clue(next(filter(None, match.groups())), match.start()) for match in _QUOTED.finditer(query))
    return Clues(
        query,
        quoted=quoted,
        urls=urls,
        emails=emails,
        paths=_whole(_PATH, rest),
        dates=dates,
        moments=moments,
        times=times,
        numbers=_numbers(plain),
        names=tuple(clue for clue in _whole(_NAME, _blanked_dates(rest)) if clue.text not in _NOT_NAMES),
        codes=_whole(_CODE, plain),
        lists=tuple(Clue(match[1], match.start()) for match in _BRACKETED.finditer(query)),
        words=tuple(Clue(match.group(), match.start()) for match in re.finditer(r"[^\W_]+", query.lower())),
    )


def _whole(pattern: re.Pattern[str], text: str) -> tuple[Clue, ...]:
    return tuple(Clue(match.group(), match.start()) for match in pattern.finditer(text))


def _blanked(text: str, clues: tuple[Clue, ...]) -> str:
    for clue in clues:
        text = text[: clue.at] + " " * len(clue.text) + text[clue.at + len(clue.text) :]
    return text


def _blanked_dates(text: str) -> str:
    for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST, _SLASHED):
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return text


def _dates(text: str) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    found: list[Clue] = []
    moments: list[Clue] = []
    for match in _ISO.finditer(text):
        found += _date(match.start(), int(match[1]), int(match[2]), int(match[3]))
        moments += [Clue(match.group(), match.start())] if match[4] else []
    for match in _DAY_FIRST.finditer(text):
        found += _date(match.start(), int(match[3]), _month(match[2]), int(match[1]))
    for match in _MONTH_FIRST.finditer(text):
        found += _date(match.start(), int(match[3]), _month(match[1]), int(match[2]))
    for match in _SLASHED.finditer(text):
        found += _date(match.start(), int(match[3]), int(match[1]), int(match[2]))
    return tuple(sorted(found, key=lambda clue: clue.at)), tuple(moments)


def _month(text: str) -> int:
    start = text[:3].lower()
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(start))


def _date(at: int, year: int, month: int, day: int) -> list[Clue]:
    try:
        return [Clue(date(year, month, day).isoformat(), at)]
    except ValueError:
        return []


def _numbers(text: str) -> tuple[Clue, ...]:
    digits = [Clue(clue.text.replace(",", ""), clue.at) for clue in _whole(_NUMBER, text)]
    spelled = [
        Clue(str(_NUMBER_WORDS.index(match.group().lower())), match.start()) for match in _SPELLED.finditer(text)
    ]
    return tuple(sorted(digits + spelled, key=lambda clue: clue.at))
