//! Words that a question needs as a sentence, not for what it is about.

use super::language::{self, Languages};

/// What a word does in a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It only holds the sentence together.
    Filler,
    /// It is about the search itself ("remember", "session"), or fits anything ("thing", "use"): it counts little.
    Vague,
    /// It is what the question is about.
    Content,
}

/// Returns the role of a folded word in a question of these languages.
pub(crate) fn role(word: &str, languages: Languages) -> Role {
    if language::is_function_word(word, languages) {
        Role::Filler
    } else if VAGUE.split(' ').any(|vague| vague == word) {
        Role::Vague
    } else {
        Role::Content
    }
}

/// Whether a sentence that begins with this word is a question or a request.
pub(crate) fn opens_question(word: &str) -> bool {
    OPENERS.split_whitespace().any(|opener| opener == word)
}

const VAGUE: &str = "remember recall session sessions conversation conversations chat chats discuss discussed discussion \
talk talked mention mentioned say said ask asked tell told find found show look looked looking search \
thing things stuff way something anything someone somebody anyone anybody everything everyone nothing time times ago earlier recently previously before once \
use used using get got getting do done make made work worked working want wanted need needed try tried \
happen happened go went come came put know thought think decide decided again really actually exactly ever";

const OPENERS: &str = "how what whats which where wheres when why who whose whom did do does is are was were has have had can could \
should would will didn don doesn isn wasn any find show tell remember list give \
wie was welche welcher welches wo wann warum wer wieso weshalb woran womit wurde haben hat \
comment quoi quel quelle quels quelles ou quand pourquoi qui est avons combien \
como que cual cuales donde cuando por quien cuanto qual quais onde quando porque quem quanto \
come cosa quale quali dove perche chi hoe wat welke waar wanneer waarom wie \
как что какой какая какие где когда почему кто зачем";
