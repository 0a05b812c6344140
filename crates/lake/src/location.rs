//! The URL of a lake, and the store it names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{ClientOptions, ObjectStore};
use recount_platform::{Env, Folders};

use crate::{LakeAccess, LakeError, profile};

/// Where a lake is.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    url: String,
    scheme: Scheme,
    bucket: String,
    prefix: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    File,
    S3,
    Google,
    Azure,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }
}

impl Location {
    pub(crate) fn parse(url: &str, env: &Env) -> Result<Self, LakeError> {
        let bad = |why| LakeError::Url { url: shown(url), why };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(bad("it must begin with file://, s3://, gs:// or az://"));
        };
        let scheme = match scheme {
            "file" => Scheme::File,
            "s3" | "s3a" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" | "azure" | "abfs" => Scheme::Azure,
            _ => return Err(bad("it must begin with file://, s3://, gs:// or az://")),
        };
        let rest = rest.trim_end_matches('/');
        if rest.contains(['?', '#']) || rest.chars().any(char::is_control) {
            return Err(bad("it has no query; settings come from the environment"));
        }
        if scheme == Scheme::File {
            let path =
                local_path(rest, env).ok_or_else(|| bad("file:// needs an absolute path"))?;
            let url = format!("file://{path}");
            return Ok(Self { url, scheme, bucket: path, prefix: String::new() });
        }
        if rest.contains('@') {
            return Err(bad("credentials come from the environment, never from the URL"));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(bad("the name of the bucket is missing"));
        }
        if prefix.split('/').any(|part| part == "." || part == "..") {
            return Err(bad("its path has . or .."));
        }
        // One lake has one URL, however its scheme is spelled: what this machine keeps about it is found by that.
        let url = format!("{}://{rest}", scheme.name());
        Ok(Self { url, scheme, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn prefix(&self) -> String {
        self.prefix.clone()
    }

    /// Returns the folder of a lake that is on a disk.
    pub(crate) fn folder(&self) -> Option<&Path> {
        (self.scheme == Scheme::File).then(|| Path::new(&self.bucket))
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.scheme != Scheme::File
    }

    /// Opens the store.
    pub(crate) fn store(
        &self,
        access: LakeAccess,
        env: &Env,
    ) -> Result<Arc<dyn ObjectStore>, LakeError> {
        let failed = |error: object_store::Error| LakeError::Store {
            url: self.url.clone(),
            why: scrubbed(&error.to_string(), &secrets(env)),
        };
        if self.is_remote() {
            // Without a default, the client cannot choose between providers of TLS. Somebody else's is as good.
            let _chosen = rustls::crypto::ring::default_provider().install_default();
        }
        Ok(match self.scheme {
            Scheme::File => {
                let folder = PathBuf::from(&self.bucket);
                if !folder.is_dir() {
                    if access == LakeAccess::Read {
                        return Ok(Arc::new(InMemory::new()));
                    }
                    recount_engine::export::lake::create_lake_folder(&folder)?;
                }
                Arc::new(LocalFileSystem::new_with_prefix(&folder).map_err(failed)?)
            }
            Scheme::S3 => Arc::new(self.amazon(env).build().map_err(failed)?),
            Scheme::Google => Arc::new(self.google(env).build().map_err(failed)?),
            Scheme::Azure => Arc::new(self.azure(env).build().map_err(failed)?),
        })
    }

    fn amazon(&self, env: &Env) -> AmazonS3Builder {
        let mut builder = AmazonS3Builder::new().with_region("us-east-1");
        let has_keys = env.text("AWS_ACCESS_KEY_ID").is_some();
        let mut endpoint = None;
        for (name, value) in profile::settings(env) {
            // Keys of a profile are used together, or not at all.
            let is_key = !matches!(name, "aws_region" | "aws_endpoint_url");
            if let Ok(key) = name.parse::<AmazonS3ConfigKey>()
                && !(is_key && has_keys)
            {
                builder = builder.with_config(key, value.as_str());
                endpoint = if name == "aws_endpoint_url" { Some(value) } else { endpoint };
            }
        }
        for (name, value) in env.starting_with("AWS_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        let named = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
        let named = named.iter().find_map(|name| env.text(name)).map(str::to_owned);
        let endpoint = named.or(endpoint);
        // Only where the user names a server without TLS, such as one in the same room.
        let is_plain = endpoint.as_deref().is_some_and(|url| url.starts_with("http://"));
        if let Some(endpoint) = endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        builder
            .with_client_options(ClientOptions::new().with_allow_http(is_plain))
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_bucket_name(&self.bucket)
    }

    fn google(&self, env: &Env) -> GoogleCloudStorageBuilder {
        let mut builder = GoogleCloudStorageBuilder::new();
        if let Some(file) = env.text("GOOGLE_APPLICATION_CREDENTIALS") {
            builder = builder.with_application_credentials(file);
        }
        for (name, value) in env.starting_with("GOOGLE_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        builder.with_bucket_name(&self.bucket)
    }

    fn azure(&self, env: &Env) -> MicrosoftAzureBuilder {
        let mut builder = MicrosoftAzureBuilder::new();
        for (name, value) in env.starting_with("AZURE_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        builder.with_container_name(&self.bucket)
    }
}

/// Returns an absolute path; `~` is the home.
fn local_path(rest: &str, env: &Env) -> Option<String> {
    let folders = Folders::find(env);
    let path = folders.expand(rest.trim_start_matches("localhost"));
    (path.is_absolute() && path.parent().is_some()).then(|| path.to_str().map(str::to_owned))?
}

/// Returns a URL without what might be a password in it.
fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        _ => url.to_owned(),
    }
}

/// Returns the values of the environment that must never be printed.
pub(crate) fn secrets(env: &Env) -> Vec<String> {
    let named =
        ["AWS_", "AZURE_", "GOOGLE_"].into_iter().flat_map(|start| env.starting_with(start));
    let is_secret = |name: &str| {
        // These name files, which an error should name, too.
        let is_path = name.ends_with("_FILE") || name == "GOOGLE_APPLICATION_CREDENTIALS";
        let words = ["SECRET", "TOKEN", "KEY", "SAS", "PASSWORD", "CREDENTIAL"];
        !is_path && words.iter().any(|word| name.contains(word))
    };
    let mut secrets: Vec<String> =
        named.filter(|(name, _)| is_secret(name)).map(|(_, value)| value.to_owned()).collect();
    let profile = profile::settings(env);
    let of_profile = profile.into_iter().filter(|(name, _)| is_secret(&name.to_ascii_uppercase()));
    secrets.extend(of_profile.map(|(_, value)| value));
    // Short values are words: replacing them would only garble the message.
    secrets.retain(|secret| secret.len() >= 6);
    secrets
}

/// Returns a message without secrets and without signatures of URLs.
pub(crate) fn scrubbed(message: &str, secrets: &[String]) -> String {
    let mut clean = message.to_owned();
    for secret in secrets {
        clean = clean.replace(secret.as_str(), "***");
    }
    for mark in ["sig=", "Signature=", "X-Amz-Credential=", "X-Amz-Security-Token="] {
        let mut from = 0;
        while let Some(at) = clean.get(from..).and_then(|rest| rest.find(mark)) {
            let start = from + at + mark.len();
            let rest = clean.get(start..).unwrap_or_default();
            let end = rest.find(|c: char| c == '&' || c.is_whitespace() || c == '"' || c == ')');
            let end = start + end.unwrap_or(rest.len());
            clean.replace_range(start..end, "***");
            from = start + 3;
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let variables = [
            ("HOME", "/home/u"),
            ("AWS_SECRET_ACCESS_KEY", "hush-hush-hush"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/home/u/aws-credentials"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/u/google.json"),
        ];
        Env::for_tests(variables, None)
    }

    #[test]
    fn urls_name_a_store_and_a_prefix() {
        let parse = |url| Location::parse(url, &env());
        let lake = parse("s3://team/agents/").unwrap();
        assert_eq!(
            (lake.url(), lake.bucket.as_str(), lake.prefix.as_str()),
            ("s3://team/agents", "team", "agents")
        );
        for same in ["s3a://team/agents", "s3://team/agents//"] {
            assert_eq!(parse(same).unwrap().url(), lake.url());
        }
        assert_eq!(parse("abfs://team/agents").unwrap().url(), "az://team/agents");
        assert_eq!(parse("file:///mnt/nas/lake/").unwrap().url(), "file:///mnt/nas/lake");
        assert_eq!(parse("file://~/lake").unwrap().url(), "file:///home/u/lake");
        for bad in [
            "team",
            "ftp://x/y",
            "s3://",
            "s3://a@b/c",
            "file://relative",
            "file:///",
            "s3://b/../c",
            "s3://b/c?x=1",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let error = parse("s3://id:hunter2@b/c").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn secrets_never_reach_a_message() {
        let secrets = secrets(&env());
        assert_eq!(secrets, ["hush-hush-hush"]);
        let message = "403 for https://x/y?sv=1&sig=AbC%2F&se=2 with hush-hush-hush";
        assert_eq!(scrubbed(message, &secrets), "403 for https://x/y?sv=1&sig=***&se=2 with ***");
        assert_eq!(scrubbed("sig=a sig=b", &[]), "sig=*** sig=***");
    }
}
