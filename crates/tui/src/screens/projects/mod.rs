//! The tab Projects.

use crate::draw::Painter;
use crate::keys::{Action, Place};
use crate::screen::{Context, Screen};
use crate::shared::Shared;

/// The tab Projects.
#[derive(Debug, Default)]
pub(crate) struct Projects {}

impl Screen for Projects {
    fn place(&self) -> Place {
        Place::Projects
    }

    fn act(&mut self, _action: Action, _cx: &mut Context<'_>) -> bool {
        false
    }

    fn draw(&mut self, _painter: &mut Painter<'_>, _shared: &Shared) {}

    fn hints(&self) -> &'static [Action] {
        &[Action::Help]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount".to_owned()
    }
}
