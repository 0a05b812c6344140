//! A release script: changelogs, tags, and a quota that ran out.

use crate::{
    call::{edit, fetch, question, read, run, write},
    scenario::{Level, Scenario},
};

pub(crate) const FILES: &[&str] = &[
    "CHANGELOG.md",
    "README.md",
    "release.sh",
    "lib/changelog.sh",
    "lib/version.sh",
    "test/run.sh",
];

const SCRIPT: &str = "#!/usr/bin/env bash\nset -eu\n. lib/version.sh\n\nversion=$(next_version \"$1\")\ngit tag \"v$version\"\ngit push origin \"v$version\"\n";

pub(crate) fn changelog() -> Scenario {
    Scenario::new()
        .ask("release.sh should refuse to run when CHANGELOG.md has nothing under Unreleased.")
        .act("Let me read the script.", [read("release.sh", SCRIPT), read("lib/release.sh", "").fails("File not found: /home/dev/code/release-tools/lib/release.sh")])
        .thinking("Reading", "There may be a library file as well; I try the obvious name.")
        .act("", [write("lib/changelog.sh", "# Prints what stands under \"Unreleased\".\nunreleased() {\n  awk '/^## Unreleased/{on=1;next} /^## /{on=0} on&&NF' CHANGELOG.md\n}\n")])
        .act("", [edit("release.sh", SCRIPT, (". lib/version.sh\n", ". lib/version.sh\n. lib/changelog.sh\n\n[ -n \"$(unreleased)\" ] || { echo 'nothing to release' >&2; exit 1; }\n"), "Refuse an empty changelog.")])
        .act("", [run("bash test/run.sh", "Run the tests", "ok 1 - patch\nok 2 - minor\nok 3 - major\nnot ok 4 - empty changelog\n#   expected exit 1, got 0\n1..4\n", 1)])
        .say("One test fails, because `awk` prints the comment line below the heading.")
        .ask("Fix that, and translate the message to German.")
        .say("Die Meldung lautet jetzt: `nichts zu veröffentlichen`.")
        .rewind(1)
        .ask("Fix that.")
        .act("", [edit("lib/changelog.sh", "on&&NF'\n", ("on&&NF'", "on&&NF&&!/^<!--/'"), "Skip comment lines."), run("bash test/run.sh", "Run the tests", "ok 1 - patch\nok 2 - minor\nok 3 - major\nok 4 - empty changelog\n1..4\n", 0)])
        .say("Comment lines no longer count, and all four tests pass.")
}

pub(crate) fn tagging() -> Scenario {
    Scenario::titled("Sign release tags")
        .ask("Can we sign the tags?")
        .act("", [run("git config --get-regexp 'user.signingkey|gpg.format'", "See how signing is set up", "", 1), fetch("Summarise https://git-scm.com/docs/git-tag about signed tags", "`git tag -s` makes a tag signed with the default key; `-u <key-id>` chooses another. `tag.gpgSign` makes it the default. `gpg.format=ssh` allows SSH keys.")])
        .thinking("Checking the ground", "No key is set up in this repository, so the script has to say so instead of failing half way.")
        .act("", [question("Which kind of key do you want to sign with?", "the SSH key I push with")])
        .say("Then it takes two settings and one letter:\n\n```sh\ngit config gpg.format ssh\ngit config user.signingkey ~/.ssh/id_ed25519.pub\n```\n\nand `git tag -s` in the script.")
        .stopped("Write a long page about key management")
        .shell("git status --short", " M release.sh\n")
        .ask("Just change the script.")
        .act("", [edit("release.sh", SCRIPT, ("git tag \"v$version\"", "git tag -s \"v$version\" -m \"v$version\""), "Sign the tag.")])
        .say("`release.sh` signs its tags.")
        .resume(94)
        .ask("It asks for the passphrase twice. Why?")
        .say("Once for `git tag -s`, once for `git push` over SSH: both use the same key. With a running `ssh-agent` neither asks.")
}

pub(crate) fn quota() -> Scenario {
    Scenario::new()
        .ask("Draft the notes for version 2.3.0 from the log.")
        .act("", [run("git log v2.2.0.. --format='%h %s'", "List the commits", "4be1c02 Refuse an empty changelog\n91d7a3e Sign tags\n0f3c8d1 Say which key is missing\n", 0)])
        .thinking("Collecting", "Three commits since 2.2.0, all of them visible to users.")
        .say("## 2.3.0\n\n### Added\n- Tags are signed.\n- A missing key is named.\n\n### Changed\n- A release without changelog entries is refused.")
        .refused("Now translate the notes to French, Japanese and Portuguese")
        .ask("Is the service back?")
        .say("Yes. Which language first?")
        .model("gemini-3.5-flash-lite")
        .notice(Level::Info, "Switched to gemini-3.5-flash-lite for the rest of this session.")
}
