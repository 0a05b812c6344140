//! Plans.

use super::Driver;

#[test]
fn look() {
    for (w, h) in [(80, 24), (140, 40), (40, 12)] {
        let mut app = Driver::demo(w, h);
        println!("{}", app.press("d").screen());
        println!("{}", app.press("esc m").screen());
        println!("{}", app.press("down enter").screen());
        println!("{}", app.press("esc r").screen());
        println!("{}", app.press("enter").screen());
        println!("{}", app.press("esc t").screen());
        println!("{}", app.press("esc f").screen());
        println!("{}", app.press("esc e").screen());
        println!("{}", app.press("esc z").screen());
        println!("{}", app.press("esc 6").screen());
        println!("{}", app.press("4").screen());
        println!("{}", app.press("d").screen());
        println!("{}", app.press("esc 7").screen());
    }
}
