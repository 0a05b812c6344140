"""What recall.py plants, which queries must find it, and which must not.

Every word is invented or rare, so that a query finds the messages of its fact and no other.
"""

from dataclasses import dataclass, field
from unicodedata import normalize

# Text facts are put into each of these places, each time in another era.
ROTATION = ["prompt", "answer", "output", "args"]
SHA = "9c1f4e7a2b3d5f60718293a4b5c6d7e8f9012345"
LONG_SHA = "77e1c0ffee" * 6 + "1b2d"
BLOB = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkGgnuBlobq7WjR9awAAAABJRU5ErkJggg=="
UUID = "5b0f7c1e-93ad-4c55-8e21-d07a4bb9f613"
LONG_WORD = "pneumonoultramicroscopicsilicovolcanoconiosislike"
NOISE = "lorem ipsum dolor sit amet consectetur " * 20_000


@dataclass
class Fact:
    """A text, the queries that find it and those that do not."""

    name: str
    text: str
    finds: list
    misses: list = field(default_factory=list)
    places: list = None


@dataclass
class Place:
    """A place in a message, the field that `in:` calls it, and what else identifies it."""

    name: str
    field: str
    filters: list = field(default_factory=list)

    def fact(self, era):
        word = f"{self.name.replace('-', '')}ovium{era}"
        # A path is recognized by its form; a tool's name has separators.
        text = {"path": f"deep/{word}.toml", "tool-name": f"mcp_{word}"}.get(self.name, f"here is {word} now")
        others = [f"in:{name} {word}" for name in
                  ("prompt", "answer", "thought", "call", "output", "context", "notice", "title")
                  if name != self.field and not (self.field == "path" and name == "call")]
        finds = [word, f"in:{self.field} {word}"] + [f"{word} {one.format(word=word)}" for one in self.filters]
        return Fact(f"place {self.name}, {era}", text, finds, others + [f"{word}x"])


@dataclass
class Fate:
    """Something that happens to messages or files, and the resulting mark of the message."""

    name: str
    fate: str
    fact: Fact


FACTS = [
    # Words and operators.
    Fact("word", "the zephyrglass is ready.",
         ["zephyrglass", "ZEPHYRGLASS", "zephyrgl*", "zephyrglas~", "zephirglass~", "/zephyrgl[ae]ss/", "/ZEPHYRGLASS/i",
          "zephyrglass OR nowherefound", "zephyrglass -nowherefound", "(zephyrglass OR nowherefound) ready"],
         ["zephyr", "glasszephyr", "zephyrglassy", "zephyrg", "ephyrglass", "/ZEPHYRGLASS/", "zephyrglass -ready"]),
    Fact("two words", "the quimbly and, much later, the vostrand",
         ["quimbly vostrand", "vostrand quimbly", "quimbly AND vostrand", '"quimbly and much later the vostrand"',
          "quimbly vostr*"],
         ['"quimbly vostrand"', '"vostrand quimbly"', "quimbly NOT vostrand", "quimbly -vostrand"]),
    Fact("phrase, punctuation", "a brindlecat, (kestrelhawk) — anvilhead!",
         ['"brindlecat kestrelhawk anvilhead"', '"brindlecat, kestrelhawk"', '"kestrelhawk) anvilhead"',
          '"a brindlecat"'],
         ['"kestrelhawk brindlecat"', '"brindlecat anvilhead"']),
    Fact("phrase, line break", "first brinewick\n    kelpford\r\n\r\n> gullmere",
         ['"brinewick kelpford gullmere"', '"kelpford gullmere"'], ['"brinewick gullmere"']),
    Fact("phrase, Markdown", "## Use **ormolust** `tesserox` and [plinthor](https://x.example/plinthlink) _cornelux_",
         ['"ormolust tesserox"', '"tesserox and plinthor"', "cornelux", '"use ormolust"'], ['"ormolust plinthor"']),
    Fact("apostrophe", "the gardenwright's lanternfish", ["gardenwright", "gardenwright's", '"gardenwright\'s lanternfish"'],
         ["gardenwrights"]),
    # Chinese, Japanese, Korean, Thai.
    Fact("Chinese", "我们把新的琥珀灯笼放进旧阁楼里保存起来",
         ["琥珀", "灯笼", "阁楼", "琥珀灯笼", "灯笼放进", "旧阁楼里", "琥珀 阁楼", '"琥珀灯笼"', "珀灯"],
         ["珀笼", "灯琥", "琥珀笼", "灯笼阁楼", "琥珀 -阁楼"]),
    Fact("Chinese, one character", "他用毛笔写下一个獬字", ["獬", "獬字", "毛笔写"], ["獬毛"]),
    Fact("Chinese, punctuation", "先看鲸落。海渊，然后：潮汐！", ["鲸落", "海渊", "潮汐", '"鲸落 海渊"', "鲸落 潮汐"],
         ["落海", '"海渊 鲸落"']),
    Fact("Chinese and Latin", "用Zorblat写砚台程序v3", ["砚台", "zorblat", "写砚台", "砚台程序", "用zorblat写"], ["zorblatx", "台砚"]),
    Fact("beyond the first plane", "𠮷野屋の𩸽定食", ["𠮷野", "𩸽", "𩸽定食"], ["野𠮷"]),
    Fact("Japanese", "昨日は薔薇園で竪琴を調律しました。", ["薔薇", "薔薇園", "竪琴", "調律", "調律しました", "竪琴を調律"],
         ["琴調", "園竪", "薔薇竪琴"]),
    Fact("katakana, half width", "ｸﾗﾘﾈｯﾄ を吹く", ["クラリネット", "ｸﾗﾘﾈｯﾄ", "ラリネ"], ["クラリット"]),
    Fact("katakana, voiced", "バグパイプの音", ["バグパイプ", "ﾊﾞｸﾞﾊﾟｲﾌﾟ", normalize("NFD", "バグパイプ")], ["ハクハイフ"]),
    Fact("Korean", "무지개다리를 건너는 고슴도치가 있다", ["고슴도치", "무지개", "무지개다리", "다리를", "고슴도치 무지개다리"],
         ["도치고", "무지다리"]),
    Fact("Korean, decomposed", normalize("NFD", "달팽이집을 짓는다"), ["달팽이", normalize("NFD", "달팽이"), "달팽이집을"], ["팽달"]),
    Fact("Thai", "แมวเหมียวสีส้มนอนหลับ", ["แมวเหมียว", "สีส้ม", "นอนหลับ"], ["ส้มสี"]),
    # Identifiers.
    Fact("camelCase", "call rotateKeyringShard(now)",
         ["rotateKeyringShard", "rotate_keyring_shard", "rotate-keyring-shard", "rotatekeyringshard", "RotateKeyringShard",
          "keyring_shard", "keyringShard", "rotateKeyring", '"keyring shard"', "keyring", "keyringSh*", "rotateKeyringShard(now)"],
         ["shardKeyring", "rotate_shard", "keyringShards", '"shard keyring"', "eyringShard"]),
    Fact("snake_case", "let x = flush_ledger_pane;",
         ["flush_ledger_pane", "flushLedgerPane", "FLUSH_LEDGER_PANE", "flushledgerpane", "ledgerPane", "LedgerPane",
          "ledger_pane", "flush-ledger-pane", "flushLed*"], ["ledgerFlush", "flush_pane", "flushledgerpanes"]),
    Fact("kebab-case", "class gimbal-toggle-strip is set",
         ["gimbal-toggle-strip", "gimbalToggleStrip", "gimbal_toggle_strip", "toggle-strip", "toggleStrip", "gimbal"],
         ["strip-toggle", "gimbal-strip"]),
    Fact("flag", "run with --no-wobble-cache=now", ["--no-wobble-cache", "no-wobble-cache", "noWobbleCache", "wobble-cache",
                                                   "wobble_cache", '"--no-wobble-cache"'], ["--cache-wobble"]),
    Fact("acronym", "an HTTPGobletServer and XMLSconceURL", ["HTTPGobletServer", "http_goblet_server", "gobletServer",
                                                            "httpGobletServer", "XMLSconceURL", "sconce", "xml_sconce_url"],
         ["gobletHTTP"]),
    Fact("digits", "krillhash512 and lumen2Vector", ["krillhash512", "krillhash", "lumen2vector", "lumen2Vector", "KrillHash512"],
         ["krillhash513", "lumen3Vector"]),
    Fact("dunder", "def __quaggaInit__(self):", ["__quaggaInit__", "quaggaInit", "quagga_init", "__quagga_init__"], ["initQuagga"]),
    Fact("namespace", "std::okapi::read_herd and okapi.graze()", ["okapi::read_herd", "std::okapi", "okapi.graze", "readHerd"],
         ["herd::okapi"]),
    Fact("file name", "see quokka_report.final.tsx", ["quokka_report.final.tsx", "quokkaReport", "quokka", "final.tsx",
                                                     "quokka_report"], ["final.quokka", "quokka.tsx"]),
    Fact("path", "in /srv/pelicanry/src/heronry/nestBox.rs:17",
         ["/srv/pelicanry/src/heronry/nestBox.rs", "pelicanry", "heronry", "heronry/nestBox.rs", "nestBox.rs", "nest_box.rs",
          "src/heronry", "nestBox", "heronry/"], ["heronry/pelicanry", "nestBox/heronry", "heronry/nestBox.ts"]),
    Fact("Windows path", r"C:\Dev\Wombatry\burrowed.ini", [r"Dev\Wombatry\burrowed.ini", "wombatry", "Wombatry/burrowed.ini",
                                                           r"C:\Dev\Wombatry"], [r"burrowed\wombatry"]),
    Fact("session name", "session-2031-02-17T09-41-5eabcd12.jsonl", ["session-2031-02-17T09-41-5eabcd12", "2031-02-17T09-41",
                                                                    "5eabcd12", "2031-02-17", "5eabcd1*"],
         ["2031-02-17T09-42", "session-2031-02-18", "5eabcd13"]),
    Fact("version", "upgrade tapirlib to 17.83.9-rc.4", ["tapirlib 17.83.9", "17.83.9", "17.83.9-rc.4", '"tapirlib to 17.83.9"'],
         ["17.83.8", "17.9.83", "83.17.9"]),
    Fact("URL", "https://docs.marmosetry.example/guide/v2?tab=fruitbat#anchorage",
         ["https://docs.marmosetry.example/guide/v2?tab=fruitbat#anchorage", "docs.marmosetry.example", "marmosetry",
          "marmosetry.example/guide", "tab=fruitbat", "fruitbat", "anchorage"], ["marmosetry.docs"]),
    Fact("e-mail", "mail capybara.spa@lagoonia.example", ["capybara.spa@lagoonia.example", "capybara.spa", "lagoonia.example",
                                                         "capybara"], ["spa.capybara", "capybara@lagoonia"]),
    Fact("commit", f"at {SHA} now", [SHA, SHA.upper(), SHA[:12] + "*", f"/{SHA[:9]}/"], [SHA[:-1] + "0", SHA[1:]]),
    Fact("SHA-256", f"digest {LONG_SHA} ok", [LONG_SHA, LONG_SHA[:20] + "*"], [LONG_SHA[:50] + "0" * 14, LONG_SHA[4:]]),
    Fact("UUID", f"session {UUID}", [UUID, UUID.upper(), UUID[:8]], [UUID[:-1] + "4"]),
    Fact("base64", f"data:image/png;base64,{BLOB} ibexend", ["ibexend", "/GgnuBlobq7/"], ["/GgnuBlobq8/"]),
    Fact("long word", f"a {LONG_WORD} b", [LONG_WORD, LONG_WORD[:30] + "*", LONG_WORD[:44] + "*"],
         [LONG_WORD[:-4] + "xxxx", LONG_WORD[:44] + "zz*"]),
    # Accents and forms.
    Fact("accents, composed", normalize("NFC", "la crèmerie brûlante d'Ångermanlänska"),
         ["crèmerie", "cremerie", "CRÈMERIE", normalize("NFD", "crèmerie"), "brulante", "angermanlanska", "Ångermanlänska",
          '"crèmerie brulante"', "angermanl*"], ["crmerie", "brulant"]),
    Fact("accents, decomposed", normalize("NFD", "la pâtissièrerie é gâteausse"),
         ["pâtissièrerie", "patissiererie", normalize("NFD", "pâtissièrerie"), "gateausse", '"pâtissièrerie é gâteausse"'],
         ["ptissirerie"]),
    Fact("sharp s", "die Straßenlampenputzer", ["straßenlampenputzer", "strassenlampenputzer", "STRASSENLAMPENPUTZER"],
         ["strasenlampenputzer"]),
    Fact("Cyrillic", "Ёжиковый туманище", ["ёжиковый", "ежиковый", "ТУМАНИЩЕ", "тума*"], ["туманищ"]),
    Fact("Greek", "ο Σίσυφοςτρις ΟΔΟΣΤΡΑΣ", ["σισυφοςτρις", "Σίσυφοςτρις", "οδοστρας", "οδοστρασ"], ["σισυφο"]),
    Fact("full width", "Ｐｌａｔｙｐｕｓｔｒｙ　１２９８７", ["platypustry", "Ｐｌａｔｙｐｕｓｔｒｙ", "12987", '"platypustry 12987"'], ["platypus"]),
    Fact("ligature", "the ﬁnchleyman and oﬃceholderix", ["finchleyman", "ﬁnchleyman", "officeholderix"], ["nchleyman"]),
    Fact("soft hyphen", "nugat\u00adipanista here", ["nugatipanista", "nugat\u00adipanista"], ["nugat", "ipanista"]),
    Fact("emoji", "🦔 hedgehopper 👩‍💻🇩🇪 swiftlet✨", ["hedgehopper", '"🦔 hedgehopper"', "swiftlet", '"hedgehopper swiftlet"'],
         ['"swiftlet hedgehopper"']),
    Fact("Devanagari", "हिन्दवीनामा पुस्तकालयम", ["हिन्दवीनामा", "पुस्तकालयम"], ["हनदवनम"]),
    Fact("Arabic", "مَكْتَبَتُنَا الخضراوية", ["مكتبتنا", "مَكْتَبَتُنَا", "الخضراوية"], ["مكتب"]),
    Fact("control characters", "a\ttabulatrix\u0000nullified\u0007bellringer", ["tabulatrix", "nullified", "bellringer"], []),
    Fact("colours of a terminal", "\u001b[31mvermilionade\u001b[0m \u001b[1;38;5;9mceruleanta\u001b[m",
         ["vermilionade", "ceruleanta", '"vermilionade ceruleanta"'], ["31mvermilionade"], ["output", "answer"]),
    Fact("half a character", "the \ud83d surrogatine", ["surrogatine", '"the surrogatine"'], []),
    Fact("quotes", '{"key": "jasperine", "n": 7, "esc": "a\\nb \\u00e9toileuse"}', ["jasperine", '"key jasperine"'], ["jasper"]),
    # Long ones.
    Fact("long line", NOISE + "malachitrine obsidianta " + NOISE, ["malachitrine", '"malachitrine obsidianta"', "malachitr*"],
         ['"obsidianta malachitrine"'], ["answer", "output"]),
    Fact("end of a long text", "word word\n" * 60_000 + "feldspatherix", ["feldspatherix"], ["feldspather"], ["output", "prompt"]),
    Fact("long Chinese line", "测试文本" * 30_000 + "翡翠瑶池" + "测试文本" * 30_000, ["翡翠瑶池", "瑶池", "翠瑶"], ["池翡"], ["answer", "output"]),
]

PLACES = [
    Place("prompt", "prompt", ["kind:prompt", "fate:kept"]),
    Place("answer", "answer", ["kind:answer", "model:gemini"]),
    Place("thought", "thought", ["kind:answer"]),
    Place("thought-subject", "thought"),
    Place("args", "call", ["tool:run_shell_command"]),
    Place("output", "output", ["tool:run_shell_command", "-is:error"]),
    Place("tool-error", "output", ["is:error"]),
    Place("path", "path", ["file:{word}.toml", "file:deep"]),
    Place("tool-name", "call", ["tool:mcp_{word}"]),
    Place("info", "notice", ["kind:notice", "-is:error"]),
    Place("warning", "notice"),
    Place("error", "notice", ["is:error"]),
    Place("file", "context", ["kind:prompt", "file:notes.txt"]),
    Place("title", "title"),
]


def fate(name, mark, **more):
    word = f"fateful{name.replace('-', '')}ling"
    finds = [word, f'"some {word} text"', f"{word} fate:{mark}"]
    misses = [f"{word}s"] + ([f"{word} is:undone"] if mark == "kept" else [f"{word} fate:kept"])
    if mark != "kept":
        finds.append(f"{word} is:undone")
    return Fate(name, mark, Fact(f"fate {name}", f"some {word} text", finds, misses, **more))


FATES = [
    fate("rewound", "rewound"), fate("rewound-answer", "rewound"), fate("cancelled", "cancelled"),
    fate("compressed", "compressed"), fate("summary", "kept"), fate("masked", "kept"),
    fate("streamed", "kept"), fate("resumed", "kept"), fate("twin", "kept"), fate("moved", "kept"),
    fate("split", "kept"), fate("agent", "kept"), fate("expanded", "kept"),
    fate("thought-part", "kept"), fate("deep-argument", "kept"), fate("hook", "kept"),
    fate("after-rubbish", "kept"), fate("torn", "kept"),
    Fate("crowded", "kept", Fact("fate crowded", "jammed corundine beryllix tight",
                                 ['"corundine beryllix"', "in:output \"corundine beryllix\""], ['"jammed beryllix"'])),
]
