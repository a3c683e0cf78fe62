"""Vocabulary of the linter: action verbs, vague words, and how texts are split into words."""

import re
from collections.abc import Iterator

from mcp_tef.scoring.tfidf_weights import STOP_WORDS, spaced

_VERBS = """
    accept access acquire activate adapt add adjust aggregate alert allocate allow analyse analyze annotate
    anonymize answer append apply approve archive arrange ask assemble assess assign assist attach audit
    authenticate authorize automate await backfill backup benchmark block book bookmark broadcast browse build buy
    calculate call cancel capture cast change characterize chat check checkout choose chunk classify clean clear
    click clone close collect combine comment commit compare compile complete compose compress compute condense
    conduct configure confirm connect construct contact control convert coordinate copy correct count crawl create
    crop customise customize cut deactivate debug decode decompose decrypt deduplicate define delete deliver deny
    depict deploy describe deserialize design detach detect determine diagnose diff digest disable disconnect
    discover dismiss dispatch display divide download draft drag draw drive drop dump duplicate edit email embed
    emit enable encode encrypt end engage enhance enrich ensure enter enumerate estimate evaluate examine execute
    expand explain explore export expose extend extract fetch fill filter find fix flag flush follow force forecast
    fork format forward gather generate geocode geolocate get give grab grant group guide halt handle hash help hide
    highlight identify implement import increase index indicate infer inform ingest initialise initialize initiate
    inject inpaint insert inspect install instantiate integrate interact intercept introspect investigate invite
    invoke issue join keep kill label launch let link lint list listen load locate lock log login look lookup mail
    make manage manipulate map mark match measure merge migrate minify mint model modify monitor mount move multiply
    mute navigate normalize notify obtain offer open operate optimise optimize orchestrate order organize paint
    paraphrase parse paste patch pause pay peek perform persist pick pin ping place plan play plot poll populate
    post predict prepare press preview print prioritize process produce profile program promote prompt propose
    protect prove provide provision prune publish pull purchase push put quantify query quit quote raise randomize
    rank rate reach reactivate read reason reassign rebase reboot rebuild recall receive recognize recommend record
    recover recreate redirect reduce refactor reference refine reflect refresh regenerate register reject relate
    release reload remember remind remix remove rename render reorder repair repeat replace reply report request
    rerank rerun reschedule research reserve reset resize resolve respond restart restore restrict resume retire
    retrieve retry return reverse revert review revise revoke rewind rewrite rotate route run sample save scale scan
    schedule score scrape screenshot scroll scrub search see seed segment select send serialize serve set share
    shorten show shut sign simplify simulate skip slice snapshot solve sort spawn speak specify spell split stage
    stake start steer stop store stream strip study submit subscribe subtract suggest sum summarise summarize supply
    survey suspend swap swipe switch sync synchronize tag take tap teach tell terminate test think throw tidy toggle
    tokenize touch trace track trade train transcribe transfer transform transition translate transpile transpose travel
    traverse trigger trim truncate tune turn tweak type unarchive unassign unblock undo uninstall unlock unsubscribe
    update upgrade upload upscale use validate vectorize verify view visualise visualize vote wait wake walk warn
    watch weigh wipe withdraw work wrap write yield zip zoom
"""
_NOUNS_TOO = """
    access alert answer audit backup benchmark block book bookmark call cast change chat comment commit contact
    control copy count cut debug design diff digest display download draft drive dump email end estimate export fill
    filter fix flag force forecast fork format grant group guide hash help increase index issue label launch link
    list load lock log login look lookup mail map mark match measure model monitor mount move offer open order paste
    patch pause place plan play plot poll post preview process profile program prompt purchase push query quote rank
    rate reason record reference release repeat report request research reserve reset return review rewind route run
    sample scale scan schedule score screenshot search seed segment set share sign snapshot sort stage start stop
    store stream study sum supply survey switch tag tap test touch trace track trade transfer travel trim tune type
    update upgrade upload use view vote walk watch work zip zoom
"""


def word_set(text: str) -> frozenset[str]:
    """Return the words that a text lists."""
    return frozenset(text.split())


READING = word_set("""
    browse check compare count describe explain fetch find get inspect list look lookup peek preview query read
    retrieve search show summarise summarize validate verify view
""")
REMOVING = word_set("""
    delete destroy drop erase kill purge remove revoke terminate trash truncate uninstall unlink wipe
""")
WRITING = word_set("""
    add append archive assign book buy cancel commit create deploy disable edit enable insert install merge
    modify move order overwrite patch pay post publish push rename replace restore save send store submit
    transfer update upload upsert write
""")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_WIDE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENGLISH = re.compile(r"\b(?:a|an|and|by|for|from|in|is|of|on|or|that|the|this|to|with|your)\b", re.IGNORECASE)
_LEAST_WORDS_OF_A_LANGUAGE = 6


def _forms(verb: str) -> Iterator[str]:
    stem = verb[:-1] if verb.endswith("e") else verb
    yield from (verb, f"{verb}s", f"{verb}es", f"{stem}ing", f"{stem}ed", f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed")
    if verb.endswith("y"):
        yield from (f"{verb[:-1]}ies", f"{verb[:-1]}ied")


BASE_VERBS = word_set(_VERBS)
ACTIONS = frozenset(form for verb in _VERBS.split() for form in _forms(verb)) | {"built", "found", "made", "sent"}
_THINGS_TOO = frozenset(form for verb in _NOUNS_TOO.split() for form in (verb, f"{verb}s", f"{verb}es"))
_BEFORE_VERBS = frozenset({"", "and", "can", "helps", "lets", "or", "please", "to", "tool", "will", "you"})


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, names split."""
    return [word.lower() for word in _WORD.findall(spaced(text))]


def telling(text: str) -> list[str]:
    """Return the words of a text that are no stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]


def says_an_action(text: str) -> bool:
    """Return True if a text has a verb of action; what may be a noun as well ("order") counts where verbs stand."""
    said = words(text)
    return any(_is_verb(word, before) for before, word in zip(["", *said], said, strict=False))


def _is_verb(word: str, before: str) -> bool:
    if word in _THINGS_TOO:
        return before in _BEFORE_VERBS or before.endswith("ly")
    return word in ACTIONS or word.removeprefix("re") in ACTIONS


def word_count(text: str) -> int:
    """Count the words of a text; of scripts that write without spaces, two characters count as one word."""
    wide = len(_WIDE.findall(text))
    return len(_WORD.findall(_WIDE.sub(" ", text))) + (wide + 1) // 2


def reads_as_english(text: str) -> bool:
    """Return True if a text is English enough to look for verbs and vague words: Latin letters and everyday words."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(character.isascii() for character in letters)
    if latin < len(letters) * 0.9:
        return False
    return len(_WORD.findall(text)) < _LEAST_WORDS_OF_A_LANGUAGE or bool(_ENGLISH.search(text))
