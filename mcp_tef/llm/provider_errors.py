"""Classification of provider failures, each with one clear message that never contains the key."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mcp_tef.errors import ModelError, ModelFault, ReachError
from mcp_tef.llm.providers import Target, key_variables
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.installation import how_to_install
from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret, without_keys
from mcp_tef.model.variables import size_words
from mcp_tef.provider_http.exchange import error_text

LONGEST_DETAIL = 300

_NO_TOOLS = re.compile(
    r"(?i)not? support(?:ing|ed)?[^.]{0,40}\b(?:tools?|function)|\b(?:tools?|functions?)(?: use| calling| calls?)?"
    r"(?: is| are)?(?: currently)? (?:not|un) ?(?:supported|available|enabled)|support tool use|enable-auto-tool-choice"
    r"|unsupported (?:param|parameter|argument)[^.]{0,20}\b(?:tools|functions)\b|tools param(?:eter)? requires --jinja"
)
_CONTEXT = re.compile(
    r"(?i)context[_ ](?:length|window|size)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|exceeds? the (?:maximum|available|model).{0,40}(?:token|context)|input token count.{0,60}exceeds"
)
_QUOTA = re.compile(
    r"(?i)insufficient[_ ](?:quota|balance|funds|credits?)|credit balance|billing|exceeded your current quota"
)
_BAD_KEY = re.compile(
    r"(?i)api[_ ]key (?:not valid|invalid|not found)|(?:invalid|incorrect|wrong)[^.]{0,20} api[_ ]?key"
)
_NO_KEY = re.compile(
    r"(?i)missing credentials|missing .{0,30}api[_ ]?key|api_key client option must be set|no api[_ ]?key"
)
_NO_MODEL = re.compile(r"(?i)model|deployment")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureEvidence:
    """Evidence of a failed call; `status` is None without an answer, `reachable` None if no connection was tried."""

    status: int | None = None
    headers: Mapping[str, str]
    body: str = ""
    error: str = ""
    timed_out: bool = False
    reachable: bool | None = None
    refused_origin: str = ""
    refusal: ReachError | None = None
    address_unknown: bool = False
    too_large: bool = False
    most_bytes: int = 0

    @property
    def web_page(self) -> bool:
        """True if HTML came back."""
        kind = self.headers.get("content-type", "").lower()
        return "html" in kind or self.body.lstrip()[:15].lower().startswith(("<!doctype", "<html"))

    @property
    def answer(self) -> Json:
        """The body as JSON; None where it is none."""
        try:
            return loads_bounded(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def detail(self) -> str:
        """The provider's own words, or litellm's."""
        said = _message(self.answer) or error_text(self.error)
        return " ".join(said.split())

    @property
    def garbled(self) -> bool:
        """True if a model's API answered with success, but not in the shape of its answers."""
        answer = self.answer
        return isinstance(answer, Mapping) and any(name in answer for name in _API_FIELDS)


def explain(evidence: FailureEvidence, settings: ModelSettings, target: Target, key: Secret | None) -> ModelError:
    """Return the error that a user reads for a failed call."""
    fault = find_fault(evidence, key)
    detail = redacted(evidence.detail, key)[:LONGEST_DETAIL].rstrip(" .")
    is_missing = fault is ModelFault.KEY_MISSING
    message, hint = _words(fault, settings, target.address, evidence)
    said = f" It says: {detail}." if detail and fault in _QUOTED else ""
    return ModelError(
        fault,
        redacted(message, key) + said,
        hint=hint,
        retry_after=retry_after(evidence.headers) if fault is ModelFault.RATE else None,
        context={
            "provider": settings.provider,
            "model": settings.label,
            "address": target.address,
            "status": evidence.status,
            "detail": detail,
            "variable": _variable(settings) if is_missing else None,
            "given_as": f"{settings.provider}@{origin_of(target.address or '')}" if is_missing else None,
        },
    )


def _variable(settings: ModelSettings) -> str:
    return next(iter(key_variables(settings.provider)), "")


def find_fault(evidence: FailureEvidence, key: Secret | None) -> ModelFault:
    """Why the call failed, from what came back first of all, and from litellm's words where nothing did."""
    if evidence.address_unknown:
        return ModelFault.ADDRESS_UNKNOWN
    if evidence.refused_origin or evidence.refusal:
        return ModelFault.ADDRESS_REFUSED
    if evidence.too_large:
        return ModelFault.ANSWER_TOO_LARGE
    if evidence.timed_out:
        return ModelFault.TIMEOUT
    if not evidence.body and _NO_KEY.search(evidence.error):
        return ModelFault.KEY_MISSING
    if evidence.status is None:
        return _unanswered(evidence)
    if evidence.web_page and evidence.status < 500 and evidence.status not in (401, 403, 429):
        return ModelFault.NOT_AN_API
    return _by_words(evidence) or _by_status(evidence, key)


def redacted(text: str, key: Secret | None) -> str:
    """Return `text` without the key, and without whatever looks like one."""
    return without_keys(text, (key,) if key else ())


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return seconds to wait, from a Retry-After header in seconds or as an HTTP date; None without one."""
    given = headers.get("retry-after", "").strip()
    try:
        seconds = float(given)
    except ValueError:
        return _until(given, now or datetime.now(UTC))
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(given: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _unanswered(evidence: FailureEvidence) -> ModelFault:
    if evidence.reachable is False:
        return ModelFault.DOWN
    if "ssl" in evidence.error.lower():
        return ModelFault.NOT_AN_API
    if evidence.reachable is None:
        return ModelFault.NO_TOOLS if _NO_TOOLS.search(evidence.error) else ModelFault.REJECTED
    return ModelFault.PROVIDER


def unaskable(settings: ModelSettings, target: Target, providers: frozenset[str]) -> ModelError | None:
    """Why a model cannot even be asked; None where it can. `providers` are those that litellm has."""
    context = {"model": settings.label, "address": target.address}
    if target.address and not target.address.lower().startswith(("http://", "https://")):
        return ModelError(
            ModelFault.NOT_AN_API,
            f"The base url {target.address} is no web address.",
            hint="Start it with http:// or https://.",
            context=context,
        )
    if target.provider not in providers:
        return ModelError(
            ModelFault.NOT_FOUND,
            f"There is no provider called {settings.provider}.",
            hint="Select one from the catalogue, or give the base url of an OpenAI-compatible server.",
            context=context,
        )
    if "://" in target.model:
        return ModelError(
            ModelFault.NOT_FOUND,
            f"The name of the model {settings.model} holds an address.",
            hint="Give the address as the base URL, and the model by its name.",
            context=context,
        )
    if not target.origins:
        return explain(FailureEvidence(headers={}, address_unknown=True), settings, target, None)
    return None


def library_missing(settings: ModelSettings, library: str) -> ModelError:
    """Return the error for a model that only litellm can ask, where litellm or a part of it is not installed."""
    return ModelError(
        ModelFault.NOT_FOUND,
        f"{settings.label} is asked through litellm, and {library} is not installed.",
        hint=how_to_install(library),
        context={"model": settings.label},
    )


def key_missing(settings: ModelSettings) -> ModelError:
    """Return the error for a call that would need a key."""
    return explain(
        FailureEvidence(headers={}, error="No API key"), settings, Target(settings.provider, settings.model), None
    )


def _by_words(evidence: FailureEvidence) -> ModelFault | None:
    """Return the fault that a refusal's wording tells; its status alone is too coarse."""
    said = f"{evidence.body[:5_000]} {evidence.error[:5_000]}"
    return next(
        (fault for statuses, words, fault in _FAULTS_BY_WORDS if evidence.status in statuses and words.search(said)),
        None,
    )


_FAULTS_BY_WORDS = (
    ((400, 402, 429), _QUOTA, ModelFault.QUOTA),
    # llama.cpp refuses tools with status 500 (ggml-org/llama.cpp issue 10920).
    ((400, 404, 405, 422, 500, 501), _NO_TOOLS, ModelFault.NO_TOOLS),
    ((400, 413, 422), _CONTEXT, ModelFault.CONTEXT),
    ((400,), _BAD_KEY, ModelFault.KEY_WRONG),
)
"""Statuses and wordings of refusals, in the order of precedence."""


def _by_status(evidence: FailureEvidence, key: Secret | None) -> ModelFault:
    status = evidence.status or 0
    if status == 401:
        return ModelFault.KEY_WRONG if key else ModelFault.KEY_MISSING
    if status == 404:
        return ModelFault.NOT_FOUND if _NO_MODEL.search(evidence.detail) else ModelFault.NOT_AN_API
    if status < 300 and evidence.garbled:
        return ModelFault.PROVIDER
    if status < 400 or status == 405:
        return ModelFault.NOT_AN_API
    if status >= 500:
        return ModelFault.TIMEOUT if status == 504 else ModelFault.PROVIDER
    return _STATUSES.get(status, ModelFault.REJECTED)


_API_FIELDS = frozenset({"error", "choices", "candidates", "content", "message", "output"})
_STATUSES: Mapping[int, ModelFault] = {
    402: ModelFault.QUOTA,
    403: ModelFault.FORBIDDEN,
    408: ModelFault.TIMEOUT,
    413: ModelFault.CONTEXT,
    429: ModelFault.RATE,
}
_QUOTED = frozenset({ModelFault.REJECTED, ModelFault.FORBIDDEN, ModelFault.PROVIDER})


def _message(answer: Json) -> str:
    """Return the text of an error in any of the usual shapes."""
    if isinstance(answer, list) and answer:
        return _message(answer[0])
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, Mapping):
        return ""
    for name in ("error", "message", "detail", "error_message"):
        if name in answer and (text := _message(answer[name])):
            return text
    return ""


def _words(
    fault: ModelFault, settings: ModelSettings, address: str | None, evidence: FailureEvidence
) -> tuple[str, str]:
    """Return the sentence and the hint of a fault."""
    place = address or settings.provider
    if fault is ModelFault.ADDRESS_REFUSED and evidence.refusal:
        return evidence.refusal.message, evidence.refusal.hint
    if fault is ModelFault.PROVIDER and (evidence.status or 0) < 300:
        return _without_status(place, settings.label, evidence)
    sentence, hint = _SENTENCES[fault]
    known = {
        "provider": settings.provider, "model": settings.label, "place": place, "variable": _variable(settings),
        "timeout": settings.timeout, "status": evidence.status, "refused": evidence.refused_origin,
        "most": size_words(evidence.most_bytes),
    }  # fmt: skip
    return sentence.format(**known), hint.format(**known)


def _without_status(place: str, label: str, evidence: FailureEvidence) -> tuple[str, str]:
    if evidence.status is None:
        return f"{place} closed the connection without an answer.", "Try again; if it goes on, look at the server."
    return f"{place} answered for {label} in a shape that cannot be read.", "Try again, or another model."


_SENTENCES: Mapping[ModelFault, tuple[str, str]] = {
    ModelFault.KEY_MISSING: (
        "There is no key for {provider}.",
        "Give it for this run, or set {variable}.",
    ),
    ModelFault.KEY_WRONG: (
        "{place} did not accept the key for {model}.",
        "Check the key, and that it belongs to {provider}.",
    ),
    ModelFault.FORBIDDEN: (
        "{place} does not let this key use {model}.",
        "Ask for access to the model, or select another.",
    ),
    ModelFault.QUOTA: (
        "The quota at {place} is used up.",
        "Add credit or raise the limit of the account, or select another model.",
    ),
    ModelFault.RATE: (
        "{place} is limiting the rate of requests to {model}.",
        "Lower the concurrency, or try again later.",
    ),
    ModelFault.TIMEOUT: (
        "{model} did not answer within {timeout} seconds.",
        "Raise the timeout, or select a faster model.",
    ),
    ModelFault.CONTEXT: (
        "The query and its tools are too long for {model}.",
        "Offer fewer tools, or select a model with a larger context.",
    ),
    ModelFault.NOT_FOUND: (
        "{place} has no model {model}.",
        "Check the model's name; a local server must have loaded it.",
    ),
    ModelFault.DOWN: (
        "Nothing answers at {place}.",
        "Start the server, or check the address and the network.",
    ),
    ModelFault.NOT_AN_API: (
        "{place} is not the address of a model's API.",
        "Check the base url; for OpenAI-compatible servers it often ends in /v1.",
    ),
    ModelFault.PROVIDER: (
        "{place} answered with an error ({status}) when {model} was asked.",
        "Try again later; the fault is on the provider's side.",
    ),
    ModelFault.REJECTED: (
        "{place} rejected the request for {model}.",
        "Check the model's name and the settings of the run.",
    ),
    ModelFault.NO_TOOLS: (
        "{model} has no native tool calling.",
        "Select the JSON mode, or leave the mode on auto.",
    ),
    ModelFault.ADDRESS_UNKNOWN: (
        "The address of {provider} is not known.",
        "Give its base URL, or set the environment variable of the provider.",
    ),
    ModelFault.ADDRESS_REFUSED: (
        "The call of {model} would have gone on to {refused}, so nothing was sent there.",
        "Give that address as the base URL if you trust it.",
    ),
    ModelFault.ANSWER_TOO_LARGE: (
        "The answer of {model} is larger than {most}; the rest was not read.",
        "Ask another model, or raise MCP_TEF_MAX_MODEL_ANSWER_BYTES.",
    ),
}
