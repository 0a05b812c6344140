//! The reader.

use super::Driver;

/// Opens the session whose title has these words.
fn open(words: &str, width: u16, height: u16) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("/").type_text(words);
    app.press("enter . enter");
    app
}

#[test]
fn look() {
    for (w, h) in [(80, 24), (140, 40), (40, 12)] {
        let mut app = open("discount", w, h);
        println!("{}", app.screen());
        app.press("G");
        println!("{}", app.screen());
    }
    let mut app = open("discount", 80, 24);
    app.press("i");
    println!("{}", app.screen());
    app.press("G");
    println!("{}", app.screen());
}
