//! `recount man`

use crate::home;

#[test]
fn the_page_is_written_in_roff() {
    let output = home([]).run(["man"]);
    assert_eq!(output.code, Some(0));
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains(".TH recount 1"), "{:.200}", output.stdout);
    assert!(output.stdout.contains("completions"));
}
