//! `recount story`

use serde_json::Value;

use crate::home;

#[test]
fn a_session_in_few_words() {
    let home = home(["gemini/checkpoints/denied", "gemini/lines/tools"]);
    insta::assert_snapshot!(home.run(["story", "4a24b219"]), @r"
    # Delete prices.csv please (shop, 2026-11-15 18:39, 4a24b219-b295-4556-806e-fd8135d4886e)

    > [cancelled] Delete prices.csv please
    [cancelled] I will delete the file.
    - run_shell_command rm prices.csv ! cancelled

    > Write new.txt
    - write_file new.txt
    Wrote it.

    > [cancelled] Tell me a long story

    > Still there
    I am back.
    [exit 0]
    ");
    let story = home.run(["story", "8662c6d1"]).stdout;
    let start: Vec<&str> = story.lines().take(12).collect();
    insta::assert_snapshot!(start.join("\n"), @r"
    # Raise the tax rate to 25 percent and add a discount. (shop, 2026-11-15 18:13, 8662c6d1-79eb-45ff-9a82-649436c92eda)

    > Raise the tax rate to 25 percent and add a discount.
    I will look around.
    - list_directory /home/dev/code/shop
    - read_file prices.csv
    - glob **/*.md
    - grep_search tax
    - read_file missing.txt ! File not found: /home/dev/code/shop/missing.txt
    - run_shell_command echo hello; echo oops >&2
    - run_shell_command exit 3
    - write_file src/discount.js
    ");
}

#[test]
fn all_sessions_of_a_project() {
    let home = home(["gemini/checkpoints/renamed-folder"]);
    insta::assert_snapshot!(home.run(["story", "shop"]), @r"
    # Question before the rename (shop, 2026-11-15 18:36, f7b99995-58ca-46d1-b1f8-629b6d1e4b7b)

    > Question before the rename
    Before the move.

    # Question in a new shop folder (shop, 2026-11-15 18:36, 2524c1fc-e66d-4104-86d4-2f1238d4596c)

    > Question in a new shop folder
    New shop.
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["story", "shop", "--last", "1"]), @r"
    # Question in a new shop folder (shop, 2026-11-15 18:36, 2524c1fc-e66d-4104-86d4-2f1238d4596c)

    > Question in a new shop folder
    New shop.
    [exit 0]
    ");
}

#[test]
fn as_json() {
    let output = home(["gemini/lines/plain"]).run(["story", "latest", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.story/1");
    let story = document["stories"][0]["story"].as_str().unwrap();
    assert!(story.contains("> What does an apple cost?\nAn apple costs 3 coins.\n"), "{story}");
}

#[test]
fn neither_a_session_nor_a_project() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["story", "warehouse"]), @"
    ------- stderr -------
    error: no session matches 'warehouse'
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["story", "no/such/file.json"]), @r"
    ------- stderr -------
    error: no such file: no/such/file.json
    [exit 2]
    ");
}

#[test]
fn a_story_with_a_budget_is_continued_by_its_cursor() {
    let home = home(["gemini/lines/tools"]);
    let whole = home.run(["story", "8662c6d1"]).stdout;
    let body = |story: &str| story.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (mut told, mut cursor, mut parts) = (Vec::new(), None::<String>, 0);
    loop {
        let mut words = vec!["story", "8662c6d1", "--max-tokens", "150"];
        words.extend(cursor.iter().flat_map(|cursor| ["--from", cursor.as_str()]));
        let part = home.run(&words).stdout;
        assert!(part.len() <= 150 * 4, "{}: {part}", part.len());
        parts += 1;
        assert!(parts < 50, "it goes on for ever: {part}");
        let Some((text, last)) = part.rsplit_once("\n… ") else {
            told.extend(body(&part));
            break;
        };
        told.extend(body(text));
        cursor = last.trim().rsplit_once(' ').map(|(_, cursor)| cursor.to_owned());
        assert!(last.contains("left: recount story 8662c6d1 --from "), "{last}");
    }
    assert!(parts > 2, "{parts}");
    let all = |lines: &[String]| lines.join("\n").replace("\n\n", "\n").trim().to_owned();
    assert_eq!(all(&told), all(&body(&whole)));
    let text = home.run(["story", "8662c6d1", "--max-tokens", "150", "--json"]).stdout;
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let next = value["stories"][0]["next"].as_str().unwrap_or_default().to_owned();
    assert!(next.starts_with("8662c6d1") && next.contains(':'), "{next}");
    let wrong = home.run(["story", "8662c6d1", "--from", "other:3"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
}

#[test]
fn a_typing_error_in_a_project_suggests_its_name() {
    let home = home(["gemini/lines/tools"]);
    for command in ["list", "story", "stats", "projects"] {
        let output = home.run([command, "sohp"]).to_string();
        assert!(output.contains("did you mean /home/dev/code/shop?"), "{command}: {output}");
    }
}
