//! The languages whose code is classified. A new one is one entry in [`LANGUAGES`].

/// What the lexer needs to know about a language.
#[derive(Debug)]
pub(crate) struct Language {
    /// Labels of fences and extensions of files.
    names: &'static [&'static str],
    /// What begins a comment up to the end of the line.
    pub(crate) line_comments: &'static [&'static str],
    /// What begins and ends a block comment.
    pub(crate) block_comments: &'static [(&'static str, &'static str)],
    /// String literals; longer openings come first.
    pub(crate) quotes: &'static [Quote],
    /// Keywords, in lists separated by single spaces.
    pub(crate) keywords: &'static [&'static str],
    /// Marks that make the word after them a name: `@` of an annotation, `<` of a tag.
    pub(crate) word_marks: &'static [&'static str],
    /// Whether keywords may be written in any case.
    pub(crate) ignores_case: bool,
    /// Whether a word before `:` or `=` is a key.
    pub(crate) has_keys: bool,
    /// Whether a capital begins a type.
    pub(crate) has_types: bool,
}

/// One kind of string literal.
#[derive(Debug)]
pub(crate) struct Quote {
    /// What begins it.
    pub(crate) open: &'static str,
    /// What ends it.
    pub(crate) close: &'static str,
    /// Whether a backslash escapes the next character.
    pub(crate) escapes: bool,
    /// Whether it may span lines.
    pub(crate) spans_lines: bool,
    /// Whether it holds one character: distinguishes `'a'` from the lifetime `'a`.
    pub(crate) one_character: bool,
}

impl Quote {
    const fn new(mark: &'static str) -> Self {
        Self { open: mark, close: mark, escapes: true, spans_lines: false, one_character: false }
    }

    const fn over_lines(mark: &'static str) -> Self {
        Self { spans_lines: true, ..Self::new(mark) }
    }

    const fn raw(open: &'static str, close: &'static str) -> Self {
        Self { open, close, escapes: false, spans_lines: true, one_character: false }
    }

    const fn character(mark: &'static str) -> Self {
        Self { one_character: true, ..Self::new(mark) }
    }

    /// Returns the first character of the closing mark.
    pub(crate) fn last(&self) -> char {
        self.close.chars().next().unwrap_or('"')
    }
}

/// Returns the language of a fence's label or a file's extension.
pub(crate) fn find(name: &str) -> Option<&'static Language> {
    LANGUAGES
        .iter()
        .find(|language| language.names.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

const PLAIN: Language = Language {
    names: &[],
    line_comments: &[],
    block_comments: &[],
    quotes: &[Quote::new("\""), Quote::new("'")],
    keywords: &[],
    word_marks: &[],
    ignores_case: false,
    has_keys: false,
    has_types: false,
};

/// Languages with C-style comments.
const BRACES: Language = Language {
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    word_marks: &["@"],
    has_types: true,
    ..PLAIN
};

/// Languages with shell-style comments.
const HASH: Language = Language { line_comments: &["#"], ..PLAIN };

const C_WORDS: &str = "if else for while do switch case default break continue return goto sizeof \
    struct enum union typedef static const extern inline volatile void int char long short float double \
    unsigned signed bool auto register";
const OBJECT_WORDS: &str = "class interface extends implements public private protected static final \
    abstract new this super try catch finally throw throws import package return if else for while do \
    switch case default break continue void int long boolean char double float byte short enum instanceof \
    var record sealed override null";

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        quotes: &[
            Quote::raw("r#\"", "\"#"),
            Quote::raw("r\"", "\""),
            Quote::over_lines("\""),
            Quote::character("'"),
        ],
        keywords: &[
            "as async await break const continue crate dyn else enum extern fn for if impl in let loop \
             match mod move mut pub ref return self Self static struct super trait type unsafe use where \
             while",
        ],
        word_marks: &[],
        ..BRACES
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "cjs", "typescript", "ts", "tsx", "mts", "cts"],
        quotes: &[Quote::over_lines("`"), Quote::new("\""), Quote::new("'")],
        keywords: &[
            "abstract any as async await boolean break case catch class const continue debugger declare \
             default delete do else enum export extends finally for from function get if implements \
             import in instanceof interface keyof let namespace never new number of private protected \
             public readonly return satisfies set static string super switch this throw try type typeof \
             unknown var void while with yield",
        ],
        ..BRACES
    },
    Language {
        names: &["python", "py", "pyi", "python3"],
        quotes: &[
            Quote::over_lines("\"\"\""),
            Quote::over_lines("'''"),
            Quote::new("\""),
            Quote::new("'"),
        ],
        keywords: &[
            "and as assert async await break case class continue def del elif else except finally for \
             from global if import in is lambda match nonlocal not or pass raise return self try while \
             with yield",
        ],
        word_marks: &["@"],
        has_types: true,
        ..HASH
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "fish", "console", "shellscript"],
        keywords: &[
            "if then else elif fi for in do done while until case esac function return exit local \
             export set unset source echo cd alias end",
        ],
        word_marks: &["$"],
        ..HASH
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson"],
        line_comments: &["//"],
        block_comments: &[("/*", "*/")],
        quotes: &[Quote::new("\"")],
        has_keys: true,
        ..PLAIN
    },
    Language {
        names: &["toml", "yaml", "yml", "ini", "conf", "cfg", "properties", "env", "dotenv"],
        has_keys: true,
        ..HASH
    },
    Language {
        names: &["go", "golang"],
        quotes: &[Quote::raw("`", "`"), Quote::new("\""), Quote::new("'")],
        keywords: &[
            "break case chan const continue default defer else fallthrough for func go goto if import \
             interface map package range return select struct switch type var string int bool error byte \
             rune any",
        ],
        word_marks: &[],
        ..BRACES
    },
    Language { names: &["c", "h"], keywords: &[C_WORDS], word_marks: &["#"], ..BRACES },
    Language {
        names: &["cpp", "c++", "cc", "cxx", "hpp", "hh", "cu", "objc", "m", "glsl", "ino"],
        keywords: &[
            C_WORDS,
            "class namespace template typename using public private protected virtual override final \
             new delete this try catch throw constexpr noexcept nullptr operator friend mutable explicit",
        ],
        word_marks: &["#"],
        ..BRACES
    },
    Language { names: &["java", "groovy", "gradle"], keywords: &[OBJECT_WORDS], ..BRACES },
    Language {
        names: &["csharp", "cs", "c#"],
        keywords: &[
            OBJECT_WORDS,
            "namespace using string bool object get set async await base delegate event foreach in is as \
             internal lock out params readonly ref struct virtual where yield",
        ],
        ..BRACES
    },
    Language {
        names: &["kotlin", "kt", "kts", "swift", "scala", "dart", "sc"],
        quotes: &[Quote::over_lines("\"\"\""), Quote::new("\""), Quote::new("'")],
        keywords: &[
            OBJECT_WORDS,
            "fun func val let object trait def when is in as where guard self init extension protocol \
             struct suspend data companion lateinit match type given implicit lazy late required async \
             await with mixin",
        ],
        ..BRACES
    },
    Language {
        names: &["php"],
        line_comments: &["//", "#"],
        keywords: &[
            OBJECT_WORDS,
            "function echo use namespace foreach as elseif array fn match string",
        ],
        word_marks: &["$"],
        ..BRACES
    },
    Language {
        names: &["proto", "protobuf", "graphql", "gql", "thrift", "zig", "v"],
        line_comments: &["//", "#"],
        keywords: &[
            "message service rpc returns enum import package option repeated optional oneof syntax type \
             query mutation subscription fragment on input interface union scalar schema extend const var \
             fn pub struct return if else while for switch try catch defer comptime",
        ],
        ..BRACES
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "crystal", "cr"],
        keywords: &[
            "def defp defmodule end if elsif else unless case when cond do while until for in return \
             yield class module begin rescue ensure raise require include extend attr_accessor self super \
             and or not then fn use alias import",
        ],
        word_marks: &["@"],
        has_types: true,
        ..HASH
    },
    Language {
        names: &["perl", "pl", "pm", "r", "julia", "jl", "nim", "gdscript", "gd", "tcl", "awk"],
        keywords: &[
            "if else elsif elseif elif for foreach while until do end function func sub proc return my \
             our use let var const in and or not struct module import using begin next break continue \
             class extends repeat print",
        ],
        word_marks: &["$", "@"],
        ..HASH
    },
    Language {
        names: &["dockerfile", "docker", "containerfile"],
        keywords: &[
            "FROM RUN CMD COPY ADD ENV ARG WORKDIR EXPOSE ENTRYPOINT VOLUME USER LABEL HEALTHCHECK SHELL \
             STOPSIGNAL ONBUILD AS",
        ],
        word_marks: &["$"],
        ..HASH
    },
    Language {
        names: &["makefile", "make", "mk", "cmake", "nix", "hcl", "tf", "terraform", "bzl", "just"],
        keywords: &[
            "if else elseif endif ifeq ifneq ifdef ifndef foreach endforeach function endfunction include \
             define endef export let in with inherit rec resource variable output provider module data \
             locals set load def for return",
        ],
        word_marks: &["$"],
        ..HASH
    },
    Language {
        names: &["powershell", "ps1", "pwsh"],
        block_comments: &[("<#", "#>")],
        keywords: &[
            "if else elseif foreach for while do switch function param return try catch finally throw \
             begin process end in",
        ],
        word_marks: &["$"],
        ignores_case: true,
        ..HASH
    },
    Language {
        names: &["sql", "mysql", "postgresql", "postgres", "sqlite", "plsql"],
        line_comments: &["--"],
        block_comments: &[("/*", "*/")],
        keywords: &[
            "select from where and or not in is insert into values update set delete create table index \
             view drop alter add column primary key foreign references unique default constraint join \
             left right inner outer full cross on using group by order having limit offset union all \
             distinct as case when then else end exists between like null begin commit rollback with \
             returning if text integer int varchar boolean timestamp",
        ],
        ignores_case: true,
        ..PLAIN
    },
    Language {
        names: &["lua", "haskell", "hs", "elm", "ada"],
        line_comments: &["--"],
        block_comments: &[("--[[", "]]"), ("{-", "-}")],
        keywords: &[
            "and break do else elseif end for function goto if in local not or repeat return then until \
             while module where import data type newtype class instance deriving case of let qualified as",
        ],
        has_types: true,
        ..PLAIN
    },
    Language {
        names: &["clojure", "clj", "cljs", "edn", "lisp", "el", "scheme", "scm", "racket", "rkt"],
        line_comments: &[";"],
        quotes: &[Quote::over_lines("\"")],
        keywords: &[
            "def defn defun defmacro let if cond when do fn lambda define ns require loop recur",
        ],
        word_marks: &[":"],
        ..PLAIN
    },
    Language {
        names: &["html", "htm", "xml", "svg", "vue", "svelte", "xhtml", "plist", "jsp"],
        block_comments: &[("<!--", "-->")],
        word_marks: &["</", "<"],
        has_keys: true,
        ..PLAIN
    },
    Language {
        names: &["css", "scss", "sass", "less"],
        line_comments: &[],
        word_marks: &["@", ".", "#", "$"],
        has_keys: true,
        has_types: false,
        ..BRACES
    },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn languages_are_found_by_label_and_extension_in_any_case() {
        for name in ["rust", "rs", "TSX", "Python", "yml", "Dockerfile", "c++"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("").is_none());
        assert!(find("text").is_none());
    }

    #[test]
    fn no_name_is_used_by_two_languages() {
        let mut seen = HashSet::new();
        for name in LANGUAGES.iter().flat_map(|language| language.names) {
            assert!(seen.insert(name), "{name}");
        }
    }
}
