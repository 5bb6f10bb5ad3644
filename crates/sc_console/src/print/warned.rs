//! The warning about a template's argument that has got no value, once for each.

use std::collections::BTreeSet;

use sc_core::{Cx, ExtensionReport, Report, ReportKind, Severity};

/// A template was printed without a value for one of its arguments.
pub(crate) static TEMPLATE_ARGUMENT_MISSING: ExtensionReport = ExtensionReport {
    name: "TemplateArgumentMissing",
    severity: Severity::Warning,
    fix: "pass a value of that name, or take the argument out of the template",
};

/// How many warnings are remembered. Templates that are made anew again and again, with text that
/// differs, must not fill the memory: beyond this, what was warned about is forgotten, and warned
/// about again.
const REMEMBERED: usize = 1024;

/// The arguments of templates that were warned about.
#[derive(Default)]
struct Warned(BTreeSet<(String, String)>);

pub(super) fn warn_once<H>(cx: &mut Cx<'_, H>, template: &str, arguments: &[String]) {
    for argument in arguments {
        let warned = &mut cx.runtime_state::<Warned>().0;
        if warned.len() >= REMEMBERED {
            warned.clear();
        }
        if !warned.insert((template.to_owned(), argument.clone())) {
            continue;
        }
        let what =
            format!("the template `{template}` was printed without a value for `{argument}`");
        cx.report(Report::new(
            ReportKind::Extension(&TEMPLATE_ARGUMENT_MISSING),
            what,
        ));
    }
}
