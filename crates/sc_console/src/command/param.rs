//! Parameters as the registry knows them: their text, what checks a word, what suggests one.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::RangeBounds;

use sc_core::{AnyCx, Cx};

use crate::arg::{ArgError, ConsoleArg, Parameter, RangeText, Rule, TakeError};
use crate::info::{ParamInfo, Suggest, doc_text};
use crate::parse::quote;
use crate::redact::MASK;

/// A function that suggests arguments, whatever its host type.
pub(crate) struct AnySuggest {
    host: Option<TypeId>,
    function: Box<dyn Any>,
}

pub(crate) type HostSuggest<H> = fn(&mut Cx<'_, H>, &str) -> Vec<String>;
pub(crate) type FreeSuggest = fn(&mut dyn AnyCx, &str) -> Vec<String>;

impl AnySuggest {
    /// Asks it; it gets what is typed of the word so far.
    pub(crate) fn ask<H: 'static>(&self, cx: &mut Cx<'_, H>, typed: &str) -> Vec<String> {
        if self.host.is_some() {
            let function = self.function.downcast_ref::<HostSuggest<H>>();
            function.map_or_else(Vec::new, |function| function(cx, typed))
        } else {
            let function = self.function.downcast_ref::<FreeSuggest>();
            function.map_or_else(Vec::new, |function| function(cx, typed))
        }
    }
}

/// A function that suggests arguments: of one host type, or of any.
#[doc(hidden)]
pub trait IntoSuggest {
    fn into_suggest(self, param: &mut ParamDef);
}

impl<H: 'static> IntoSuggest for fn(&mut Cx<'_, H>, &str) -> Vec<String> {
    fn into_suggest(self, param: &mut ParamDef) {
        param.0.suggest = Some(AnySuggest {
            host: Some(TypeId::of::<H>()),
            function: Box::new(self),
        });
    }
}

impl IntoSuggest for fn(&mut dyn AnyCx, &str) -> Vec<String> {
    fn into_suggest(self, param: &mut ParamDef) {
        param.0.suggest = Some(AnySuggest {
            host: None,
            function: Box::new(self),
        });
    }
}

/// Says whether a word is allowed.
type Check = Box<dyn Fn(&str) -> Result<(), TakeError>>;

/// A parameter.
pub(crate) struct Param {
    pub(crate) info: ParamInfo,
    /// Its default, a word each; in `info` that of a secret one is masked.
    pub(crate) default: Vec<String>,
    pub(crate) suggest: Option<AnySuggest>,
    pub(crate) check: Check,
}

/// A parameter that is being declared. The macros make it.
#[doc(hidden)]
pub struct ParamDef(pub(crate) Param);

impl ParamDef {
    /// A parameter of a type.
    #[must_use]
    pub fn new<P: Parameter>(name: &str, rule: Rule<P>) -> Self {
        let default = rule.default.map(|make| make().words());
        let shown = default.as_ref().and_then(|words| match P::VARIADIC {
            true => {
                let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
                Some(words.join(" "))
            }
            false => words.first().cloned(),
        });
        // A name that is a word of Rust is written with a mark that is not part of it.
        let name = name.strip_prefix("r#").unwrap_or(name);
        ParamDef(Param {
            info: ParamInfo {
                name: name.to_owned(),
                type_name: P::Arg::type_name().into_owned(),
                optional: P::OPTIONAL || rule.default.is_some(),
                default: shown,
                variadic: P::VARIADIC,
                values: P::Arg::values().into_iter().map(str::to_owned).collect(),
                ..ParamInfo::default()
            },
            default: default.unwrap_or_default(),
            suggest: None,
            check: Box::new(move |word| rule.value(word).map(drop)),
        })
    }

    /// All words, as they are.
    #[must_use]
    pub fn raw(name: &str) -> Self {
        let mut param = ParamDef::new::<Vec<String>>(name, Rule::default());
        "words".clone_into(&mut param.0.info.type_name);
        param
    }

    pub fn docs(&mut self, lines: &[&str]) {
        self.0.info.about = doc_text(lines);
    }

    pub fn secret(&mut self) {
        self.0.info.secret = true;
        mask_default(&mut self.0.info);
    }

    pub fn range<P: Parameter>(&mut self, range: impl RangeBounds<P::Arg>) {
        self.0.info.range = Some(RangeText::of(&range));
    }

    pub fn special<P: Parameter>(&mut self, value: P::Arg, meaning: &str) {
        let special = (value.show(), meaning.to_owned());
        self.0.info.specials.push(special);
    }

    pub fn suggest(&mut self, function: impl IntoSuggest) {
        function.into_suggest(self);
        self.0.info.suggest = Suggest::Live;
    }

    pub fn suggest_from(&mut self, source: Suggest) {
        self.0.info.suggest = source;
    }
}

impl fmt::Debug for ParamDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.info.fmt(f)
    }
}

/// A secret's default is one too.
pub(crate) fn mask_default(info: &mut ParamInfo) {
    if info.secret && info.default.is_some() {
        info.default = Some(MASK.to_owned());
    }
}

/// What is wrong with some parameters, taken together.
pub(crate) fn fault(params: &[Param]) -> Option<String> {
    let mut optional = None;
    for (index, param) in params.iter().enumerate() {
        let info = &param.info;
        if info.variadic && index + 1 < params.len() {
            return Some(format!(
                "`{}` takes all that follows and is not the last",
                info.name
            ));
        }
        if let Some(optional) = optional
            && !info.optional
        {
            return Some(format!(
                "`{}` is required and follows `{optional}`, which is not",
                info.name
            ));
        }
        if info.optional {
            optional = Some(&info.name);
        }
        if params
            .iter()
            .take(index)
            .any(|earlier| earlier.info.name == info.name)
        {
            return Some(format!("there are two called `{}`", info.name));
        }
        let is_bad = |word: &&String| (param.check)(word).is_err();
        if let Some(default) = param.default.iter().find(is_bad) {
            let shown = info.default.as_deref().unwrap_or(default);
            return Some(format!(
                "the default of `{}`, {shown}, is not allowed",
                info.name
            ));
        }
    }
    None
}

/// The text of a refusal.
pub(crate) fn refusal(info: &ParamInfo, error: TakeError) -> ArgError {
    match error {
        TakeError::Word(error) => error,
        TakeError::Missing => ArgError::expected(format!("{} ({})", info.name, info.type_name)),
        TakeError::OutOfRange => {
            let mut expected = match &info.range {
                Some(range) => format!("{} {range}", info.type_name),
                None => info.type_name.clone(),
            };
            for (value, meaning) in &info.specials {
                expected.push_str(&format!(", or {value} ({meaning})"));
            }
            ArgError::expected(expected)
        }
    }
}
