"""What retrieval.py plants, and the questions that must find it.

WRITTEN facts are short sessions with questions as people ask them. GRID facts combine a verb with an object: every verb and every
object is in many sessions, and only one has both. Questions use other forms and another order of the words, and filler words.
"""

from dataclasses import dataclass, field


@dataclass
class Fact:
    """One session: what was typed, answered and printed by a tool; any of them may be empty."""

    prompt: str
    answer: str
    output: str = ""
    questions: list = field(default_factory=list)
    kind: str = "written"


def fact(prompt, answer, output, *questions, kind="written"):
    return Fact(prompt, answer, output, list(questions), kind)


WRITTEN = [
    fact("the docker image is 1.4 GB, can you make it smaller?", "I shrank the image to 180 MB with a multi-stage build on alpine.",
         "REPOSITORY TAG SIZE\nshop latest 180MB",
         "how did we shrink the docker image", "what made the docker image so much smaller?", "when did we switch the image to alpine"),
    fact("users get logged out after five minutes", "The refresh token was never stored, so the session expired with the access token. It is "
         "now kept in an http-only cookie.", "", "why were users being logged out", "where do we store the refresh token",
         "what did we do about sessions expiring after five minutes?"),
    fact("CI is red since yesterday", "The test depends on the local timezone. I pinned TZ to UTC in the workflow.",
         "FAILED test_invoice_due_date: expected 2026-03-29", "why did CI fail because of the timezone",
         "which test was failing on the invoice due date?", "how did we pin the timezone in the workflow"),
    fact("add a retry to the webhook sender", "Deliveries are retried five times with exponential backoff and jitter.", "",
         "how many times are webhooks retried", "do we use exponential backoff for webhook delivery?", "what is the retry policy of the webhook sender"),
    fact("the export of large tables runs out of memory", "Rows are streamed through a server-side cursor now, 5,000 at a time.", "",
         "how did we fix the memory problem in the export", "what was the reason the table export ran out of memory?",
         "where did we start streaming rows with a cursor"),
    fact("which library should we use for PDFs?", "I compared weasyprint, reportlab and wkhtmltopdf; weasyprint wins because the templates are HTML already.",
         "", "which PDF library did we choose", "why did we decide on weasyprint?", "what were the options when we compared libraries for PDFs"),
    fact("search is slow on the orders page", "The query did a sequential scan. A trigram index on customer_name brought it from 900 ms to 12 ms.",
         "Seq Scan on orders (cost=0.00..48211.00)", "how did we speed up the search on the orders page",
         "which index made customer name lookups faster?", "why was the orders search doing a sequential scan"),
    fact("upgrade us to node 22", "Upgraded. The only breaking change was the removed punycode module, which tr46 still imported.", "",
         "what broke when we upgraded node", "which module was removed in node 22?", "did the node upgrade have breaking changes"),
    fact("rename the branch master to main everywhere", "Renamed in workflows, badges and the release script. The deploy hook needed a new filter.", "",
         "what had to change when we renamed master to main", "where was the master branch renamed?", "which hook needed a new filter after renaming the branch"),
    fact("prices are rounded wrongly for japanese yen", "Yen has no minor unit. Amounts are formatted by the currency's exponent now.", "",
         "how did we handle yen rounding", "why were the prices in yen rounded wrong?", "what did we learn about currencies without minor units"),
    fact("set up pre-commit with ruff and mypy", "Done: ruff formats and lints, mypy runs in strict mode on src only.", "ruff....Passed\nmypy....Passed",
         "did we set up mypy in strict mode", "which checks run in pre-commit?", "how is ruff configured in the hooks"),
    fact("the websocket drops every 60 seconds behind nginx", "proxy_read_timeout defaults to 60s. I raised it to one hour and added pings every 30 seconds.", "",
         "why did the websocket keep dropping", "which nginx timeout closed our websockets?", "how often do we ping the websocket"),
    fact("encrypt the backups", "Backups are encrypted with age to two recipients; the key of the second is in the safe.", "",
         "how are our backups encrypted", "who can decrypt the backup?", "which tool did we use for encrypting backups"),
    fact("why does the kubernetes pod restart?", "It is killed for memory: the limit is 256Mi and the JVM heap alone takes 300.", "Reason: OOMKilled\nExit Code: 137",
         "why was the pod restarting", "what was the memory limit of the killed pod?", "which exit code did the pod end with"),
    fact("our emails land in spam", "SPF lacked the new sender, and DKIM was signed with the old selector. Both records are fixed.", "",
         "why were emails landing in spam", "which DNS records did we fix for mail?", "what was wrong with the DKIM selector"),
    fact("move the cron jobs to the scheduler", "All eleven jobs are moved. Only the report job needs a lock so that it does not run twice.", "",
         "how many cron jobs were moved to the scheduler", "which job needs a lock?", "why can the report job run twice"),
    fact("add dark mode to the settings", "The theme follows prefers-color-scheme until somebody chooses one; the choice is stored per user.", "",
         "how does dark mode decide which theme to use", "where do we store the chosen theme?", "did we implement dark mode in the settings"),
    fact("flaky test in the checkout suite", "The animation was still running when the button was clicked. Animations are disabled in tests now.", "1 flaky, 211 passed",
         "what caused the flaky checkout test", "why did we disable animations in the tests?", "how did we get rid of flakiness in checkout"),
    fact("import the customers from the old CRM", "4,812 were imported, 37 skipped: they have no address. The list is in import-skipped.csv.", "",
         "how many customers were skipped during the import", "where is the list of skipped customers?", "what happened when importing from the old CRM"),
    fact("limit login attempts", "Ten attempts per account and hour, counted in redis, then a captcha.", "",
         "how many login attempts are allowed", "what happens after too many logins?", "where are the login attempts counted"),
    fact("the build takes 20 minutes", "Most of it was the linker. With mold and a shared cache of compiled crates it takes six.", "",
         "how did we make builds faster", "which linker do we use now?", "why did the build take twenty minutes"),
    fact("translate the app to Portuguese", "All strings are in pt-BR. Plurals use ICU messages because the old format had only two forms.", "",
         "which message format do we use for plurals", "did we translate the app into portuguese?", "why did we change how plurals work"),
    fact("images are rotated on iPhones", "The EXIF orientation was dropped while resizing. It is applied before the thumbnail is made.", "",
         "why were photos from iphones rotated", "when is the exif orientation applied?", "what did resizing drop from the images"),
    fact("deduplicate the customers", "Two are the same if the normalized email or phone matches. 214 pairs were merged, each with an undo record.", "",
         "how do we decide that two customers are duplicates", "how many customers were merged?", "can merged customers be undone"),
    fact("what is eating the disk?", "Old docker layers: 61 GB. A weekly prune is in the crontab now.", "61G /var/lib/docker/overlay2",
         "what was eating our disk space", "how much space did docker layers take?", "where did we schedule the weekly prune"),
    fact("add feature flags", "Flags are read from a table, cached for 30 seconds, and can be limited to a percentage of users.", "",
         "how long are feature flags cached", "can a feature flag be rolled out to a percentage?", "where are flags read from"),
    fact("the PDF invoices miss the euro sign", "The embedded font has no glyph for it. Switched the invoices to Noto Sans.", "",
         "why was the euro sign missing", "which font do the invoices use?", "how did we fix glyphs in the pdf invoice"),
    fact("let's replace moment.js", "Replaced with date-fns; the bundle lost 230 kB.", "dist/app.js 412 kB",
         "what did we replace moment with", "how much smaller did the bundle get without moment?", "why is date-fns in our project"),
    fact("graphql queries hit the database too often", "Resolvers loaded one row each. A dataloader batches them: 140 queries became 3.", "",
         "how did we solve the n+1 problem in graphql", "what batches the resolver queries?", "how many database queries did the dataloader save"),
    fact("rotate the signing keys", "Rotated. Tokens signed by the old key stay valid for 24 hours, then the key is deleted.", "",
         "when did we rotate the signing keys", "how long are tokens of the old key valid?", "what happens to old signing keys"),
    fact("the mobile menu does not close", "The overlay swallowed the tap. It listens to pointerdown now.", "",
         "why didn't the mobile menu close", "which event does the overlay listen to?", "how was the menu on mobile fixed"),
    fact("write a migration for the address column", "The column is split into street, zip and city; rows that cannot be parsed keep the old text.", "migrated 18234 rows, 41 unparsed",
         "how was the address column split", "how many addresses could not be parsed?", "what did the address migration do"),
    fact("measure the cold start of the lambda", "1.9 s, of which 1.2 s is loading pandas. A slim layer without it starts in 400 ms.", "INIT_START Duration: 1911 ms",
         "what slowed down the lambda cold start", "why did we drop pandas from the layer?", "how fast does the slim lambda start"),
    fact("the calendar shows the wrong week", "Weeks began on Sunday. The start of the week comes from the locale now.", "",
         "why was the calendar showing wrong weeks", "where does the first day of the week come from?", "what did we change in the calendar about sunday"),
    fact("add an audit log", "Every change writes who, what and when to audit_events; rows are never updated or deleted.", "",
         "which table has the audit log", "can audit events be deleted?", "what is written to the audit trail on each change"),
    # German, French, Spanish: the words of the session in another form.
    fact("Bitte verkleinere das Installationspaket", "Das Paket ist von 90 auf 35 MB geschrumpft, weil die Symbole ausgelagert wurden.", "",
         "wie haben wir das Paket verkleinert", "warum wurden die Symbole ausgelagert?", kind="other languages"),
    fact("Die Rechnungen werden doppelt verschickt", "Der Job lief auf zwei Servern gleichzeitig. Eine Sperre in der Datenbank verhindert das.", "",
         "warum wurden Rechnungen doppelt verschickt", "wie verhindern wir, dass der Job auf zwei Servern läuft?", kind="other languages"),
    fact("Le téléchargement des factures échoue", "Les noms de fichiers contenaient des accents ; ils sont encodés en UTF-8 maintenant.", "",
         "pourquoi le téléchargement de la facture échouait", "comment avons-nous encodé les noms des fichiers ?", kind="other languages"),
    fact("Los correos de bienvenida no llegan", "La cola estaba bloqueada por un adjunto demasiado grande.", "",
         "por qué no llegaban los correos de bienvenida", "qué adjunto bloqueaba la cola?", kind="other languages"),
    # Chinese, Japanese, Korean.
    fact("登录页面打开很慢", "原因是头像没有压缩。现在图片会先生成缩略图再上传。", "", "登录页面为什么很慢", "我们是怎么压缩头像的?", "缩略图是什么时候生成的", kind="CJK"),
    fact("请把数据库迁移到新服务器", "迁移完成,停机时间只有三分钟,旧服务器保留一周。", "", "数据库是怎么迁移的", "迁移的停机时间有多长?", "旧服务器保留多久", kind="CJK"),
    fact("支付回调偶尔丢失", "回调超时后没有重试。已经加入消息队列和幂等键。", "", "支付回调为什么会丢失", "我们怎么处理回调超时的?", "幂等键用在哪里", kind="CJK"),
    fact("ログイン画面の表示が遅い", "画像を圧縮してキャッシュを有効にしました。表示は0.4秒です。", "", "ログイン画面はなぜ遅かったのですか", "画像の圧縮はどうやって行いましたか", "キャッシュを有効にしたのはいつですか", kind="CJK"),
    fact("バックアップの復元手順を書いて", "復元手順は三つの段階に分かれています。鍵は金庫にあります。", "", "バックアップはどうやって復元しますか", "復元手順はどこに書きましたか", "鍵はどこにありますか", kind="CJK"),
    fact("결제 오류를 고쳐 줘", "환율 반올림 때문에 금액이 달랐습니다. 소수점 처리를 수정했습니다.", "", "결제 오류는 왜 발생했나요", "환율 반올림을 어떻게 처리했나요", "소수점 처리를 언제 수정했지", kind="CJK"),
    fact("검색 색인을 다시 만들어 줘", "색인을 새로 만들었고 용량이 절반으로 줄었습니다.", "", "검색 색인을 어떻게 다시 만들었나요", "색인 용량이 얼마나 줄었나요", kind="CJK"),
]

# Base, past, participle, -ing.
VERBS = ["shrink shrank shrunk shrinking", "rewrite rewrote rewritten rewriting", "split split split splitting", "migrate migrated migrated migrating",
         "deploy deployed deployed deploying", "profile profiled profiled profiling", "remove removed removed removing",
         "replace replaced replaced replacing", "encrypt encrypted encrypted encrypting", "validate validated validated validating",
         "rename renamed renamed renaming", "document documented documented documenting", "benchmark benchmarked benchmarked benchmarking",
         "freeze froze frozen freezing", "debug debugged debugged debugging", "simplify simplified simplified simplifying"]
# Singular and plural.
OBJECTS = ["docker image/docker images", "login page/login pages", "payment webhook/payment webhooks", "search index/search indexes",
           "invoice export/invoice exports", "rate limiter/rate limiters", "cache layer/cache layers", "retry queue/retry queues",
           "session cookie/session cookies", "feature flag/feature flags", "nightly backup/nightly backups", "email template/email templates",
           "access token/access tokens", "test fixture/test fixtures", "build pipeline/build pipelines", "log parser/log parsers",
           "metrics dashboard/metrics dashboards", "settings screen/settings screens", "job scheduler/job schedulers", "audit trail/audit trails",
           "config loader/config loaders", "upload form/upload forms", "price table/price tables", "error handler/error handlers"]
ASIDES = ["before the release", "for the new tenants", "after the incident", "on the staging cluster", "because the old one was too slow",
          "as discussed with the team", "so that the tests are green again", "without downtime", "in two steps", "for the mobile clients"]
# Where the verb and the object are.
PLANTED = [
    ("Please {base} the {one} {aside}.", "All right, that is done.", ""),
    ("What is left on the list?", "I {past} the {one} {aside}, everything else was fine.", ""),
    ("Have a look at the {one} {aside}.", "It had to be {part}, so I did that and ran the tests.", ""),
    ("Go on with the next step", "Here is the log.", "step 3/9: {ing} {many} ... ok\nstep 4/9: cleaning up ... ok"),
    ("Can the {many} be {part} {aside}?", "Yes; I changed four files.", "4 files changed, 61 insertions(+), 17 deletions(-)"),
]
ASKED = ["how did we {base} the {one}", "when were the {many} {part}?", "do you remember the session where we talked about {ing} the {one}",
         "why did somebody {base} our {many}", "{one} {ing}", "what did we do so that the {one} could be {part}"]


def grid(count, rng):
    """Sessions with a verb and an object each, no pair twice."""
    pairs = [(verb, thing) for verb in VERBS for thing in OBJECTS]
    rng.shuffle(pairs)
    for number, (verb, thing) in enumerate(pairs[:count]):
        forms = dict(zip(("base", "past", "part", "ing"), verb.split()), **dict(zip(("one", "many"), thing.split("/"))),
                     aside=rng.choice(ASIDES))
        texts = [text.format(**forms) for text in PLANTED[number % len(PLANTED)]]
        questions = [ASKED[(number + turn * 2 + turn // 3) % len(ASKED)].format(**forms) for turn in range(3)]
        yield Fact(*texts, questions, "grid")
