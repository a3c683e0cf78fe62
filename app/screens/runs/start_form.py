"""Values of the start dialog: the form, its problems, the request, and what is saved of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from app.screens.runs.labels import format_wait
from app.text.formatting import count, money, rounded
from mcp_tef import (
    CONCURRENCY,
    MAX_TOKENS,
    REPEATS,
    RETRIES,
    SEED,
    TEMPERATURE,
    TIMEOUT,
    BatchRequest,
    CallingMode,
    CaseId,
    Estimate,
    InputError,
    ModelSettings,
    PromptTemplate,
    TestCase,
    ToolChoiceMode,
    asked_with,
    parse_model,
    parse_number,
    parse_prices,
)

OWN_PROVIDER: Final = "openai"


EVERY_CLIENT: Final = "*"
"""Choice of all clients beside each other."""


class CaseScope(StrEnum):
    """Choice of the cases to run."""

    ALL = "all"
    SUITE = "suite"
    TAG = "tag"
    SELECTED = "chosen"


class StartField(StrEnum):
    """Field of the form that can be invalid; its value is the name in StartForm."""

    CASES = "cases"
    MODEL = "model"
    BASE_URL = "base_url"
    KEY = "key"
    REPEATS = "repeats"
    CONCURRENCY = "concurrency"
    TEMPERATURE = "temperature"
    TIMEOUT = "timeout"
    RETRIES = "retries"
    COST = "cost_cap"
    PRICE = "price"
    LIMIT = "max_tokens"
    SEED = "seed"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartForm:
    """Values of the form, as typed. `name` is the suite or tag of the scope, `price` two numbers with a comma.

    `model` and `own_model`, of a provider and of an own server, may name several models with commas between them.
    `client` is the name of a profile, `EVERY_CLIENT`, or "" for none. `prompt` is a label such as counter@3, with the
    values of `variables`; without one, `system_prompt` stands before the built-in one.
    """

    scope: CaseScope = CaseScope.ALL
    name: str = ""
    selected: tuple[CaseId, ...] = ()
    offline: bool = True
    own_server: bool = False
    with_baseline: bool = False
    model: str = ""
    base_url: str = ""
    own_address: str = ""
    own_model: str = ""
    repeats: str = REPEATS.default_text
    concurrency: str = CONCURRENCY.default_text
    temperature: str = TEMPERATURE.default_text
    timeout: str = TIMEOUT.default_text
    retries: str = RETRIES.default_text
    cost_cap: str = ""
    price: str = ""
    max_tokens: str = ""
    seed: str = ""
    system_prompt: str = ""
    mode: CallingMode = CallingMode.AUTO
    tool_choice: ToolChoiceMode = ToolChoiceMode.AUTO
    client: str = ""
    prompt: str = ""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedStartForm:
    """Parsed form: the request, or one sentence for each invalid field.

    `models` are known as soon as their names are valid.
    """

    request: BatchRequest | None
    models: tuple[ModelSettings, ...]
    problems: Mapping[StartField, str] = field(default_factory=dict)
    cases: int = 0


def cases_of(form: StartForm, cases: Sequence[TestCase]) -> tuple[TestCase, ...]:
    """Return the cases that the form would run."""
    if form.scope is CaseScope.SUITE:
        return tuple(case for case in cases if form.name in case.draft.suites)
    if form.scope is CaseScope.TAG:
        return tuple(case for case in cases if form.name in case.draft.tags)
    if form.scope is CaseScope.SELECTED:
        chosen = set(form.selected)
        return tuple(case for case in cases if case.id in chosen)
    return tuple(cases)


def tags_of(cases: Sequence[TestCase]) -> tuple[str, ...]:
    """Return the tags in use, sorted."""
    return tuple(sorted({tag for case in cases for tag in case.draft.tags}))


NO_CLIENTS: Final[Mapping[str, str]] = {}
NO_PROMPTS: Final[Mapping[str, PromptTemplate]] = {}


def parse_start_form(
    form: StartForm,
    cases: Sequence[TestCase],
    clients: Mapping[str, str] = NO_CLIENTS,
    prompts: Mapping[str, PromptTemplate] = NO_PROMPTS,
) -> ParsedStartForm:
    """Parse a form; every invalid field gets its own sentence.

    `clients` holds the labels of profiles by name, `prompts` the templates by label.
    """
    problems: dict[StartField, str] = {}
    chosen = cases_of(form, cases)
    if not chosen:
        problems[StartField.CASES] = _no_cases(form, cases)
    settings = _with_prompt(_settings(form, problems), form, prompts, problems)
    request = _request(form, settings, chosen, problems)
    if request:
        request = replace(request, models=_as_clients_ask(request.models, form.client, clients))
    return ParsedStartForm(
        request=None if problems else request,
        models=settings or _named(form),
        problems=problems,
        cases=len(chosen),
    )


def _with_prompt(
    models: tuple[ModelSettings, ...],
    form: StartForm,
    prompts: Mapping[str, PromptTemplate],
    problems: dict[StartField, str],
) -> tuple[ModelSettings, ...]:
    """Return models that ask with the form's prompt; unchanged without one, or if it was deleted meanwhile."""
    template = prompts.get(form.prompt)
    if template is None or form.offline:
        return models
    given = {name: value for name, value in form.variables if value.strip()}
    try:
        asked_with(ModelSettings(), template, given)
        return tuple(asked_with(model, template, given) for model in models)
    except InputError as error:
        problems[StartField.PROMPT] = error.message
        return ()


def _as_clients_ask(
    models: Sequence[ModelSettings], client: str, clients: Mapping[str, str]
) -> tuple[ModelSettings, ...]:
    """Return each model once for each client; unchanged without one, or if the client was deleted meanwhile."""
    labels = tuple(clients.values()) if client == EVERY_CLIENT else (clients.get(client, ""),)
    return tuple(replace(model, client=label) for model in models for label in labels or ("",))


def _no_cases(form: StartForm, cases: Sequence[TestCase]) -> str:
    if not cases:
        return "There are no test cases yet. Write one, or open the sample."
    if form.scope in (CaseScope.SUITE, CaseScope.TAG) and not form.name:
        return f"Select a {form.scope.value}."
    return "No test case matches. Select other cases."


def _settings(form: StartForm, problems: dict[StartField, str]) -> tuple[ModelSettings, ...]:
    """Return the settings of each model; none if a field is invalid."""
    if form.offline:
        return (ModelSettings(),)
    before = len(problems)
    nothing: tuple[ModelSettings, ...] = ()
    named = _attempt(problems, StartField.MODEL, lambda: _models(form), nothing)
    temperature = _attempt(problems, StartField.TEMPERATURE, lambda: TEMPERATURE.parse(form.temperature), 0.0)
    timeout = _attempt(problems, StartField.TIMEOUT, lambda: TIMEOUT.parse(form.timeout), 1)
    retries = _attempt(problems, StartField.RETRIES, lambda: RETRIES.parse(form.retries), 0)
    prices = _attempt(problems, StartField.PRICE, lambda: parse_prices(form.price), parse_prices(""))
    limit = _attempt(problems, StartField.LIMIT, lambda: MAX_TOKENS.parse_optional(form.max_tokens), None)
    seed = _attempt(problems, StartField.SEED, lambda: SEED.parse_optional(form.seed), None)
    _attempt(problems, StartField.BASE_URL, lambda: _check_address(form), None)
    if len(problems) > before:
        return ()
    return tuple(
        replace(
            model,
            timeout=timeout,
            temperature=temperature,
            max_retries=retries,
            base_url=_address(form) or None,
            system_prompt=form.system_prompt.strip() or None,
            mode=form.mode,
            tool_choice=form.tool_choice,
            seed=seed,
            max_tokens=limit,
            input_price=prices[0],
            output_price=prices[1],
        )
        for model in named
    )


def _address(form: StartForm) -> str:
    return (form.own_address if form.own_server else form.base_url).strip()


def _check_address(form: StartForm) -> None:
    address = _address(form)
    if form.own_server and not address:
        raise InputError("The address of your server is missing.", hint="Enter it, such as http://localhost:11434/v1.")
    if address and not address.startswith(("http://", "https://")):
        raise InputError("The address does not start with http:// or https://.")
    ModelSettings(base_url=address)


def _models(form: StartForm) -> tuple[ModelSettings, ...]:
    """Return the models that are named, each once; those of an own server are spoken to as to OpenAI's API."""
    text = form.own_model if form.own_server else form.model
    names = list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if not names:
        raise InputError("No model is selected.", hint=_HOW_TO_SELECT[form.own_server])
    if form.own_server:
        return tuple(ModelSettings(provider=OWN_PROVIDER, model=name) for name in names)
    return tuple(ModelSettings(provider=provider, model=model) for provider, model in map(parse_model, names))


_HOW_TO_SELECT = ("Select one from the list, or type PROVIDER/NAME.", "Check the server, or type the model's name.")


def _named(form: StartForm) -> tuple[ModelSettings, ...]:
    try:
        return tuple(replace(model, base_url=_address(form) or None) for model in _models(form))
    except InputError:
        return ()


def _request(
    form: StartForm, models: tuple[ModelSettings, ...], chosen: Sequence[TestCase], problems: dict[StartField, str]
) -> BatchRequest | None:
    repeats = _attempt(problems, StartField.REPEATS, lambda: REPEATS.parse(form.repeats), 1)
    concurrency = _attempt(problems, StartField.CONCURRENCY, lambda: CONCURRENCY.parse(form.concurrency), 1)
    cap = _cap(form, problems)
    if problems or not models:
        return None
    if form.with_baseline and not any(model.offline for model in models):
        models = (*models, ModelSettings())
    selections: Mapping[CaseScope, Mapping[str, Any]] = {
        CaseScope.SELECTED: {"cases": tuple(case.id for case in chosen)},
        CaseScope.SUITE: {"suites": (form.name,)},
        CaseScope.TAG: {"tags": (form.name,)},
    }
    return BatchRequest(
        **selections.get(form.scope, {}),
        models=models,
        repeats=repeats,
        concurrency=concurrency,
        max_cost_usd=cap,
        name=batch_name(form, chosen),
    )


def _cap(form: StartForm, problems: dict[StartField, str]) -> float | None:
    if form.offline or not form.cost_cap.strip():
        return None
    cap = _attempt(
        problems, StartField.COST, lambda: parse_number(form.cost_cap.replace("$", ""), float, "cost cap"), None
    )
    if cap is not None and not 0 < cap < float("inf"):
        problems[StartField.COST] = "Write a cost cap above 0, or leave it empty for none."
    return cap


def batch_name(form: StartForm, chosen: Sequence[TestCase]) -> str:
    """Return the name of the batch."""
    if form.scope is CaseScope.ALL:
        return "All cases"
    if form.scope is CaseScope.SELECTED:
        return chosen[0].name if len(chosen) == 1 else f"{len(chosen)} selected cases"
    return form.name


Value = TypeVar("Value")


def _attempt(problems: dict[StartField, str], where: StartField, make: Callable[[], Value], instead: Value) -> Value:
    """Return the value of a field; note its problem and return `instead` if it has none."""
    try:
        return make()
    except InputError as error:
        problems[where] = f"{error.message} {error.hint}".strip()
        return instead


def run_button_text(reading: ParsedStartForm) -> str:
    """Return the text of the start button."""
    request, text = reading.request, f"Run {count(reading.cases, 'case')}"
    if request is None:
        return text
    clients, labels = {one.client for one in request.models}, {one.label: one.offline for one in request.models}
    if len(labels) > 1:
        asked = sum(not offline for offline in labels.values())
        text += f" on {count(asked, 'model')}" + " and the baseline" * (asked < len(labels))
    text += f" as {count(len(clients), 'client')}" if len(clients) > 1 else ""
    return text if request.repeats == 1 else f"{text}, {request.repeats} times each"


def estimate_text(estimate: Estimate, request: BatchRequest) -> str:
    """Return the estimated runs, time and cost in one line; an unknown cost is named."""
    parts = [count(estimate.runs, "run")]
    if estimate.seconds is not None:
        parts.append(f"about {format_wait(estimate.seconds)}")
    if all(settings.offline for settings in request.models):
        parts.append("no cost, nothing leaves this machine")
    else:
        parts += [f"about {count(rounded(estimate.tokens), 'token')}"] if estimate.tokens else []
        parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


TEXTS: Final = (
    *(
        "model",
        "base_url",
        "own_address",
        "own_model",
        "repeats",
        "concurrency",
        "temperature",
        "timeout",
        "retries",
        "cost_cap",
    ),
    *("price", "max_tokens", "seed", "system_prompt", "client", "prompt"),
)
FLAGS: Final = ("offline", "own_server", "with_baseline")


def form_to_settings(form: StartForm) -> dict[str, str | bool]:
    """Return the values of a form that are saved."""
    values = {name: getattr(form, name) for name in (*TEXTS, *FLAGS)}
    return {**values, "mode": form.mode.value, "tool_choice": form.tool_choice.value}


def form_from_settings(kept: Mapping[str, object]) -> StartForm:
    """Return the form of saved values; invalid ones are replaced by defaults."""
    texts: dict[str, Any] = {name: value for name in TEXTS if isinstance(value := kept.get(name), str)}
    modes = {mode.value: mode for mode in CallingMode}
    choices = {choice.value: choice for choice in ToolChoiceMode}
    return StartForm(
        **texts,
        offline=kept.get("offline") is not False,
        own_server=kept.get("own_server") is True,
        with_baseline=kept.get("with_baseline") is True,
        mode=modes.get(str(kept.get("mode")), CallingMode.AUTO),
        tool_choice=choices.get(str(kept.get("tool_choice")), ToolChoiceMode.AUTO),
    )
