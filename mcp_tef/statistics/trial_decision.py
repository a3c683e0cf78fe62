"""Decisions of a trial: both claims, looks, early ends, what it could show, and broken guards; pure."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.comparison import Claim, ClaimVerdict
from mcp_tef.model.trials import TrialClaims, TrialEnd, TrialGoal
from mcp_tef.statistics.claims import for_queries_like_these, on_these_cases
from mcp_tef.statistics.history import Integers
from mcp_tef.statistics.intervals import SEED, Z95
from mcp_tef.statistics.paired_evidence import ALPHA, DECISIVE, PairedCases, evidence, fisher, holm

ALL_LOOKS, EACH_MORE = 0.04, 0.01
FUTILE = 0.05
DRAWS = 2_000
WAITING, LEFT_OUT = -1, -2
GRID = 161
NO_LOOK = Claim(ClaimVerdict.CANNOT_TELL_YET, "Cannot tell yet for queries like these: the first round has not ended.")
_Outcomes = NDArray[np.int8]


@cache
def look_level(looks: int, spent: float = ALL_LOOKS) -> float:
    """Return the constant two-sided level of each of some equally spaced looks that spend 4 %, or so much, in all.

    Found by bisection over the recursion for the density of the sum that has not crossed yet.
    Sources: S. J. Pocock, Group sequential methods in the design and analysis of clinical trials, Biometrika 64 (1977),
    191-199; P. Armitage, C. K. McPherson, B. C. Rowe, Repeated significance tests on accumulating data, Journal of the
    Royal Statistical Society A 132 (1969), 235-244.
    """
    low, high = 1.0, 5.0
    for _ in range(26):
        middle = (low + high) / 2
        low, high = (low, middle) if _crossed(middle, looks) < spent else (middle, high)
    return 2 * NormalDist().cdf(-high)


def _crossed(bound: float, looks: int) -> float:
    """Return the chance that a sum of standard normals is beyond ± bound √k at some look k."""
    steps = np.linspace(-1.0, 1.0, GRID)
    grid = bound * steps
    density = np.exp(-grid * grid / 2) / np.sqrt(2 * np.pi)
    for look in range(2, looks + 1):
        wider = bound * np.sqrt(look) * steps
        kernel = np.exp(-((wider[:, None] - grid[None, :]) ** 2) / 2) / np.sqrt(2 * np.pi)
        density, grid = np.trapezoid(kernel * density, grid, axis=1), wider
    return 1.0 - float(np.trapezoid(density, grid))


def more_level(number: int) -> float:
    """Return the level at the end of the k-th "Run more": 1 % / (k (k + 1)), which add up to 1 % for ever."""
    return EACH_MORE / (number * (number + 1))


@lru_cache(maxsize=4_096)
def decisive_wins(different: int, decisive: float = DECISIVE) -> int:
    """Return the fewest wins among so many pairs that differ at which the evidence is decisive; one more if none do."""
    fewest = max(1, (different + 1) // 2)
    numbers = range(fewest, different + 1)
    return fewest + bisect_left(numbers, decisive, key=lambda wins: evidence(wins, different - wins))


def chance_to_decide(wins: int, losses: int, ties: int, left: int, decisive: float = DECISIVE) -> float:
    """Return the chance that so many further pairs decide the first claim, given those so far.

    By 2,000 draws with a fixed seed from the posterior of uniform priors on the share of pairs that differ and on the
    share of wins among these.
    """
    random = np.random.default_rng(SEED)
    different = random.binomial(left, random.beta(wins + losses + 1, ties + 1, DRAWS))
    won = random.binomial(different, random.beta(wins + 1, losses + 1, DRAWS))
    bounds = np.array([decisive_wins(number, decisive) for number in range(wins + losses, wins + losses + left + 1)])
    bound = bounds[different]
    return float(np.mean((wins + won >= bound) | (losses + different - won >= bound)))


def rules_out(families: int) -> float:
    """Return the smallest change (0 to 1) that so many families can exclude, if none of them changes.

    The bound of the score interval without a pair that differs: z² / (n + z²).
    """
    return Z95 * Z95 / (families + Z95 * Z95)


def what_it_can_show(cases: int, families: int) -> str:
    """Return one line to show before a trial starts."""
    if not cases:
        return "No case is selected, so this trial can show nothing."
    what = f"{cases:,} {'case' if cases == 1 else 'cases'}"
    if families != cases:
        what += f" in {families:,} {'family' if families == 1 else 'families'}"
    return f"{what} can rule out changes above {100 * rules_out(families):.0f} points."


class TrialDecision:
    """Takes in the pairs of a trial in the order in which they ended; tells when it may stop and what it has shown.

    `family` numbers the family of each case from 0. `more` holds the rounds after which the trial had ended before "Run
    more" was used, then the round after which each use ends; these rounds have no early end. `alpha` is the chance of a
    false verdict that each claim may spend.
    """

    def __init__(
        self,
        family: Sequence[int],
        *,
        rounds: int,
        goal: TrialGoal = TrialGoal.QUICK,
        deterministic: bool = False,
        more: Sequence[int] = (),
        alpha: float = ALPHA,
    ) -> None:
        self._share = alpha / ALPHA
        self._decisive = DECISIVE / self._share
        self._family: Integers = np.array(family, dtype=np.int64)
        self._first_rounds = 1 if deterministic else rounds
        self._planned = more[-1] if more else self._first_rounds
        self._goal = goal
        self._deterministic = deterministic
        self._more = tuple(more)
        self.level = self._level_after(1) or alpha
        self._arms: tuple[_Outcomes, _Outcomes] = (self._blank(), self._blank())
        self._first_decided = False
        self._second: Claim | None = None
        self._open = [len(family)] * self._planned
        self._wins = self._losses = self._ties = 0
        self.look = 0
        self.end: TrialEnd | None = None

    def _blank(self) -> _Outcomes:
        return np.full((self._planned, len(self._family)), WAITING, dtype=np.int8)

    def add(self, case: int, round_: int, original: bool, draft: bool) -> None:
        """Take in a pair: the outcome of one case in one round, from 0, with each arm."""
        self.put(case, round_, original, draft)
        self._wins += draft > original
        self._losses += draft < original
        self._ties += draft == original
        self._ended(round_)

    def put(self, case: int, round_: int, original: bool, draft: bool) -> None:
        """Note a pair for `paired`, without a decision."""
        self._arms[0][round_, case], self._arms[1][round_, case] = original, draft

    def leave_out(self, case: int, round_: int) -> None:
        """Take in that a pair was left out, since one of its runs failed again and again."""
        self._arms[0][round_, case] = LEFT_OUT
        self._ended(round_)

    def _ended(self, round_: int) -> None:
        self._open[round_] -= 1
        if not self._deterministic and not self._open[0]:
            leading = max(self._wins, self._losses)
            self._first_decided = self._first_decided or leading >= decisive_wins(
                self._wins + self._losses, self._decisive
            )
        self._read_ended_rounds()
        if self.end is None and self._first_decided and self._goal is TrialGoal.QUICK and not self._more:
            self.end = TrialEnd.DECIDED

    def _read_ended_rounds(self) -> None:
        while self.look < self._planned and not self._open[self.look]:
            self.look += 1
            self._read()

    def _read(self) -> None:
        """Read the second claim at the end of a round."""
        level = self._level_after(self.look)
        if level is None:
            return
        self.level = level
        claim = for_queries_like_these(self._paired(self.look), self.level)
        claim = replace(claim, sentence=f"{claim.sentence}{self._which_look()}")
        decided = claim.p is not None and claim.p < self.level
        if decided or self._second is None or not self._second_decided:
            self._second = claim
        if self.end is None:
            self.end = self._end_after_round(decided)

    def _which_look(self) -> str:
        if self._planned == 1 and not self._more:
            return ""
        return f" Read after round {self.look} of {self._planned}, at {100 * self.level:.2g} %."

    @property
    def _second_decided(self) -> bool:
        changed = (ClaimVerdict.BETTER, ClaimVerdict.WORSE)
        return self._second is not None and self._second.verdict in changed

    def _end_after_round(self, second_decided: bool) -> TrialEnd | None:
        if self.look == self._planned:
            return TrialEnd.COMPLETE
        if self._more:
            return None
        if self._goal is TrialGoal.SURE and second_decided:
            return TrialEnd.DECIDED
        if self._goal is TrialGoal.QUICK and not self._first_decided and self._is_futile():
            return TrialEnd.FUTILE
        return None

    def _is_futile(self) -> bool:
        left = (self._planned - self.look) * len(self._family)
        return chance_to_decide(self._wins, self._losses, self._ties, left, self._decisive) < FUTILE

    def _level_after(self, look: int) -> float | None:
        """Return the two-sided level at which the second claim is read after so many rounds; None for no reading."""
        if self._deterministic:
            return ALPHA * self._share
        if not self._more or look <= self._more[0]:
            return look_level(self._first_rounds, ALL_LOOKS * self._share)
        return more_level(self._more.index(look)) * self._share if look in self._more else None

    @property
    def counts(self) -> tuple[int, int, int]:
        """Wins, losses and pairs without a difference."""
        return self._wins, self._losses, self._ties

    @property
    def left_out(self) -> int:
        """Number of pairs left out."""
        return int(np.count_nonzero(self._arms[0] == LEFT_OUT))

    def paired(self) -> PairedCases:
        """Return all pairs so far, by case."""
        return self._paired(self._planned)

    def _paired(self, rounds: int) -> PairedCases:
        original, draft = (arm[:rounds] for arm in self._arms)
        known = (original >= 0) & (draft >= 0)
        there = known.any(axis=0)
        runs = known.sum(axis=0)[there]
        won, lost = known & (draft > original), known & (draft < original)
        return PairedCases(
            runs_before=runs,
            passed_before=(known & (original > 0)).sum(axis=0)[there],
            runs_after=runs,
            passed_after=(known & (draft > 0)).sum(axis=0)[there],
            wins=won.sum(axis=0)[there],
            losses=lost.sum(axis=0)[there],
            family=np.unique(self._family[there], return_inverse=True)[1],
            deterministic=self._deterministic,
        )

    def claims(self) -> TrialClaims:
        """Return both claims as they stand."""
        first = on_these_cases(self.paired(), decided=self._first_decided, decisive=self._decisive)
        return TrialClaims(on_these_cases=first, for_queries_like_these=self._second or NO_LOOK, look=self.look)


def broken_guards(counts: Sequence[tuple[int, int, int, int]]) -> list[bool]:
    """Return which guards are broken: fewer passes with the draft by Fisher's one-sided test, Holm over all of them.

    Each count holds the passes and runs of the original, then of the draft, asked afresh after the first break.
    """
    return [p <= ALPHA for p in holm([fisher(*count) for count in counts])]
