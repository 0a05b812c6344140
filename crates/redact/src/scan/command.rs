//! Passwords on command lines: `mysql -p…`, `sshpass -p …`, `docker login -p …`, `redis-cli -a …`, `openssl -passin pass:…`.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::Sink;
use super::edge::{at, before, is_word, piece, run_end, run_start};
use super::guess::mix;
use super::value::{is_placeholder, read};
use crate::kind::SecretKind;

/// The maximum distance between a command and its flag.
const LINE: usize = 240;

/// How a flag and its password are written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `-p secret`
    Apart,
    /// `-psecret`
    Glued,
    /// Both.
    Either,
    /// `-U name%secret`, `-u name,secret`, `-a name:secret`
    Behind(u8),
}

/// The flag, how it is written, and the commands that have it.
const FLAGS: &[(&[u8], Form, &[&str])] = &[
    (
        b"p",
        Form::Glued,
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlsh",
            "mysqlcheck",
            "mysqlshow",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "7z",
            "7za",
            "7zz",
            "7zr",
            "rar",
            "unrar",
        ],
    ),
    (
        b"p",
        Form::Either,
        &[
            "sshpass",
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "mongostat",
        ],
    ),
    (
        b"p",
        Form::Apart,
        &[
            "login",
            "cqlsh",
            "rabbitmqadmin",
            "rdesktop",
            "evil-winrm",
            "nxc",
            "crackmapexec",
            "influx",
            "az",
            "cypher-shell",
            "isql-fb",
            "argocd",
        ],
    ),
    (
        b"P",
        Form::Apart,
        &[
            "sqlcmd",
            "bcp",
            "isql",
            "tsql",
            "osql",
            "zip",
            "unzip",
            "zipcloak",
            "mosquitto_pub",
            "mosquitto_sub",
            "ipmitool",
            "ssh-keygen",
            "fastboot",
        ],
    ),
    (b"N", Form::Apart, &["ssh-keygen"]),
    (b"a", Form::Apart, &["redis-cli", "redis-benchmark", "valkey-cli", "keydb-cli"]),
    (
        b"w",
        Form::Apart,
        &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
            "ldappasswd",
            "ldapcompare",
        ],
    ),
    (b"pw", Form::Apart, &["plink", "pscp", "psftp", "putty"]),
    (b"ap", Form::Apart, &["swaks"]),
    (b"k", Form::Apart, &["openssl"]),
    (b"A", Form::Apart, &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"]),
    (b"X", Form::Apart, &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"]),
    (b"U", Form::Behind(b'%'), &["smbclient", "rpcclient", "net", "smbget", "wmic", "winexe"]),
    (b"u", Form::Behind(b','), &["lftp", "lftpget"]),
    (b"a", Form::Behind(b':'), &["http", "https", "xh", "xhs"]),
    (b"storepass", Form::Apart, &["keytool", "jarsigner"]),
    (b"keypass", Form::Apart, &["keytool", "jarsigner"]),
    (b"srcstorepass", Form::Apart, &["keytool"]),
    (b"deststorepass", Form::Apart, &["keytool"]),
];

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    if !sink.wants(SecretKind::Password) {
        return;
    }
    let mut line = Line::default();
    for place in memmem::find_iter(bytes, b" -") {
        let first = at(bytes, place + 2);
        if matches!(
            first,
            b'p' | b'P' | b'N' | b'a' | b'w' | b'k' | b'A' | b'X' | b'U' | b'u' | b's' | b'd'
        ) {
            flag(bytes, place, &mut line, sink);
        }
    }
    for place in memmem::find_iter(bytes, b"pass:") {
        openssl(bytes, place, sink);
    }
    for command in
        [&b"chpasswd"[..], b"sudo -S", b"--password-stdin", b"cryptsetup ", b"--passphrase-fd 0"]
    {
        for place in memmem::find_iter(bytes, command) {
            echoed(bytes, place, command == b"chpasswd", sink);
        }
    }
    for place in memmem::find_iter(bytes, b"htpasswd -") {
        web_server(bytes, place, sink);
    }
    for place in memmem::find_iter(bytes, b"SecureString ") {
        if let Some(value) = read(bytes, place + 13).filter(|value| value.is_quoted) {
            put(bytes, value.range, sink);
        }
        if piece(bytes, place + 13, place + 21) == b"--value "
            && let Some(value) = read(bytes, place + 21)
        {
            put(bytes, value.range, sink);
        }
    }
    named(bytes, sink);
}

fn flag(bytes: &[u8], place: usize, line: &mut Line, sink: &mut Sink<'_>) {
    let start = place + 2;
    let rest = piece(bytes, start, start + 16);
    for (number, (flag, form, _)) in FLAGS.iter().enumerate() {
        let behind = rest.get(flag.len()).copied().unwrap_or(0);
        let is_apart = behind == b' ';
        let fits = match form {
            Form::Glued => behind > b' ',
            Form::Either => behind >= b' ',
            Form::Apart | Form::Behind(_) => is_apart,
        };
        if !rest.starts_with(flag) || !fits || !line.has(bytes, place, number) {
            continue;
        }
        let Some(value) = read(bytes, start + flag.len()) else { return };
        match form {
            Form::Behind(sign) => {
                // A comma ends a value without quotes.
                let is_cut = at(bytes, value.range.end) == *sign && !value.is_quoted;
                let rest = is_cut.then(|| read(bytes, value.range.end + 1)).flatten();
                if let Some(rest) = rest {
                    put(bytes, rest.range, sink);
                } else if let Some(sign) = memchr(*sign, value.bytes) {
                    put(bytes, value.range.start + sign + 1..value.range.end, sink);
                }
            }
            _ => put(bytes, value.range, sink),
        }
        return;
    }
}

/// Reads commands that take a password by its position: `net user ada …`, `nmcli … password …`, `pulumi config set --secret NAME …`,
/// and `jdbc:oracle:thin:ada/…@host`.
fn named(bytes: &[u8], sink: &mut Sink<'_>) {
    for place in memmem::find_iter(bytes, b"net user ") {
        let name = run_end(bytes, place + 9, 64, |b| b != b' ' && b != b'\n');
        let end = run_end(bytes, name + 1, 64, |b| b.is_ascii_graphic() && b != b'"');
        let is_set = at(bytes, name) == b' ' && at(bytes, name + 1) != b'/';
        if is_set && piece(bytes, end, end + 2) == b" /" {
            put(bytes, name + 1..end, sink);
        }
    }
    for place in memmem::find_iter(bytes, b"config set --secret ") {
        let name = run_end(bytes, place + 20, 128, |b| b != b' ' && b != b'\n');
        if let Some(value) = read(bytes, name).filter(|_| at(bytes, name) == b' ') {
            put(bytes, value.range, sink);
        }
    }
    for command in [&b"nmcli "[..], b"iwctl "] {
        for place in memmem::find_iter(bytes, command) {
            let end = run_end(bytes, place, LINE, |b| b != b'\n');
            let line = piece(bytes, place, end);
            if let Some(word) = memmem::find(line, b" password ")
                && let Some(value) = read(bytes, place + word + 10)
            {
                put(bytes, value.range, sink);
            }
        }
    }
    for start in [&b":thin:"[..], b"sqlplus "] {
        for place in memmem::find_iter(bytes, start) {
            let from = place + start.len();
            let slash = run_end(bytes, from, 32, |b| is_word(b) || b == b'$');
            let sign = run_end(bytes, slash + 1, 64, |b| !b.is_ascii_whitespace() && b != b'@');
            if slash > from && at(bytes, slash) == b'/' && at(bytes, sign) == b'@' {
                put(bytes, slash + 1..sign, sink);
            }
        }
    }
    for place in memmem::find_iter(bytes, b"<auth-user-pass>") {
        let is_line = |b: u8| b != b'\n' && b != b'<';
        let name = run_end(bytes, place + 17, 128, is_line);
        let end = run_end(bytes, name + 1, 128, is_line);
        if at(bytes, place + 16) == b'\n' && at(bytes, end) == b'\n' {
            put(bytes, name + 1..end, sink);
        }
    }
}

/// The commands seen on the line so far. Each byte is read once, however many flags there are.
#[derive(Default)]
struct Line {
    /// The position up to which it was read.
    at: usize,
    /// Where the line begins.
    start: usize,
    /// For each flag, the position of the last command that has it.
    seen: [Option<usize>; FLAGS.len()],
}

impl Line {
    /// Whether a command with this flag precedes it on its line.
    fn has(&mut self, bytes: &[u8], to: usize, flag: usize) -> bool {
        let mut from = self.at.max(to.saturating_sub(LINE));
        for word in piece(bytes, from, to).split_inclusive(|b| ends_word(*b)) {
            let end = from + word.len();
            let last = before(bytes, end);
            let word = if ends_word(last) { piece(bytes, from, end - 1) } else { word };
            self.word(base(word), from);
            if matches!(last, b'\n' | b';' | b'|' | b'&') {
                self.start = end;
            }
            from = end;
        }
        self.at = self.at.max(to);
        let seen = self.seen.get(flag).copied().flatten();
        seen.is_some_and(|seen| seen >= self.start && seen + LINE >= to)
    }

    fn word(&mut self, word: &[u8], place: usize) {
        if word.len() < 2 || word.first() == Some(&b'-') {
            return;
        }
        for ((_, _, commands), seen) in FLAGS.iter().zip(&mut self.seen) {
            if commands.iter().any(|command| command.as_bytes() == word) {
                *seen = Some(place);
            }
        }
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'(' | b'$' | b'\\' | b';' | b'|' | b'&' | b',' | b'['
        )
}

/// Returns a command without its folder.
fn base(word: &[u8]) -> &[u8] {
    let slash = word.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1);
    word.get(slash..).unwrap_or_default()
}

/// Reports a password, unless it is a placeholder, a flag or a file.
fn put(bytes: &[u8], range: Range<usize>, sink: &mut Sink<'_>) {
    let value = piece(bytes, range.start, range.end);
    let is_text = value.len() >= 4 && !value.contains(&b' ');
    let is_flag = value.first() == Some(&b'-');
    if is_text && !is_flag && !is_placeholder(value) {
        sink.put(SecretKind::Password, range);
    }
}

/// Reads `-passin pass:secret`.
fn openssl(bytes: &[u8], place: usize, sink: &mut Sink<'_>) {
    let head = piece(bytes, place.saturating_sub(10), place);
    let is_flag = [&b"-passin "[..], b"-passout ", b"-pass "].iter().any(|flag| {
        head.ends_with(flag) || head.strip_suffix(b"\"").is_some_and(|head| head.ends_with(flag))
    });
    if is_flag && let Some(value) = read(bytes, place + 5) {
        put(bytes, value.range, sink);
    }
}

/// Reads `echo secret | sudo -S` and `echo name:secret | chpasswd`.
fn echoed(bytes: &[u8], place: usize, has_name: bool, sink: &mut Sink<'_>) {
    let line = run_start(bytes, place, LINE, |b| !matches!(b, b'\n' | b';' | b'&'));
    let head = piece(bytes, line, place);
    let Some(echo) = memmem::rfind(head, b"echo ") else { return };
    let mut from = line + echo + 5;
    while at(bytes, from) == b'-' {
        from = run_end(bytes, from, 8, |b| b != b' ') + 1;
    }
    let Some(value) = read(bytes, from).filter(|value| value.range.end <= place) else { return };
    let name = if has_name { memchr(b':', value.bytes).map_or(0, |colon| colon + 1) } else { 0 };
    put(bytes, value.range.start + name..value.range.end, sink);
}

/// Reads `htpasswd -b file name secret` and `htpasswd -nbB name secret`.
fn web_server(bytes: &[u8], place: usize, sink: &mut Sink<'_>) {
    let end = run_end(bytes, place, LINE, |b| !matches!(b, b'\n' | b';' | b'|' | b'&' | b'\\'));
    let mut words = Vec::new();
    let (mut from, mut flags) = (place + 9, Vec::new());
    while from < end {
        let start = run_end(bytes, from, 8, |b| b == b' ');
        let stop = run_end(bytes, start, end.saturating_sub(start), |b| b != b' ');
        match at(bytes, start) {
            b'-' => flags.extend_from_slice(piece(bytes, start, stop)),
            _ if stop > start => words.push(start..stop),
            _ => {}
        }
        from = stop.max(start + 1);
    }
    let at = if flags.contains(&b'n') { 1 } else { 2 };
    if flags.contains(&b'b')
        && let Some(word) = words.get(at)
        && let Some(value) = read(bytes, word.start)
    {
        put(bytes, value.range, sink);
    }
}

/// Reads `name:secret` after `-u` and `--user`.
pub(super) fn login(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let Some(user) = read(bytes, from) else { return };
    let Some(colon) = memchr(b':', user.bytes) else { return };
    let password = user.bytes.get(colon + 1..).unwrap_or_default();
    let mix = mix(password);
    let is_word = password.len() >= 6 && mix.upper + mix.lower > 0 && mix.digits + mix.others > 0;
    if is_word && !is_placeholder(password) && before(bytes, user.range.start) != b':' {
        sink.put(SecretKind::Password, user.range.start + colon + 1..user.range.end);
    }
}
