//! Synthetic secrets of every kind are removed in every spelling; text that only looks like one is kept.
//!
//! No complete key is in this file: each is generated from a fixed sequence, so that no scanner reports this file as a
//! leak.

use crate::support::{Dice, HEX, PLAIN, UPPER, URL, tags};
use recount_redact::{Redactor, Rules, SecretKind};

/// Text with a secret: the text, and the piece that must be removed.
struct Planted {
    kind: SecretKind,
    text: String,
    secret: String,
}

fn plant(kind: SecretKind, around: &str, secret: String) -> Planted {
    assert!(around.contains("{}"), "{around}");
    Planted { kind, text: around.replace("{}", &secret), secret }
}

/// Keys that are recognized by their shape alone.
fn keys(dice: &mut Dice) -> Vec<Planted> {
    let mut all = Vec::new();
    for (kind, prefix, alphabet, length) in [
        (SecretKind::GoogleKey, "AIza", URL, 35),
        (SecretKind::GoogleToken, "ya29.", URL, 120),
        (SecretKind::GoogleToken, "1//0", URL, 60),
        (SecretKind::GoogleToken, "GOCSPX-", URL, 28),
        (SecretKind::AwsKey, "AKIA", UPPER, 16),
        (SecretKind::AwsKey, "ASIA", UPPER, 16),
        (SecretKind::GithubToken, "ghp_", PLAIN, 36),
        (SecretKind::GithubToken, "gho_", PLAIN, 36),
        (SecretKind::GithubToken, "ghu_", PLAIN, 36),
        (SecretKind::GithubToken, "ghs_", PLAIN, 36),
        (SecretKind::GithubToken, "ghr_", PLAIN, 76),
        (SecretKind::GithubToken, "github_pat_", PLAIN, 82),
        (SecretKind::GitlabToken, "glpat-", URL, 20),
        (SecretKind::GitlabToken, "gldt-", URL, 20),
        (SecretKind::GitlabToken, "glrt-", URL, 20),
        (SecretKind::PackageToken, "npm_", PLAIN, 36),
        (SecretKind::PackageToken, "pypi-", URL, 160),
        (SecretKind::PackageToken, "rubygems_", HEX, 48),
        (SecretKind::PackageToken, "cio", PLAIN, 32),
        (SecretKind::DockerToken, "dckr_pat_", URL, 27),
        (SecretKind::SlackToken, "xoxb-123456789012-1234567890123-", PLAIN, 24),
        (SecretKind::SlackToken, "xoxp-123456789012-", PLAIN, 32),
        (SecretKind::SlackToken, "xapp-1-A0123456789-", HEX, 64),
        (SecretKind::StripeKey, "sk_live_", PLAIN, 24),
        (SecretKind::StripeKey, "sk_test_", PLAIN, 24),
        (SecretKind::StripeKey, "rk_live_", PLAIN, 24),
        (SecretKind::StripeKey, "pk_live_", PLAIN, 24),
        (SecretKind::StripeKey, "pk_test_", PLAIN, 99),
        (SecretKind::StripeKey, "whsec_", PLAIN, 32),
        (SecretKind::ModelKey, "sk-", PLAIN, 48),
        (SecretKind::ModelKey, "sk-proj-", URL, 120),
        (SecretKind::ModelKey, "sk-svcacct-", URL, 120),
        (SecretKind::ModelKey, "sk-ant-api03-", URL, 93),
        (SecretKind::ModelKey, "sk-or-v1-", HEX, 64),
        (SecretKind::ModelKey, "hf_", PLAIN, 34),
        (SecretKind::ModelKey, "gsk_", PLAIN, 52),
        (SecretKind::ModelKey, "xai-", PLAIN, 80),
        (SecretKind::ModelKey, "r8_", PLAIN, 37),
        (SecretKind::ServiceKey, "dop_v1_", HEX, 64),
        (SecretKind::ServiceKey, "SK", HEX, 32),
        (SecretKind::ServiceKey, "key-", HEX, 32),
        (SecretKind::ServiceKey, "shpat_", HEX, 32),
        (SecretKind::ServiceKey, "hvs.", URL, 90),
        (SecretKind::ServiceKey, "lin_api_", PLAIN, 40),
        (SecretKind::ServiceKey, "figd_", URL, 40),
        (SecretKind::ServiceKey, "dapi", HEX, 32),
        (SecretKind::ServiceKey, "sbp_", HEX, 40),
        (SecretKind::ServiceKey, "NRAK-", UPPER, 27),
        (SecretKind::ServiceKey, "glsa_", PLAIN, 41),
    ] {
        let around = dice.pick(&[
            "use {} here",
            "key: {}",
            "\"{}\"",
            "curl 'https://a.dev/?k={}'",
            "\t{}\n",
        ]);
        all.push(plant(kind, around, format!("{prefix}{}", dice.draw(alphabet, length))));
    }
    all
}

/// Keys of several parts, and those that are recognized by their context.
fn composite(dice: &mut Dice) -> Vec<Planted> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let jwt = format!("eyJ{}.eyJ{}.{}", d(PLAIN, 33), d(URL, 90), d(URL, 43));
    let pem = |label: &str, breaks: &str, body: &[String]| {
        let body = body.join(breaks);
        format!("-----BEGIN {label}-----{breaks}{body}{breaks}-----END {label}-----")
    };
    let lines: Vec<String> = (0..6).map(|_| d(PLAIN, 64)).collect();
    vec![
        plant(SecretKind::Jwt, "token {} expired", jwt.clone()),
        plant(SecretKind::Jwt, "Authorization: Bearer {}", jwt),
        plant(SecretKind::ServiceKey, "SENDGRID={}", format!("SG.{}.{}", d(URL, 22), d(PLAIN, 43))),
        plant(SecretKind::BotToken, "bot {}", format!("123456789:AA{}", d(PLAIN, 33))),
        plant(
            SecretKind::BotToken,
            "https://api.telegram.org/bot{}/getMe",
            format!("987654321:AA{}", d(PLAIN, 33)),
        ),
        plant(
            SecretKind::BotToken,
            "client.login('{}')",
            format!("MT{}.{}.{}", d(PLAIN, 22), d(PLAIN, 6), d(PLAIN, 38)),
        ),
        plant(
            SecretKind::BotToken,
            "https://discord.com/api/webhooks/{}",
            format!("1234567890/{}", d(PLAIN, 68)),
        ),
        plant(
            SecretKind::SlackToken,
            "https://hooks.slack.com/services/{}",
            format!("T0AB/B0CD/{}", d(PLAIN, 24)),
        ),
        plant(SecretKind::AwsSecret, "aws_secret_access_key = {}", d(PLAIN, 40)),
        plant(
            SecretKind::AwsSecret,
            &format!("AKIA{}\n{{}}", d(UPPER, 16)),
            format!("{}/{}", d(PLAIN, 20), d(PLAIN, 19)),
        ),
        plant(
            SecretKind::AwsSecret,
            &format!("{{}} belongs to ASIA{}", d(UPPER, 16)),
            format!("{}+{}", d(PLAIN, 20), d(PLAIN, 19)),
        ),
        plant(
            SecretKind::AzureKey,
            "AccountName=shop;AccountKey={};Endpoint",
            format!("{}==", d(PLAIN, 86)),
        ),
        plant(
            SecretKind::AzureKey,
            "https://a.blob.dev/c?sv=2022-11-02&sig={}&se=1",
            format!("{}%3D", d(PLAIN, 43)),
        ),
        plant(
            SecretKind::Secret,
            "https://s3.dev/b?X-Amz-Expires=60&X-Amz-Signature={}",
            d(HEX, 64),
        ),
        plant(SecretKind::Secret, "GEMINI_API_KEY=\\\"{}\\\" npm start", d(PLAIN, 39)),
        plant(SecretKind::AzureKey, "SharedAccessKey={}", format!("{}=", d(PLAIN, 43))),
        plant(SecretKind::PrivateKey, "{}\n", pem("RSA PRIVATE KEY", "\n", &lines)),
        plant(SecretKind::PrivateKey, "{}\n", pem("OPENSSH PRIVATE KEY", "\r\n", &lines)),
        plant(SecretKind::PrivateKey, "{}", pem("EC PRIVATE KEY", "\n    ", &lines)),
        plant(
            SecretKind::PrivateKey,
            "\"private_key\": \"{}\\n\"",
            pem("PRIVATE KEY", "\\n", &lines),
        ),
        plant(SecretKind::PrivateKey, "{}", pem("PGP PRIVATE KEY BLOCK", "\n", &lines)),
        plant(SecretKind::Authorization, "Authorization: Basic {}", format!("{}=", d(PLAIN, 27))),
        plant(SecretKind::Authorization, "-H 'authorization: token {}'", d(HEX, 40)),
        plant(SecretKind::Authorization, "headers.set('X', 'Bearer {}')", d(PLAIN, 24)),
        plant(SecretKind::Cookie, "Cookie: theme=dark; session={}", d(PLAIN, 32)),
        plant(SecretKind::Cookie, "Set-Cookie: sid={}; Path=/; HttpOnly", d(HEX, 32)),
        plant(SecretKind::Cookie, "PHPSESSID={}", d(PLAIN, 26)),
        plant(SecretKind::Random, "it was {} I think", d(PLAIN, 44)),
        plant(SecretKind::Random, "value '{}'", format!("{}=", d(PLAIN, 43))),
    ]
}

/// Secrets that people choose and write down.
fn chosen(dice: &mut Dice) -> Vec<Planted> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let mut all = vec![
        plant(SecretKind::Secret, "export SHOP_SECRET={}", d(PLAIN, 24)),
        plant(SecretKind::Secret, "SHOP_TOKEN={}", d(HEX, 32)),
        plant(SecretKind::Secret, "\"apiKey\": \"{}\"", d(PLAIN, 24)),
        plant(SecretKind::Secret, "client_secret: {}", d(PLAIN, 32)),
        plant(SecretKind::Secret, "const authToken = '{}';", d(HEX, 40)),
        plant(SecretKind::Secret, "x-api-key: {}", d(HEX, 32)),
        plant(SecretKind::Secret, "tool --token {} --verbose", d(HEX, 40)),
        plant(SecretKind::Secret, "STRIPE_KEY={}", d(PLAIN, 28)),
    ];
    for (kind, around, secret) in [
        (SecretKind::Password, "password={}", "hunter2"),
        (SecretKind::Password, "PASSWORD: {}", "Tr0ub4dor"),
        (SecretKind::Password, "DB_PASSWORD={}", "letmein"),
        (SecretKind::Password, "\"password\": \"{}\"", "p@ssw0rd!"),
        (SecretKind::Password, "password = \"{}\"", "correct-horse-battery-staple"),
        (SecretKind::Password, "mysql_pwd={}", "s3cretive"),
        (SecretKind::Password, "smtp_pass: '{}'", "mail4ever"),
        (SecretKind::Password, "<password>{}</password>", "b1rthday"),
        (SecretKind::Password, "tool --password {} run", "winter2024"),
        (SecretKind::Password, "curl -u ada:{} https://a.dev", "engine1843"),
        (SecretKind::Password, ":password => '{}'", "ruby4life"),
        (SecretKind::Password, "Server=db;Uid=sa;Pwd={};", "Str0ngOne"),
        (SecretKind::UrlPassword, "postgres://shop:{}@db:5432/shop", "hunter2"),
        (SecretKind::UrlPassword, "redis://:{}@cache:6379", "foobared"),
        (SecretKind::UrlPassword, "https://ada:{}@git.dev/a.git", "p@ss"),
        (SecretKind::Email, "by Ada <{}>", "ada.lovelace@analytical.org"),
        (SecretKind::Email, "mailto:{}", "ada+news@mail.co.uk"),
        (SecretKind::Email, "\"author\": \"Ada {}\"", "ada@163.com"),
        (SecretKind::User, "cd /home/{}/code", "alovelace"),
        (SecretKind::User, "open /Users/{}/Desktop", "ada.lovelace"),
        (SecretKind::User, "C:\\Users\\{}\\code", "AdaL"),
        (SecretKind::User, "C:\\\\Users\\\\{}\\\\code", "AdaL"),
        (SecretKind::User, "file:///home/{}/a.txt", "alovelace"),
        (SecretKind::User, "/mnt/c/Users/{}/code", "AdaL"),
        (SecretKind::User, "/home/{}", "алиса"),
        (SecretKind::User, "~/.claude/projects/-home-{}-code-shop/1.jsonl", "alovelace"),
        (SecretKind::User, "~/.claude/projects/-mnt-c-Users-{}-code/1.jsonl", "alovelace"),
        (SecretKind::User, "D:\\.claude\\projects\\C--Users-{}-code\\1.jsonl", "alovelace"),
        (SecretKind::User, "/x/.claude/projects/-Users-{}", "ada_l"),
    ] {
        all.push(plant(kind, around, secret.to_owned()));
    }
    all
}

fn planted() -> Vec<Planted> {
    drawn_with(41)
}

fn drawn_with(seed: u64) -> Vec<Planted> {
    let mut dice = Dice(seed);
    let mut all = keys(&mut dice);
    all.extend(composite(&mut dice));
    all.extend(chosen(&mut dice));
    all
}

fn escaped(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap();
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap().to_owned()
}

/// Whether a part of the secret remains that is long enough to be useful.
fn is_left(text: &str, secret: &str) -> bool {
    let characters: Vec<char> = secret.chars().collect();
    let window = characters.len().min(12);
    characters
        .windows(window)
        .map(|piece| piece.iter().collect::<String>())
        .filter(|piece| !piece.contains("-----") && !piece.contains("PRIVATE"))
        .any(|piece| text.contains(&piece))
}

#[test]
fn every_planted_secret_is_gone_in_every_form() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let all = planted();
    assert!(all.len() >= 100, "{}", all.len());
    let mut missed = Vec::new();
    for Planted { kind, text, secret } in &all {
        let found = redactor.find(text);
        if found.iter().all(|finding| finding.kind != *kind) {
            missed.push(format!("{kind:?}: {text:?} found as {found:?}"));
        }
        let once = escaped(text);
        let forms = [
            text.clone(),
            once.clone(),
            escaped(&once),
            format!("\"{text}\""),
            format!("> {text}\n"),
            format!("first\n{text}\nlast"),
            escaped(&format!("first\n{text}\nlast")),
            text.replace(secret, &format!("\u{1b}[31m{secret}\u{1b}[0m")),
            escaped(&text.replace(secret, &format!("\u{1b}[31m{secret}\u{1b}[0m"))),
            text.replace(secret, &format!("\u{200b}{secret}\u{200b}")),
        ];
        for form in forms {
            let redacted = redactor.redact(&form, &tags());
            if is_left(&redacted, secret) || is_left(&redacted, &escaped(secret)) {
                missed.push(format!("{kind:?}: {form:?} became {redacted:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn invisible_parts_do_not_hide_a_key() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    for Planted { kind, text, secret } in keys(&mut Dice(43)) {
        for unseen in ["\u{200b}", "\u{1b}[1m", "\u{feff}", "\\u200b"] {
            let (head, tail) = secret.split_at(secret.len() / 2);
            let form = text.replace(&secret, &format!("{head}{unseen}{tail}"));
            let redacted = redactor.redact(&form, &tags());
            let plain = redactor.redact(&text, &tags());
            assert_eq!(redacted, plain, "{kind:?} {form:?}");
        }
    }
}

#[test]
fn json_stays_json() {
    let redactor = Redactor::new(Rules::all()).unwrap();
    for Planted { text, .. } in planted() {
        let json = format!("{{\"text\":\"{}\"}}", escaped(&text));
        let redacted = redactor.redact(&json, &tags());
        assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{redacted}");
    }
}

#[test]
fn redaction_is_idempotent() {
    let redactor = Redactor::new(Rules::all()).unwrap();
    for Planted { text, .. } in planted() {
        let once = redactor.redact(&text, &tags());
        assert_eq!(redactor.redact(&once, &tags()), once);
    }
}

#[test]
fn most_random_strings_are_found_without_a_name() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let mut dice = Dice(47);
    for (length, least) in [(32, 850), (40, 900), (64, 950)] {
        let found = (0..1000)
            .filter(|_| !redactor.find(&format!("it is {}.", dice.draw(PLAIN, length))).is_empty());
        let found = found.count();
        assert!(found >= least, "{found} of 1000 with {length} characters");
    }
}

#[test]
fn hardly_any_random_key_is_missed() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let (mut count, mut missed) = (0, Vec::new());
    for Planted { kind, text, secret } in (100..200).flat_map(drawn_with) {
        // Kinds that are found only by their appearance have their own test.
        if kind == SecretKind::Random {
            continue;
        }
        count += 1;
        if is_left(&redactor.redact(&text, &tags()), &secret) {
            missed.push(format!("{kind:?} {text:?}"));
        }
    }
    assert!(
        missed.len() * 1000 < count,
        "{} of {count} missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}
