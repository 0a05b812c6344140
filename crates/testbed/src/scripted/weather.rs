//! A notebook about the weather, in Japanese and Chinese.

use crate::{
    call::{edit, list, read, read_many, run, web_search, write},
    scenario::Scenario,
};

pub(crate) const FILES: &[&str] =
    &["メモ.md", "README.md", "予報/東京.csv", "予報/大阪.csv", "図表/plot.py", "数据/气温.csv"];

const TOKYO: &str =
    "日付,最高,最低,降水\n2026-03-01,14,6,0\n2026-03-02,11,7,12\n2026-03-03,9,4,3\n";
const PLOT: &str = "import csv\n\nrows = list(csv.DictReader(open('予報/東京.csv')))\nhigh = [int(row['最高']) for row in rows]\nprint('平均', sum(high) / len(high))\n";

pub(crate) fn forecast() -> Scenario {
    Scenario::titled("東京の予報を読み、平均気温を計算する")
        .ask_with("@予報/東京.csv の最高気温の平均を教えてください。", &[("予報/東京.csv", TOKYO)])
        .say("平均は **11.3 度** です。\n\n| 日付 | 最高 | 最低 | 降水 (mm) |\n|---|---:|---:|---:|\n| 3月1日 | 14 | 6 | 0 |\n| 3月2日 | 11 | 7 | 12 |\n| 3月3日 | 9 | 4 | 3 |\n\n三日続けて下がっています。🌡️")
        .thinking("平均を計算する", "14 と 11 と 9 を足すと 34、三で割ると 11.3 になる。")
        .ask("グラフにするスクリプトを書いて。日本語のラベルで。")
        .act("まずフォルダを見ます。", [list(".", &["予報/", "図表/", "数据/", "README.md", "メモ.md"]), read_many("予報/*.csv", &[("予報/東京.csv", TOKYO), ("予報/大阪.csv", "日付,最高,最低,降水\n2026-03-01,16,8,0\n")])])
        .act("", [write("図表/plot.py", PLOT), run("python3 図表/plot.py", "スクリプトを実行する", "平均 11.333333333333334\n", 0)])
        .say("`図表/plot.py` を作りました。実行すると次のように表示されます。\n\n```\n平均 11.333333333333334\n```")
        .ask("ありがとう！🎉 傘は要る？☔")
        .say("3月2日は **12 mm** の雨です。傘を持って行きましょう。☂️")
}

pub(crate) fn chart() -> Scenario {
    Scenario::titled("修正气温图表的编码问题")
        .ask("气温图表里的中文都变成了方块，怎么解决？")
        .act("我先看一下脚本和系统里的字体。", [read("図表/plot.py", PLOT), run("fc-list :lang=zh family | head -3", "查找中文字体", "Noto Sans CJK SC\nNoto Serif CJK SC\nWenQuanYi Micro Hei\n", 0)])
        .thinking("查找原因", "方块通常表示所用字体没有这些字形，而不是编码错误。先确认系统里有没有中文字体。")
        .act("", [web_search("matplotlib 中文 方块 字体", "默认字体 DejaVu Sans 不含汉字。设置 `font.family` 为已安装的中文字体即可。[1]\n\nSources:\n[1] Text properties and layout (https://matplotlib.org/stable/users/explain/text/text_props.html)")])
        .say("原因是**默认字体 DejaVu Sans 没有汉字字形**，数据本身没有问题。\n\n系统里已经装了 `Noto Sans CJK SC`，在画图之前加一行即可：\n\n```python\nplt.rcParams['font.family'] = 'Noto Sans CJK SC'\n```\n\n另外，负号可能也会变成方块，所以还要加：\n\n```python\nplt.rcParams['axes.unicode_minus'] = False\n```")
        .ask("好的，请改好脚本，顺便把会话里的旧图删掉。")
        .act("", [
            edit("図表/plot.py", PLOT, ("import csv\n", "import csv\n\nimport matplotlib.pyplot as plt\n\nplt.rcParams['font.family'] = 'Noto Sans CJK SC'\nplt.rcParams['axes.unicode_minus'] = False\n"), "设置中文字体"),
            run("rm -f 図表/旧图-*.png && ls 図表", "删除旧图", "plot.py\n气温.png\n", 0),
        ])
        .say("改好了：字体已设置，三张旧图已删除，新图是 `図表/气温.png`。👩‍🔬")
        .ask("再帮我检查一下韩文标签: 기온 (°C)")
        .say("没有问题。`Noto Sans CJK` 同时包含中文、日文和韩文字形，`기온 (°C)` 可以正常显示。")
}
