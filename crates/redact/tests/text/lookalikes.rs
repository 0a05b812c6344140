//! Text that looks like a secret but is not is kept.

use recount_redact::{Redactor, Rules};

use crate::support::{Dice, HEX, PLAIN, UPPER, tags};

/// Lines from sessions, code and logs.
const STAY: &[&str] = &[
    // Placeholders, and code that reads secrets.
    "password=",
    "password: \"\"",
    "PASSWORD=changeme",
    "API_KEY=<your-key>",
    "API_KEY=your_api_key_here",
    "export TOKEN=${GITHUB_TOKEN}",
    "export TOKEN=$GITHUB_TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "const apiKey = process.env.API_KEY;",
    "api_key = os.environ[\"API_KEY\"]",
    "let token = read_token(&path)?;",
    "password: null",
    "\"password\": true,",
    "secret = None",
    "password=xxxxxxxx",
    "password: ********",
    "apiKey: 'sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${token}",
    "Authorization: `Bearer ${this.token2}`",
    "postgres://user:${PASSWORD}@db/shop",
    "postgres://user:<password>@db/shop",
    "https://localhost:8080/@scope/name",
    // Types, fields and words.
    "password: string;",
    "pub password: Option<String>,",
    "token: Token::Comma,",
    "login(user=user, password=password)",
    "self.token = other.token2",
    "the password: it must have eight letters",
    "\"tokens\": {\"input\": 120, \"output\": 3}",
    "max_tokens=4096",
    "nextPageToken: CAUQAA",
    "token_count: 12345678",
    "<input type=\"password\" name=\"password1\">",
    "primary_key = user_id_2",
    "key: backspace2",
    "hashed with password = sha256",
    "if password == \"abc123\" {",
    "PWD=/srv/app1/build2",
    "pass: 12, fail: 0",
    "monkey=banana42",
    "token_file=/run/secrets/token1.txt",
    "secretName: shop-tls-2024",
    // Text that only resembles addresses.
    "git@github.com:shop/shop.git",
    "npm i @types/node@18.11.9 react@18.2.0-rc.one",
    "icon@2x.png and logo@3x.webp",
    "noreply@github.com",
    "someone@example.com",
    "@Component({selector: 'a.b'})",
    "systemctl start getty@tty1.service",
    "user@localhost",
    // Paths that belong to nobody.
    "src/home/page.tsx",
    "import x from '../home/index.ts'",
    "/Users/Shared/data",
    "/home/$USER/code",
    "/home/<name>/code",
    "/home/user/code",
    "GET /home/index.html",
    "~/home/x",
    "/projects/-home-",
    "/projects/-home-user-code",
    "/projects/home-page",
    // Ids and checksums.
    "550e8400-e29b-41d4-a716-446655440000",
    "\"sessionId\": \"550e8400-e29b-41d4-a716-446655440000\"",
    "read_file-1731234567890-a1b2c3d4e5f6a",
    "session-2025-11-02T10-15-4f2a91bc.json",
    "ThisIsAVeryLongTypeNameForAFactoryOfBeans2",
    "kIODisplaySupportsYCbCr422Key",
    "#[cfg(feature = \"Win32_Graphics_Direct2D_Common\")]",
    "pub const ERROR_INVALID_PASSWORD: WIN32_ERROR = 86u32;",
    "pub authorization: WINDOW_PRESENCE_0,",
    "pub const InheritPrivateKey: X509RequestInheritOptions = 3i32;",
    "let sig = signature_of_the_whole_message_2;",
    "a_very_long_function_name_that_says_all_of_it_v2",
    "/usr/lib/x86_64-linux-gnu/libLLVM-17.so.1.2.3",
    "https://docs.rs/regex-automata/0.4.18/regex_automata/meta/struct.Regex.html",
    "https://a.dev/files/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "------------------------------------------------",
    "==================================================",
    "127.0.0.1:8080 and 10.0.0.1",
    "+49 30 1234567 and 4111 1111 1111 1111",
    "Cookie: theme=dark; lang=en",
    "basic_auth: enabled",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN RSA PRIVATE KEY----- ... -----END RSA PRIVATE KEY-----",
    "docker run -u 1000:1000 image",
    "version = \"0.4.18\"",
    "color: #a1b2c3d4; margin: 0",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5y7nTnX4bW8gQ2tT1Vd3oYh6cVtKqXo9pLrJm2Zz1x ada",
];

/// Long strings that would be flagged by scanners of other projects if they were written here.
fn drawn() -> Vec<String> {
    let mut dice = Dice(5);
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    vec![
        format!("commit {}", d(HEX, 40)),
        format!("{}  target/recount.tar.gz", d(HEX, 64)),
        format!("index {}..{} 100644", d(HEX, 7), d(HEX, 7)),
        format!("\"integrity\": \"sha512-{}==\"", d(PLAIN, 86)),
        format!("checksum = \"{}\"", d(HEX, 64)),
        format!("github.com/a/b v1.2.3 h1:{}=", d(PLAIN, 43)),
        format!("image@sha256:{}", d(HEX, 64)),
        format!("<img src=\"data:image/png;base64,{}\">", d(PLAIN, 400)),
        format!("{}\n{}\n{}", d(PLAIN, 64), d(PLAIN, 64), d(PLAIN, 64)),
        format!("\"id\": \"call_{}\"", d(PLAIN, 24)),
        format!("\"id\": \"toolu_01{}\"", d(PLAIN, 22)),
        format!("\"thoughtSignature\": \"{}\"", d(PLAIN, 600)),
        format!("ETag: \"{}\"", d(PLAIN, 32)),
        format!("projectHash {}", d(HEX, 64)),
        format!("https://cdn.a.dev/{}/main.js", d(PLAIN, 32)),
        format!("chunk-{}.js", d(UPPER, 8)),
    ]
}

#[test]
fn text_that_only_looks_like_a_secret_is_kept() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let lines: Vec<String> = STAY.iter().map(|line| (*line).to_owned()).chain(drawn()).collect();
    assert!(lines.len() >= 90, "{}", lines.len());
    let mut touched = Vec::new();
    for line in &lines {
        let found = redactor.find(line);
        if !found.is_empty() {
            touched.push(format!("{line:?}: {found:?}"));
        }
        assert!(redactor.redact(line, &tags()) == *line || !found.is_empty());
    }
    assert!(touched.is_empty(), "{} touched:\n{}", touched.len(), touched.join("\n"));
}
