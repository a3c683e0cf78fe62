"""Phrases that give orders to a model, by rule and language; written as folded texts are: small letters, no accents."""

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass, replace

from mcp_tef.scoring.lint.definition_texts import without_accents

OPENING = 3


@dataclass(frozen=True, slots=True)
class OrderPhrase:
    """A pattern, and groups of stems: a match has one of each. Most texts are told apart by these alone.

    `plain` are the same groups with the stems that a text in ASCII can hold; where `openings` are given, a word of it
    begins with one of these.
    """

    needed: tuple[tuple[str, ...], ...]
    plain: tuple[tuple[str, ...], ...]
    pattern: "re.Pattern[str]"
    openings: frozenset[str] = frozenset()

    def is_likely(self, text: str, openings: Set[str]) -> bool:
        """Return `may_be_in` for a text whose words begin as given."""
        if self.openings and text.isascii() and self.openings.isdisjoint(openings):
            return False
        return self.may_be_in(text)

    def may_be_in(self, text: str) -> bool:
        """Return False where a text cannot match, in a fraction of the time that the pattern takes."""
        groups = self.plain if text.isascii() else self.needed
        return all(any(stem in text for stem in group) for group in groups)


_IN_SENTENCE = r"[^.!?;\n。]"
_WORD_START = r"(?<![a-zа-яі])"


def exactly(needed: str, pattern: str) -> OrderPhrase:
    """Return a phrase of a pattern, and the stems that it needs: `a|b & c` is a or b, and c as well."""
    stems, source = (unicodedata.normalize("NFC", without_accents(text)) for text in (needed, pattern))
    groups = tuple(tuple(group.split("|")) for group in stems.split(" & "))
    plain = tuple(tuple(filter(str.isascii, group)) for group in groups)
    return OrderPhrase(groups, plain, re.compile(source))


def pair(stems: str, others: str, needed: str = "", gap: int = 60) -> OrderPhrase:
    """Return a phrase of two words in one sentence, in either order, each by its beginning.

    `needed` are stems of which the other word has one.
    """
    one, other, between = f"{_WORD_START}(?:{stems})", f"{_WORD_START}(?:{others})", f"{_IN_SENTENCE}{{0,{gap}}}?"
    phrase = exactly(" & ".join(filter(None, (stems, needed))), f"{one}{between}{other}|{other}{between}{one}")
    return replace(phrase, openings=frozenset(stem.split()[0][:OPENING] for stem in phrase.plain[0]))


OVERRIDING = (
    exactly(
        "ignore|disregard|forget|override|bypass & instruction|prompt|rules|guideline|directive|guardrail|restriction|"
        "guidance|above|before|previous|earlier|sa|told|ask|want|so far|request|wish|intent|question|input",
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|other|"
        r"all|any|system|safety|developer|your)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules|guidelines|guidance|"
        r"directives|"
        r"guardrails|"
        r"restrictions)\b|"
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|whatever|what)\b[^.\n]{0,25}"
        r"\b(?:above|before|previously|earlier|says?|said|told|asks?|asked|wants?|so far)\b|"
        r"\bdisregard (?:the |any |all )?(?:users?|human)(?:'s)? (?:request|instruction|wish|intent|question|input)",
    ),
    exactly(
        "follow|obey|attention|no longer|system: you|system:you|unrestricted|you are n|you do no|new instr|new prompt|"
        "new system|updated|anything now|from now on|the above|the foregoing",
        r"\b(?:not|never|don['’]t|stop) (?:follow|obey)(?:ing)? (?:any |the )?(?:other|previous|earlier|prior|"
        r"system)\b|"
        r"\bno attention to[^.\n]{0,20}\b(?:instructions|rules|prompt)|\bsystem: ?you\b|\bunrestricted (?:agent|"
        r"assistant|mode|ai)\b|"
        r"\b(?:ignore|disregard|forget) the (?:above|foregoing)(?= ?(?:[.,;!]|and\b|$))|"
        r"\b(?:instructions|rules)\b[^.\n]{0,30}\bno longer (?:apply|count|valid)\b|"
        r"\byou are now (?:a|an|in|the)\b|\b(?:new|updated) (?:system )?(?:instructions?|prompt)\s*:|"
        r"\bdo anything now\b|\bfrom now on,? you\b|\byou (?:are|do) no(?:t| longer) (?:bound|follow|obey)",
    ),
    pair(
        "ignorier|missacht|vergiss|vergess|verwirf|übergeh",
        r"(?:vorherig|vorangegangen|bisherig|früher|obig|alle|sämtlich|system)\w* (?:\w+ )?"
        r"(?:anweisung|instruktion|regel|vorgabe|befehl|prompt)|(?:den |die )?system-?(?:prompt|anweisung)",
    ),
    pair(
        "ignor|oubli|néglig|fais abstraction|ne tiens pas compte|ne tenez pas compte",
        r"(?:instructions?|consignes?|règles?|directives?|ordres?) (?:\w+ )?(?:précédent|antérieur|ci-dessus|"
        r"du système|"
        r"système|initial)|(?:toutes?|tous) (?:les |tes |vos )?(?:instructions|consignes|règles|directives)",
    ),
    pair(
        "ignor|olvid|desestim|descart|haz caso omiso|no hagas caso|no tengas en cuenta",
        r"(?:instrucci|indicaci|reglas|órdenes|directri)\w* (?:\w+ )?(?:previ|anterior|precedent|del sistema)|"
        r"(?:todas|cualquier) (?:las |tus |sus )?(?:instrucci|indicaci|regla|orden)",
    ),
    pair(
        "ignor|dimentica|trascura|non seguire|esque|desconsider|desprez",
        r"(?:istruzioni|regole|direttive|ordini|instruções|regras|ordens|diretrizes) (?:\w+ )?(?:precedent|anterior|"
        r"prévi|di sistema|do sistema|acima)|tutte le (?:istruzioni|regole)|todas as (?:instruções|regras)",
    ),
    pair(
        "negeer|vergeet|zignoruj|ignoruj|zapomnij|abaikan|lupakan|yok say|görmezden gel|dikkate alma",
        r"(?:eerdere|vorige|voorgaande|alle|bovenstaande) (?:\w+ )?(?:instructies|regels|opdrachten)|"
        r"(?:poprzedni|wcześniejsz|wszystki)\w* (?:\w+ )?(?:instrukcj|polece|zasad)|"
        r"(?:semua )?(?:instruksi|perintah) (?:sebelumnya|sistem)|(?:önceki|tüm|sistem) (?:\w+ )?(?:talimat|kural|"
        r"komut)",
    ),
    pair(
        "игнорируй|игнорируйте|проигнорируй|забудь|не обращай внимания|отбрось|ігноруй|проігноруй",
        r"(?:предыдущ|прежн|выше|все|системн|ранее|любые|попередн|усі|всі)\w* (?:\w+ )?(?:\w+ )?"
        r"(?:инструкц|указани|правил|команд|інструкц|вказівк)",
    ),
    pair(
        "忽略|无视|無視|忘记|忘記|忽视|不要理会|抛开|不要遵守",
        r"(?:之前|以前|先前|以上|上述|前面|所有|全部|系统|系統|一切|此前|これまで|前|上記|すべて|全て|システム)"
        r"[^。\n]{0,10}(?:指令|指示|说明|规则|規則|提示|命令|要求|指引|プロンプト|ルール)",
    ),
    pair(
        "ignorera|ignorer|glöm|glem|ignoruj|zapomeň|ignoră|uită|αγνόησε|αγνοήστε|ξέχασε|התעלם|שכח|bỏ qua|"
        "hagyd figyelmen|unohda",
        r"(?:tidigare|föregående|tidligere|foregående) (?:instru|anvisning|regl)|předchozí (?:pokyn|instruk|příkaz)|"
        r"(?:instrucțiuni|reguli)\w* (?:anterioare|precedente)|(?:προηγούμενες|παραπάνω) (?:οδηγίες|εντολές)|"
        r"(?:כל )?ההוראות|(?:tất cả )?(?:các )?(?:hướng dẫn|chỉ dẫn)|(?:a )?korábbi utasítás|aiemmat ohjeet",
    ),
    pair(
        "忘れ|従わない|무시|잊어|따르지|تجاهل|انس|अनदेखा|नज़रअंदाज़",
        r"(?:これまで|以前|上記|すべて|全て)[^。\n]{0,10}(?:指示|命令|プロンプト|ルール)|"
        r"(?:이전|위의|모든|기존|시스템)[^.\n]{0,10}(?:지시|명령|규칙|프롬프트|지침)|"
        r"(?:جميع|كل)?\s?(?:التعليمات|الأوامر|القواعد)|(?:पिछले|सभी)\s(?:निर्देश|नियम)",
    ),
)

_PEOPLE = r"(?:the |any )?(?:users?|humans?|anyone|people)\b"
SECRECY = (
    exactly(
        "user|human|anyone|people|mention & not|don|never|avoid|without|hide|conceal|keep",
        r"\b(?:do not|don['’]t|never|must not|should not|avoid)\s+(?:\w+\s+){0,2}?"
        r"(?:tell|mention|inform|reveal|disclose|notify|alert|let)(?:ing)?\b[^.\n]{0,40}\b(?:to |from )?"
        rf"{_PEOPLE}|"
        rf"\bwithout (?:telling|informing|notifying|alerting|asking|the knowledge of) {_PEOPLE}|"
        rf"\b(?:hide|conceal|keep)\b[^.\n]{{0,30}}\b(?:from|secret from|hidden from) {_PEOPLE}|"
        r"\b(?:do not|don['’]t|never) mention (?:this|that you|these)\b",
    ),
    exactly(
        "nutzer|anwender & nicht|nie|ohne",
        r"\b(?:sag|erzähl|verrat|erwähn|teil|informier|"
        r"melde)\w*\b[^.\n]{0,30}\b(?:be)?nutzer\w*[^.\n]{0,25}\b(?:nicht|nie)|"
        r"\bohne (?:den |die |das |es )?(?:wissen des )?(?:(?:be)?nutzer|anwender)\w*|"
        r"\b(?:be)?nutzer\w*[^.\n]{0,25}\b(?:nicht|nie|niemals|nichts)\b[^.\n]{0,15}\b(?:sagen|erzählen|informieren|"
        r"verraten|mitteilen)",
    ),
    exactly(
        "utilisateur|usuario|utente|gebruiker",
        r"\bn'(?:informe|avertis)\w* (?:pas|jamais)[^.\n]{0,20}\butilisateur|"
        r"\bne (?:le |la |les |lui )?(?:dis|dites|informe|mentionne|préviens|prévenez|révèle|parle)\w* (?:pas|jamais|"
        r"rien)"
        r"[^.\n]{0,40}\butilisateur|\bsans (?:en )?(?:informer|prévenir|le dire|avertir)[^.\n]{0,20}\butilisateur|"
        r"\b(?:no|nunca|jamás|não) (?:se )?(?:lo |le )?(?:digas?|informes?|menciones?|reveles?|avises?|cuentes|conte)"
        r"[^.\n]{0,40}\busuario|\b(?:sin|sem) (?:informar|avisar|decir\w*|dizer|que)[^.\n]{0,20}\busuario|"
        r"\b(?:non|mai) (?:dire|informare|menzionare|rivelare|avvisare)[^.\n]{0,40}\butente|"
        r"\b(?:vertel|meld|zeg|informeer)\w*\b[^.\n]{0,30}\bgebruiker\b[^.\n]{0,15}\b(?:niet|niets|nooit)",
    ),
    exactly(
        "пользовател|користувач",
        r"(?:\bне (?:говори|сообщай|упоминай|рассказывай|показывай|раскрывай|информируй|уведомляй|кажи|повідомляй)"
        r"[^.\n]{0,40}(?:пользовател|користувач)|\bбез ведома пользовател|скр(?:ой|ы)\w*[^.\n]{0,20} от пользовател)",
    ),
    exactly(
        "用户|用戶|使用者|ユーザー|利用者|사용자",
        r"(?:不要|不得|切勿|别|請勿|请勿|无需|禁止)[^。\n]{0,8}(?:告诉|告訴|告知|通知|透露|提及|让|讓)[^。\n]{0,10}"
        r"(?:用户|用戶|使用者)|(?:对|向)(?:用户|用戶)(?:保密|隐瞒|隱瞞)|瞒着用户|"
        r"(?:不要|不得|切勿|别|请勿|禁止)(?:向|对)(?:用户|用戶)[^。\n]{0,4}(?:提及|透露|说|展示|告知|提起)|"
        r"(?:ユーザー|利用者)[^。\n]{0,12}(?:伝え|知らせ|教え|言わ|話さ|通知し|見せ)[^。\n]{0,4}(?:ない|ず)|"
        r"(?:ユーザー|利用者)に(?:内緒|秘密)|사용자[^.\n]{0,12}(?:알리지|말하지|보여주지|언급하지)|사용자[^.\n]{0,6}몰래",
    ),
)

_MUST = r"(?:must|have to|need to|required to|always)"
_ANY_CALL = r"(?:using|calling|invoking|running|you (?:use|call)) (?:any|other|all|every)"
_THIS_CALL = r"(?:using|calling|invoking|running|you (?:use|call)) this"
_TOOL = (
    r"(?:(?:any|another|every|each|all)\b[^.\n]{0,20}\btools?|the [\w.-]+ tool|the tool [`'\"]?\w+|"
    r"[`'\"]?[a-z0-9]+[_.-][\w.-]+[`'\"]?)"
)
_WHEN = r"(?:when(?:ever)?|if|each time|every time|any ?time|after|before|once)"
_CALLED = r"(?:called|used|invoked|run|executed|triggered)"
_TAMPER = r"(?:add|append|insert|bcc|cc|forward|replace|prepend|redirect|swap|send)"
ORDERS = (
    exactly(
        "before|prior to|after|first|if not & must|have|need|require|always|should|stop",
        rf"\b(?:before|prior to|after) {_ANY_CALL}\b[^.\n]{{0,60}}\b{_MUST}\b|"
        rf"\b{_MUST}\b(?! be )[^.\n]{{0,60}}\bbefore {_ANY_CALL}\b|"
        r"\bhave you (?:used|called)\b[^.\n]{0,60}\bfirst\s*\?|"
        r"\b(?:should|must) be your first (?:step|call|action)\b|"
        r"\b(?:always|must) (?:use|call|invoke|run) (?:this|it)\b[^.\n]{0,40}"
        r"\b(?:before any(?:thing)?|before (?:all|every))\b|\bif not,? stop\b",
    ),
    exactly(
        " called| used| invoked| run| executed| triggered|every time|each time|whenever & add|append|insert|cc|"
        "forward|replace|prepend|redirect|"
        "swap|send|"
        "include|change|modify| this",
        rf"\b{_WHEN}\b[^.\n]{{0,30}}?(?<![\w`'\"]){_TOOL}[^.\n]{{0,12}}?\b(?:is|are|gets?|was|were|being) {_CALLED}\b"
        rf"(?:[^.\n]{{0,40}}?\b{_TAMPER}\b|, (?:then |also |always )?(?:include|change|modify|call this|use this)\b)|"
        rf"\b(?:whenever|every time|each time) (?:you|the user) [^.\n,]{{3,40}}, (?:also |always )?{_TAMPER}\b|"
        r"\b(?:whenever|every time|each time) \w+ (?:is|gets) (?:called|invoked), (?:call|use|add|run)\b",
    ),
    exactly(
        " calling| using| invoking|you call|you use|you invoke|you run| calls | invokes | call of & add|append|"
        "insert|cc|forward|"
        "replace|prepend|redirect|swap|send|call this",
        r"\b(?:when(?:ever)?|before|after|while|every time)\s+(?:you (?:call|use|invoke|run)|calling|using|invoking|"
        rf"the (?:user|model|agent|assistant) (?:calls|invokes))\s+{_TOOL}[^.\n]{{0,25}}?\b{_TAMPER}\b|"
        r"\b(?:after|before) (?:every|each|any) call of (?:another|any|every|other)\b",
    ),
    exactly(
        "wenn|sobald|bevor|nachdem|jedes mal & tool|werkzeug|funktion|_",
        r"\b(?:wenn|sobald|bevor|nachdem|jedes mal)\b[^.\n]{0,50}\b(?:tool|werkzeug|funktion|"
        r"[a-z]+_[a-z_]+)\b[^.\n]{0,25}"
        r"\b(?:aufgerufen|verwendet|benutzt|genutzt|ausgeführt|aufrufst|verwendest|benutzt|nutzt)\b[^.\n]{0,40}"
        r"\b(?:füge|hänge|setze|sende|schicke|ersetze|ändere|ergänze|rufe|leite|musst|immer|zuerst)",
    ),
    exactly(
        "quand|lorsque|chaque fois|avant|après|cuando|siempre que|cada vez|antes|después|ogni volta & outil|fonction|"
        "herramienta|función|strumento|ferramenta|_",
        r"\b(?:quand|lorsque|chaque fois|avant|après|cuando|siempre que|cada vez|antes|después|quando|ogni volta)\b"
        r"[^.\n]{0,50}(?:\b(?:outil|fonction|herramienta|función|strumento|ferramenta|[a-z]+_[a-z_]+)\b[^.\n]{0,25}"
        r"\b(?:appel|utilis|invoqu|exécut|llam|us[aeo]|utiliz|invoc|ejecut|chiam|viene|cham)|"
        r"\b(?:llam|appel|chiam|cham)\w* (?:a |à )?[a-z]+_[a-z])\w*[^.\n]{0,40}"
        r"\b(?:ajoute|insère|envoie|remplace|modifie|inclus|añad|agreg|incluy|envía|reemplaz|aggiungi|invia|"
        r"sostituisci|"
        r"adicion|inclua|envie|substitua)\w*",
    ),
    exactly(
        "когда|при|если|перед|после|кажд",
        r"\b(?:когда|при|если|перед|после|каждый раз)\b[^.\n]{0,60}(?:инструмент|функци|[a-z]+_[a-z_]+)[^.\n]{0,30}"
        r"\b(?:добавь|добавля|замени|заменя|отправь|отправля|измени|вставь|вставля|подстав)",
    ),
    exactly(
        "当|每当|每次|如果|调用|調用|呼|使|実行",
        r"(?:当|每当|每次|如果|调用|調用)[^。\n]{0,25}(?:工具|[a-z]+_[a-z_]+)[^。\n]{0,15}(?:时|時|后|後|之前)[^。\n]{0,12}"
        r"(?:添加|加入|附加|追加|插入|替换|替換|修改|发送|發送|抄送)|"
        r"(?:ツール|[a-z]+_[a-z_]+)[^。\n]{0,8}(?:呼|使|実行)[^。\n]{0,12}(?:とき|時|場合|たび|前に|後に|際)[^。\n]{0,25}"
        r"(?:追加|付け|加え|挿入|送信|置き換え)",
    ),
)
STEPS = (
    exactly(
        "before|prior to|after & ing this|use this|call this & must|have to|need to|required|always",
        rf"\b(?:before|prior to|after) {_THIS_CALL}\b[^.\n]{{0,60}}\b{_MUST}\b|"
        rf"\b{_MUST}\b[^.\n]{{0,60}}\bbefore {_THIS_CALL}\b",
    ),
    exactly("first & always|must", r"\b(?:always|must) (?:use|call|invoke|run) (?:this|it)\b[^.\n]{0,40}\bfirst\b"),
)

_RIVALS = (
    r"(?:others?\b|other (?:\w+ )?(?:tools?|servers?|functions?|plugins?|services?|mcp)\b|alternatives?\b|compet\w+)"
)
PROMOTING = (
    exactly(
        "always|only|must|prefer|choose|pick|select|favor|favour|call me|use me & this|it|me|my|our|be",
        r"\b(?:always|only|must) (?:use|call|prefer|choose|select|pick) (?:this|it|me)\b[^.\n]{0,60}"
        r"\b(?:instead of|over|rather than|no matter|regardless)\b[^.\n]{0,30}\b(?:any|all|other|others|every|what)\b|"
        r"\b(?:prefer|favou?r|choose|pick|select) (?:me\b|(?:this|my|our) (?:tool|server|function|one)\b[^.\n]{0,40}"
        r"\b(?:whatever|always|every time|for (?:any|all|every)|(?:over|above|instead of|rather than|before) (?:the )?"
        rf"(?:any|all|every|{_RIVALS})))|"
        r"\b(?:always|only) (?:use|call|pick|choose|select) (?:me\b|it(?= ?(?:[.,;!]|$)))|\bonly this (?:tool|"
        r"server) (?:is|can|may|must)\b|"
        r"\b(?:call|use|pick) me\b[^.\n]{0,15}\b(?:before|first|instead)\b|\bprefer this (?:tool|"
        r"server)(?=\s*(?:[.!]|$))|"
        r"\bmust (?:always )?be (?:chosen|selected|preferred) first\b|\balways be (?:chosen|selected|"
        r"preferred) first\b|"
        r"\b(?:always|strongly) prefer (?:this|my|our|me)\b(?! (?:\w+ )?(?:over|to|instead) (?!any|all|every|other))|"
        r"\bonly (?:use|call|trust) (?:my|our|this) (?:tool|server)s?\b|"
        r"\bmust (?:always )?be (?:preferred|chosen|selected|used) (?:over|instead of|before) (?:any|all|every|"
        r"other)\b",
    ),
    exactly(
        "never|not|don|avoid & other|alternative|compet",
        r"\b(?:never|do not|don['’]t|must not|avoid)(?: ever)? (?:rely on|(?:us|call|choos|pick|select|trust)(?:e|"
        r"ing)?) "
        rf"(?:any |the |all )?{_RIVALS}",
    ),
    exactly(
        "this is the|replaces|supersedes|all other|than all|than any|other tools|other servers",
        r"\bthis is the (?:best|most important|only) tool (?:you|to (?:use|call)|for (?:everything|any|all))\b|"
        r"\b(?:replaces|supersedes) (?:all|every|any) other\b|"
        r"\b(?:better|superior|safer) (?:than|to) (?:all|any|every)(?: the)? other (?:tool|server|function)|"
        r"\ball other (?:tools|servers) (?:are|must|should)\b|"
        r"\bother (?:tools|servers) (?:must|should|may) (?:not|never) be (?:used|called|trusted|chosen)\b|"
        r"\bother (?:tools|servers)\b[^.\n]{0,20}\bare (?:deprecated|insecure|unsafe|broken|outdated|inferior|"
        r"dangerous)",
    ),
    exactly(
        "immer|stets|ausschließlich|nicht|nie|keine & dies|mein|unser|mich|ander",
        r"\b(?:bevorzug|verwend|benutz|nutz|wähl|nimm|ruf)\w* (?:immer|stets|ausschließlich)\b[^.\n]{0,15}"
        r"\b(?:diese|mein|unser|mich)|\b(?:niemals|nie|keine|nicht)\b[^.\n]{0,20}\bandere\w* (?:werkzeug|tool|"
        r"funktion|server)|"
        r"\bandere\w* (?:werkzeug|tool|funktion|server)\w*[^.\n]{0,20}\b(?:niemals|nie|nicht)\b",
    ),
    exactly(
        "toujours|jamais|uniquement|exclusivement|siempre|nunca|jamás|no u|sempre|mai ",
        r"\b(?:préfér|préfèr|utilis|choisi)\w* (?:toujours|uniquement|exclusivement) (?:cet?|ce|mon|notre)\b|"
        r"\bn'(?:utilis|appel)\w* jamais[^.\n]{0,12}\bautre|"
        r"\b(?:usa|utiliza|prefiere|elige) siempre est|\bsiempre (?:usa|utiliza|prefiere|elige) est|"
        r"\b(?:nunca|jamás|no) (?:uses|utilices|llames|use|utilize)\b[^.\n]{0,12}\b(?:otra|otro|outra|outro)|"
        r"\b(?:usa|utilizza|preferisci|scegli) sempre quest|\bnon usare mai[^.\n]{0,12}\baltr|"
        r"\b(?:use|utilize|prefira|escolha) sempre est|\bsempre (?:use|utilize|prefira) est",
    ),
    exactly(
        "всегда|только|никогда|другие|другой|других",
        r"\b(?:всегда|только) (?:используй|выбирай|предпочитай|вызывай)\w* (?:это|эту|мой|наш)|"
        r"\b(?:используй|выбирай|предпочитай)\w* (?:всегда|только) (?:это|эту|мой|наш)|"
        r"\bне (?:используй|вызывай)\w* (?:никакие )?друг",
    ),
    exactly(
        "工具|函数|ツール|도구",
        r"(?:始终|总是|總是|永远|一律|优先|優先)(?:优先)?(?:使用|调用|选择|呼叫)(?:此|本|这个|這個|该)|"
        r"(?:不要|切勿|禁止|不得|别)(?:再)?(?:使用|调用|选择)(?:任何)?(?:其他|其它|别的)|"
        r"(?:常に|必ず|いつも)この(?:ツール|関数)を|(?:他|ほか|別)の(?:ツール|関数)[^。\n]{0,6}(?:使わ|使用し|呼ば|選ば)[^。\n]{0,3}"
        r"(?:ない|ず)|항상 이 도구|다른 도구[^.\n]{0,10}(?:사용하지|쓰지|호출하지)",
    ),
)
_CHOOSE = r"(?:use|call|choose|select|pick|invoke|prefer)"
PRESSING = (
    exactly(
        "always|must|be sure|make sure|important|critical|attention & this|me",
        rf"\b(?:always|must|be sure to|make sure to) {_CHOOSE} (?:this|me)\b|"
        rf"\b(?:important|critical|attention)\W+(?:please )?{_CHOOSE} (?:this|me)\b|"
        r"\bthis (?:tool|function) (?:must|should) (?:always )?be (?:used|called|chosen|selected|preferred)"
        r"(?=\W*(?:[.!]|$))",
    ),
    exactly(
        "other & ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget) (?:all |any |every )?(?:the )?other (?:tools?|functions?|servers?)\b",
    ),
    exactly(
        "choose|select|pick & this tool|this function",
        r"(?:^|[.!?\n:]\s*)(?:please )?(?:choose|select|pick) this (?:tool|function)\b",
    ),
)
