//! Pages of a conversation, in both directions.

use std::fs;
use std::sync::Arc;

use recount_engine::{Bound, MessageCursor, Opened, Position, View};
use recount_model::{Message, Problem};

use super::{Place, append};

fn texts(page: Vec<Result<Message, Problem>>) -> Vec<String> {
    page.into_iter().map(|message| message.unwrap().display_text).collect()
}

fn cursor(opened: &Arc<Opened>) -> MessageCursor {
    MessageCursor::new(Arc::clone(opened), View::Full)
}

#[test]
fn pages_are_the_conversation_in_both_directions() {
    let place = Place::new(6, 0.4);
    let log = place.log();
    (0..5).for_each(|number| append(&log, number));
    let opened = Arc::new(place.engine("data").open(log.to_str().unwrap(), &()).unwrap());
    let all: Vec<Message> =
        opened.messages(View::Full).unwrap().map(|message| message.unwrap()).collect();
    let whole: Vec<String> = all.iter().map(|message| message.display_text.clone()).collect();
    let mut cursor = cursor(&opened);
    assert_eq!(cursor.len(), whole.len());
    let (mut forth, mut back) = (Vec::new(), Vec::new());
    loop {
        let page = texts(cursor.next_page(3));
        if page.is_empty() {
            break;
        }
        forth.extend(page);
    }
    assert_eq!((&forth, cursor.position()), (&whole, whole.len()));
    loop {
        let mut page = texts(cursor.previous_page(4));
        if page.is_empty() {
            break;
        }
        page.append(&mut back);
        back = page;
    }
    assert_eq!((&back, cursor.position()), (&whole, 0));
    assert!(cursor.seek(&Position::Id("appended-3".to_owned())));
    assert_eq!(texts(cursor.next_page(1)), ["prompt number 3"]);
    let third = &all[2].place;
    let (file, offset) = (third.file.to_string(), third.offset + 1);
    assert!(cursor.seek(&Position::Byte { file, offset }));
    assert_eq!(cursor.position(), 2);
    assert!(!cursor.seek(&Position::Id("nobody".to_owned())) && cursor.position() == 2);
    let bound = Bound::Number(-2);
    assert_eq!(cursor.keep_between(Some(&bound), None), Ok(whole.len() - 2));
    assert_eq!(texts(cursor.next_page(9)), ["prompt number 3", "prompt number 4"]);
}

#[test]
fn a_saved_chat_is_read_like_a_session() {
    let place = Place::new(2, 0.1);
    let file = place.home().join("checkpoint-idea.json");
    let part =
        |role: &str, text: &str| format!(r#"{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#);
    let chat = [part("user", "one"), part("model", "two"), part("user", "three")].join(",");
    fs::write(&file, format!("[{chat}]")).unwrap();
    let opened = Arc::new(place.engine("data").open(file.to_str().unwrap(), &()).unwrap());
    let mut cursor = cursor(&opened);
    assert_eq!(texts(cursor.next_page(2)), ["one", "two"]);
    assert_eq!(texts(cursor.next_page(2)), ["three"]);
    assert_eq!(texts(cursor.previous_page(2)), ["two", "three"]);
    let two = Bound::Number(2);
    assert_eq!(cursor.keep_between(Some(&two), Some(&two)), Ok(1));
    assert_eq!(texts(cursor.next_page(9)), ["two"]);
}
