//! Tests of parts of a session that are stored elsewhere: images, and sub-agents.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::fs;

use recount_testkit::Home;

use crate::home;

/// The image in both sessions of the fixture.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn text_of(home: &Home, name: &str) -> String {
    String::from_utf8(home.read(name)).unwrap()
}

fn image() -> Home {
    home(["gemini/checkpoints/image"])
}

#[test]
fn images_are_files_beside() {
    let home = image();
    let said = home.run(["export", "5d934256", "-o", "page.md"]).stderr;
    assert!(said.contains("1 session written (2 files"), "{said}");
    assert!(home.read("page.1.png").starts_with(PNG));
    let page = text_of(&home, "page.md");
    assert!(page.contains("\n![image/png, 73 B](<page.1.png>)\n"), "{page}");
    // A tool result is shown at a higher level, and only once: the message that passes it on has the same image.
    home.run(["export", "8b71e4eb", "-o", "tool.txt", "--level", "trace"]);
    let page = text_of(&home, "tool.txt");
    assert_eq!(page.matches("[image/png, 73 B: tool.1.png]").count(), 2, "{page}");
    assert!(!home.path().join("tool.2.png").exists());
    home.run(["export", "8b71e4eb", "-o", "talk.md"]);
    assert!(!home.path().join("talk.1.png").exists());
}

#[test]
fn images_in_a_folder_are_remembered() {
    let home = image();
    let export = ["export", "--all", "--level", "full", "-o", "out/"];
    home.run(export);
    let images = || {
        let all = fs::read_dir(home.path().join("out/shop")).unwrap();
        let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(".1.png")).collect::<Vec<_>>()
    };
    assert_eq!(images().len(), 2);
    let again = home.run(export).stderr;
    assert!(again.contains("nothing to write, 2 unchanged"), "{again}");
    // A damaged image is written again; images that are no longer wanted are removed.
    home.write(&format!("out/shop/{}", images()[0]), "short");
    assert!(home.run(export).stderr.contains("1 session written"));
    assert_eq!(images().len(), 2);
    home.run(["export", "--all", "--level", "full", "--images", "none", "-o", "out/"]);
    assert_eq!(images().len(), 0);
}

#[test]
fn images_are_within_or_only_named() {
    let home = image();
    let within = home.run(["export", "5d934256", "--images", "within"]).stdout;
    assert!(within.contains("![image/png, 73 B](<data:image/png;base64,iVBOR"), "{within}");
    let named = home.run(["export", "5d934256"]).stdout;
    assert!(named.contains(r"*\[image/png, 73 B, not part of this file\]*"), "{named}");
    // Images cannot be scanned for secrets.
    home.run(["export", "5d934256", "--redact", "-o", "clean.md"]);
    assert!(!home.path().join("clean.1.png").exists());
    insta::assert_snapshot!(home.run(["export", "5d934256", "--images", "beside"]), @r"
    ------- stderr -------
    error: separate image files need an output file
    hint: give one with -o, or use --images within
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["export", "5d934256", "--images", "within", "--format", "txt"]), @r"
    ------- stderr -------
    error: --images within is for md and html, not for txt
    hint: leave out --images within, or choose another --format
    [exit 2]
    ");
}

#[test]
fn pages_have_images_and_sub_agents_within() {
    let page = image().run(["export", "5d934256", "--format", "html"]).stdout;
    let img = "<img loading=\"lazy\" alt=\"image/png, 73 B\" src=\"data:image/png;base64,iVBOR";
    assert_eq!(page.matches(img).count(), 1, "{page}");
    let home = home(["gemini/checkpoints/subagent"]);
    let page = home.run(["export", "8c6c4609", "--format", "html"]).stdout;
    assert_eq!(page.matches("<details class=\"fold actions sub-agent\">").count(), 2, "{page}");
    // Only prompts of a human are turns.
    assert_eq!(page.matches("<section class=\"turn\" id=").count(), 1, "{page}");
    let talk = home.run(["export", "8c6c4609", "--format", "html", "--minimal"]).stdout;
    assert!(!talk.contains("sub-agent\">"), "{talk}");
}

#[test]
fn broken_images_are_reported() {
    let home = image();
    let file = ".gemini/tmp/shop/chats/session-2026-11-15T18-33-5d934256.jsonl";
    home.write(file, text_of(&home, file).replace("iVBORw0KGgo", "!not base64"));
    let said = home.run(["export", "5d934256", "-v", "-o", "page.md"]).stderr;
    assert!(said.contains("broken binary data"), "{said}");
    let page = text_of(&home, "page.md");
    assert!(page.contains("> **Damaged:** broken binary data in this message."), "{page}");
    assert!(page.contains("not part of this file"), "{page}");
}

#[test]
fn sub_agents_are_included_where_they_were_called() {
    let home = home(["gemini/checkpoints/subagent"]);
    insta::assert_snapshot!(home.run(["export", "8c6c4609"]), @r"
    # Where is the tax computed? Ask the investigator.

    - **Project:** shop (`/home/dev/code/shop`)
    - **Session:** `8c6c4609-3378-4a83-acc3-4e687ba70861` (gemini)
    - **Time:** 2026-11-15 18:44 UTC to 2026-11-15 18:44 UTC
    - **Models:** gemini-3.5-flash
    - **Said:** 1 prompt, 3 answers, 2 tool calls
    - **Tokens:** 18872 (input 18800, of these cached 0; output 72; thoughts 0)
    - **Cost:** $0.0288 at list prices

    ## You · 2026-11-15 18:44

    > Where is the tax computed? Ask the investigator.

    ## gemini-3.5-flash · 18:44

    ✓ **Invoke Subagent** `Find where tax is computed.` (sub-agent `23214a90-00ec-4f7f-838d-a77b9e3848a4`)

    ### Sub-agent: Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: &lt;objective&gt; Find w…

    `23214a90-00ec-4f7f-838d-a77b9e3848a4`. 1 prompt, 2 answers, 3 tool calls

    #### Task · 2026-11-15 18:44

    > Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve  for the following user objective:
    > \<objective>
    > Find where tax is computed.
    > \</objective>

    #### gemini-3-flash-preview · 18:44

    ✓ **SearchText** `tax`

    ✓ **ReadFile** `src/tax.js`

    ✓ **Complete Task**

    *End of the sub-agent.*

    ## gemini-3.5-flash · 18:44

    ✓ **Invoke Subagent** `Count the files.` (sub-agent `91f41195-52eb-49b2-98c9-d01e0f108bcd`)

    ### Sub-agent: Count the files.

    `91f41195-52eb-49b2-98c9-d01e0f108bcd`. 1 prompt, 2 answers, 2 tool calls

    #### Task · 2026-11-15 18:44

    > Count the files.

    #### gemini-3.5-flash · 18:44

    ✓ **ReadFolder** `/home/dev/code/shop`

    ✓ **Complete Task**

    *End of the sub-agent.*

    ## gemini-3.5-flash · 18:44

    The tax is computed in src/tax.js.
    [exit 0]
    ");
    let text = home.run(["export", "8c6c4609", "--format", "txt"]).stdout;
    assert_eq!(text.matches(">>> Sub-agent").count(), 2, "{text}");
    assert_eq!(text.matches("<<< End of the sub-agent").count(), 2, "{text}");
    let talk = home.run(["export", "8c6c4609", "--level", "talk"]).stdout;
    assert!(!talk.contains("Sub-agent"), "{talk}");
    // In a folder each has its own page.
    home.run(["export", "--all", "-o", "out/"]);
    for entry in fs::read_dir(home.path().join("out/shop")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let page = text_of(&home, &format!("out/shop/{name}"));
        assert!(!page.contains("# Sub-agent:"), "{page}");
        assert!(page.contains("](<../shop/"), "{page}");
    }
}

#[test]
fn sub_agents_without_a_call_are_included() {
    let home = home(["gemini/checkpoints/subagent"]);
    let file = ".gemini/tmp/shop/chats/session-2026-11-15T18-44-8c6c4609.jsonl";
    let lines = text_of(&home, file);
    let kept = lines.lines().map(|line| if line.contains("toolCalls") { "{broken" } else { line });
    home.write(file, kept.collect::<Vec<_>>().join("\n"));
    let page = home.run(["export", "8c6c4609"]).stdout;
    assert!(!page.contains("Invoke Subagent"), "{page}");
    assert_eq!(page.matches("### Sub-agent:").count(), 2, "{page}");
}
