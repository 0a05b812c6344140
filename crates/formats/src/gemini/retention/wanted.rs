//! Changes the retention in the user's settings.

use crate::json::JsonTree;
use crate::json::edit::{Unfit, check_accepted, set};
use crate::retention::Wanted;

const PATH: [&str; 2] = ["general", "sessionRetention"];

/// Sets how long sessions are kept in `general.sessionRetention`. Other values there, such as `maxCount`, are kept.
pub(crate) fn with_retention(text: Option<&[u8]>, wanted: Wanted) -> Result<Vec<u8>, Unfit> {
    let [general, retention] = PATH;
    let put = |text: &[u8], key, value| set(text, &[general, retention, key], &value);
    let text = text.unwrap_or(b"{}\n");
    check_accepted(text)?;
    match wanted {
        Wanted::Forever => put(text, "enabled", JsonTree::Bool(false)),
        Wanted::Days(days) => {
            let text = put(text, "enabled", JsonTree::Bool(true))?;
            put(&text, "maxAge", JsonTree::String(format!("{days}d")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_says_nothing_else() {
        let text = |wanted| String::from_utf8(with_retention(None, wanted).unwrap()).unwrap();
        insta::assert_snapshot!(text(Wanted::Forever), @r#"
        {
          "general": {
            "sessionRetention": {
              "enabled": false
            }
          }
        }
        "#);
        insta::assert_snapshot!(text(Wanted::Days(90)), @r#"
        {
          "general": {
            "sessionRetention": {
              "enabled": true,
              "maxAge": "90d"
            }
          }
        }
        "#);
    }

    #[test]
    fn what_else_is_set_stays() {
        let text = br#"{"general": {"sessionRetention": {"enabled": true, "maxAge": "30d", "maxCount": 50}}}"#;
        let off = with_retention(Some(text), Wanted::Forever).unwrap();
        assert_eq!(
            String::from_utf8(off).unwrap(),
            r#"{"general": {"sessionRetention": {"enabled": false, "maxAge": "30d", "maxCount": 50}}}"#
        );
        let days = with_retention(Some(text), Wanted::Days(7)).unwrap();
        assert_eq!(
            String::from_utf8(days).unwrap(),
            r#"{"general": {"sessionRetention": {"enabled": true, "maxAge": "7d", "maxCount": 50}}}"#
        );
    }
}
