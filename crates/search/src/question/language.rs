//! Languages that questions may be in: their function words and their stemmers.

use frostem::{Algorithm, Stemmer};

/// A language.
struct Language {
    algorithm: Algorithm,
    /// Function words, folded.
    fillers: &'static str,
    /// Endings of inflected words, folded.
    endings: &'static str,
}

/// English is first: names, commands and most sessions are.
static ALL: [Language; 8] = [
    Language {
        algorithm: Algorithm::English,
        fillers: "a about above after again against all also am an and any are aren as at be because been being below between both but by \
can cannot could couldn did didn do does doesn doing don down during each either else few for from further had hadn has hasn have \
haven having he her here hers him his how i if in into is isn it its itself just ll let lets m may me might more most must my \
neither no nor not now of off on only or other our ours out over own please re s same shall she should shouldn so some such t \
than that thats the their theirs them then there these they this those through to too under until up upon us ve very via was \
wasn we were weren what whats when where which while who whom whose why will with within without won would wouldn yes yet you \
your yours d",
        endings: "s es ed d ing ings er ers or ors ion ions ation ations ment ments able ible ly al ally ive ity ness e y ies ied ier \
ize izes ized izing izer ization ise ises ised ising isation ate ates ated ating ator ators ance ence ancy ency ant ent",
    },
    Language {
        algorithm: Algorithm::German,
        fillers: "aber alle als am an auch auf aus bei beim bin bis da damit dann das dass dem den der des dich die dies diese dieser dieses \
dir doch du durch ein eine einem einen einer eines er es euch fur gab gegen gibt hab habe haben hat hatte hatten hier ich ihm ihn \
ihr im in ist ja jetzt kann kein keine man mein meine mich mir mit nach nicht noch nun nur ob oder ohne schon sein seine sich sie \
sind so uber um und uns unser unsere unter vom von vor wann war waren warum was welche welcher welches wenn wer werden weshalb \
wie wieder wieso wir wird wo wurde wurden zu zum zur",
        endings: "e en er ern es em n s st t te ten test tet end ende enden ung ungen lich liche lichen isch ische ischen keit heit",
    },
    Language {
        algorithm: Algorithm::French,
        fillers: "ai as au aux avait avec avez avons ce ces cet cette comment dans de des du elle en est et etait ete etions eu fait faire fut il ils \
je la le les leur lui ma mais me mes moi mon ne nos notre nous on ont ou par pas plus pour pourquoi quand que quel quelle quelles \
quels qui quoi sa sans se ses si son sont sur ta te tes ton tu un une vos votre vous y",
        endings: "e s es er ers ee ees ez ent ait ant ante antes ants ons ion ions ation ations ement ements eur euse if ive ifs ives ir it is ie \
ies issant iste istes able ables al ale ales aux",
    },
    Language {
        algorithm: Algorithm::Spanish,
        fillers: "a al como con cual cuales cuando de del desde donde e el ella en entre era es esa ese eso esta estaba este esto fue fueron ha \
habia hace hacer han hasta hay hemos hicimos la las le les lo los mas me mi muy no nos nosotros nuestra nuestro o para pero por \
porque que quien se ser si sin sobre son su sus tambien te tiene tu un una uno unos y ya yo",
        endings: "a o as os e es ar er ir ado ada ados adas ido ida idos idas ando iendo aba abas aban amos aron ieron io cion ciones mente \
ador adora adores an en able ables ible ibles",
    },
    Language {
        algorithm: Algorithm::Portuguese,
        fillers: "a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu fez fizemos foi foram ha isso isto ja mais \
mas me meu minha muito na nao nas no nos nossa nosso o onde os ou para pela pelo por porque qual quais quando que quem se sem ser \
seu sua tem um uma voce",
        endings: "a o as os e es ar er ir ado ada ados adas ido ida idos idas ando endo indo ava amos aram eram iram ou cao coes mente ador \
adora adores am em avel aveis",
    },
    Language {
        algorithm: Algorithm::Italian,
        fillers: "a abbiamo ai al alla alle anche che chi ci come con cosa da dal dalla de dei del della delle di dove e era erano essere fa fare \
fatto gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mio ne nei nel nella noi non nostra nostro o per perche piu quale \
quali quando quello questa questo se si sono stato su sua suo sul sulla ti tra tu un una uno voi",
        endings: "a o e i are ere ire ato ata ati ate ito ita iti ite uto uta uti ute ando endo ava avano iamo ano ono zione zioni mente tore tori",
    },
    Language {
        algorithm: Algorithm::Dutch,
        fillers: "aan al als bij daar dan dat de deze die dit doen door een en er gedaan geen had hadden heb hebben heeft hem het hier hij hoe hun ik \
in is je kan maar me meer met mij mijn na naar niet nog nu of om onder ons onze ook op over te toch toen tot u uit van veel voor \
waar waarom wanneer waren was wat we welke werd werden wie wij wil worden zal ze zich zij zijn zo",
        endings: "e en s t te ten de den er ers ing ingen tje tjes lijk lijke heid",
    },
    Language {
        algorithm: Algorithm::Russian,
        fillers: "а без бы был была были было в вас во вот все вы где да для до его ее если есть еще же за зачем и из или им их к как какая какие \
какои ко когда кто ли мы мне меня на нам нас наш не него нет но о об он она они оно от по под почему при с со так там то тот ты у \
уже что чтобы это этот я",
        endings: "а я ы и у ю е о ои еи ом ем ам ям ами ями ах ях ов ев ть л ла ло ли ет ит ют ят им ем ал ала али ил ила или ция ции ение ения",
    },
];

/// The languages of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Languages([bool; ALL.len()]);

impl Languages {
    /// Returns English, and the languages that most of the function words belong to.
    pub(crate) fn of<'w>(words: &(impl Iterator<Item = &'w str> + Clone)) -> Self {
        let counts = ALL
            .each_ref()
            .map(|language| words.clone().filter(|word| has(language.fillers, word)).count());
        let most = counts.iter().copied().max().unwrap_or(0);
        let english = counts.first().copied().unwrap_or(0);
        let mut chosen = counts.map(|count| count > english && count == most);
        if let Some(english) = chosen.first_mut() {
            *english = true;
        }
        Self(chosen)
    }

    /// Returns the stemmer and the endings of each.
    pub(super) fn each(self) -> impl Iterator<Item = (Stemmer, &'static str)> {
        let chosen = ALL.iter().zip(self.0).filter(|(_, is_chosen)| *is_chosen);
        chosen.map(|(language, _)| (Stemmer::new(language.algorithm), language.endings))
    }
}

/// Whether a folded word is a function word of a language. One of another language than English may be a content word in English
/// ("die", "man", "fur"), so the languages of the question decide.
pub(super) fn is_function_word(word: &str, languages: Languages) -> bool {
    let mut chosen = ALL.iter().zip(languages.0).filter(|(_, is_chosen)| *is_chosen);
    chosen.any(|(language, _)| has(language.fillers, word))
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
