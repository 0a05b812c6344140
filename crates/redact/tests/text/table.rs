//! Secrets of many kinds in the places where people leave them, for tests of what finds them.
//!
//! No complete key is in this file: each is generated from a fixed sequence, so that no scanner reports this file as a
//! leak.

pub(crate) const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const HEX: &str = "0123456789abcdef";

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(crate) fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.roll(words.len())]
    }

    /// Returns random letters; the last is never a separator, as in most real keys.
    pub(crate) fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut word: String = (1..length).map(|_| letters[self.roll(letters.len())]).collect();
        word.push(letters[self.roll(letters.len().min(62))]);
        word
    }
}

/// A kind: its name, the text around it with `{}` in place of the secret, and the secret.
pub(crate) type Kind = (&'static str, String, String);

pub(crate) fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let word =
            (0..3).fold(0u32, |word, at| word << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let digit = usize::try_from(word >> (18 - 6 * at) & 63).unwrap();
            out.push(if at <= chunk.len() { char::from(DIGITS[digit]) } else { '=' });
        }
    }
    out
}

/// Keys with the prefix of their issuer, in typical lines.
#[expect(clippy::too_many_lines, reason = "a table")]
fn issued(dice: &mut Dice) -> Vec<Kind> {
    let mut all = Vec::new();
    for (name, prefix, alphabet, length) in [
        ("AWS access key", "AKIA", UPPER, 16),
        ("AWS temporary key", "ASIA", UPPER, 16),
        ("Alibaba access key", "LTAI5t", PLAIN, 18),
        ("Tencent secret id", "AKID", PLAIN, 32),
        ("Yandex API key", "AQVN", URL, 36),
        ("Google API key", "AIza", URL, 35),
        ("Google OAuth token", "ya29.a0", URL, 120),
        ("Google refresh token", "1//0", URL, 60),
        ("Google client secret", "GOCSPX-", URL, 28),
        ("GitHub token", "ghp_", PLAIN, 36),
        ("GitHub app token", "ghs_", PLAIN, 36),
        ("GitHub fine-grained token", "github_pat_", PLAIN, 82),
        ("GitLab token", "glpat-", URL, 20),
        ("GitLab runner token", "glrt-", URL, 20),
        ("Bitbucket app password", "ATBB", PLAIN, 32),
        ("Atlassian token", "ATATT3xFfGF0", URL, 180),
        ("npm token", "npm_", PLAIN, 36),
        ("PyPI token", "pypi-AgEIcHlwaS5vcmc", URL, 140),
        ("RubyGems key", "rubygems_", HEX, 48),
        ("crates.io token", "cio", PLAIN, 32),
        ("NuGet key", "oy2", "abcdefghijklmnopqrstuvwxyz234567", 43),
        ("Docker Hub token", "dckr_pat_", URL, 27),
        ("Slack bot token", "xoxb-123456789012-1234567890123-", PLAIN, 24),
        ("Slack user token", "xoxp-123456789012-", PLAIN, 32),
        ("Stripe live key", "sk_live_", PLAIN, 24),
        ("Stripe restricted key", "rk_live_", PLAIN, 24),
        ("Stripe webhook secret", "whsec_", PLAIN, 32),
        ("OpenAI key", "sk-proj-", URL, 120),
        ("OpenAI old key", "sk-", PLAIN, 48),
        ("Anthropic key", "sk-ant-api03-", URL, 93),
        ("OpenRouter key", "sk-or-v1-", HEX, 64),
        ("Hugging Face token", "hf_", PLAIN, 34),
        ("Groq key", "gsk_", PLAIN, 52),
        ("xAI key", "xai-", PLAIN, 80),
        ("Replicate token", "r8_", PLAIN, 37),
        ("NVIDIA key", "nvapi-", URL, 64),
        ("Cerebras key", "csk-", "abcdefghijklmnopqrstuvwxyz0123456789", 48),
        ("Together key", "tgp_v1_", URL, 43),
        ("Tavily key", "tvly-dev-", PLAIN, 32),
        ("Pinecone key", "pcsk_", PLAIN, 70),
        ("LangSmith key", "lsv2_pt_", HEX, 44),
        ("ElevenLabs key", "sk_", HEX, 48),
        ("DigitalOcean token", "dop_v1_", HEX, 64),
        ("Twilio key", "SK", HEX, 32),
        ("Mailgun key", "key-", HEX, 32),
        ("Brevo key", "xkeysib-", HEX, 81),
        ("Resend key", "re_", PLAIN, 33),
        ("Shopify token", "shpat_", HEX, 32),
        ("Square token", "sq0atp-", URL, 22),
        ("HubSpot token", "pat-na1-", HEX, 36),
        ("Vault token", "hvs.", URL, 90),
        ("Doppler token", "dp.pt.", PLAIN, 43),
        ("Linear key", "lin_api_", PLAIN, 40),
        ("Notion token", "ntn_", PLAIN, 46),
        ("Figma token", "figd_", URL, 40),
        ("Databricks token", "dapi", HEX, 32),
        ("Supabase token", "sbp_", HEX, 40),
        ("Supabase secret key", "sb_secret_", URL, 31),
        ("Neon key", "napi_", "abcdefghijklmnopqrstuvwxyz0123456789", 64),
        ("PlanetScale password", "pscale_pw_", URL, 43),
        ("Netlify token", "nfp_", PLAIN, 36),
        ("Render key", "rnd_", PLAIN, 32),
        ("Heroku key", "HRKU-AA", URL, 58),
        ("New Relic key", "NRAK-", UPPER, 27),
        ("Grafana token", "glsa_", PLAIN, 41),
        ("Sentry token", "sntrys_", URL, 120),
        ("Sentry user token", "sntryu_", HEX, 64),
        ("PostHog key", "phx_", PLAIN, 43),
        ("SonarQube token", "squ_", HEX, 40),
        ("CircleCI token", "CCIPAT_", PLAIN, 60),
        ("Artifactory key", "AKCp8", PLAIN, 68),
        ("Pulumi token", "pul-", HEX, 40),
        ("Tailscale key", "tskey-auth-", PLAIN, 32),
        ("Postman key", "PMAK-", HEX, 59),
        ("Razorpay key", "rzp_live_", PLAIN, 14),
        ("Plaid token", "access-sandbox-", HEX, 36),
        ("Dropbox token", "sl.", URL, 140),
        ("age key", "AGE-SECRET-KEY-1", UPPER, 58),
        ("extended private key", "xprv", PLAIN, 107),
    ] {
        let around = dice.pick(&[
            "use {} for it",
            "here: {}",
            "\"{}\",",
            "curl 'https://a.dev/?k={}'",
            "  - {}\n",
        ]);
        all.push((name, around.to_owned(), format!("{prefix}{}", dice.draw(alphabet, length))));
    }
    all
}

/// Keys of several parts.
#[expect(clippy::too_many_lines, reason = "a table")]
fn composite(dice: &mut Dice) -> Vec<Kind> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let header = base64("{\"alg\":\"none\",\"typ\":\"JWT\"}").replace('=', "");
    let claims =
        base64("{\"sub\":\"1234567890\",\"name\":\"Ada\",\"iat\":1516239022}").replace('=', "");
    let jwe = base64("{\"alg\":\"RSA-OAEP\",\"enc\":\"A256GCM\"}").replace('=', "");
    let direct = base64("{\"alg\":\"dir\",\"enc\":\"A256GCM\"}").replace('=', "");
    let pem: Vec<String> = (0..5).map(|_| d(PLAIN, 64)).collect();
    let pem =
        |label: &str| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", pem.join("\n"));
    let mut all: Vec<(&'static str, &str, String)> = vec![
        (
            "JWT",
            "token {} expired",
            format!("eyJ{}.eyJ{}.{}", d(PLAIN, 33), d(URL, 90), d(URL, 43)),
        ),
        ("unsigned JWT", "jwt={}", format!("{header}.{claims}.")),
        (
            "JWE",
            "got {}",
            format!("{jwe}.{}.{}.{}.{}", d(URL, 340), d(URL, 16), d(URL, 60), d(URL, 22)),
        ),
        (
            "JWE without key",
            "got {}",
            format!("{direct}..{}.{}.{}", d(URL, 16), d(URL, 60), d(URL, 22)),
        ),
        ("SendGrid key", "SENDGRID={}", format!("SG.{}.{}", d(URL, 22), d(PLAIN, 43))),
        ("Telegram token", "bot {}", format!("123456789:AA{}", d(PLAIN, 33))),
        (
            "Discord token",
            "client.login('{}')",
            format!("MT{}.{}.{}", d(PLAIN, 22), d(PLAIN, 6), d(PLAIN, 38)),
        ),
        (
            "Discord webhook",
            "https://discord.com/api/webhooks/{}",
            format!("1234567890/{}", d(PLAIN, 68)),
        ),
        (
            "Slack webhook",
            "https://hooks.slack.com/services/{}",
            format!("T0AB/B0CD/{}", d(PLAIN, 24)),
        ),
        (
            "Teams webhook",
            "https://acme.webhook.office.com/webhookb2/{}",
            format!("{}@{}/IncomingWebhook/{}", d(HEX, 36), d(HEX, 36), d(HEX, 32)),
        ),
        (
            "Zapier webhook",
            "https://hooks.zapier.com/hooks/catch/{}",
            format!("1234567/{}", d("abcdefghijklmnopqrstuvwxyz0123456789", 10)),
        ),
        ("Azure client secret", "it is {} today", format!("{}8Q~{}", d(PLAIN, 3), d(URL, 34))),
        (
            "Terraform Cloud token",
            "token = \"{}\"",
            format!("{}.atlasv1.{}", d(PLAIN, 14), d(PLAIN, 67)),
        ),
        ("RSA private key", "{}", pem("RSA PRIVATE KEY")),
        ("OpenSSH private key", "{}", pem("OPENSSH PRIVATE KEY")),
        ("PKCS 8 private key", "{}", pem("PRIVATE KEY")),
        (
            "PuTTY private key",
            "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{}\nPrivate-MAC: x",
            d(PLAIN, 64),
        ),
        ("bcrypt hash", "ada:{}", format!("$2b$12${}", d(PLAIN, 53))),
        (
            "argon2 hash",
            "hash {} ok",
            format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", d(PLAIN, 22), d(PLAIN, 43)),
        ),
        ("scrypt hash", "\"{}\"", format!("scrypt:32768:8:1${}${}", d(PLAIN, 16), d(HEX, 128))),
        (
            "shadow hash",
            "root:{}:19000:0:99999:7:::",
            format!("$6${}${}", d(PLAIN, 16), d(PLAIN, 86)),
        ),
        ("Apache hash", "ada:{}", format!("$apr1${}${}", d(PLAIN, 8), d(PLAIN, 22))),
        (
            "Django hash",
            "password = {}",
            format!("pbkdf2_sha256$600000${}${}=", d(PLAIN, 22), d(PLAIN, 43)),
        ),
        ("LDAP hash", "userPassword: {}", format!("{{SSHA}}{}", d(PLAIN, 32))),
        (
            "PostgreSQL hash",
            "rolpassword {}",
            format!("SCRAM-SHA-256$4096:{}${}:{}", d(PLAIN, 24), d(PLAIN, 43), d(PLAIN, 43)),
        ),
        (
            "AWS secret beside its key",
            "AKIAQ3EGRZ7WPLN5XKTM\n{}",
            format!("{}/{}", d(PLAIN, 20), d(PLAIN, 19)),
        ),
    ];
    all.drain(..).map(|(name, around, secret)| (name, around.to_owned(), secret)).collect()
}

/// Values of names, in configuration files and in code.
#[expect(clippy::too_many_lines, reason = "a table")]
fn set(dice: &mut Dice) -> Vec<Kind> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let login = base64("shop:hunter2water");
    let long = format!("IQoJb3JpZ2luX2Vj{}/{}+{}==", d(PLAIN, 200), d(PLAIN, 200), d(PLAIN, 100));
    let seed = d("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 32);
    let mut all: Vec<(&'static str, &str, String)> = vec![
        ("AWS secret", "aws_secret_access_key = {}", d(PLAIN, 40)),
        ("AWS session token, shell", "export AWS_SESSION_TOKEN={}", long.clone()),
        ("AWS session token, profile", "aws_session_token = {}", long),
        (
            "AWS signed link",
            "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}&X-Amz-Date=1",
            d(PLAIN, 300),
        ),
        (
            "Azure storage key",
            "AccountName=shop;AccountKey={};Endpoint",
            format!("{}==", d(PLAIN, 86)),
        ),
        ("Azure storage key, shell", "AZURE_STORAGE_KEY={}", format!("{}==", d(PLAIN, 86))),
        ("Azure signed link", "https://a.blob.dev/c?sv=2022-11-02&sig={}&se=1", d(PLAIN, 44)),
        (
            "Azure service bus",
            "Endpoint=sb://a.dev/;SharedAccessKeyName=x;SharedAccessKey={}",
            format!("{}=", d(PLAIN, 43)),
        ),
        ("Datadog key", "DD_API_KEY={}", d(HEX, 32)),
        ("Cloudflare token", "CLOUDFLARE_API_TOKEN={}", d(URL, 40)),
        ("Mistral key", "MISTRAL_API_KEY={}", d(PLAIN, 32)),
        ("client secret", "client_secret: {}", d(PLAIN, 32)),
        ("JSON key", "\"apiKey\": \"{}\"", d(PLAIN, 24)),
        ("JavaScript template string", "const apiKey = `{}`;", d(PLAIN, 24)),
        ("password in backticks", "log in with the password `{}` there", "tiger4lily".into()),
        ("Laravel key", "APP_KEY=base64:{}", format!("{}=", d(PLAIN, 43))),
        ("Rails key", "secret_key_base: {}", d(HEX, 128)),
        (
            "Django key",
            "SECRET_KEY = 'django-insecure-{}'",
            format!(
                "{}$@{}",
                d("abcdefghijklmnopqrstuvwxyz0123456789", 24),
                d("abcdefghijklmnopqrstuvwxyz0123456789", 24)
            ),
        ),
        ("WireGuard key", "PrivateKey = {}", format!("{}=", d(PLAIN, 43))),
        ("Docker auth", "{\"auths\":{\"registry.a.dev\":{\"auth\":\"{}\"}}}", login.clone()),
        ("npmrc auth", "//registry.npmjs.org/:_auth={}", login),
        ("npmrc token", "//registry.npmjs.org/:_authToken={}", d(HEX, 36)),
        ("pypirc", "[pypi]\nusername = ada\npassword = {}", "tiger4lily".into()),
        (".netrc", "machine api.a.dev login ada password {}", "swordfish".into()),
        (".netrc on lines", "machine api.a.dev\n  login ada\n  password {}\n", "tiger4lily".into()),
        (".pgpass", "db.a.dev:5432:shop:ada:{}", "swordfish".into()),
        (".pgpass, any", "*:*:*:postgres:{}", "tiger4lily".into()),
        (".my.cnf", "[client]\nuser=ada\npassword={}", "tiger4lily".into()),
        ("git credentials", "https://ada:{}@git.a.dev", "tiger4lily".into()),
        (
            "kubeconfig key",
            "    client-key-data: {}",
            base64(
                "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx3vJ4mPq8sT2uW5yZ7aB9cD1eF3gH5iJ\n-----END RSA PRIVATE KEY-----\n",
            ),
        ),
        ("kubeconfig token", "  user:\n    token: {}", d(PLAIN, 40)),
        ("Kubernetes secret", "data:\n  password: {}", base64("tiger4lily-and-more")),
        ("Kubernetes environment", "- name: DB_PASSWORD\n  value: {}", "tiger4lily".into()),
        ("task definition", "{\"name\":\"API_TOKEN\",\"value\":\"{}\"}", d(PLAIN, 32)),
        (
            "Terraform default",
            "variable \"db_password\" {\n  type    = string\n  default = \"{}\"\n}",
            "tiger4lily".into(),
        ),
        (
            "Terraform state",
            "\"db_password\": {\"value\": \"{}\", \"type\": \"string\"}",
            "tiger4lily".into(),
        ),
        ("Terraform values", "db_password = \"{}\"", "swordfish".into()),
        (".NET settings", "<add key=\"SmtpPassword\" value=\"{}\" />", "tiger4lily".into()),
        ("Maven settings", "<password>{}</password>", "tiger4lily".into()),
        ("WordPress", "define( 'DB_PASSWORD', '{}' );", "swordfish".into()),
        ("Java setter", "dataSource.setPassword(\"{}\");", "tiger4lily".into()),
        ("redis.conf", "requirepass {}", "foobared2".into()),
        ("Wi-Fi", "psk=\"{}\"", "tiger4lily".into()),
        ("Ansible", "ansible_become_password: {}", "tiger4lily".into()),
        (".env", "DB_PASSWORD={}", "letmein".into()),
        ("Dockerfile", "ENV API_TOKEN {}", d(PLAIN, 32)),
        ("Twilio auth token", "auth_token {}", d(HEX, 32)),
        ("aws configure", "aws configure set aws_secret_access_key {}", d(PLAIN, 40)),
        ("seed of a second factor", "otpauth://totp/shop:ada?secret={}&issuer=shop", seed.clone()),
        ("seed in a variable", "TOTP_SECRET={}", format!("{}2{}7", &seed[..12], &seed[12..24])),
        (
            "wallet phrase",
            "MNEMONIC=\"{}\"",
            "legal winner thank year wave sausage worth useful legal winner thank yellow".into(),
        ),
        ("passphrase", "passphrase: \"{}\"", "correct horse battery staple".into()),
        ("ODBC", "Server=db;Uid=sa;Pwd={};", "Str0ngOne".into()),
        ("ADO", "Data Source=db;User Id=sa;Password={};", "Str0ngOne".into()),
        ("JDBC", "jdbc:mysql://db/shop?user=ada&password={}", "tiger4lily".into()),
    ];
    all.drain(..).map(|(name, around, secret)| (name, around.to_owned(), secret)).collect()
}

/// What people type: commands, addresses, headers, sentences.
fn typed(dice: &mut Dice) -> Vec<Kind> {
    let mut d = |alphabet: &str, length| dice.draw(alphabet, length);
    let mut all: Vec<(&'static str, &str, String)> = vec![
        ("mysql", "mysql -u root -p{} shop < dump.sql", "swordfish".into()),
        ("mysqldump", "docker exec db mysqldump -uroot -p'{}' shop", "tiger4lily".into()),
        ("sshpass", "sshpass -p {} ssh ada@a.dev", "swordfish".into()),
        ("sshpass, quoted", "sshpass -p '{}' scp a b", "tiger4lily".into()),
        ("docker login", "docker login -u ada -p {} registry.a.dev", "swordfish".into()),
        ("helm login", "helm registry login a.dev -u ada -p {}", "tiger4lily".into()),
        ("redis-cli", "redis-cli -h cache -a {} ping", "swordfish".into()),
        ("mongosh", "mongosh -u ada -p {} --authenticationDatabase admin", "swordfish".into()),
        ("sqlcmd", "sqlcmd -S db -U sa -P {} -Q 'select 1'", "Str0ngOne".into()),
        ("ldapsearch", "ldapsearch -x -D cn=admin -w {} -b dc=a", "swordfish".into()),
        ("smbclient", "smbclient //srv/share -U ada%{}", "swordfish".into()),
        ("curl user", "curl -u ada:{} https://a.dev", "engine1843".into()),
        ("curl long flag", "curl --user ada:{} https://a.dev", "engine1843".into()),
        ("HTTPie", "http -a ada:{} a.dev", "swordfish".into()),
        ("zip", "zip -P {} out.zip a.txt", "swordfish".into()),
        ("7-Zip", "7z x -p{} out.7z", "swordfish".into()),
        ("openssl", "openssl rsa -in k.pem -passin pass:{}", "swordfish".into()),
        ("keytool", "keytool -list -keystore k.jks -storepass {}", "changeit42".into()),
        ("gpg", "gpg --batch --passphrase {} -d a.gpg", "tiger4lily".into()),
        ("plink", "plink -ssh ada@a.dev -pw {}", "swordfish".into()),
        ("htpasswd", "htpasswd -b .htpasswd ada {}", "swordfish".into()),
        ("chpasswd", "echo 'ada:{}' | sudo chpasswd", "swordfish".into()),
        ("sudo", "echo {} | sudo -S apt update", "swordfish".into()),
        (
            "kubectl",
            "kubectl create secret generic db --from-literal=password={}",
            "tiger4lily".into(),
        ),
        (
            "kubectl registry",
            "kubectl create secret docker-registry r --docker-password={}",
            "tiger4lily".into(),
        ),
        ("az login", "az login --service-principal -u x -p {} --tenant y", d(PLAIN, 34)),
        ("PowerShell", "ConvertTo-SecureString \"{}\" -AsPlainText -Force", "P@ssw0rd1".into()),
        ("SQL user", "CREATE USER ada IDENTIFIED BY '{}';", "swordfish".into()),
        ("SQL role", "ALTER ROLE ada WITH PASSWORD '{}';", "tiger4lily".into()),
        ("long flag", "tool --password {} run", "winter2024".into()),
        ("token flag", "tool --token {} --verbose", d(HEX, 40)),
        ("database address", "postgres://shop:{}@db:5432/shop", "hunter2".into()),
        ("password with @", "postgres://shop:{}@db:5432/shop", "p@ss@word1".into()),
        ("password with /", "amqp://shop:{}@mq.a.dev:5672/v", "pa/ss/w0rd".into()),
        ("encoded password", "mongodb+srv://shop:{}@c.a.dev/x", "p%40ss%2Fw0rd".into()),
        ("MongoDB", "mongodb+srv://shop:{}@cluster0.a.dev/shop", "tiger4lily".into()),
        ("Redis address", "redis://:{}@cache:6379", "foobared".into()),
        ("Go address", "shop:{}@tcp(db:3306)/shop", "tiger4lily".into()),
        ("token in an address", "https://{}@github.com/a/b.git", d(HEX, 40)),
        ("Sentry address", "https://{}@o1.ingest.sentry.io/2", d(HEX, 32)),
        ("basic header", "Authorization: Basic {}", base64("ada:tiger4lily")),
        ("bearer header", "-H 'Authorization: Bearer {}'", d(PLAIN, 32)),
        ("token header", "-H 'authorization: token {}'", d(HEX, 40)),
        ("GitLab header", "PRIVATE-TOKEN: {}", d(URL, 24)),
        ("key header", "x-api-key: {}", d(HEX, 32)),
        ("cookie", "Cookie: theme=dark; session={}", d(PLAIN, 32)),
        ("set cookie", "Set-Cookie: sid={}; Path=/; HttpOnly", d(HEX, 32)),
        ("said", "the admin password is {}, don't tell", "tiger4lily".into()),
        ("noted", "Password: {}", "tiger4lily".into()),
        (
            "base64 of a setting",
            "echo {} | base64 -d > .env",
            base64("DB_PASSWORD=tiger4lily\nAPI_TOKEN=aB3dE5fG7hI9jK1lM3nO5pQ7\n"),
        ),
        ("base64 of a key", "key {}", base64(&format!("ghp_{}", d(PLAIN, 36)))),
    ];
    all.drain(..).map(|(name, around, secret)| (name, around.to_owned(), secret)).collect()
}

/// Every kind.
pub(crate) fn kinds(seed: u64) -> Vec<Kind> {
    let mut dice = Dice(seed);
    let mut all = issued(&mut dice);
    all.extend(composite(&mut dice));
    all.extend(set(&mut dice));
    all.extend(typed(&mut dice));
    all
}

/// Whether a part of the secret remains that is long enough to be useful, in any spelling.
pub(crate) fn is_left(text: &str, secret: &str) -> bool {
    // Not `contains`: thousands of pieces are looked for, and without optimization that takes minutes.
    let has = |piece: &str| memchr::memmem::find(text.as_bytes(), piece.as_bytes()).is_some();
    let characters: Vec<char> = secret.chars().filter(|c| *c != '\n').collect();
    let window = characters.len().min(12);
    let flat: Vec<String> =
        characters.windows(window).map(|piece| piece.iter().collect()).collect();
    flat.iter().filter(|piece| !piece.contains("-----") && !piece.contains("PRIVATE")).any(
        |piece| {
            let escaped = json(piece);
            has(piece) || (escaped != *piece && has(&escaped))
        },
    )
}

/// Returns a text as a JSON string.
pub(crate) fn json(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap();
    json[1..json.len() - 1].to_owned()
}
