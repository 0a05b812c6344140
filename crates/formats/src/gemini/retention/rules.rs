//! Differences between releases in what the program deletes when it starts.

/// The newest release whose cleanup was analyzed.
pub(crate) const NEWEST: &str = "0.61.0";

/// A release, by its two significant numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(u32, u32);

/// What is deleted together with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// Nothing.
    Alone,
    /// Every document whose name ends with the same eight characters; a log is deleted alone.
    Documents,
    /// Every file whose name has the same ending.
    All,
}

/// What a session must have not to be treated as damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Spoken,
    SpokenInLines,
    SpokenInList,
    Resumable,
}

/// The rules of one release.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each was introduced by a different release")]
pub(crate) struct Rules {
    /// Whether there is a cleanup at all.
    pub(crate) has_cleanup: bool,
    /// Whether it is on by default.
    pub(crate) on_by_default: bool,
    /// Whether projects are in directories with readable names.
    pub(crate) named_folders: bool,
    /// Whether logs are considered.
    pub(crate) logs: bool,
    /// Whether a file must record when it was begun and written.
    pub(crate) needs_times: bool,
    pub(crate) needs: Needs,
    pub(crate) hides_subagents: bool,
    pub(crate) grouping: Grouping,
    /// Whether a session's tool outputs are deleted with it.
    pub(crate) takes_outputs: bool,
    /// Whether its activity log does.
    pub(crate) takes_logs: bool,
    /// Whether its own folder does.
    pub(crate) takes_folder: bool,
    /// Whether its sub-agents do.
    pub(crate) takes_agents: bool,
    /// Whether a session must not have the name of a folder of the program.
    pub(crate) spares_reserved: bool,
    /// The folder in which tool outputs are deleted by age.
    pub(crate) outputs: Option<&'static str>,
    /// Whether folders in it are, too.
    pub(crate) output_folders: bool,
    /// Whether folders are only trusted if the user confirmed it, unless settings override this.
    pub(crate) asks_for_trust: bool,
    /// Whether the environment can set this.
    pub(crate) env_sets_trust: bool,
    /// Whether system settings count only if nobody else can write them.
    pub(crate) checks_system: bool,
}

impl Release {
    /// Reads a release such as `0.43.0` or `v0.61.0-preview.1`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.split(['-', '+']).next().unwrap_or(text);
        let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers?.as_slice() {
            [major, minor] | [major, minor, _] => Some(Self(*major, *minor)),
            _ => None,
        }
    }
}

impl Rules {
    /// Returns the rules of a release; those of the newest if it is invalid.
    pub(crate) fn of(release: &str) -> Self {
        let release = Release::parse(release).or_else(|| Release::parse(NEWEST));
        let since = |minor: u32| release.is_none_or(|release| release >= Release(0, minor));
        Self {
            has_cleanup: since(9),
            on_by_default: since(33),
            named_folders: since(29),
            logs: since(39),
            needs_times: !since(43),
            needs: match () {
                () if since(47) => Needs::Resumable,
                () if since(44) => Needs::Spoken,
                () if since(40) => Needs::SpokenInList,
                () if since(39) => Needs::SpokenInLines,
                () if since(20) => Needs::Spoken,
                () => Needs::Nothing,
            },
            hides_subagents: since(31),
            grouping: match () {
                () if since(42) => Grouping::All,
                () if since(36) => Grouping::Documents,
                () => Grouping::Alone,
            },
            takes_logs: since(25),
            takes_outputs: since(29),
            takes_folder: since(33),
            takes_agents: since(37),
            spares_reserved: since(44),
            outputs: match () {
                () if since(29) => Some("tool-outputs"),
                () if since(28) => Some("tool_output"),
                () => None,
            },
            output_folders: since(29),
            asks_for_trust: since(28),
            env_sets_trust: since(39),
            checks_system: since(60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_distinguished_by_their_numbers() {
        assert_eq!(Release::parse("0.43.0"), Release::parse("v0.43.7-preview.2"));
        assert!(Release::parse("0.9.0") < Release::parse("0.10.0"));
        assert!(Release::parse("0.61.0") < Release::parse("1.0"));
        for wrong in ["", "latest", "0", "0.43.x", "0.1.2.3", "-1.0"] {
            assert_eq!(Release::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_trap_opens_when_groups_include_logs() {
        for (release, grouping) in [
            ("0.35.0", Grouping::Alone),
            ("0.36.0", Grouping::Documents),
            ("0.41.2", Grouping::Documents),
            ("0.42.0", Grouping::All),
            ("0.61.0", Grouping::All),
            ("1.2.3", Grouping::All),
        ] {
            assert_eq!(Rules::of(release).grouping, grouping, "{release}");
        }
        assert!(!Rules::of("0.32.1").on_by_default);
        assert!(Rules::of("0.33.0").on_by_default);
    }
}
