//! The forms of a word: those with the same stem, irregular ones, and short forms that developers use.

use super::language::Languages;

/// Any of the forms of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    /// The word as it was typed, folded.
    word: String,
    /// Its other forms, sorted.
    others: Vec<String>,
}

/// Shorter words have no forms that a rule could find.
const SHORTEST: usize = 3;
/// Longer ones are names or codes.
const LONGEST: usize = 32;

impl Forms {
    /// Finds the forms of a folded word.
    pub(crate) fn of(word: &str, languages: Languages) -> Self {
        let mut others = Vec::new();
        let length = word.chars().count();
        if word.chars().all(char::is_alphabetic) && (SHORTEST..=LONGEST).contains(&length) {
            for group in groups(word) {
                others.extend(group.split(' ').map(str::to_owned));
            }
            for (stemmer, endings) in languages.each() {
                let stem = stemmer.stem(word);
                for base in bases(word, &stem) {
                    for ending in endings.split(' ').chain([""]) {
                        let form = format!("{base}{ending}");
                        if stemmer.stem(&form) == stem {
                            others.push(form);
                        }
                    }
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|form| form != word);
        Self { word: word.to_owned(), others }
    }

    /// Returns the word as it was typed.
    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    /// Returns all forms, the typed one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.word.as_str()).chain(self.others.iter().map(String::as_str))
    }

    /// Whether there is any form but the typed one.
    pub(crate) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Whether a token is one of the forms.
    pub(crate) fn contains(&self, token: &str) -> bool {
        token == self.word || self.others.binary_search_by(|form| form.as_str().cmp(token)).is_ok()
    }

    /// Returns the letters that all forms begin with.
    pub(crate) fn common_start(&self) -> &str {
        let mut length = self.word.len();
        for form in &self.others {
            let same = self.word.char_indices().zip(form.chars());
            let differs = same.clone().find(|((_, one), other)| one != other);
            let end = differs.map_or(self.word.len().min(form.len()), |((at, _), _)| at);
            length = length.min(end);
        }
        self.word.get(..length).unwrap_or_default()
    }
}

/// Returns what endings are added to.
fn bases(word: &str, stem: &str) -> Vec<String> {
    let mut bases = vec![word.to_owned(), stem.to_owned()];
    bases.extend(stem.strip_suffix('i').map(|start| format!("{start}y")));
    bases.extend(word.strip_suffix('e').map(str::to_owned));
    bases.extend(word.strip_suffix('y').map(|start| format!("{start}i")));
    // running, shipped
    let is_vowel = |letter: char| "aeiouy".contains(letter);
    let mut letters = stem.chars().rev();
    if let (Some(last), Some(before)) = (letters.next(), letters.next())
        && last.is_ascii_lowercase()
        && !is_vowel(last)
        && is_vowel(before)
    {
        bases.push(format!("{stem}{last}"));
    }
    bases.dedup();
    bases
}

/// Returns the groups of words that mean the same and have no stem in common.
fn groups(word: &str) -> impl Iterator<Item = &'static str> {
    let groups = IRREGULAR.lines().chain(SHORT_FORMS.lines());
    groups.filter(move |group| group.split(' ').any(|one| one == word))
}

/// Irregular English verbs and nouns of technical talk.
const IRREGULAR: &str = "\
begin began begun begins beginning
bind bound binds binding
break broke broken breaks breaking
bring brought brings bringing
build built builds building
buy bought buys buying
catch caught catches catching
choose chose chosen chooses choosing choice
cut cuts cutting
draw drew drawn draws drawing
drive drove driven drives driving
fall fell fallen falls falling
feed fed feeds feeding
fight fought fights fighting
forget forgot forgotten forgets forgetting
freeze froze frozen freezes freezing
give gave given gives giving
grow grew grown grows growing growth
hang hung hangs hanging
hide hid hidden hides hiding
hold held holds holding
keep kept keeps keeping
lead led leads leading
leave left leaves leaving
lose lost loses losing loss
mean meant means meaning
meet met meets meeting
pay paid pays paying payment
quit quits quitting
read reads reading reader
rebuild rebuilt rebuilds rebuilding
rewrite rewrote rewritten rewrites rewriting
rise rose risen rises rising
run ran runs running runner
see saw seen sees seeing
sell sold sells selling
send sent sends sending sender
set sets setting
shrink shrank shrunk shrinks shrinking
shut shuts shutting
sleep slept sleeps sleeping
slow slower slowest slows slowed slowing slowness slowly
speak spoke spoken speaks speaking
speed sped speeds speeding
spend spent spends spending
spin spun spins spinning
split splits splitting
stand stood stands standing
steal stole stolen steals stealing
stick stuck sticks sticking
strike struck strikes striking
swap swaps swapped swapping
take took taken takes taking
teach taught teaches teaching
tear tore torn tears tearing
throw threw thrown throws throwing
understand understood understands understanding
undo undid undone undoes undoing
wake woke woken wakes waking
win won wins winning
write wrote written writes writing writer
fast faster fastest
good better best
bad worse worst
big bigger biggest
small smaller smallest
child children
index indices indexes indexing indexed
matrix matrices
vertex vertices
analysis analyses analyze analyse analyzed analysed analyzing analysing
datum data
fail fails failed failing failure failures
proof proofs prove proves proved proven proving
choice choices choose chose chosen";

/// Short forms, each with what it stands for.
const SHORT_FORMS: &str = "\
app apps application applications
arg args argument arguments
async asynchronous asynchronously
auth authentication authenticate authorization authorize
auth authenticated authorized authenticating
config configs configuration configurations configure configured configuring
db dbs database databases
deps dep dependency dependencies
dev development
dir dirs directory directories
doc docs documentation
env envs environment environments
func funcs function functions
impl implementation implementations
info information
k8s kubernetes
lib libs library libraries
max maximum
mem memory
min minimum
msg msgs message messages
param params parameter parameters
perf performance
pkg pkgs package packages
postgres postgresql
prod production
regex regexes regexp regexps
repo repos repository repositories
spec specs specification specifications
sync synchronous synchronize synchronized synchronization
temp tmp temporary
var vars variable variables
js javascript
ts typescript
py python";
