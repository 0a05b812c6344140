//! The table of keys.

use std::fmt::Write as _;

/// A place where keys are pressed: a tab, or what lies over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The list of sessions.
    Sessions,
    /// Full-text search.
    Search,
    /// The live board.
    Live,
    /// Projects.
    Projects,
    /// Statistics.
    Stats,
    /// What needs repair or protection.
    Problems,
    /// Changes, trash and vault.
    History,
    /// The transcript of a session.
    Reader,
    /// Facts about a session.
    Info,
    /// The plan of a change.
    Plan,
    /// A choice from a list.
    Pick,
    /// Every action by name.
    Palette,
    /// The keys of a screen.
    Help,
}

use Place::{
    Help, History, Info, Live, Palette, Pick, Plan, Problems, Projects, Reader, Search, Sessions,
    Stats,
};

/// The places that have a list of sessions.
const SESSION_ROWS: &[Place] = &[Sessions, Search, Live];
const TABS: &[Place] = &[Sessions, Search, Live, Projects, Stats, Problems, History];
const SCREENS: &[Place] =
    &[Sessions, Search, Live, Projects, Stats, Problems, History, Reader, Info];
const ALL: &[Place] = &[
    Sessions, Search, Live, Projects, Stats, Problems, History, Reader, Info, Plan, Pick, Palette,
    Help,
];
const READ: &[Place] =
    &[Sessions, Search, Live, Projects, Stats, Problems, History, Reader, Info, Plan, Pick, Help];

/// The places where left and right go in and out.
const IN: &[Place] = &[Sessions, Search, Live, Projects, Stats, Problems, Reader, Info, Pick, Help];

/// Declares the actions and their table.
macro_rules! actions {
    ($($action:ident $name:literal [$($key:literal)*] $places:expr, $help:literal;)*) => {
        /// What a key can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        /// Every action with its keys.
        pub const KEYS: &[Binding] = &[
            $(Binding { action: Action::$action, name: $name, keys: &[$($key),*], places: $places, help: $help },)*
        ];
    };
}

/// One action.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Its name in the config and in the palette.
    pub name: &'static str,
    /// Its keys by default.
    pub keys: &'static [&'static str],
    /// Where it works.
    pub places: &'static [Place],
    /// What it does, in a few words.
    pub help: &'static str,
}

actions! {
    Down "down" ["j" "down"] READ, "next row or line";
    Up "up" ["k" "up"] READ, "previous row or line";
    HalfDown "half-page-down" ["ctrl-d"] READ, "half a page down";
    HalfUp "half-page-up" ["ctrl-u"] READ, "half a page up";
    PageDown "page-down" ["pgdn"] READ, "a page down";
    PageUp "page-up" ["pgup"] READ, "a page up";
    First "first" ["g" "home"] READ, "first row";
    Last "last" ["G" "end"] READ, "last row";
    Open "open" ["enter"] READ, "open";
    In "in" ["l" "right"] IN, "open";
    Back "back" ["esc"] READ, "back: leave the field, clear marks, clear the filter, go back";
    Out "out" ["h" "left"] IN, "back";
    NextPart "next-part" ["l" "right"] &[Plan, History], "next button or section";
    PreviousPart "previous-part" ["h" "left"] &[Plan, History], "previous button or section";
    OtherButton "other-button" ["tab" "shift-tab"] &[Plan], "the other button";
    Close "close" ["q"] READ, "back; at a tab: quit";
    Quit "quit" ["Q" "ctrl-c"] ALL, "quit at once";
    Suspend "suspend" ["ctrl-z"] ALL, "suspend";
    TabSessions "tab-sessions" ["1"] SCREENS, "go to Sessions";
    TabSearch "tab-search" ["2"] SCREENS, "go to Search";
    TabLive "tab-live" ["3"] SCREENS, "go to Live";
    TabProjects "tab-projects" ["4"] SCREENS, "go to Projects";
    TabStats "tab-stats" ["5"] SCREENS, "go to Stats";
    TabProblems "tab-problems" ["6"] SCREENS, "go to Problems";
    TabHistory "tab-history" ["7"] SCREENS, "go to History";
    NextTab "next-tab" ["tab"] TABS, "next tab";
    PreviousTab "previous-tab" ["shift-tab"] TABS, "previous tab";
    Filter "filter" ["/"] READ, "filter the list, find in the text";
    FindNext "find-next" ["n"] &[Reader, Info, Help], "next match";
    FindPrevious "find-previous" ["N"] &[Reader, Info, Help], "previous match";
    Everywhere "everywhere" ["."] &[Sessions, Search, Live, Stats], "this project or everywhere";
    FoldHeadless "fold-headless" [", h"] SESSION_ROWS, "show or hide headless runs";
    FoldSubagents "fold-subagents" [", a"] SESSION_ROWS, "show or hide sub-agents";
    FoldUndone "fold-undone" [", u"] &[Sessions, Reader], "show or hide what was undone";
    FoldEmpty "fold-empty" [", e"] &[Sessions], "show or hide sessions without messages";
    SortUsed "sort-used" ["s u"] &[Sessions, Projects], "sort by last use";
    SortStarted "sort-started" ["s b"] &[Sessions], "sort by start";
    SortCost "sort-cost" ["s c"] &[Sessions], "sort by cost";
    SortTokens "sort-tokens" ["s t"] &[Sessions, Projects], "sort by tokens";
    SortSize "sort-size" ["s s"] &[Sessions, Projects], "sort by size on disk";
    SortPrompts "sort-prompts" ["s p"] &[Sessions], "sort by number of prompts";
    SortProject "sort-project" ["s n"] &[Sessions, Projects], "sort by project name";
    Reverse "reverse" ["S"] &[Sessions, Projects], "reverse the order";
    NextPrompt "next-prompt" ["J" "shift-down"] &[Sessions, Search, Live, Reader], "next prompt in the transcript";
    PreviousPrompt "previous-prompt" ["K" "shift-up"] &[Sessions, Search, Live, Reader], "previous prompt in the transcript";
    NextError "next-error" ["] e"] &[Reader], "next error";
    PreviousError "previous-error" ["[ e"] &[Reader], "previous error";
    NextCall "next-call" ["] t"] &[Reader], "next tool call";
    PreviousCall "previous-call" ["[ t"] &[Reader], "previous tool call";
    NextFile "next-file" ["] f"] &[Reader], "next file change";
    PreviousFile "previous-file" ["[ f"] &[Reader], "previous file change";
    NextUndone "next-undone" ["] u"] &[Reader], "next undone message";
    PreviousUndone "previous-undone" ["[ u"] &[Reader], "previous undone message";
    NextGap "next-gap" ["] g"] &[Reader], "next pause";
    PreviousGap "previous-gap" ["[ g"] &[Reader], "previous pause";
    JumpPromptNext "jump-prompt-next" ["] p"] &[Reader], "next prompt";
    JumpPromptPrevious "jump-prompt-previous" ["[ p"] &[Reader], "previous prompt";
    Prompts "prompts" ["@"] &[Reader], "index of all prompts";
    Fold "fold" ["tab"] &[Reader], "fold or unfold the block";
    FoldAll "fold-all" ["shift-tab"] &[Reader], "fold or unfold all blocks";
    Less "less" ["-"] &[Reader], "show less: talk, actions, details, trace";
    More "more" ["="] &[Reader], "show more: talk, actions, details, trace";
    View "view" ["u"] &[Reader], "strict or full view";
    Raw "raw" ["R"] &[Reader], "the record as it is on disk";
    Follow "follow" ["F"] &[Reader], "follow as it grows";
    Pager "pager" ["P"] &[Sessions, Search, Reader], "open in the pager";
    Editor "editor" ["E"] &[Sessions, Search, Reader], "open the file in the editor";
    PageForward "page-forward" ["space"] &[Reader, Info, Help], "a page down";
    PageBackward "page-backward" ["b"] &[Reader, Info, Help], "a page up";
    Mark "mark" ["space"] &[Sessions], "mark the row";
    MarkRange "mark-range" ["v"] &[Sessions], "mark from here to where it is pressed again";
    MarkAll "mark-all" ["*"] &[Sessions], "mark all rows shown, or none";
    Resume "resume" ["o"] &[Sessions, Search, Live, Reader, Info], "go on: jump to where it runs, else resume it";
    Delete "delete" ["d" "del" "x"] &[Sessions, Search, Projects, Reader, Info], "delete (to the trash)";
    Move "move" ["m"] &[Sessions, Search, Projects, Reader, Info], "move to another project; relocate a project";
    Rename "rename" ["r"] &[Sessions, Search, Reader, Info], "rename";
    Tag "tag" ["t"] &[Sessions, Search, Reader, Info], "change tags";
    Pin "pin" ["p"] &[Sessions, Search, Reader, Info], "pin or unpin";
    Fork "fork" ["f"] &[Sessions, Search, Reader, Info], "fork: copy as a new session";
    Export "export" ["e"] &[Sessions, Search, Projects, Reader, Info], "export";
    Apply "apply" ["a"] &[Problems, Projects, History, Live], "what this row asks for: fix, relocate, restore, acknowledge";
    Undo "undo" ["z"] SCREENS, "undo the last change; in History the one under the cursor";
    CopyId "copy-id" ["y i"] SCREENS, "copy the id";
    CopyPath "copy-path" ["y p"] SCREENS, "copy the path of the file";
    CopyFolder "copy-folder" ["y d"] SCREENS, "copy the project folder";
    CopyResume "copy-resume" ["y r"] SCREENS, "copy the command that resumes it";
    CopyMessage "copy-message" ["y m"] &[Reader], "copy the message";
    CopyBlock "copy-block" ["y b"] &[Reader], "copy the block";
    CopyCommand "copy-command" ["y c"] SCREENS, "copy the command line of this screen";
    Info "info" ["i"] &[Sessions, Search, Live, Projects, Problems, History, Reader], "facts, files, evidence, cost, live signals";
    Layout "layout" ["|"] &[Sessions, Search], "preview at the right, below, off";
    Larger "larger-preview" ["+"] &[Sessions, Search], "larger preview";
    Smaller "smaller-preview" ["_"] &[Sessions, Search], "smaller preview";
    Palette "palette" [":" "ctrl-p"] READ, "every action by name, and any recount command";
    Help "help" ["?" "F1"] READ, "keys of this screen";
    Mouse "mouse" ["%"] READ, "mouse on or off";
    Redraw "redraw" ["ctrl-l"] ALL, "redraw the screen";
    Demo "demo" ["D"] &[Sessions], "show demo data when there are no sessions";
    Unit "unit" ["b"] &[Live], "rates: dollars a minute, dollars an hour, tokens a minute";
    NeedsMe "needs-me" ["!"] &[Live], "only what needs you";
    Mute "mute" [", m"] &[Live], "alarms on or off";
    By "by" ["b"] &[Stats], "by day, week, month, project, model, tool";
    Earlier "earlier" ["<"] &[Stats], "an earlier period";
    Later "later" [">"] &[Stats], "a later period";
    Accept "accept" ["y"] &[Plan], "carry out the plan";
    Scope "scope" ["ctrl-r"] &[Search], "search here, in this agent, everywhere";
    Complete "complete" ["tab"] &[], "complete the field";
}

impl Place {
    /// Returns its name on the screen.
    pub const fn name(self) -> &'static str {
        match self {
            Sessions => "Sessions",
            Search => "Search",
            Live => "Live",
            Projects => "Projects",
            Stats => "Stats",
            Problems => "Problems",
            History => "History",
            Reader => "Reader",
            Info => "Info",
            Plan => "Plan",
            Pick => "Pick",
            Palette => "Palette",
            Help => "Help",
        }
    }

    /// Every place.
    pub const ALL: &'static [Self] = ALL;
}

/// Returns the table as a page of the documentation.
pub fn documentation() -> String {
    let mut page = String::from("| key | action | where | what it does |\n|---|---|---|---|\n");
    for binding in
        KEYS.iter().filter(|binding| !binding.keys.is_empty() && !binding.places.is_empty())
    {
        let key = |key: &&str| format!("`{}`", key.replace('|', "\\|"));
        let keys = binding.keys.iter().map(key).collect::<Vec<_>>().join(" ");
        let places = match binding.places.len() {
            9.. => "all".to_owned(),
            _ if binding.places == TABS => "tabs".to_owned(),
            _ => binding.places.iter().map(|place| place.name()).collect::<Vec<_>>().join(", "),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {keys} | `{}` | {places} | {} |", binding.name, binding.help);
    }
    page
}

/// Returns the table as JSON, one action on each line. The web app has the same keys.
///
/// Names, keys and help are literals of this file without quotes or backslashes, which a test checks.
pub fn json() -> String {
    let strings = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
        texts.join(",")
    };
    let rows: Vec<String> = KEYS
        .iter()
        .filter(|binding| !binding.keys.is_empty() && !binding.places.is_empty())
        .map(|binding| {
            let places: Vec<&str> = binding.places.iter().map(|place| place.name()).collect();
            format!(
                "[\"{}\",[{}],[{}],\"{}\"]",
                binding.name,
                strings(binding.keys),
                strings(&places),
                binding.help
            )
        })
        .collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_table_needs_escaping() {
        for binding in KEYS {
            let texts = binding.keys.iter().chain([&binding.name, &binding.help]);
            for text in texts {
                assert!(!text.contains(['"', '\\']) && !text.contains(char::is_control), "{text}");
            }
        }
        assert_eq!(json().lines().count(), documentation().lines().count());
    }
}
