//! Opens the terminal app.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use recount_engine::{Engine, SOURCES, Setup};
use recount_platform::{clock, return_freed_memory};
use recount_tui::keys::Keymap;
use recount_tui::{AppSettings, Ended, Launch, Tab, Theme};

use crate::args::Color;
use crate::context::Context;
use crate::failure::{ERROR, Failure};

/// Whether the app can be shown: somebody sits before it, and the terminal can do more than print.
pub(crate) fn is_possible(context: &Context) -> bool {
    context.on_terminal()
        && io::stdin().is_terminal()
        && !context.global.json
        && context.env.text("TERM") != Some("dumb")
}

/// Runs the app until the user leaves it.
pub(crate) fn run(context: &Context, tab: Tab, query: Option<String>) -> Result<ExitCode, Failure> {
    return_freed_memory();
    let engine = Engine::new(Setup { clock: clock(&context.env), ..context.setup() })?;
    let settings = settings(&engine, context)?;
    let arguments = context.again([]);
    let launch =
        Launch { engine, settings, tab, query, everywhere: false, is_demo: false, demo, arguments };
    match recount_tui::run(launch) {
        Ok(Ended::Quit) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Signal(signal)) => {
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(ERROR)))
        }
        Err(error) => {
            Err(Failure::new(ERROR, error.to_string()).hint("run `recount list` instead"))
        }
    }
}

fn settings(engine: &Engine, context: &Context) -> Result<AppSettings, Failure> {
    let wrong = |message: String| {
        let path = context.folders.config.as_ref().map(|path| path.display().to_string());
        Failure::new(ERROR, format!("{}: {message}", path.unwrap_or_else(|| "config".to_owned())))
    };
    let keymap = Keymap::with(&engine.keys()).map_err(|clash| wrong(format!("[keys] {clash}")))?;
    let is_mono = context.global.color == Color::Never
        || (context.global.color == Color::Auto && context.env.text("NO_COLOR").is_some());
    let theme = match engine.theme() {
        _ if is_mono => Theme::Mono,
        None => Theme::Auto,
        Some(name) => Theme::named(name).ok_or_else(|| {
            wrong(format!(
                "[theme] name: there is no theme '{name}' (auto, light, dark, contrast, mono)"
            ))
        })?,
    };
    let app = engine.app_config();
    Ok(AppSettings { keymap, theme, ascii: app.ascii, still: !app.motion, no_mouse: !app.mouse })
}

/// Opens the demo home, beside recount's own data.
fn demo(engine: &Engine) -> Option<Engine> {
    let folder = engine.own_data().ok()?.join("demo-home");
    if !folder.is_dir() {
        recount_testbed::demo(&folder, engine.clock().now()).ok()?;
    }
    let setup = Setup {
        homes: vec![folder],
        known_sources: SOURCES,
        sources: Vec::new(),
        env: engine.env().clone(),
        clock: engine.clock(),
    };
    Engine::new(setup).ok()
}
