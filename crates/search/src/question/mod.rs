//! Questions in sentences: which of their words count, and in which forms they may occur.
//!
//! The index has words as they were written. What a question needs is added to the query: function words are left out
//! (`fillers`), the others match every form with the same Snowball stem (`forms`), and runs of Chinese, Japanese and Korean
//! are split into what they are about (`dense`). The same forms are looked for in the index and in texts, so both agree.

mod dense;
mod fillers;
mod forms;
mod language;
#[cfg(test)]
mod tests;

pub(crate) use dense::{is_question as is_dense_question, pairs as dense_pairs};
pub(crate) use fillers::{Role, opens_question, role};
pub(crate) use forms::Forms;
pub(crate) use language::Languages;
