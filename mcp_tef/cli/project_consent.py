"""One question for a run with a project file: what the file has started, contacted, sent and spent.

`--yes` answers none of it, since nobody typed it: a person at a terminal does, or options that name each part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcp_tef import ConsentAnswer, ConsentError, ConsentKind, InputError, TefError, apply_consent_answer
from mcp_tef.cli.session import answered_by_option, with_options

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from mcp_tef import BatchRequest, ConsentRequest, Engine, ModelSettings, Secret, ServerSpec
    from mcp_tef.cli.terminal import Terminal

PROJECT = "project"
"""Value of --allow-program that stands for the programs of the project file as they stand."""
FREE_USD = 0.50
"""An estimate above this asks, where no cap was typed."""


@dataclass
class ProjectAgreement:
    """Agreements of this command: `asked` once, and `spent` dollars of estimates that need no yes."""

    asked: bool = False
    cost_allowed: bool = False
    spent: float = 0.0


async def agree_to_project(
    engine: Engine,
    specs: Sequence[ServerSpec],
    request: BatchRequest,
    keys: Mapping[str, Secret],
    arguments: Namespace,
    terminal: Terminal,
) -> None:
    """Settle everything that a project file needs a yes for, in one question; ConsentError where there is none."""
    if arguments.project is None:
        _require_no_project(arguments)
        return
    wanted = await open_requests(engine, specs, request.models, keys, arguments, terminal)
    cost = await _asked_cost(engine, request, arguments)
    if not wanted and not cost:
        return
    agreement: ProjectAgreement = arguments.agreement
    if wanted and not terminal.asks:
        raise with_options(wanted, engine)
    _require_cost_answer(cost, terminal)
    await ask_together(engine, wanted, cost, arguments, terminal)
    agreement.cost_allowed |= bool(cost)


async def open_requests(
    engine: Engine,
    specs: Sequence[ServerSpec],
    models: Sequence[ModelSettings],
    keys: Mapping[str, Secret],
    arguments: Namespace,
    terminal: Terminal,
) -> list[ConsentRequest]:
    """Return the questions that no option answers: programs, addresses of tools and of models, and keys."""
    wanted = [*engine.consents.missing(specs)]
    if arguments.project.sets("base_url"):
        listed_in = (str(arguments.project.path),)
        wanted += [one for one in engine.models.address_requests(models, listed_in) if not engine.consents.allows(one)]
    try:
        engine.models.keys_for(await engine.targets.expand(models), keys)
    except ConsentError as error:
        wanted += error.requests
    except TefError:
        pass  # the start of the batch says what is wrong
    left: list[ConsentRequest] = []
    for request in wanted:
        answer = answered_by_option(engine, request, arguments, terminal) or _by_project(request, arguments, terminal)
        if answer is None:
            left.append(request)
        else:
            await apply_consent_answer(engine, request, answer)
    return left


def _by_project(request: ConsentRequest, arguments: Namespace, terminal: Terminal) -> ConsentAnswer | None:
    """Answer for a program of the project file, where the command line allows those as they stand."""
    spec = request.spec
    if request.kind is not ConsentKind.PROGRAM or spec is None or spec.origin != str(arguments.project.path):
        return None
    if PROJECT not in arguments.allow_program or request.obstacle:
        return None
    terminal.note(f"Allowed by --allow-program project: {request.consent.description}")
    return ConsentAnswer.ALLOW_ONCE


def _require_no_project(arguments: Namespace) -> None:
    if PROJECT in arguments.allow_program:
        hint = "Name a program by its path, such as ./project."
        raise InputError("No project file applies, so that --allow-program project allows nothing.", hint=hint)


def _cost_question(most: float, spent: float) -> str:
    return f"This costs about ${most:.2f}, and no cap was typed." if spent + most > FREE_USD else ""


async def _asked_cost(engine: Engine, request: BatchRequest, arguments: Namespace) -> str:
    """Return the sentence about a cost that needs a yes; empty for none."""
    agreement: ProjectAgreement = arguments.agreement
    if "max_cost" in arguments.typed or agreement.cost_allowed or all(model.offline for model in request.models):
        return ""
    cost = (await engine.runs.estimate(request)).cost_usd
    if known := [one for one in (cost, request.max_cost_usd) if one is not None]:
        return _cost_question(min(known), agreement.spent)
    is_named = arguments.project.sets("model") and not all(map(engine.models.is_local, request.models))
    return "This costs an unknown amount, and no cap was typed." if is_named else ""


def _require_cost_answer(cost: str, terminal: Terminal) -> None:
    if cost and not terminal.asks:
        raise ConsentError(cost, hint=f"Add --max-cost USD; what a project file runs asks above ${FREE_USD:.2f}.")


async def ask_together(
    engine: Engine, wanted: Sequence[ConsentRequest], cost: str, arguments: Namespace, terminal: Terminal
) -> None:
    """Show all that is asked, and ask once; ConsentError for a no, and for what no yes can allow."""
    for request in wanted:
        terminal.show_consent(request)
    if blocked := [request for request in wanted if request.obstacle]:
        raise with_options(blocked, engine)
    if cost:
        terminal.note(cost)
    lasting = "Allow all of this, programs and addresses from now on as well?" if wanted else "Go on?"
    arguments.agreement.asked = True
    if not terminal.confirms(lasting):
        raise ConsentError("You did not allow it, so nothing was done.", hint="Run it again to decide.")
    for request in wanted:
        await apply_consent_answer(engine, request, ConsentAnswer.ALLOW)


async def within_agreed_cost(
    engine: Engine, request: BatchRequest, arguments: Namespace, terminal: Terminal
) -> BatchRequest:
    """Return the request once its tools are known: one that turns out dearer asks, or is capped if a yes was given.

    So a run asks once, and spends no more than the user knows of.
    """
    if arguments.project is None:
        return request
    agreement: ProjectAgreement = arguments.agreement
    if cost := await _asked_cost(engine, request, arguments):
        if agreement.asked:
            left = max(FREE_USD - agreement.spent, 1e-9)
            terminal.note(f"{cost} No more than ${left:.2f} is spent; add --max-cost USD to allow more.")
            request = replace(request, max_cost_usd=min(left, request.max_cost_usd or left))
        else:
            _require_cost_answer(cost, terminal)
            await ask_together(engine, (), cost, arguments, terminal)
            agreement.cost_allowed = True
    estimate = (await engine.runs.estimate(request)).cost_usd or 0.0
    agreement.spent += min(estimate, FREE_USD if request.max_cost_usd is None else request.max_cost_usd)
    return request
