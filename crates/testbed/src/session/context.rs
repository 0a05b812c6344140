//! The message in which the program introduces itself and the project (0.44 and later).

use crate::{moment::Moment, project::Project};

/// Returns the text of the context message.
pub(super) fn describe(project: &Project, now: Moment) -> String {
    let Project { path, slug, .. } = project;
    format!(
        "<session_context>\n\
         This is the Gemini CLI. We are setting up the context for our chat.\n\
         Today's date is {} (formatted according to the user's locale).\n\
         My operating system is: linux\n\
         The project's temporary directory is: /home/dev/.gemini/tmp/{slug}\n\
         - **Workspace Directories:**\n  - {path}\n\
         - **Directory Structure:**\n\n\
         Showing up to 200 items (files + folders).\n\n{}\n\n\
         </session_context>",
        now.long_date(),
        project.tree(),
    )
}
