"""Phrases that make a model hand out what it knows, or run what nobody has seen; written as folded texts are."""

from mcp_tef.scoring.lint.order_phrases import exactly, pair

_KEYS = (
    r"(?:~/|\$home/|/home/\w+/|/root/)?\.(?:ssh|aws|gnupg|kube|netrc|npmrc|cursor|env)\b|\bid[ _](?:rsa|ed25519)\b|"
    r"/etc/(?:passwd|shadow)\b|\bmcp\.json\b|\bclaude_desktop_config\b|\bprivate keys?\b|\bssh keys?\b"
)
_READ = (
    r"\b(?:read(?:ing)?|open|cat|load|include|send|pass|copy|attach|fetch|paste|provide|contents? of|content from|"
    r"lies|lese|öffne|inhalt|lis|lisez|ouvre|contenu|lee|abre|contenido|leggi|apri|leia|lees|przeczytaj)\b|"
    r"прочита|прочти|открой|содержимое|读取|讀取|打开|内容|読み|読ん|開い|읽"
)
FILES = (
    exactly(
        ".ssh|.aws|.gnupg|.kube|.netrc|.npmrc|.cursor|.env|rsa|ed25519|/etc/|mcp.json|claude_desktop|private key|"
        "ssh key",
        rf"(?:{_READ})[^.\n]{{0,60}}?(?:{_KEYS})",
    ),
)
_LOOT = (
    r"(?:conversation|chat|history|contents?|files?|data|results?|messages?|prompts?|keys?|tokens?|passwords?|"
    r"credentials|secrets?|environment|variables|context|everything|output|copy|emails?|it|them)"
)
_ELSEWHERE = r"(?:https?://[^\s\"'<>)]{4,200}|[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,24})"
SENDING = (
    exactly(
        "http|@",
        r"\b(?:send|forward|post|transmit|exfiltrate|leak|e-?mail|b?cc|report|submit|upload)\s+(?:\w+\s+){0,6}?"
        rf"{_LOOT}\b[^\n]{{0,60}}?\bto:?\s+(?:the )?(?:\w+ ){{0,2}}{_ELSEWHERE}",
    ),
)
MARKS = "important|system|secret|hidden|instructions?|admin|sys|critical|assistant|human"
"""Names of elements that set a text apart as instructions, as a pattern."""
MARKUP = (
    exactly(
        "<|[inst|[/inst|##|[system",
        rf"</? ?(?:{MARKS}) ?/?>|"
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<<\s*sys\s*>>|\[/?system(?: \w+)?\]|"
        r"(?m:^[ \t]{0,40}#{2,6} ?(?:system|instructions? (?:to|for) (?:the )?(?:model|assistant|ai)) ?:?$)",
    ),
)

_HAND_OVER = (
    r"(?:include|provide|pass|put|send|insert|append|attach|copy|paste|write|repeat|reveal|print|output|share|fill|"
    r"supply|forward|quote|disclose|dump|embed|add|store|place|leak|summari[sz]e|tell|show|give|expose)"
)
_TALK = r"(?:conversation|chat|dialogue?|discussion|messages|prompt|instructions)"
EXTRACTING = (
    exactly(
        "system prompt|instructions|everything|conversation|chat|dialog|discussion|messages|your|prompt & prompt|"
        "your|verbatim|"
        "so far|"
        "up to|with the user|word for word|parameter|argument|field|you |this|unredacted|history| log|the ",
        rf"\b{_HAND_OVER}\b[^.\n]{{0,40}}\byour (?:\w+ ){{0,3}}(?:system (?:prompt|message|instructions)|"
        rf"instructions|prompt|"
        r"context window|memory|system|secrets)\b|"
        rf"\b{_HAND_OVER}\b[^.\n]{{0,10}}\b(?:full|complete|entire|whole) (?:chat|conversation|message) (?:history|"
        rf"log)\b"
        r" (?:as|in|into|to) (?:the |a |this )?(?:context|notes?|parameter|argument|input|field|comment|query)\b|"
        r"\b(?:needs?|requires?) the (?:full|entire|complete|whole) (?:conversation|chat)\b(?! (?:id|name))|"
        r"\beverything (?:that )?(?:the user|they|you) (?:has |have |had )?(?:said|typed|told|asked|know|been told)\b|"
        r"\b(?:parameter|argument|field) (?:must|should|has to) (?:contain|include|hold)\b[^.\n]{0,30}"
        r"\b(?:previous messages|conversation|chat history|system prompt)\b|"
        rf"\b{_HAND_OVER}\b[^.\n]{{0,30}}\b(?:the |our )?(?:whole|full|entire|complete|current|previous|verbatim|"
        rf"exact)\b"
        rf"[^.\n]{{0,20}}\b{_TALK}\b[^.\n]{{0,60}}\b(?:verbatim|so far|up to (?:this|that|now)|with the user|"
        rf"word for word|"
        r"(?:parameter|argument|field)\b|you (?:have|had|were|received)|this (?:tool|call))|"
        rf"\b{_HAND_OVER}\b[^.\n]{{0,30}}\b(?:system prompt|(?:conversation|chat|message) history|previous messages)\b"
        r"[^.\n]{0,40}\b(?:in|into|as|to|inside|via)\b (?:the |this |its )?[`'\"]?\w+[`'\"]? (?:parameter|argument|"
        r"field)\b|"
        r"\b(?:system prompt|(?:conversation|chat|message) history|previous messages)\b[^.\n]{0,40}"
        r"\b(?:verbatim|word for word|unredacted)|\bsystem prompt (?:and|plus|or)\b[^.\n]{0,20}\b(?:history|"
        r"conversation)",
    ),
    exactly(
        "key|password|credential|token|secret|credit card|environment variable|env var & include|add|append|attach|"
        "copy|paste|"
        "leak|dump|you know|you have|you can|conversation|"
        "context|"
        "chat|memory|history|user|they|note|comment|metadata|debug|feedback",
        rf"\b{_HAND_OVER}\b[^.\n]{{0,40}}\b(?:api keys?|passwords?|credentials?|tokens?|secrets?|private keys?|"
        r"environment variables|env vars)\b[^.\n]{0,40}(?:\byou (?:know|have|can (?:see|find|access))\b|"
        r"\b(?:from|in|found in|seen in) (?:the |your |this )?(?:context|conversation|chat|memory|history)\b|"
        r"\b(?:the user|they) (?:has |have )?(?:mentioned|shared|pasted|typed|gave|told)\b|"
        r"\b(?:in|into|as|to) (?:the |this )?[`'\"]?(?:note|notes|comment|context|metadata|debug|feedback|sidenote)\b)|"
        r"\b(?:include|add|append|attach|copy|paste|leak|dump|share) (?:the )?users?'s? (?:\w+ ){0,2}(?:passwords?|"
        r"api keys|credentials|"
        r"secrets)\b(?! (?:reset|hash|field|policy))",
    ),
    pair(
        "füge|sende|schick|gib|übergib|kopier|schreib|nenn|trag|verrate|häng",
        r"(?:den |deinen? |deine )?(?:system-?prompt|systemanweisung|gesprächsverlauf|chatverlauf|(?:gesamte|ganze|"
        r"vollständige)\w* "
        r"(?:gespräch|unterhaltung|chat|verlauf|kontext)|(?:passwör|zugangsdaten|api-schlüssel|"
        r"geheimnis)\w* des (?:be)?nutzer)",
        "prompt|systemanw|verlauf|gespräch|unterhaltung|chat|kontext|passwör|zugangsdaten|schlüssel|geheimnis",
    ),
    pair(
        "inclu|ajout|envoi|envoy|copi|transmet|donne|fourni|révèl|mets|mettez|colle|añad|agreg|enví|envi|pega|pon |"
        "escrib|"
        "revel|adjunt|aggiungi|invia|metti|scrivi|rivela|inserisci|adicion|coloqu|escrev",
        r"(?:le |la |el |il |o )?(?:prompt (?:du |del |de |di |do )?(?:systeme|sistema)|instructions? système|"
        r"instrucciones del sistema|istruzioni di sistema|(?:historique|historial|cronologia|"
        r"histórico) (?:complet[oa]? )?"
        r"(?:de la |du |del |della |d[ao] )?(?:conversa|chat|discussion)|(?:toute la|intégralité de la|toda la|"
        r"toda a|l'intera) convers|"
        r"convers\w+ (?:complet|entièr|entera|inteira)|(?:mots? de passe|contraseñas?|credenciales|identifiants|"
        r"senhas?|"
        r"claves? api|clés? api|password) (?:de l'|del |do |dell')(?:utilisateur|usuario|utente))",
        "prompt|système|sistema|historique|historial|cronologia|histórico|convers|passe|contraseña|credencial|"
        "identifiants|senha|"
        "clave|clés|password",
    ),
    pair(
        "добавь|включи|отправь|перешли|передай|скопируй|укажи|вставь|напиши|раскрой|пришли|выведи",
        r"системн\w* (?:промпт|подсказк|инструкц|сообщени)|(?:всю |полную )?истори\w* (?:переписк|диалог|чат|бесед|"
        r"разговор)|"
        r"вс[юе]\w* (?:переписк|бесед|диалог|разговор)|(?:парол|ключ|секрет)\w* (?:api )?пользовател",
    ),
    pair(
        "包含|附上|附带|填入|填写|发送|發送|提供|传入|傳入|复制|写入|输出|泄露|透露|粘贴|放入|含め|入れ|送信|渡し|コピー|貼り付け|出力|教え|"
        "포함|보내|전송|복사|출력|입력|알려",
        r"(?:系统提示|系統提示|系统消息|系统指令|(?:完整|全部|所有|整个)的?(?:对话|聊天|会话|對話|上下文)|用户的?(?:密码|密钥|凭据)|"
        r"システムプロンプト|システムメッセージ|会話(?:の全|履歴)|(?:すべて|全て)の会話|ユーザーの(?:パスワード|認証情報)|"
        r"시스템 프롬프트|시스템 메시지|전체 대화|대화 (?:기록|전체)|사용자의? (?:비밀번호|암호))",
    ),
)

_SHELL = (
    r"(?:sudo )?(?:\S{0,40}/)?(?:sh|bash|zsh|dash|ksh|fish|python[0-9.]{0,4}|perl|ruby|node|php|iex|"
    r"invoke-expression|pwsh|powershell)\b"
)
DOWNLOADING = (
    exactly(
        "curl|wget|iwr|irm|invoke-|base64|download|fetch|powershell|iex",
        rf"\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|base64 -{{1,2}}d)\b[^\n]{{0,200}}?\|"
        rf"\s*{_SHELL}|"
        r"\b(?:sh|bash|zsh|eval|source|iex|python[0-9.]{0,4}|perl|ruby|node)\b[^\n]{0,10}[(<`]\s*(?:curl|wget|iwr|"
        r"irm)\b|"
        r"\bpowershell\w*[^\n]{0,60} -e(?:nc|ncodedcommand)?\b|\biex\s*\(|"
        r"\b(?:download|fetch|curl|wget)\b[^\n]{0,60}(?:https?://|\.sh\b|\.ps1\b|\bscript\b)[^\n]{0,80}"
        r"\b(?:pipe|execute|run|eval)\b[^\n]{0,20}\b(?:it|shell|bash|sh)\b",
    ),
)
