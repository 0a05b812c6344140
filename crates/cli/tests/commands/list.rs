//! `recount list`

use recount_testkit::Home;
use serde_json::Value;

use crate::{has, home};

/// One session of each era, sub-agents, and one that is damaged.
const MIXED: [&str; 6] = [
    "gemini/strings/tools",
    "gemini/parts/multi-turn",
    "gemini/lines/rewind",
    "gemini/lines/resume-stub",
    "gemini/checkpoints/subagent",
    "gemini/damaged/torn-tail",
];

#[test]
fn newest_first_in_100_columns() {
    insta::assert_snapshot!(home(MIXED).run(["list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST    SIZE  NOTES      TITLE
    1  8c6c4609  5h ago  shop           1      2     19k   $0.03  7.4 KB             Where is the tax c…
    2  09502e04  5h ago  shop           4      1     700  <$0.01  3.8 KB  5 undone   Question one
    3  798f2624  5h ago  shop           2      0     280  <$0.01  1.5 KB             Another session
    4  b3027235  5h ago  shop           2      0     643  <$0.01  1.4 KB             Ask about the shop…
    5  2e70d071  5h ago  shop           3      0     15k  <$0.01  2.6 KB             What do an apple a…
    6  791b85e5  5h ago  shop           1     15     13k  <$0.01  176 KB             Raise the tax rate…
    7  42dc48bd  6h ago  shop           3      0     220  <$0.01  1.3 KB  1 problem  What does cart.js…
    ------- stderr -------
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    note: 1 problem found while reading; -v shows each
    [exit 0]
    ");
}

#[test]
fn columns_that_matter_less_go_first_when_it_is_narrow() {
    let narrow = home(MIXED).run_with(["list", "-q"], |command| {
        command.env("RECOUNT_WIDTH", "60");
    });
    insta::assert_snapshot!(narrow, @r"
    #  ID        USED    PROJECT    COST  TITLE
    1  8c6c4609  5h ago  shop      $0.03  Where is the tax comp…
    2  09502e04  5h ago  shop     <$0.01  Question one
    3  798f2624  5h ago  shop     <$0.01  Another session
    4  b3027235  5h ago  shop     <$0.01  Ask about the shop pr…
    5  2e70d071  5h ago  shop     <$0.01  What do an apple and…
    6  791b85e5  5h ago  shop     <$0.01  Raise the tax rate to…
    7  42dc48bd  6h ago  shop     <$0.01  What does cart.js do?
    [exit 0]
    ");
    let narrower = home(MIXED).run_with(["list", "-q"], |command| {
        command.env("RECOUNT_WIDTH", "30");
    });
    insta::assert_snapshot!(narrower, @r"
    #  USED    TITLE
    1  5h ago  Where is the tax c…
    2  5h ago  Question one
    3  5h ago  Another session
    4  5h ago  Ask about the shop…
    5  5h ago  What do an apple a…
    6  5h ago  Raise the tax rate…
    7  6h ago  What does cart.js…
    [exit 0]
    ");
}

#[test]
fn it_is_the_default_command_and_has_a_short_name() {
    let home = home(["gemini/lines/plain"]);
    let long = home.run(["list"]).to_string();
    assert_eq!(home.run(["ls"]).to_string(), long);
    assert_eq!(home.run(None::<&str>).to_string(), long);
}

#[test]
fn two_runs_print_the_same() {
    let home = home(MIXED);
    assert_eq!(home.run(["list", "--json"]).stdout, home.run(["list", "--json"]).stdout);
}

#[test]
fn a_home_without_sessions_is_said_to_have_none() {
    let home = home([]);
    home.write("elsewhere/.gemini/projects.json", r#"{"projects":{}}"#);
    insta::assert_snapshot!(home.run(["--home", "elsewhere", "list"]), @r"
    ------- stderr -------
    note: no sessions found
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["list", "--json"]), @r#"
    {"schema":"recount.list/1","sessions":[{"source":"gemini","id":"7f07c6a1-6f7c-42ab-a2a9-83bf92bf4865","kind":"main","parent":null,"title":"Draft the notes for version 2.3.0 from the log.","title_from":"prompt","first_prompt":"Draft the notes for version 2.3.0 from the log.","last_prompt":"Is the service back?","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/release-tools","state":"missing","slug":"release-tools","hash":"314dd3d19fd7f4c5f9883ce91aceb4e829d7c22c0dabcb03cc901ee874b8e425","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-15T23:20:00Z","updated":"2026-11-15T23:23:24.814Z","messages":11,"prompts":3,"answers":3,"undone":1,"tool_calls":{"total":1,"failed":0,"cancelled":0},"models":["gemini-3.1-pro-preview","gemini-3.5-flash-lite"],"tokens":{"input":15841,"output":89,"cached":7434,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":15952},"cost_usd":0.01613414,"cost_is_lower_bound":true,"kept":{"messages":10,"prompts":2,"answers":3,"tool_calls":1,"tokens":{"input":15841,"output":89,"cached":7434,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":15952}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/release-tools/chats/session-2026-11-15T23-20-7f07c6a1.jsonl","role":"main","bytes":8507,"grammar":"jsonl"}],"agent_index":3,"agent_title":"Draft the notes for version 2.3.0 from the log.","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"82e5e803-9093-4af8-b12e-104f508a05dd","kind":"main","parent":null,"title":"Find where tax is computed before changing the rate","title_from":"summary","first_prompt":"Where is tax computed? Have the investigator look, I want to be sure before we change the rate.","last_prompt":"Wait, keep it for the tests.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-15T19:00:00Z","updated":"2026-11-15T19:07:12.513Z","messages":15,"prompts":4,"answers":6,"undone":0,"tool_calls":{"total":3,"failed":0,"cancelled":1},"models":["gemini-3.1-pro-preview"],"tokens":{"input":32325,"output":195,"cached":18956,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":32542},"cost_usd":0.0331332,"cost_is_lower_bound":true,"kept":{"messages":15,"prompts":4,"answers":6,"tool_calls":3,"tokens":{"input":32325,"output":195,"cached":18956,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":32542}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-11-15T19-00-82e5e803.jsonl","role":"main","bytes":10237,"grammar":"jsonl"}],"agent_index":5,"agent_title":"Find where tax is computed before changing the rate","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"0c163b8e-60ea-4b7c-8612-8208675ae323","kind":"subagent","parent":"82e5e803-9093-4af8-b12e-104f508a05dd","parent_call":"invoke_agent__invoke_agent_1794769253280_0","title":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Find every place where tax is computed or applied. </objective>","title_from":"prompt","first_prompt":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Find ev","last_prompt":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Find ev","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-15T19:00:53.886Z","updated":"2026-11-15T19:01:06.909Z","messages":6,"prompts":1,"answers":3,"undone":0,"tool_calls":{"total":4,"failed":0,"cancelled":0},"models":["gemini-3.1-pro-preview"],"tokens":{"input":16078,"output":108,"cached":7560,"cache_write":0,"cache_write_1h":0,"thoughts":43,"tool":0,"total":16229},"cost_usd":0.02036,"cost_is_lower_bound":false,"kept":{"messages":6,"prompts":1,"answers":3,"tool_calls":4,"tokens":{"input":16078,"output":108,"cached":7560,"cache_write":0,"cache_write_1h":0,"thoughts":43,"tool":0,"total":16229}},"directories":["/home/dev/code/shop"],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/82e5e803-9093-4af8-b12e-104f508a05dd/0c163b8e-60ea-4b7c-8612-8208675ae323.jsonl","role":"main","bytes":6366,"grammar":"jsonl"}],"agent_index":null,"agent_title":null,"live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"cdb7efb6-abde-419f-8386-6b44351a1b4d","kind":"main","parent":null,"title":"Sign release tags","title_from":"summary","first_prompt":"Can we sign the tags?","last_prompt":"It asks for the passphrase twice. Why?","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/release-tools","state":"missing","slug":"release-tools","hash":"314dd3d19fd7f4c5f9883ce91aceb4e829d7c22c0dabcb03cc901ee874b8e425","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-14T18:02:12.068Z","updated":"2026-11-14T19:43:58.013Z","messages":19,"prompts":4,"answers":6,"undone":2,"tool_calls":{"total":4,"failed":0,"cancelled":0},"models":["gemini-3.5-flash"],"tokens":{"input":32497,"output":236,"cached":19089,"cache_write":0,"cache_write_1h":0,"thoughts":37,"tool":0,"total":32770},"cost_usd":0.02543235,"cost_is_lower_bound":true,"kept":{"messages":17,"prompts":3,"answers":6,"tool_calls":4,"tokens":{"input":32497,"output":236,"cached":19089,"cache_write":0,"cache_write_1h":0,"thoughts":37,"tool":0,"total":32770}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/release-tools/chats/session-2026-11-14T18-02-cdb7efb6.jsonl","role":"main","bytes":27251,"grammar":"jsonl"},{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/release-tools/chats/session-2026-11-14T19-42-cdb7efb6.jsonl","role":"stub","bytes":1084,"grammar":"jsonl"}],"agent_index":2,"agent_title":"Sign release tags","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"a45ef3e4-3854-46c2-bec5-16a6095e3ce8","kind":"main","parent":null,"title":"Decode \\u escapes and lone surrogates","title_from":"summary","first_prompt":"Now the \\u escapes. What do we do with a lone surrogate such as \\ud83d?","last_prompt":"Go on with the offsets.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/tinyparse","state":"missing","slug":"tinyparse","hash":"44e76ae96e9bb6b6083b9c25b8529ec47bbe1816fca96ea94d5f75ac0ea01ad7","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-13T19:46:26.847Z","updated":"2026-11-13T19:52:59.137Z","messages":19,"prompts":3,"answers":8,"undone":10,"tool_calls":{"total":6,"failed":0,"cancelled":0},"models":["gemini-3.1-pro-preview"],"tokens":{"input":38152,"output":369,"cached":23030,"cache_write":0,"cache_write_1h":0,"thoughts":79,"tool":0,"total":38600},"cost_usd":0.040226,"cost_is_lower_bound":true,"kept":{"messages":9,"prompts":1,"answers":3,"tool_calls":1,"tokens":{"input":10663,"output":71,"cached":7462,"cache_write":0,"cache_write_1h":0,"thoughts":0,"tool":0,"total":10734}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/tinyparse/chats/session-2026-11-13T19-46-a45ef3e4.jsonl","role":"main","bytes":17801,"grammar":"jsonl"}],"agent_index":3,"agent_title":"Decode \\u escapes and lone surrogates","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"faefc8f3-e585-4d9f-bb1a-917379cafd7b","kind":"main","parent":null,"title":"修正气温图表的编码问题","title_from":"summary","first_prompt":"气温图表里的中文都变成了方块，怎么解决？","last_prompt":"再帮我检查一下韩文标签: 기온 (°C)","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/天気ノート","state":"missing","slug":"project","hash":"5cf6a45cb2d55946dc775c248461964a93a606744aaee5c33c6dd869dd94ae67","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-13T01:30:18.269Z","updated":"2026-11-13T01:32:32.535Z","messages":13,"prompts":3,"answers":6,"undone":0,"tool_calls":{"total":5,"failed":0,"cancelled":0},"models":["gemini-3.1-pro-preview"],"tokens":{"input":33161,"output":338,"cached":19544,"cache_write":0,"cache_write_1h":0,"thoughts":43,"tool":0,"total":33542},"cost_usd":0.0357148,"cost_is_lower_bound":true,"kept":{"messages":13,"prompts":3,"answers":6,"tool_calls":5,"tokens":{"input":33161,"output":338,"cached":19544,"cache_write":0,"cache_write_1h":0,"thoughts":43,"tool":0,"total":33542}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/project/chats/session-2026-11-13T01-30-faefc8f3.jsonl","role":"main","bytes":12672,"grammar":"jsonl"}],"agent_index":2,"agent_title":"修正气温图表的编码问题","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"279d2ba9-0068-4d11-b127-fab536451cda","kind":"main","parent":null,"title":"Add a quantity discount to the cart","title_from":"summary","first_prompt":"Add a discount: 10 % off from ten pieces of one kind.","last_prompt":"Keep the ten percent. Just write a line about it in the README.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-11-12T02:06:42.909Z","updated":"2026-11-12T02:11:42.888Z","messages":31,"prompts":4,"answers":12,"undone":7,"tool_calls":{"total":11,"failed":1,"cancelled":0},"models":["gemini-3.5-flash"],"tokens":{"input":70637,"output":498,"cached":45766,"cache_write":0,"cache_write_1h":0,"thoughts":49,"tool":0,"total":71184},"cost_usd":0.0490944,"cost_is_lower_bound":true,"kept":{"messages":24,"prompts":2,"answers":9,"tool_calls":10,"tokens":{"input":52126,"output":418,"cached":32816,"cache_write":0,"cache_write_1h":0,"thoughts":49,"tool":0,"total":52593}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-11-12T02-06-279d2ba9.jsonl","role":"main","bytes":49104,"grammar":"jsonl"}],"agent_index":4,"agent_title":"Add a quantity discount to the cart","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"3517ab84-9fbd-4ee6-b5ae-38265db867b1","kind":"main","parent":null,"title":"Read dates of three kinds in the order import","title_from":"summary","first_prompt":"Some dates are 03/04/2025, some 2025-04-03, some 4. März 2025. Can we read them all?","last_prompt":"Write it, with tests.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/order-import","state":"missing","slug":"order-import","hash":"8f3daeb5563e8faed4e0baa45b99fe0f72e0db4e4b391f40a0cc011700e57d1a","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-05-24T02:11:32.301Z","updated":"2026-05-24T02:13:51.103Z","messages":8,"prompts":2,"answers":4,"undone":0,"tool_calls":{"total":4,"failed":0,"cancelled":0},"models":["gemini-3-pro-preview"],"tokens":{"input":21597,"output":263,"cached":11452,"cache_write":0,"cache_write_1h":0,"thoughts":33,"tool":0,"total":21893},"cost_usd":0.0261324,"cost_is_lower_bound":true,"kept":{"messages":8,"prompts":2,"answers":4,"tool_calls":4,"tokens":{"input":21597,"output":263,"cached":11452,"cache_write":0,"cache_write_1h":0,"thoughts":33,"tool":0,"total":21893}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/order-import/chats/session-2026-05-24T02-11-3517ab84.jsonl","role":"main","bytes":10111,"grammar":"jsonl"}],"agent_index":1,"agent_title":"Read dates of three kinds in the order import","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"31b4a154-9af8-4f53-b033-b73950635e8d","kind":"main","parent":null,"title":"release.sh should refuse to run when CHANGELOG.md has nothing under Unreleased.","title_from":"prompt","first_prompt":"release.sh should refuse to run when CHANGELOG.md has nothing under Unreleased.","last_prompt":"Fix that.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/release-tools","state":"missing","slug":"release-tools","hash":"314dd3d19fd7f4c5f9883ce91aceb4e829d7c22c0dabcb03cc901ee874b8e425","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-05-20T00:08:33.475Z","updated":"2026-05-20T00:13:44.126Z","messages":11,"prompts":3,"answers":8,"undone":2,"tool_calls":{"total":7,"failed":1,"cancelled":0},"models":["gemini-3-pro-preview"],"tokens":{"input":44277,"output":309,"cached":27314,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":44608},"cost_usd":0.0433608,"cost_is_lower_bound":true,"kept":{"messages":9,"prompts":2,"answers":7,"tool_calls":7,"tokens":{"input":38622,"output":288,"cached":23359,"cache_write":0,"cache_write_1h":0,"thoughts":22,"tool":0,"total":38932}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/release-tools/chats/session-2026-05-20T00-08-31b4a154.jsonl","role":"main","bytes":15304,"grammar":"jsonl"}],"agent_index":1,"agent_title":"release.sh should refuse to run when CHANGELOG.md has nothing under Unreleased.","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"087dd619-cb4e-4b73-b33e-8097df1cd446","kind":"main","parent":null,"title":"Stop deeply nested input from overflowing the stack","title_from":"summary","first_prompt":"A fuzzer found that 100,000 opening brackets crash the parser. Find out why before you change anything.","last_prompt":"Then take the depth limit. 128 is fine.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/tinyparse","state":"missing","slug":"tinyparse","hash":"44e76ae96e9bb6b6083b9c25b8529ec47bbe1816fca96ea94d5f75ac0ea01ad7","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-05-10T02:26:47.311Z","updated":"2026-05-10T02:34:43.413Z","messages":11,"prompts":3,"answers":8,"undone":4,"tool_calls":{"total":7,"failed":0,"cancelled":0},"models":["gemini-3-flash-preview"],"tokens":{"input":45068,"output":384,"cached":27874,"cache_write":0,"cache_write_1h":0,"thoughts":30,"tool":0,"total":45482},"cost_usd":0.0112327,"cost_is_lower_bound":true,"kept":{"messages":7,"prompts":2,"answers":5,"tool_calls":4,"tokens":{"input":28276,"output":249,"cached":16121,"cache_write":0,"cache_write_1h":0,"thoughts":30,"tool":0,"total":28555}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/tinyparse/chats/session-2026-05-10T02-26-087dd619.jsonl","role":"main","bytes":16901,"grammar":"jsonl"}],"agent_index":2,"agent_title":"Stop deeply nested input from overflowing the stack","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"85ma0a","kind":"subagent","parent":"087dd619-cb4e-4b73-b33e-8097df1cd446","parent_call":"invoke_agent__invoke_agent_1778380139210_1","title":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Why does deeply nested input overflow the stack? </objective>","title_from":"prompt","first_prompt":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Why doe","last_prompt":"Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective: <objective> Why doe","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/tinyparse","state":"missing","slug":"tinyparse","hash":"44e76ae96e9bb6b6083b9c25b8529ec47bbe1816fca96ea94d5f75ac0ea01ad7","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-05-10T02:29:00.614Z","updated":"2026-05-10T02:29:19.602Z","messages":4,"prompts":1,"answers":3,"undone":0,"tool_calls":{"total":3,"failed":0,"cancelled":0},"models":["gemini-3-flash-preview"],"tokens":{"input":16145,"output":80,"cached":7609,"cache_write":0,"cache_write_1h":0,"thoughts":34,"tool":0,"total":16259},"cost_usd":0.00499045,"cost_is_lower_bound":true,"kept":{"messages":4,"prompts":1,"answers":3,"tool_calls":3,"tokens":{"input":16145,"output":80,"cached":7609,"cache_write":0,"cache_write_1h":0,"thoughts":34,"tool":0,"total":16259}},"directories":["/home/dev/code/tinyparse"],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/tinyparse/chats/087dd619-cb4e-4b73-b33e-8097df1cd446/85ma0a.jsonl","role":"main","bytes":5304,"grammar":"jsonl"}],"agent_index":null,"agent_title":null,"live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"04d211ef-cc38-4bf1-ac6c-7446f13632ad","kind":"main","parent":null,"title":"東京の予報を読み、平均気温を計算する","title_from":"summary","first_prompt":"@予報/東京.csv の最高気温の平均を教えてください。","last_prompt":"ありがとう！🎉 傘は要る？☔","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/天気ノート","state":"missing","slug":"project","hash":"5cf6a45cb2d55946dc775c248461964a93a606744aaee5c33c6dd869dd94ae67","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-04-15T01:55:31.381Z","updated":"2026-04-15T01:58:37.005Z","messages":8,"prompts":3,"answers":5,"undone":0,"tool_calls":{"total":4,"failed":0,"cancelled":0},"models":["gemini-3-flash-preview"],"tokens":{"input":27475,"output":265,"cached":15540,"cache_write":0,"cache_write_1h":0,"thoughts":29,"tool":0,"total":27769},"cost_usd":0.0076265,"cost_is_lower_bound":true,"kept":{"messages":8,"prompts":3,"answers":5,"tool_calls":4,"tokens":{"input":27475,"output":265,"cached":15540,"cache_write":0,"cache_write_1h":0,"thoughts":29,"tool":0,"total":27769}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/project/chats/session-2026-04-15T01-55-04d211ef.json","role":"main","bytes":11285,"grammar":"json"}],"agent_index":1,"agent_title":"東京の予報を読み、平均気温を計算する","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"db2e95be-52fe-416b-a3a8-b49c40493954","kind":"main","parent":null,"title":"Support all string escapes","title_from":"summary","first_prompt":"@src/escape.rs misses some escapes of the JSON grammar. Which ones?","last_prompt":"Add the short ones.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/tinyparse","state":"missing","slug":"tinyparse","hash":"44e76ae96e9bb6b6083b9c25b8529ec47bbe1816fca96ea94d5f75ac0ea01ad7","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-04-09T03:50:28.999Z","updated":"2026-04-09T03:53:30.88Z","messages":6,"prompts":2,"answers":4,"undone":0,"tool_calls":{"total":2,"failed":0,"cancelled":0},"models":["gemini-3-pro-preview"],"tokens":{"input":21783,"output":187,"cached":11536,"cache_write":0,"cache_write_1h":0,"thoughts":34,"tool":0,"total":22004},"cost_usd":0.0254532,"cost_is_lower_bound":true,"kept":{"messages":6,"prompts":2,"answers":4,"tool_calls":2,"tokens":{"input":21783,"output":187,"cached":11536,"cache_write":0,"cache_write_1h":0,"thoughts":34,"tool":0,"total":22004}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/tinyparse/chats/session-2026-04-09T03-50-db2e95be.json","role":"main","bytes":9699,"grammar":"json"}],"agent_index":1,"agent_title":"Support all string escapes","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"7996a9d2-3d1b-4621-bc9d-5e0a97aff376","kind":"main","parent":null,"title":"Fix page numbers of the product list","title_from":"summary","first_prompt":"The product list in @src/pages.js starts with the second page. Why?","last_prompt":"Was this ever released?","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-03-28T00:51:35.909Z","updated":"2026-03-28T00:56:55.443Z","messages":9,"prompts":3,"answers":6,"undone":0,"tool_calls":{"total":4,"failed":0,"cancelled":0},"models":["gemini-2.5-pro"],"tokens":{"input":33088,"output":254,"cached":19460,"cache_write":0,"cache_write_1h":0,"thoughts":45,"tool":0,"total":33387},"cost_usd":0.0224575,"cost_is_lower_bound":true,"kept":{"messages":9,"prompts":3,"answers":6,"tool_calls":4,"tokens":{"input":33088,"output":254,"cached":19460,"cache_write":0,"cache_write_1h":0,"thoughts":45,"tool":0,"total":33387}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-03-28T00-51-7996a9d2.json","role":"main","bytes":16075,"grammar":"json"}],"agent_index":3,"agent_title":"Fix page numbers of the product list","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"25a182a1-bbf0-48ac-afb0-a83a4641b1ee","kind":"main","parent":null,"title":"Write a function that prints a receipt for a cart.","title_from":"prompt","first_prompt":"Write a function that prints a receipt for a cart.","last_prompt":"Good. Now round the tax to two places, please 🙂","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-02-01T02:13:59.656Z","updated":"2026-02-01T21:27:42.55Z","messages":7,"prompts":2,"answers":4,"undone":0,"tool_calls":{"total":5,"failed":0,"cancelled":0},"models":["gemini-2.5-pro"],"tokens":{"input":21989,"output":189,"cached":11732,"cache_write":0,"cache_write_1h":0,"thoughts":0,"tool":0,"total":22178},"cost_usd":0.01617775,"cost_is_lower_bound":true,"kept":{"messages":7,"prompts":2,"answers":4,"tool_calls":5,"tokens":{"input":21989,"output":189,"cached":11732,"cache_write":0,"cache_write_1h":0,"thoughts":0,"tool":0,"total":22178}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-02-01T02-13-25a182a1.json","role":"twin","bytes":6270,"grammar":"json"},{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee/chats/session-2026-02-01T02-13-25a182a1.json","role":"copy","bytes":6270,"grammar":"json"},{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-02-01T02-13-25a182a1.jsonl","role":"main","bytes":8071,"grammar":"jsonl"},{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-02-01T21-26-25a182a1.jsonl","role":"stub","bytes":228,"grammar":"jsonl"}],"agent_index":2,"agent_title":"Write a function that prints a receipt for a cart.","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"1b741add-fb40-4a2d-b5f9-10dcd52c74aa","kind":"main","parent":null,"title":"What do three apples and a pear cost with tax?","title_from":"prompt","first_prompt":"What do three apples and a pear cost with tax?","last_prompt":"Remember that our prices are without tax.","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/shop","state":"missing","slug":"shop","hash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","alias":null,"evidence":[{"clue":"marker","detail":".project_root","proves":false,"weight":80},{"clue":"marker","detail":"history/.project_root","proves":false,"weight":70},{"clue":"registry","detail":"projects.json","proves":false,"weight":60},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-01-19T04:48:31.12Z","updated":"2026-01-19T04:50:28.677Z","messages":6,"prompts":2,"answers":4,"undone":0,"tool_calls":{"total":3,"failed":0,"cancelled":0},"models":["gemini-2.5-pro"],"tokens":{"input":21331,"output":186,"cached":11270,"cache_write":0,"cache_write_1h":0,"thoughts":47,"tool":0,"total":21564},"cost_usd":0.016315,"cost_is_lower_bound":true,"kept":{"messages":6,"prompts":2,"answers":4,"tool_calls":3,"tokens":{"input":21331,"output":186,"cached":11270,"cache_write":0,"cache_write_1h":0,"thoughts":47,"tool":0,"total":21564}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee/chats/session-2026-01-19T04-46-1b741add.json","role":"copy","bytes":5806,"grammar":"json"},{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/shop/chats/session-2026-01-19T04-46-1b741add.json","role":"main","bytes":5806,"grammar":"json"}],"agent_index":1,"agent_title":"What do three apples and a pear cost with tax?","live":null,"doomed":false,"problems":0,"not_understood":0},{"source":"gemini","id":"91eb5ee3-4b15-4ae2-93f1-377077070593","kind":"main","parent":null,"title":"The import has loaded some orders twice. How many, and why?","title_from":"prompt","first_prompt":"The import has loaded some orders twice. How many, and why?","last_prompt":"How long does the import take now?","branch":null,"entrypoint":null,"tags":[],"pinned":false,"project":{"path":"/home/dev/code/order-import","state":"missing","slug":null,"hash":"8f3daeb5563e8faed4e0baa45b99fe0f72e0db4e4b391f40a0cc011700e57d1a","alias":null,"evidence":[{"clue":"registry","detail":"projects.json","proves":true,"weight":100},{"clue":"trusted","detail":"trustedFolders.json","proves":true,"weight":100},{"clue":"marker","detail":".project_root","proves":true,"weight":100},{"clue":"marker","detail":"history/.project_root","proves":true,"weight":100},{"clue":"session-hash","detail":"session files carry the SHA-256 of the path","proves":true,"weight":100}]},"started":"2026-01-10T02:41:55.391Z","updated":"2026-01-10T02:43:59.631Z","messages":10,"prompts":3,"answers":6,"undone":0,"tool_calls":{"total":6,"failed":0,"cancelled":0},"models":["gemini-2.5-pro"],"tokens":{"input":32548,"output":253,"cached":19117,"cache_write":0,"cache_write_1h":0,"thoughts":23,"tool":0,"total":32824},"cost_usd":0.0255228125,"cost_is_lower_bound":true,"kept":{"messages":10,"prompts":3,"answers":6,"tool_calls":6,"tokens":{"input":32548,"output":253,"cached":19117,"cache_write":0,"cache_write_1h":0,"thoughts":23,"tool":0,"total":32824}},"directories":[],"files":[{"path":"~home~/.local/share/recount/demo-home/.gemini/tmp/8f3daeb5563e8faed4e0baa45b99fe0f72e0db4e4b391f40a0cc011700e57d1a/chats/session-2026-01-10T02-39-91eb5ee3.json","role":"main","bytes":11541,"grammar":"json"}],"agent_index":null,"agent_title":null,"live":null,"doomed":false,"problems":0,"not_understood":0}],"problems":[]}
    ------- stderr -------
    note: No sessions found; showing demo data (recount testbed --demo DIR to keep it)
    [exit 0]
    "#);
}

#[test]
fn a_user_without_sessions_is_shown_a_made_up_home() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["list", "-n", "1"]), @r"
    #  ID        USED     PROJECT        PROMPTS  TOOLS  TOKENS   COST  NOTES     TITLE
    1  7f07c6a1  36m ago  release-tools        3      1     16k  $0.02  1 undone  Draft the notes for v…
    ------- stderr -------
    note: No sessions found; showing demo data (recount testbed --demo DIR to keep it)
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    [exit 0]
    ");
    assert!(!home.path().join(".gemini").exists());
}

#[test]
fn a_project_is_named_by_path_slug_hash_or_a_part_of_its_name() {
    let home = home(["gemini/checkpoints/paths"]);
    for project in [
        "/home/dev/code/api server",
        "/home/dev/code/api server/",
        "api-server",
        "d22283d2",
        "SERV",
    ] {
        let output = home.run(["list", project, "--json"]);
        assert_eq!(ids(&output.stdout), ["a2101a91-5f1d-41d6-bed5-34c8484acc44"], "{project}");
    }
    for (project, id) in [
        ("笔记", "1d8a4010-27e6-4b0c-afee-254a6047773b"),
        ("old/shop", "0624fa75-57cc-47bb-aa57-528418c00899"),
        ("Shop", "dfe7676d-67df-41ac-8c41-111679bb056b"),
    ] {
        assert_eq!(ids(&home.run(["list", project, "--json"]).stdout), [id], "{project}");
    }
}

#[test]
fn a_name_that_may_be_several_projects_lists_them() {
    let home = home(["gemini/checkpoints/paths"]);
    insta::assert_snapshot!(home.run(["list", "sho"]), @"
    ------- stderr -------
    error: 'sho' matches 3 projects
    hint: /home/dev/code/Shop
    hint: /home/dev/code/shop
    hint: /home/dev/old/shop
    hint: give the full path, or assign a name: `recount projects alias NAME PATH`
    [exit 2]
    ");
}

#[test]
fn an_unknown_project_is_nothing_found() {
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["list", "warehouse"]), @"
    ------- stderr -------
    error: no project matches 'warehouse'
    hint: `recount projects` shows every project
    [exit 1]
    ");
}

#[test]
fn in_a_project_only_its_own_sessions_are_listed() {
    let home = home(["gemini/checkpoints/paths"]);
    let shop = home.path().join("code/shop");
    home.write("code/shop/src/cart.js", "");
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    home.write(".gemini/history/shop/.project_root", home.at("code/shop"));
    home.write(".gemini/projects.json", r#"{"projects":{}}"#);
    let here = |arguments: &[&str], folder: &str| {
        let output = home.run_with(arguments, |command| {
            command.current_dir(shop.join(folder));
        });
        ids(&output.stdout).len()
    };
    assert_eq!(here(&["list", "--json"], ""), 1);
    assert_eq!(here(&["list", "--json"], "src"), 1);
    assert_eq!(here(&["list", ".", "--json"], ""), 1);
    assert_eq!(here(&["list", "--all", "--json"], ""), 7);
    assert_eq!(here(&["list", "--json"], ".."), 7);
}

#[test]
fn times_bound_the_list() {
    let home = home(["gemini/strings/plain", "gemini/checkpoints/plain", "gemini/damaged/crlf"]);
    let count = |arguments: &[&str]| {
        let output = home.run(["list", "--json"].iter().chain(arguments));
        ids(&output.stdout).len()
    };
    assert_eq!(count(&["--since", "2026-11-15T18:00:00Z"]), 2);
    assert_eq!(count(&["--since", "2026-11-15T18:30"]), 1);
    assert_eq!(count(&["--since", "6h"]), 2);
    assert_eq!(count(&["--since", "yesterday", "--until", "2026-11-15T18:00:00Z"]), 1);
    assert_eq!(count(&["--until", "2026-11-15"]), 0);
    assert_eq!(home.run(["list", "--until", "2026-11-15"]).code, Some(1));
}

#[test]
fn a_time_that_cannot_be_read_is_an_error() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["list", "--since", "soon"]), @r"
    ------- stderr -------
    error: --since soon: not a time
    hint: give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["list", "--until", "2026-13-01"]), @r"
    ------- stderr -------
    error: --until 2026-13-01: not a time
    hint: give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)
    [exit 2]
    ");
}

#[test]
fn filters_that_nothing_passes_say_so() {
    insta::assert_snapshot!(home(MIXED).run(["list", "--model", "gpt"]), @r"
    ------- stderr -------
    note: none of 9 sessions matches
    [exit 1]
    ");
}

#[test]
fn sub_agents_are_listed_when_asked_for() {
    let home = home(["gemini/checkpoints/subagent", "gemini/damaged/subagent-with-kind"]);
    insta::assert_snapshot!(home.run(["list", "--kind", "subagent"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST    SIZE  NOTES      TITLE
    1  91f41195  5h ago  shop           1      2    6.4k   $0.01  3.1 KB  sub-agent  Count the files.
    2  23214a90  5h ago  shop           1      3    6.4k  <$0.01  4.6 KB  sub-agent  Your task is to do…
    3  69170cb8  6h ago  shop           1      1     220  <$0.01  1.9 KB  sub-agent  Your task: find wh…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--kind", "subagent,main"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST    SIZE  NOTES      TITLE
    1  8c6c4609  5h ago  shop           1      2     19k   $0.03  7.4 KB             Where is the tax c…
    2  91f41195  5h ago  shop           1      2    6.4k   $0.01  3.1 KB  sub-agent  Count the files.
    3  23214a90  5h ago  shop           1      3    6.4k  <$0.01  4.6 KB  sub-agent  Your task is to do…
    4  69170cb8  6h ago  shop           1      1     220  <$0.01  2.0 KB             Investigate the ta…
    5  69170cb8  6h ago  shop           1      1     220  <$0.01  1.9 KB  sub-agent  Your task: find wh…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--kind", "robot"]), @r"
    ------- stderr -------
    error: invalid value 'robot' for '--kind <KIND>'
      [possible values: main, subagent]

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn sessions_with_problems_are_listed_when_asked_for() {
    let home =
        home(["gemini/lines/plain", "gemini/damaged/not-understood", "gemini/damaged/empty-file"]);
    insta::assert_snapshot!(home.run(["list", "--problems"]).stdout, @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST  NOTES             TITLE
    1  71e4a1ad  5h ago  shop           0      0       0   $0.00  1 problem         (no messages)
    2  e24c0bb8  5h ago  shop           0      0       0   $0.00  1 problem         (no messages)
    3  5be9db0c  6h ago  shop           2      0     220  <$0.01  2 not understood  What does cart.js d…
    ");
}

#[test]
fn sessions_in_which_nothing_was_said_are_left_out() {
    let home = home(["gemini/lines/plain"]);
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T18-50-00000000.jsonl",
        concat!(
            r#"{"sessionId":"00000000-0000-4000-8000-000000000000","projectHash":"52ef","#,
            r#""startTime":"2026-11-15T18:50:00.000Z","lastUpdated":"2026-11-15T18:50:00.000Z","kind":"main"}"#,
            "\n"
        ),
    );
    insta::assert_snapshot!(home.run(["list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST   SIZE  NOTES  TITLE
    1  d22642e2  5h ago  shop           1      0     821  <$0.01  742 B         What does an apple cost?
    ------- stderr -------
    note: 1 session without messages not shown (--empty)
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--empty"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST   SIZE  NOTES  TITLE
    1  00000000  5h ago  shop           0      0       0   $0.00  168 B         (no messages)
    2  d22642e2  5h ago  shop           1      0     821  <$0.01  742 B         What does an apple cost?
    [exit 0]
    ");
}

#[test]
fn of_lost_sessions_the_prompts_are_left() {
    let lost = home(["gemini/strings/logs-only", "gemini/lines/plain"]);
    insta::assert_snapshot!(lost.run(["list", "--lost"]), @r"
    ID        LAST PROMPT  PROJECT  PROMPTS  FIRST PROMPT
    6327a2f0  5h ago       shop           4  What do an apple and a pear cost together?
    [exit 0]
    ");
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["list", "--lost"]), @r"
    ------- stderr -------
    note: no lost sessions found
    [exit 1]
    ");
}

#[test]
fn lost_sessions_as_json() {
    let output = home(["gemini/strings/logs-only"]).run(["list", "--lost", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.lost/1");
    assert_eq!(document["sessions"][0]["prompts"][2], "Thanks.");
}

#[test]
fn the_order_and_length_can_be_chosen() {
    let home = home(MIXED);
    let first = |sort: &str| {
        let output = home.run(["list", "--json", "--kind", "main", "-n", "1", "--sort", sort]);
        ids(&output.stdout).remove(0)
    };
    assert_eq!(first("updated"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("started"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("tokens"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("messages"), "09502e04-146e-4a20-908d-b2d38cf0da98");
    assert_eq!(first("size"), "791b85e5-ecde-4caf-9157-3eb11e92d8dd");
}

#[test]
fn every_documented_field_is_in_the_json() {
    let output = home(MIXED).run(["list", "--json"]);
    assert_eq!(output.code, Some(0));
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.list/1");
    let sessions = document["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 9);
    for session in sessions {
        has(
            session,
            "source id kind parent title title_from first_prompt last_prompt branch entrypoint project started updated messages prompts answers \
             undone tool_calls models tokens cost_usd cost_is_lower_bound files agent_index live doomed problems",
        );
        has(&session["project"], "path state slug hash evidence");
        has(&session["tool_calls"], "total failed cancelled");
        has(&session["tokens"], "input output cached thoughts tool total");
        has(&session["files"][0], "path role bytes grammar");
        assert!(session["started"].as_str().unwrap().ends_with('Z'));
    }
}

#[test]
fn copies_twins_and_stubs_are_counted_once() {
    let output = home(["gemini/lines/migration"]).run(["list", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let all = document["sessions"].as_array().unwrap();
    assert_eq!(all.len(), 6);
    let oldest = all.iter().find(|session| session["title"] == "Question asked in 0.20.2").unwrap();
    let roles: Vec<&Value> =
        oldest["files"].as_array().unwrap().iter().map(|file| &file["role"]).collect();
    assert_eq!(roles, ["twin", "copy", "main", "stub"]);
    assert_eq!(oldest["tokens"]["total"], 420);
    assert_eq!(oldest["messages"], 5);
}

#[test]
fn homes_are_read_instead_of_the_own_one() {
    let home = home(["gemini/lines/plain"]);
    let itself = Home::with(["gemini/strings/plain"]);
    let output = home.run(["--home", &itself.at(".gemini"), "list", "--json"]);
    assert_eq!(ids(&output.stdout), ["117e505c-3d3a-4d21-bd60-5b8a2d07d003"]);
    let two = [Home::with(["gemini/strings/plain"]), Home::with(["gemini/parts/plain"])];
    let [one, other] = two.each_ref().map(|home| home.path().to_string_lossy().into_owned());
    let output = home.run(["--home", &one, "--home", &other, "list", "--json"]);
    assert_eq!(ids(&output.stdout).len(), 2);
}

#[test]
fn the_agents_own_variable_names_its_home() {
    let home = home([]);
    let other = Home::with(["gemini/lines/plain"]);
    for value in [other.path().to_owned(), other.path().join(".gemini")] {
        let output = home.run_with(["list", "--json"], |command| {
            command.env("GEMINI_CLI_HOME", &value);
        });
        assert_eq!(ids(&output.stdout).len(), 1, "{}", value.display());
    }
    let output = home.run_with(["list", "--json"], |command| {
        command.env("GEMINI_SESSIONS_DIR", other.path().join(".gemini/tmp"));
    });
    assert_eq!(ids(&output.stdout).len(), 1);
}

#[test]
fn lost_sessions_are_filtered_like_others() {
    let home = home(["gemini/strings/logs-only"]);
    assert_eq!(home.run(["list", "nonexistent", "--lost"]).code, Some(1));
    assert_eq!(home.run(["list", "--lost", "--since", "2026-11-16"]).code, Some(1));
    assert_eq!(home.run(["list", "--lost", "--json"]).code, Some(0));
}

#[test]
fn the_limit_counts_rows_that_are_shown() {
    let home = home(["gemini/checkpoints/subagent"]);
    let output = home.run(["list", "--all", "--sort", "started", "-n", "1"]);
    assert_eq!(output.stdout.lines().count(), 2, "{output}");
}

#[test]
fn an_exact_slug_wins_over_a_name() {
    let home = home(["gemini/checkpoints/paths"]);
    let output = home.run(["list", "shop", "--json"]);
    assert_eq!(ids(&output.stdout).len(), 1, "{output}");
}

#[test]
fn filters_look_into_the_messages() {
    let home = home(["gemini/checkpoints/tools", "gemini/checkpoints/plain"]);
    assert_eq!(ids(&home.run(["list", "--all", "--json"]).stdout).len(), 2);
    for filter in
        [["--tool", "run_shell_command"], ["--tool", "Shell"], ["--touched", "prices.csv"]]
    {
        let output = home.run(["list", "--all", "--json", filter[0], filter[1]]);
        assert_eq!(ids(&output.stdout).len(), 1, "{filter:?} {output}");
    }
    assert_eq!(ids(&home.run(["list", "--all", "--json", "--text", "APPLE"]).stdout).len(), 2);
    assert_eq!(home.run(["list", "--all", "--text", "no such words"]).code, Some(1));
}

fn ids(document: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let all = document["sessions"].as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|session| session["id"].as_str().map(str::to_owned)).collect()
}
