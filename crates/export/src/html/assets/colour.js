
// Code is coloured when it comes into view, without a change to the page: ranges of text get a name, the style gives
// names a colour.
if (CSS.highlights) {
  const LONGEST = 200_000;
  const C = "if else for while do switch case default break continue return goto struct enum union typedef static const extern inline void class interface extends implements public private protected final abstract new this super try catch finally throw throws import package function var let async await yield export from of in typeof instanceof delete as type namespace readonly declare null true false undefined fn mut impl trait pub use mod crate self Self where match loop move ref dyn unsafe func go chan defer range select map nil override val when object companion data sealed using string int bool float double char long byte";
  const HASHED = "if elif else fi then for while until do done case esac in function return local export set def class import from as with try except finally raise lambda pass yield global nonlocal not and or is None True False self end module begin rescue ensure unless require nil true false null echo cd";
  const SQL = "select from where insert into values update set delete create table index view drop alter join left right inner outer on group by order having limit offset union all as and or not null is in like between case when then else end distinct primary key foreign references begin commit";
  const family = (comment, keywords, more = "") => {
    const words = new Set(keywords.split(" "));
    const parts = [
      `(?<comment>${comment})`,
      `(?<string>${more}"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*')`,
      "(?<number>\\b\\d[\\w.]*)",
      "(?<word>[A-Za-z_][\\w]*)",
    ];
    return { pattern: new RegExp(parts.join("|"), "gs"), words };
  };
  const cLike = family("//[^\\n]*|/\\*.*?(?:\\*/|$)", C, "`(?:[^`\\\\]|\\\\.)*`|");
  const hashed = family("#[^\\n]*", HASHED, "\"\"\".*?(?:\"\"\"|$)|'''.*?(?:'''|$)|");
  const dashed = family("--[^\\n]*|/\\*.*?(?:\\*/|$)", SQL + " " + SQL.toUpperCase());
  const tagged = family("<!-{2}.*?(?:-->|$)", "");
  const FAMILIES = new Map();
  const name = (list, lexer) => list.split(" ").forEach((one) => FAMILIES.set(one, lexer));
  name("rust rs c h cc cpp hpp java js mjs cjs jsx ts tsx typescript javascript go kt kotlin swift cs php scala dart json jsonc css scss less proto zig groovy", cLike);
  name("python py sh bash zsh shell console ruby rb yaml yml toml ini conf make makefile dockerfile perl pl r elixir ex nix tf gitignore env", hashed);
  name("sql lua haskell hs elm", dashed);
  name("html xml svg vue svelte", tagged);

  name("diff patch", { pattern: /(?<string>^\+.*$)|(?<removed>^-.*$)|(?<comment>^@@.*$)/gm });

  const styles = {};
  for (const tone of ["comment", "string", "number", "keyword", "name", "removed"]) CSS.highlights.set(tone, styles[tone] = new Highlight());
  const coloured = new Map();

  function colour(block) {
    const language = (block.dataset.lang ?? block.parentElement?.dataset.lang ?? "").toLowerCase();
    const lexer = FAMILIES.get(language);
    if (!lexer || block.textContent.length > LONGEST) return;
    // A parser may have cut a long text in pieces.
    block.normalize();
    const node = block.firstChild;
    if (node?.nodeType !== Node.TEXT_NODE) return;
    const ranges = [];
    for (const match of node.data.matchAll(lexer.pattern)) {
      let tone = Object.keys(match.groups).find((group) => match.groups[group] !== undefined);
      const end = match.index + match[0].length;
      if (tone === "word") {
        if (lexer.words.has(match[0])) tone = "keyword";
        else if (node.data[end] === "(") tone = "name";
        else continue;
      }
      const range = new StaticRange({ startContainer: node, startOffset: match.index, endContainer: node, endOffset: end });
      styles[tone].add(range);
      ranges.push([tone, range]);
    }
    coloured.set(block, ranges);
  }

  function fade(block) {
    for (const [tone, range] of coloured.get(block) ?? []) styles[tone].delete(range);
    coloured.delete(block);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) fade(target);
      else if (!coloured.has(target)) colour(target);
    }
  }, { rootMargin: "300px" });
  for (const block of session.querySelectorAll("pre[data-lang], [data-lang] > pre")) watcher.observe(block);
}
