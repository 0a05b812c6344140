//! The terminal: taken, given back for a while, and always left as it was.

use std::cell::Cell;
use std::io::{self, BufWriter, Stdout, Write};
use std::rc::Rc;

use ratatui::Terminal as Cells;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};

use crate::app::App;
use crate::frame;

/// The wheel sends arrow keys where the mouse is not taken (DECSET 1007).
const WHEEL_ON: &[u8] = b"\x1b[?1007h";
const WHEEL_OFF: &[u8] = b"\x1b[?1007l";

/// Bytes of a frame that are sent at once.
const FRAME: usize = 1 << 16;

/// The terminal, while the app has it.
#[derive(Debug)]
pub(crate) struct Terminal {
    cells: Cells<CrosstermBackend<FrameWriter>>,
    is_drawing: Rc<Cell<bool>>,
    has_mouse: bool,
}

/// Sends each frame in one write: a terminal that gets it in parts wakes up for each.
#[derive(Debug)]
struct FrameWriter {
    out: BufWriter<Stdout>,
    is_drawing: Rc<Cell<bool>>,
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_drawing.get() { Ok(()) } else { self.out.flush() }
    }
}

impl Terminal {
    /// Takes the terminal.
    pub(crate) fn take() -> io::Result<Self> {
        // With NO_COLOR set, crossterm would drop reverse video too. Our themes decide what is colored.
        force_color_output(true);
        restore_after_panic();
        enter()?;
        let is_drawing = Rc::new(Cell::new(false));
        let out = BufWriter::with_capacity(FRAME, io::stdout());
        let out = FrameWriter { out, is_drawing: Rc::clone(&is_drawing) };
        let cells = Cells::new(CrosstermBackend::new(out)).inspect_err(|_| leave())?;
        Ok(Self { cells, is_drawing, has_mouse: false })
    }

    /// Returns its size.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        self.cells.size().map(|size| (size.width, size.height))
    }

    /// Draws the app as one update.
    pub(crate) fn draw(&mut self, app: &mut App) -> io::Result<()> {
        self.mouse(app.takes_mouse())?;
        self.is_drawing.set(true);
        queue!(self.cells.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.cells.draw(|frame| {
            if let Some(cursor) = frame::draw(app, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        });
        self.is_drawing.set(false);
        drawn?;
        execute!(self.cells.backend_mut(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen, so that the next frame draws all of it.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.cells.clear()
    }

    /// Takes the mouse, or leaves it to the terminal.
    fn mouse(&mut self, wanted: bool) -> io::Result<()> {
        if wanted != self.has_mouse {
            self.has_mouse = wanted;
            let out = self.cells.backend_mut();
            if wanted {
                queue!(out, EnableMouseCapture)?;
            } else {
                queue!(out, DisableMouseCapture)?;
            }
        }
        Ok(())
    }

    /// Gives the terminal to somebody else while `run` runs, and takes it back.
    pub(crate) fn lend<R>(&mut self, run: impl FnOnce() -> R) -> io::Result<R> {
        self.has_mouse = false;
        leave();
        let result = run();
        enter()?;
        self.clear()?;
        Ok(result)
    }

    /// Sends bytes that draw nothing.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = self.cells.backend_mut();
        out.write_all(bytes)?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen, EnableBracketedPaste)?;
    out.write_all(WHEEL_ON)?;
    out.flush()
}

/// Leaves the terminal as it was. If it is gone, nothing can be done about it.
fn leave() {
    let mut out = io::stdout();
    let _wheel = out.write_all(WHEEL_OFF);
    let _left = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _raw = disable_raw_mode();
}

/// After a panic of any thread the terminal is as it was before the message is printed.
fn restore_after_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
    });
}
