//! Made-up secrets of every kind are gone, however they are written; what only looks like one stays.
//!
//! No key stands here as a whole: each is drawn from a fixed sequence, so that no scanner takes this file for a leak.

use crate::support::{Dice, HEX, PLAIN, UPPER, URL, tags};
use recount_redact::{Kind, Redactor, Rules};

/// Text with a secret in it: where it stands, and the piece that must be gone.
struct Planted {
    kind: Kind,
    text: String,
    secret: String,
}

fn plant(kind: Kind, around: &str, secret: String) -> Planted {
    assert!(around.contains("{}"), "{around}");
    Planted { kind, text: around.replace("{}", &secret), secret }
}

/// Keys that are known by their shape alone.
fn keys(dice: &mut Dice) -> Vec<Planted> {
    let mut all = Vec::new();
    for (kind, prefix, alphabet, length) in [
        (Kind::GoogleKey, "AIza", URL, 35),
        (Kind::GoogleToken, "ya29.", URL, 120),
        (Kind::GoogleToken, "1//0", URL, 60),
        (Kind::GoogleToken, "GOCSPX-", URL, 28),
        (Kind::AwsKey, "AKIA", UPPER, 16),
        (Kind::AwsKey, "ASIA", UPPER, 16),
        (Kind::GithubToken, "ghp_", PLAIN, 36),
        (Kind::GithubToken, "gho_", PLAIN, 36),
        (Kind::GithubToken, "ghu_", PLAIN, 36),
        (Kind::GithubToken, "ghs_", PLAIN, 36),
        (Kind::GithubToken, "ghr_", PLAIN, 76),
        (Kind::GithubToken, "github_pat_", PLAIN, 82),
        (Kind::GitlabToken, "glpat-", URL, 20),
        (Kind::GitlabToken, "gldt-", URL, 20),
        (Kind::GitlabToken, "glrt-", URL, 20),
        (Kind::PackageToken, "npm_", PLAIN, 36),
        (Kind::PackageToken, "pypi-", URL, 160),
        (Kind::PackageToken, "rubygems_", HEX, 48),
        (Kind::PackageToken, "cio", PLAIN, 32),
        (Kind::DockerToken, "dckr_pat_", URL, 27),
        (Kind::SlackToken, "xoxb-123456789012-1234567890123-", PLAIN, 24),
        (Kind::SlackToken, "xoxp-123456789012-", PLAIN, 32),
        (Kind::SlackToken, "xapp-1-A0123456789-", HEX, 64),
        (Kind::StripeKey, "sk_live_", PLAIN, 24),
        (Kind::StripeKey, "sk_test_", PLAIN, 24),
        (Kind::StripeKey, "rk_live_", PLAIN, 24),
        (Kind::StripeKey, "pk_live_", PLAIN, 24),
        (Kind::StripeKey, "pk_test_", PLAIN, 99),
        (Kind::StripeKey, "whsec_", PLAIN, 32),
        (Kind::ModelKey, "sk-", PLAIN, 48),
        (Kind::ModelKey, "sk-proj-", URL, 120),
        (Kind::ModelKey, "sk-svcacct-", URL, 120),
        (Kind::ModelKey, "sk-ant-api03-", URL, 93),
        (Kind::ModelKey, "sk-or-v1-", HEX, 64),
        (Kind::ModelKey, "hf_", PLAIN, 34),
        (Kind::ModelKey, "gsk_", PLAIN, 52),
        (Kind::ModelKey, "xai-", PLAIN, 80),
        (Kind::ModelKey, "r8_", PLAIN, 37),
        (Kind::ServiceKey, "dop_v1_", HEX, 64),
        (Kind::ServiceKey, "SK", HEX, 32),
        (Kind::ServiceKey, "key-", HEX, 32),
        (Kind::ServiceKey, "shpat_", HEX, 32),
        (Kind::ServiceKey, "hvs.", URL, 90),
        (Kind::ServiceKey, "lin_api_", PLAIN, 40),
        (Kind::ServiceKey, "figd_", URL, 40),
        (Kind::ServiceKey, "dapi", HEX, 32),
        (Kind::ServiceKey, "sbp_", HEX, 40),
        (Kind::ServiceKey, "NRAK-", UPPER, 27),
        (Kind::ServiceKey, "glsa_", PLAIN, 41),
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

/// Keys of several parts, and those that are known by what stands around them.
fn woven(dice: &mut Dice) -> Vec<Planted> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let jwt = format!("eyJ{}.eyJ{}.{}", d(PLAIN, 33), d(URL, 90), d(URL, 43));
    let pem = |label: &str, breaks: &str, body: &[String]| {
        let body = body.join(breaks);
        format!("-----BEGIN {label}-----{breaks}{body}{breaks}-----END {label}-----")
    };
    let lines: Vec<String> = (0..6).map(|_| d(PLAIN, 64)).collect();
    vec![
        plant(Kind::Jwt, "token {} expired", jwt.clone()),
        plant(Kind::Jwt, "Authorization: Bearer {}", jwt),
        plant(Kind::ServiceKey, "SENDGRID={}", format!("SG.{}.{}", d(URL, 22), d(PLAIN, 43))),
        plant(Kind::BotToken, "bot {}", format!("123456789:AA{}", d(PLAIN, 33))),
        plant(
            Kind::BotToken,
            "https://api.telegram.org/bot{}/getMe",
            format!("987654321:AA{}", d(PLAIN, 33)),
        ),
        plant(
            Kind::BotToken,
            "client.login('{}')",
            format!("MT{}.{}.{}", d(PLAIN, 22), d(PLAIN, 6), d(PLAIN, 38)),
        ),
        plant(
            Kind::BotToken,
            "https://discord.com/api/webhooks/{}",
            format!("1234567890/{}", d(PLAIN, 68)),
        ),
        plant(
            Kind::SlackToken,
            "https://hooks.slack.com/services/{}",
            format!("T0AB/B0CD/{}", d(PLAIN, 24)),
        ),
        plant(Kind::AwsSecret, "aws_secret_access_key = {}", d(PLAIN, 40)),
        plant(
            Kind::AwsSecret,
            &format!("AKIA{}\n{{}}", d(UPPER, 16)),
            format!("{}/{}", d(PLAIN, 20), d(PLAIN, 19)),
        ),
        plant(
            Kind::AwsSecret,
            &format!("{{}} belongs to ASIA{}", d(UPPER, 16)),
            format!("{}+{}", d(PLAIN, 20), d(PLAIN, 19)),
        ),
        plant(
            Kind::AzureKey,
            "AccountName=shop;AccountKey={};Endpoint",
            format!("{}==", d(PLAIN, 86)),
        ),
        plant(
            Kind::AzureKey,
            "https://a.blob.dev/c?sv=2022-11-02&sig={}&se=1",
            format!("{}%3D", d(PLAIN, 43)),
        ),
        plant(Kind::Secret, "https://s3.dev/b?X-Amz-Expires=60&X-Amz-Signature={}", d(HEX, 64)),
        plant(Kind::Secret, "GEMINI_API_KEY=\\\"{}\\\" npm start", d(PLAIN, 39)),
        plant(Kind::AzureKey, "SharedAccessKey={}", format!("{}=", d(PLAIN, 43))),
        plant(Kind::PrivateKey, "{}\n", pem("RSA PRIVATE KEY", "\n", &lines)),
        plant(Kind::PrivateKey, "{}\n", pem("OPENSSH PRIVATE KEY", "\r\n", &lines)),
        plant(Kind::PrivateKey, "{}", pem("EC PRIVATE KEY", "\n    ", &lines)),
        plant(Kind::PrivateKey, "\"private_key\": \"{}\\n\"", pem("PRIVATE KEY", "\\n", &lines)),
        plant(Kind::PrivateKey, "{}", pem("PGP PRIVATE KEY BLOCK", "\n", &lines)),
        plant(Kind::Authorization, "Authorization: Basic {}", format!("{}=", d(PLAIN, 27))),
        plant(Kind::Authorization, "-H 'authorization: token {}'", d(HEX, 40)),
        plant(Kind::Authorization, "headers.set('X', 'Bearer {}')", d(PLAIN, 24)),
        plant(Kind::Cookie, "Cookie: theme=dark; session={}", d(PLAIN, 32)),
        plant(Kind::Cookie, "Set-Cookie: sid={}; Path=/; HttpOnly", d(HEX, 32)),
        plant(Kind::Cookie, "PHPSESSID={}", d(PLAIN, 26)),
        plant(Kind::Random, "it was {} I think", d(PLAIN, 44)),
        plant(Kind::Random, "value '{}'", format!("{}=", d(PLAIN, 43))),
    ]
}

/// What people choose and write down.
fn chosen(dice: &mut Dice) -> Vec<Planted> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let mut all = vec![
        plant(Kind::Secret, "export SHOP_SECRET={}", d(PLAIN, 24)),
        plant(Kind::Secret, "SHOP_TOKEN={}", d(HEX, 32)),
        plant(Kind::Secret, "\"apiKey\": \"{}\"", d(PLAIN, 24)),
        plant(Kind::Secret, "client_secret: {}", d(PLAIN, 32)),
        plant(Kind::Secret, "const authToken = '{}';", d(HEX, 40)),
        plant(Kind::Secret, "x-api-key: {}", d(HEX, 32)),
        plant(Kind::Secret, "tool --token {} --verbose", d(HEX, 40)),
        plant(Kind::Secret, "STRIPE_KEY={}", d(PLAIN, 28)),
    ];
    for (kind, around, secret) in [
        (Kind::Password, "password={}", "hunter2"),
        (Kind::Password, "PASSWORD: {}", "Tr0ub4dor"),
        (Kind::Password, "DB_PASSWORD={}", "letmein"),
        (Kind::Password, "\"password\": \"{}\"", "p@ssw0rd!"),
        (Kind::Password, "password = \"{}\"", "correct-horse-battery-staple"),
        (Kind::Password, "mysql_pwd={}", "s3cretive"),
        (Kind::Password, "smtp_pass: '{}'", "mail4ever"),
        (Kind::Password, "<password>{}</password>", "b1rthday"),
        (Kind::Password, "tool --password {} run", "winter2024"),
        (Kind::Password, "curl -u ada:{} https://a.dev", "engine1843"),
        (Kind::Password, ":password => '{}'", "ruby4life"),
        (Kind::Password, "Server=db;Uid=sa;Pwd={};", "Str0ngOne"),
        (Kind::UrlPassword, "postgres://shop:{}@db:5432/shop", "hunter2"),
        (Kind::UrlPassword, "redis://:{}@cache:6379", "foobared"),
        (Kind::UrlPassword, "https://ada:{}@git.dev/a.git", "p@ss"),
        (Kind::Email, "by Ada <{}>", "ada.lovelace@analytical.org"),
        (Kind::Email, "mailto:{}", "ada+news@mail.co.uk"),
        (Kind::Email, "\"author\": \"Ada {}\"", "ada@163.com"),
        (Kind::User, "cd /home/{}/code", "alovelace"),
        (Kind::User, "open /Users/{}/Desktop", "ada.lovelace"),
        (Kind::User, "C:\\Users\\{}\\code", "AdaL"),
        (Kind::User, "C:\\\\Users\\\\{}\\\\code", "AdaL"),
        (Kind::User, "file:///home/{}/a.txt", "alovelace"),
        (Kind::User, "/mnt/c/Users/{}/code", "AdaL"),
        (Kind::User, "/home/{}", "алиса"),
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
    all.extend(woven(&mut dice));
    all.extend(chosen(&mut dice));
    all
}

fn escaped(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap();
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap().to_owned()
}

/// Whether any stretch of the secret is left that is long enough to be of use.
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
fn what_is_not_seen_inside_a_key_does_not_hide_it() {
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
fn what_is_redacted_stays_as_it_is() {
    let redactor = Redactor::new(Rules::all()).unwrap();
    for Planted { text, .. } in planted() {
        let once = redactor.redact(&text, &tags());
        assert_eq!(redactor.redact(&once, &tags()), once);
    }
}

#[test]
fn most_strings_drawn_by_lot_are_found_without_any_name() {
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
fn hardly_any_draw_is_missed() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let (mut count, mut missed) = (0, Vec::new());
    for Planted { kind, text, secret } in (100..200).flat_map(drawn_with) {
        // What nothing but its look speaks for has a test of its own.
        if kind == Kind::Random {
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
