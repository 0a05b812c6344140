//! The kinds of secrets, their names, and which are enabled by default.

/// What a piece of text is. Kinds are ordered by certainty: where two kinds match the same text, the earlier one is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretKind {
    /// A match of one of the user's own patterns, by its number in [`crate::Rules::patterns`].
    Own(u8),
    /// A PEM block with a private key, also of SSH and service accounts.
    PrivateKey,
    /// `AIza…`
    GoogleKey,
    /// OAuth tokens and client secrets of Google.
    GoogleToken,
    /// The id of an AWS access key.
    AwsKey,
    /// The secret that belongs to an AWS access key.
    AwsSecret,
    /// Keys of Azure storage, queues and signed links.
    AzureKey,
    /// Tokens of GitHub.
    GithubToken,
    /// Tokens of GitLab.
    GitlabToken,
    /// Tokens of package registries: npm, `PyPI`, `RubyGems`, crates.io.
    PackageToken,
    /// Tokens of Docker Hub.
    DockerToken,
    /// Tokens and webhooks of Slack.
    SlackToken,
    /// Keys of Stripe, live and test.
    StripeKey,
    /// Keys of services that run language models.
    ModelKey,
    /// Tokens of Telegram and Discord bots, and Discord webhooks.
    BotToken,
    /// Keys of other services that are known by their shape.
    ServiceKey,
    /// A JSON web token: signed, encrypted or bare.
    Jwt,
    /// The value after `Authorization:` or `Bearer`.
    Authorization,
    /// Values of cookies.
    Cookie,
    /// A password in a URL.
    UrlPassword,
    /// A hashed password.
    PasswordHash,
    /// The value of a name that indicates a password.
    Password,
    /// The value of a name that indicates a secret, token or key.
    Secret,
    /// An e-mail address.
    Email,
    /// The folder of a user, as given in [`crate::Rules::homes`].
    Home,
    /// The name of a user in a path.
    User,
    /// A payment card number.
    Card,
    /// A telephone number.
    Phone,
    /// An IP address.
    IpAddress,
    /// A string that looks random.
    Random,
}

/// A kind's properties.
#[derive(Clone, Copy, Debug)]
pub struct SecretKindInfo {
    /// The kind.
    pub kind: SecretKind,
    /// Its name in flags and reports.
    pub name: &'static str,
    /// The start of its tags.
    pub label: &'static str,
    /// Whether it is enabled by default.
    pub by_default: bool,
}

const fn about(
    kind: SecretKind,
    name: &'static str,
    label: &'static str,
    by_default: bool,
) -> SecretKindInfo {
    SecretKindInfo { kind, name, label, by_default }
}

/// Every kind except the user's own.
pub const KINDS: &[SecretKindInfo] = &[
    about(SecretKind::PrivateKey, "private-key", "PRIVATE-KEY", true),
    about(SecretKind::GoogleKey, "google-key", "GOOGLE-KEY", true),
    about(SecretKind::GoogleToken, "google-token", "GOOGLE-TOKEN", true),
    about(SecretKind::AwsKey, "aws-key", "AWS-KEY", true),
    about(SecretKind::AwsSecret, "aws-secret", "AWS-SECRET", true),
    about(SecretKind::AzureKey, "azure-key", "AZURE-KEY", true),
    about(SecretKind::GithubToken, "github-token", "GITHUB-TOKEN", true),
    about(SecretKind::GitlabToken, "gitlab-token", "GITLAB-TOKEN", true),
    about(SecretKind::PackageToken, "package-token", "PACKAGE-TOKEN", true),
    about(SecretKind::DockerToken, "docker-token", "DOCKER-TOKEN", true),
    about(SecretKind::SlackToken, "slack-token", "SLACK-TOKEN", true),
    about(SecretKind::StripeKey, "stripe-key", "STRIPE-KEY", true),
    about(SecretKind::ModelKey, "model-key", "API-KEY", true),
    about(SecretKind::BotToken, "bot-token", "BOT-TOKEN", true),
    about(SecretKind::ServiceKey, "service-key", "SERVICE-KEY", true),
    about(SecretKind::Jwt, "jwt", "JWT", true),
    about(SecretKind::Authorization, "authorization", "AUTHORIZATION", true),
    about(SecretKind::Cookie, "cookie", "COOKIE", true),
    about(SecretKind::UrlPassword, "url-password", "URL-PASSWORD", true),
    about(SecretKind::PasswordHash, "password-hash", "PASSWORD-HASH", true),
    about(SecretKind::Password, "password", "PASSWORD", true),
    about(SecretKind::Secret, "secret", "SECRET", true),
    about(SecretKind::Email, "email", "EMAIL", true),
    about(SecretKind::Home, "home", "PATH-HOME", true),
    about(SecretKind::User, "user", "USER", true),
    about(SecretKind::Card, "card", "CARD", false),
    about(SecretKind::Phone, "phone", "PHONE", false),
    about(SecretKind::IpAddress, "ip", "IP", false),
    about(SecretKind::Random, "random", "RANDOM", true),
];

impl SecretKind {
    /// Returns the kind with a name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|about| about.name == name).map(|about| about.kind)
    }

    /// Returns the properties of a kind; `None` for the user's own.
    pub fn about(self) -> Option<&'static SecretKindInfo> {
        KINDS.iter().find(|about| about.kind == self)
    }

    /// Returns its bit, for sets of kinds.
    pub(crate) fn bit(self) -> u64 {
        KINDS.iter().position(|about| about.kind == self).map_or(1 << 63, |at| 1 << at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_order_and_are_found_by_name() {
        assert!(KINDS.is_sorted_by_key(|about| about.kind));
        for about in KINDS {
            assert_eq!(SecretKind::named(about.name), Some(about.kind));
            assert!(about.label.bytes().all(|b| b.is_ascii_uppercase() || b == b'-'));
            assert!(!about.label.starts_with('K'), "`ESC [ K` is a control sequence");
        }
        assert_eq!(SecretKind::named("nothing"), None);
        assert_eq!(SecretKind::Own(0).about().map(|about| about.name), None);
    }
}
