//! `recount projects`

use serde_json::Value;

use crate::{has, home};

#[test]
fn last_used_first_with_what_was_done_there() {
    let home = home(["gemini/checkpoints/paths", "gemini/lines/migration", "gemini/strings/paths"]);
    insta::assert_snapshot!(home.run(["projects"]), @r"
    PROJECT     PATH                       STATE    SESSIONS  PROMPTS  TOKENS    SIZE  USED    AGENTS
    my.app_v2!  /home/dev/code/my.app_v2!  missing         2        2     280  2.3 KB  5h ago  gemini
    Shop        /home/dev/code/Shop        missing         2        2     280  2.3 KB  5h ago  gemini
    dev         /home/dev                  missing         2        2     280  5.1 KB  5h ago  gemini
    笔记        /home/dev/工作/笔记        missing         2        2     280  2.3 KB  5h ago  gemini
    api server  /home/dev/code/api server  missing         2        2     280  2.3 KB  5h ago  gemini
    shop        /home/dev/old/shop         missing         4        4     560  4.7 KB  5h ago  gemini
    shop        /home/dev/code/shop        missing         6        7    1.3k   14 KB  5h ago  gemini
    [exit 0]
    ");
}

#[test]
fn how_each_folder_is_known() {
    let known = home(["gemini/strings/tools", "gemini/checkpoints/renamed-folder"]);
    insta::assert_snapshot!(known.run(["projects", "--evidence"]), @r"
    PROJECT  PATH                  STATE    SESSIONS  PROMPTS  TOKENS    SIZE  USED    AGENTS
    shop     /home/dev/code/shop   missing         3        3     13k  179 KB  5h ago  gemini
    store    /home/dev/code/store  missing         1        1     140  1.6 KB  5h ago  gemini

    shop  /home/dev/code/shop
      100 proves   registry       projects.json
      100 proves   marker         .project_root
      100 proves   marker         history/.project_root
      100 proves   session hash   session files carry the SHA-256 of the path

    store  /home/dev/code/store
      100 proves   session hash   session files carry the SHA-256 of the path
       80 suggests marker         .project_root
       70 suggests marker         history/.project_root
       60 suggests registry       projects.json
    [exit 0]
    ");
    let trusted = home(["gemini/damaged/known-by-trust"]);
    insta::assert_snapshot!(trusted.run(["projects", "--evidence"]), @r"
    PROJECT  PATH                 STATE    SESSIONS  PROMPTS  TOKENS    SIZE  USED    AGENTS
    shop     /home/dev/code/shop  missing         1        2     220  1.2 KB  6h ago  gemini

    shop  /home/dev/code/shop
      100 proves   trusted        trustedFolders.json
      100 proves   session hash   session files carry the SHA-256 of the path
    [exit 0]
    ");
}

#[test]
fn projects_whose_folder_is_not_known() {
    insta::assert_snapshot!(home(["gemini/strings/plain"]).run(["projects", "--unresolved", "--evidence"]), @r"
    PROJECT   PATH                             STATE    SESSIONS  PROMPTS  TOKENS   SIZE  USED    AGENTS
    52efbb07  …d5e245fdc6ce54f5682353f3246bee  unknown         1        1     821  816 B  5h ago  gemini

    52efbb07
      no evidence found
    ------- stderr -------
    note: 1 project not known (--scan DIR searches a folder)
    [exit 0]
    ");
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["projects", "--unresolved"]), @r"
    ------- stderr -------
    note: no projects found
    [exit 1]
    ");
}

#[test]
fn every_documented_field_is_in_the_json() {
    let output = home(["gemini/checkpoints/paths"]).run(["projects", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.projects/1");
    let projects = document["projects"].as_array().unwrap();
    assert_eq!(projects.len(), 7);
    for project in projects {
        has(project, "path state slug hash sources sessions bytes tokens last_used evidence");
        has(&project["evidence"][0], "clue detail proves");
    }
}
