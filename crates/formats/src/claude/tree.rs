//! The tree that rows form: where the conversation ends, which rows lead there, and the fate of the others.

use recount_model::{Fate, MessageKind};

use super::state::{Facts, LeafPointer, Parent, RowKind};

/// The row that a row continues, as far as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is a root.
    Root,
    /// A row.
    After(u32),
    /// A row that is not in the file.
    Dangling,
}

/// Finds the row that each row continues, which may come after it in the file.
pub(crate) fn parents(facts: &Facts) -> Vec<Place> {
    // Only few rows come before the row that they continue.
    let mut wanted: std::collections::BTreeMap<_, Option<u32>> = facts
        .rows
        .iter()
        .filter_map(|row| match row.parent {
            Parent::Id(id) | Parent::Before(id) => Some((id, None)),
            Parent::None | Parent::Row(_) => None,
        })
        .collect();
    if !wanted.is_empty() {
        for (number, id) in facts.ids.iter().enumerate() {
            if let Some(slot) = wanted.get_mut(id) {
                *slot = u32::try_from(number).ok();
            }
        }
    }
    let place = |(number, row): (usize, &super::state::TreeRow)| match row.parent {
        Parent::None => Place::Root,
        Parent::Row(at) => Place::After(at),
        Parent::Id(id) | Parent::Before(id) => match wanted.get(&id).copied().flatten() {
            Some(at) if at as usize != number => Place::After(at),
            _ => Place::Dangling,
        },
    };
    facts.rows.iter().enumerate().map(place).collect()
}

/// The rows of a file: those of its own conversation, and those of each agent that ran inside it.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) main: Vec<u32>,
    pub(crate) others: Vec<Vec<u32>>,
}

/// Sorts rows by the conversation that they belong to.
pub(crate) fn sidechains(facts: &Facts, links: &[Place], is_agent_file: bool) -> Groups {
    let mut groups = Groups::default();
    // Per row the agent it belongs to.
    let mut agent_of: Vec<Option<u32>> = vec![None; facts.rows.len()];
    let mut last_agent = None;
    let is_side = |at: u32| facts.rows.get(at as usize).is_some_and(|row| row.is_sidechain);
    for number in 0..u32::try_from(facts.rows.len()).unwrap_or(u32::MAX) {
        if is_agent_file || !is_side(number) {
            groups.main.push(number);
            continue;
        }
        let agent = root(links, &is_side, number, &agent_of);
        let agent = match agent {
            Reached::Agent(agent) => agent,
            Reached::Dangling => last_agent.unwrap_or_else(|| new_group(&mut groups)),
            Reached::Root(root) if root == number => new_group(&mut groups),
            // The root comes after it.
            Reached::Root(root) => {
                let agent = new_group(&mut groups);
                if let Some(slot) = agent_of.get_mut(root as usize) {
                    *slot = Some(agent);
                }
                agent
            }
        };
        let known = agent_of.get(number as usize).copied().flatten();
        let agent = known.unwrap_or(agent);
        last_agent = Some(agent);
        if let Some(slot) = agent_of.get_mut(number as usize) {
            *slot = Some(agent);
        }
        if let Some(rows) = groups.others.get_mut(agent as usize) {
            rows.push(number);
        }
    }
    for rows in &mut groups.others {
        // The root first, wherever it is in the file.
        let at = rows.iter().position(|row| links.get(*row as usize) == Some(&Place::Root));
        if let Some(at) = at
            && let Some(front) = rows.get_mut(..=at)
        {
            front.rotate_right(1);
        }
    }
    groups.others.retain(|rows| !rows.is_empty());
    groups
}

fn new_group(groups: &mut Groups) -> u32 {
    groups.others.push(Vec::new());
    u32::try_from(groups.others.len() - 1).unwrap_or(u32::MAX)
}

/// The number of rows that are followed up before it is taken for a loop.
const LONGEST_LOOK: usize = 4096;

enum Reached {
    Agent(u32),
    Root(u32),
    Dangling,
}

/// Follows a row of an agent up to one whose agent is known: usually the row before it.
fn root(
    links: &[Place],
    is_side: &dyn Fn(u32) -> bool,
    row: u32,
    agent_of: &[Option<u32>],
) -> Reached {
    let mut at = row;
    for _ in 0..LONGEST_LOOK {
        if let Some(agent) = agent_of.get(at as usize).copied().flatten() {
            return Reached::Agent(agent);
        }
        match links.get(at as usize) {
            Some(Place::After(parent)) if is_side(*parent) => at = *parent,
            Some(Place::Root | Place::After(_)) => return Reached::Root(at),
            Some(Place::Dangling) | None => return Reached::Dangling,
        }
    }
    Reached::Dangling
}

/// What is known of each row of a file while its conversations are followed. A row belongs to one of them only, so that all use the
/// same tables and the work stays linear, however many there are.
#[derive(Debug)]
pub(crate) struct Forest {
    links: Vec<Place>,
    /// The conversation that a row belongs to.
    groups: Vec<u32>,
    /// The row that a row continues.
    parents: Vec<Option<u32>>,
    fates: Vec<Option<Fate>>,
    is_continued: Vec<bool>,
    is_on_path: Vec<bool>,
}

impl Forest {
    /// Begins with the rows that rows continue and the conversations that they belong to.
    pub(crate) fn new(links: Vec<Place>, groups: &Groups) -> Self {
        let count = links.len();
        let mut group_of = vec![0; count];
        for (number, rows) in (1..).zip(&groups.others) {
            for row in rows {
                if let Some(slot) = group_of.get_mut(*row as usize) {
                    *slot = number;
                }
            }
        }
        Self {
            links,
            groups: group_of,
            parents: vec![None; count],
            fates: vec![None; count],
            is_continued: vec![false; count],
            is_on_path: vec![false; count],
        }
    }

    /// Returns the fate of a row.
    pub(crate) fn fate(&self, row: u32) -> Fate {
        self.fates.get(row as usize).copied().flatten().unwrap_or(Fate::Rewound)
    }

    fn parent(&self, row: u32) -> Option<u32> {
        self.parents.get(row as usize).copied().flatten()
    }

    fn set_fate(&mut self, row: u32, fate: Fate) {
        if let Some(slot) = self.fates.get_mut(row as usize) {
            *slot = Some(fate);
        }
    }
}

/// The chain of rows that is the conversation.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// All rows, each after the one that it continues.
    pub(crate) order: Vec<u32>,
    /// What the agent's own loader shows, in order.
    pub(crate) shown: Vec<u32>,
    /// Rows whose place had to be guessed.
    pub(crate) repaired: Vec<u32>,
    leaf: Option<u32>,
}

impl Chain {
    /// Follows the rows of one conversation.
    pub(crate) fn of(
        facts: &Facts,
        forest: &mut Forest,
        rows: &[u32],
        pointer: Option<LeafPointer>,
    ) -> Self {
        let repaired = repair(facts, forest, rows);
        let mut chain = Self { repaired, ..Self::default() };
        chain.order = in_order(rows, &forest.parents);
        chain.leaf = leaf(facts, rows, forest, pointer);
        let path = path(chain.leaf, forest);
        chain.judge(facts, path, forest);
        chain
    }

    /// Returns the row where the conversation ends.
    pub(crate) fn leaf(&self) -> Option<u32> {
        self.leaf
    }

    fn judge(&mut self, facts: &Facts, path: Vec<u32>, forest: &mut Forest) {
        let boundary = path.iter().rposition(|row| {
            facts.rows.get(*row as usize).is_some_and(|row| row.what == RowKind::Boundary)
        });
        for (at, row) in path.iter().enumerate() {
            let is_gone = boundary.is_some_and(|boundary| at < boundary);
            forest.set_fate(*row, if is_gone { Fate::Compressed } else { Fate::Kept });
        }
        if let Some(boundary) = boundary {
            let (before, after) = path.split_at(boundary);
            self.shown = after.to_vec();
            if let Some(boundary) = after.first() {
                let held = preserved(facts, before, *boundary);
                for row in &held {
                    forest.set_fate(*row, Fate::Kept);
                }
                let anchor = facts.preserved.get(boundary).and_then(|preserved| preserved.anchor);
                let is_anchor = |row: &u32| facts.ids.get(*row as usize).copied() == anchor;
                let at = self.shown.iter().position(is_anchor).map_or(1, |at| at + 1);
                self.shown.splice(at.min(self.shown.len())..at.min(self.shown.len()), held);
            }
        } else {
            self.shown = path;
        }
        // What is not on the path: a prompt begins a branch that was left; what hangs beside the path is a part of it.
        for row in &self.order {
            if forest.fates.get(*row as usize).copied().flatten().is_some() {
                continue;
            }
            let above = forest.parent(*row);
            let above = above.and_then(|above| forest.fates.get(above as usize).copied().flatten());
            let what = facts.rows.get(*row as usize).map(|row| row.what);
            let begins = matches!(
                what,
                Some(
                    RowKind::Answer
                        | RowKind::ResultsAndPrompt
                        | RowKind::Message(MessageKind::Prompt | MessageKind::Shell)
                )
            );
            let fate = if begins { Fate::Rewound } else { above.unwrap_or(Fate::Rewound) };
            forest.set_fate(*row, fate);
        }
    }
}

/// Gives each row the row that it continues. One that continues a row that is not there continues the row before it in the file.
/// Returns the rows whose place had to be guessed.
fn repair(facts: &Facts, forest: &mut Forest, rows: &[u32]) -> Vec<u32> {
    let mut repaired = Vec::new();
    let mut before = None;
    for row in rows {
        let what = facts.rows.get(*row as usize).map(|row| row.what);
        let place = forest.links.get(*row as usize).copied().unwrap_or(Place::Root);
        let group = |row: u32| forest.groups.get(row as usize);
        let parent = match place {
            Place::After(parent) if group(parent) == group(*row) => Some(parent),
            // A compaction continues what was said before it, whether it says so or not.
            Place::Root if what == Some(RowKind::Boundary) => before,
            Place::Root | Place::After(_) => None,
            Place::Dangling => {
                repaired.push(*row);
                before
            }
        };
        if let Some(slot) = forest.parents.get_mut(*row as usize) {
            *slot = parent;
        }
        before = Some(*row);
    }
    repaired
}

/// Sorts rows in the order of the file, but each after the one that it continues.
fn in_order(rows: &[u32], parents: &[Option<u32>]) -> Vec<u32> {
    let is_late = |row: &u32| {
        parents.get(*row as usize).copied().flatten().is_some_and(|parent| parent > *row)
    };
    let mut order = rows.to_vec();
    if !rows.iter().any(is_late) {
        return order;
    }
    // Per row the position after which it is sorted, and its distance from the row that decided that.
    let mut places: Vec<Option<(u32, u32)>> = vec![None; parents.len()];
    let mut is_climbed = vec![false; parents.len()];
    let mut climb = Vec::new();
    for row in rows {
        let mut next = Some(*row);
        climb.clear();
        // In a loop there is no order.
        while let Some(at) = next {
            let Some(is_climbed) = is_climbed.get_mut(at as usize).filter(|known| !**known) else {
                break;
            };
            *is_climbed = true;
            climb.push(at);
            next = parents.get(at as usize).copied().flatten();
        }
        while let Some(row) = climb.pop() {
            let parent = parents.get(row as usize).copied().flatten();
            let above = parent.and_then(|parent| places.get(parent as usize).copied().flatten());
            let place = match above {
                Some((place, depth)) if place >= row => (place, depth.saturating_add(1)),
                _ => (row, 0),
            };
            if let Some(slot) = places.get_mut(row as usize) {
                slot.get_or_insert(place);
            }
        }
    }
    order.sort_by_key(|row| (places.get(*row as usize).copied().flatten(), *row));
    order
}

/// Chooses where the conversation ends.
fn leaf(
    facts: &Facts,
    rows: &[u32],
    forest: &mut Forest,
    pointer: Option<LeafPointer>,
) -> Option<u32> {
    let key = |row: &u32| (facts.rows.get(*row as usize).and_then(|row| row.time), *row);
    if let Some(pointer) = pointer.filter(|pointer| !pointer.row.is_nothing()) {
        let is_it = |row: &&u32| facts.ids.get(**row as usize) == Some(&pointer.row);
        if let Some(start) = rows.iter().find(is_it) {
            // A rewind abandons what was said before it.
            let from = if pointer.is_explicit { pointer.after } else { 0 };
            let below = descendants(rows, &forest.parents, *start);
            let newest = below.into_iter().filter(|row| *row >= from).max_by_key(key);
            return newest.or(Some(*start));
        }
    }
    // A rewind to before the first prompt: only what was said since is left.
    let is_empty = pointer.is_some_and(|pointer| pointer.is_explicit && pointer.row.is_nothing());
    let from = pointer.filter(|_| is_empty).map_or(0, |pointer| pointer.after);
    for row in rows {
        let parent = forest.parent(*row);
        if let Some(slot) = parent.and_then(|parent| forest.is_continued.get_mut(parent as usize)) {
            *slot = true;
        }
    }
    let is_leaf = |row: &&u32| forest.is_continued.get(**row as usize) == Some(&false);
    let newest = |from: u32| {
        let leaves = rows.iter().filter(is_leaf).filter(|row| **row >= from);
        leaves.max_by_key(|row| key(row)).copied()
    };
    let any = || newest(0).or_else(|| rows.last().copied());
    newest(from).or_else(|| if is_empty { None } else { any() })
}

/// Lists the rows that continue a row, directly or not.
fn descendants(rows: &[u32], parents: &[Option<u32>], start: u32) -> Vec<u32> {
    let mut first: Vec<Option<u32>> = vec![None; parents.len()];
    let mut next: Vec<Option<u32>> = vec![None; parents.len()];
    for row in rows.iter().rev() {
        let Some(parent) = parents.get(*row as usize).copied().flatten() else { continue };
        if let (Some(child), Some(sibling)) =
            (first.get_mut(parent as usize), next.get_mut(*row as usize))
        {
            *sibling = child.replace(*row);
        }
    }
    let mut is_met = vec![false; parents.len()];
    let (mut found, mut open) = (Vec::new(), vec![start]);
    while let Some(row) = open.pop() {
        let mut child = first.get(row as usize).copied().flatten();
        while let Some(at) = child {
            let Some(is_met) = is_met.get_mut(at as usize).filter(|met| !**met) else { break };
            *is_met = true;
            found.push(at);
            open.push(at);
            child = next.get(at as usize).copied().flatten();
        }
    }
    found
}

/// Returns the rows from the root to a leaf.
fn path(leaf: Option<u32>, forest: &mut Forest) -> Vec<u32> {
    let mut path = Vec::new();
    let mut next = leaf;
    while let Some(row) = next {
        let is_met = forest.is_on_path.get_mut(row as usize).filter(|met| !**met);
        let Some(is_met) = is_met else { break };
        *is_met = true;
        path.push(row);
        next = forest.parent(row);
    }
    path.reverse();
    path
}

/// Lists the rows before a compaction that stay in the context.
fn preserved(facts: &Facts, before: &[u32], boundary: u32) -> Vec<u32> {
    let Some(preserved) = facts.preserved.get(&boundary) else { return Vec::new() };
    let id = |row: &u32| facts.ids.get(*row as usize).copied();
    if !preserved.rows.is_empty() {
        let wanted: std::collections::BTreeSet<_> = preserved.rows.iter().copied().collect();
        let is_wanted = |row: &&u32| id(row).is_some_and(|id| wanted.contains(&id));
        return before.iter().filter(is_wanted).copied().collect();
    }
    let Some((head, tail)) = preserved.ends else { return Vec::new() };
    let from = before.iter().position(|row| id(row) == Some(head));
    let to = before.iter().rposition(|row| id(row) == Some(tail));
    let range = from.zip(to).and_then(|(from, to)| before.get(from..=to));
    range.map(<[u32]>::to_vec).unwrap_or_default()
}
