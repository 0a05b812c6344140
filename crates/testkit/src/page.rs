//! Reads an exported page like a browser, and fails on anything unexpected.

/// Every element that an exported page may have.
const ELEMENTS: &[&str] = &[
    "a",
    "article",
    "aside",
    "b",
    "bdi",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "code",
    "dd",
    "del",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "img",
    "input",
    "kbd",
    "label",
    "legend",
    "li",
    "main",
    "meta",
    "nav",
    "ol",
    "option",
    "output",
    "p",
    "polygon",
    "polyline",
    "pre",
    "rect",
    "script",
    "search",
    "section",
    "select",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "ul",
];

/// Every attribute. There is none that a browser would run or use as style.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "aria-live",
    "autocomplete",
    "charset",
    "checked",
    "class",
    "colspan",
    "content",
    "data-id",
    "data-lang",
    "data-project",
    "data-sort",
    "datetime",
    "dir",
    "dy",
    "for",
    "height",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "lang",
    "loading",
    "name",
    "placeholder",
    "points",
    "popover",
    "popovertarget",
    "preserveAspectRatio",
    "rel",
    "role",
    "scope",
    "spellcheck",
    "src",
    "start",
    "tabindex",
    "type",
    "value",
    "viewBox",
    "width",
    "x",
    "y",
];

/// Elements without an end tag.
const VOID: &[&str] = &["br", "hr", "img", "input", "meta", "polygon", "polyline", "rect"];

/// A page that was read.
#[derive(Debug, Default)]
pub struct Page {
    /// Its elements, in order.
    pub elements: Vec<Element>,
    /// Its text: everything outside of style and script, with entities decoded.
    pub text: String,
}

/// An element of a page.
#[derive(Debug)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub attributes: Vec<(String, String)>,
}

impl Element {
    /// Returns an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Page {
    /// Reads a page.
    ///
    /// # Panics
    /// If it has an unexpected element or attribute, links anywhere but to the web or to files beside it, has more than one
    /// script or style, or elements that are not closed in order.
    pub fn read(page: &str) -> Self {
        let mut read = Self::default();
        let mut open: Vec<String> = Vec::new();
        let mut rest =
            page.strip_prefix("<!doctype html>\n").unwrap_or_else(|| fail("no doctype", page));
        while let Some((text, behind)) = rest.split_once('<') {
            read.text.push_str(&plain(text));
            let (tag, after) = tag(behind);
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                let last = open.pop();
                assert_eq!(
                    last.as_deref(),
                    Some(name),
                    "closes another than is open: …{behind:.60}"
                );
                continue;
            }
            let element = element(tag.strip_suffix('/').unwrap_or(tag));
            let name = element.name.clone();
            check(&element);
            read.elements.push(element);
            if !VOID.contains(&name.as_str()) {
                open.push(name.clone());
            }
            if matches!(name.as_str(), "style" | "script") {
                let end = format!("</{name}>");
                let (_, behind) =
                    rest.split_once(&end).unwrap_or_else(|| fail("never ends", &name));
                open.pop();
                rest = behind;
            }
        }
        assert!(!rest.contains('>') && open.is_empty(), "{open:?} is left open");
        for only in ["style", "script", "html", "body", "main"] {
            assert_eq!(read.all(only).count(), 1, "{only}");
        }
        let rules =
            read.all("meta").find_map(|meta| meta.get("http-equiv").and(meta.get("content")));
        assert!(rules.is_some_and(|rules| rules.starts_with("default-src 'none'; ")), "{rules:?}");
        read
    }

    /// Returns the elements of a name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }
}

#[expect(clippy::panic, reason = "a test fails by panic")]
fn fail<T>(what: &str, at: &str) -> T {
    panic!("{what}: {at:.200}")
}

/// Returns a tag without its brackets, and the rest after it. A `>` in quotes does not end it.
fn tag(text: &str) -> (&str, &str) {
    let mut is_quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            '>' if !is_quoted => return (&text[..at], &text[at + 1..]),
            '<' => break,
            _ => {}
        }
    }
    fail("a bracket that is no tag", text)
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (own, behind) = quoted.split_once('"').unwrap_or_else(|| fail("open quote", tag));
            value = plain(own);
            rest = behind;
        }
        attributes.push((name, value));
        assert!(rest.is_empty() || rest.starts_with(' '), "between attributes: {tag}");
        rest = rest.trim_start();
    }
    Element { name: name.to_owned(), attributes }
}

fn check(element: &Element) {
    assert!(ELEMENTS.contains(&element.name.as_str()), "not ours: <{}>", element.name);
    for (name, value) in &element.attributes {
        assert!(ATTRIBUTES.contains(&name.as_str()), "not ours: {name} of {}", element.name);
        let leads = match name.as_str() {
            "href" => {
                let beside = |c: char| c.is_alphanumeric() || "-_./".contains(c);
                ["#", "http://", "https://", "mailto:"].iter().any(|start| {
                    value.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
                }) || value.chars().all(beside)
            }
            "src" => value.starts_with("data:image/"),
            _ => true,
        };
        assert!(leads, "leads elsewhere: {name}={value}");
    }
}

fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
