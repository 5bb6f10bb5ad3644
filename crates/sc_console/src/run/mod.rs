//! Running lines: a task is one line that was asked for, with what it leads to.
//!
//! A task has a stack of frames: the line, an alias it uses, a script that runs, an alias in that ..
//! Its top frame gives the next command. A task that must wait is kept, and goes on in the stage
//! `Console`.

mod dispatch;
mod frame;
mod invoke;
mod script;
mod waiting;

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

use sc_core::{Culprit, Cx};

use crate::command::Latent;
use crate::name::fold;
use crate::output::{Heard, LineKind, LineOutcome, LineRun, Output, OutputLine, Printed, Ring};
use crate::parse::{CommandText, ParseError};
use crate::redact::{MASK, mask, secrets};
use crate::registry::{Console, console};
use crate::reports;
use crate::source::Source;
#[cfg(feature = "terminal")]
use crate::terminal::{Item, feeds_of};

pub(crate) use dispatch::nearest_visible;
pub(crate) use frame::Frame;
pub(crate) use frame::Lines;
pub(crate) use invoke::game_world;
pub(crate) use script::read_script;
pub(crate) use script::scripts;
pub(crate) use script::startup;
pub(crate) use waiting::cancel_all;
pub(crate) use waiting::cancel_line;
pub(crate) use waiting::waiting_lines;

/// Aliases and scripts in one another, and lines that commands run, go so deep together.
pub(crate) const DEEPEST: usize = 32;

/// So many aliases and scripts run for one line, until it waits.
const MOST: u32 = 10_000;

/// A secret of fewer letters is in many words.
const SHORT: usize = 2;

/// Told of the end of a line.
pub(crate) type DoneFn<H> = Box<dyn FnOnce(&mut Cx<'_, H>, LineRun)>;

/// What a task waits for.
pub(crate) enum Waiting {
    /// Nothing: its turn.
    No,
    /// A frame with this number.
    Frame(u64),
    /// A latent command.
    Latent(Latent),
}

/// A line that runs.
pub(crate) struct Task<H: 'static> {
    pub(crate) frames: Vec<Frame>,
    pub(crate) output: Output,
    pub(crate) waiting: Waiting,
    /// The words of the present command that are secrets.
    hidden: Vec<String>,
    /// How many callers it has on the stack.
    pub(crate) nested: usize,
    /// How many aliases and scripts it has entered since it last waited.
    entered: u32,
    failed: bool,
    /// It is the program's start: every terminal shows what it prints.
    is_startup: bool,
    /// Until it is its turn, and the line is shown.
    unseen: Option<Unseen>,
    done: Option<DoneFn<H>>,
}

/// A line that nobody has seen yet.
struct Unseen {
    source: Source,
    /// A command runs it: nobody has typed it.
    by_command: bool,
}

/// The lines that wait, by order of arrival.
pub(crate) struct Tasks<H: 'static> {
    waiting: BTreeMap<u64, Task<H>>,
    arrived: u64,
    /// How many lines run in one another now.
    pub(crate) nested: usize,
    /// What the commands that are running have printed, outermost first.
    pub(crate) printing: Vec<Rc<RefCell<Printed>>>,
    /// The runtime has ended, and somebody is being told that their line will not run.
    telling_end: bool,
}

impl<H> Default for Tasks<H> {
    fn default() -> Self {
        Tasks {
            waiting: BTreeMap::new(),
            arrived: 0,
            nested: 0,
            printing: Vec::new(),
            telling_end: false,
        }
    }
}

/// How a step of a task went.
pub(crate) enum Step {
    Done,
    /// What is wrong was printed.
    Failed,
    Wait(Waiting),
    Enter(Box<Frame>),
}

impl<H> Task<H> {
    fn new(line: &str, source: Source, nested: usize, done: Option<DoneFn<H>>) -> Self {
        Task {
            frames: vec![Frame::line(line, source)],
            output: Output::new(source),
            waiting: Waiting::No,
            hidden: Vec::new(),
            nested,
            entered: 0,
            failed: false,
            is_startup: false,
            unseen: None,
            done,
        }
    }

    fn is_heard_by(&mut self, heard: Option<Heard>) {
        self.output.printed().borrow_mut().heard = heard;
    }

    /// Who asked for the line.
    fn source(&self) -> Source {
        let frame = self.frames.first();
        frame.map_or_else(|| self.output.source(), Frame::source)
    }

    fn may_be_seen_by(&self, asks: Source) -> bool {
        asks != Source::Remote || self.source() == Source::Remote
    }

    /// Prints an error that user code has worded, behind words of the console's: without the secrets that
    /// it was given.
    fn error(&mut self, ours: &str, text: &str) {
        let text = self.without_secrets(text);
        self.output.error(&format!("{ours}{text}"));
    }

    /// What user code says, without the secrets that it was given, wherever they are in it.
    fn without_secrets(&self, text: &str) -> String {
        let hidden = self.hidden.iter().filter(|word| !word.is_empty());
        // What is left around so little would tell it.
        let mut short = hidden.clone().filter(|word| word.chars().count() < SHORT);
        if short.any(|word| text.contains(word.as_str())) {
            return MASK.to_owned();
        }
        let mut parts = Vec::new();
        for word in hidden {
            // Each place, those that overlap too.
            for (at, _) in text.char_indices() {
                if text
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(word.as_str()))
                {
                    parts.push(at..at + word.len());
                }
            }
        }
        mask(text, parts).0
    }
}

/// Runs a line at once, as far as it goes.
pub(crate) fn run_line<H>(cx: &mut Cx<'_, H>, line: &str, source: Source) -> LineRun {
    let mut task = asked_for(cx, line, source, None);
    begin_unseen(cx, &mut task);
    match go_on(cx, task) {
        Gone::Done(run, _) => run,
        Gone::Waits(task) if cx.runtime().is_shut_down() => {
            task.output.into_run(LineOutcome::Cancelled)
        }
        Gone::Waits(task) => {
            let run = task.output.run_so_far(LineOutcome::Pending);
            keep(cx, *task);
            run
        }
        Gone::Unwinds(task, panic) => {
            arrive(cx, *task);
            resume_unwind(panic)
        }
    }
}

/// Runs a line in the next stage.
pub(crate) fn queue_line<H>(
    cx: &mut Cx<'_, H>,
    line: &str,
    source: Source,
    done: Option<DoneFn<H>>,
) {
    let task = asked_for(cx, line, source, done);
    arrive(cx, task);
}

/// Runs a line in the next stage, for somebody who wants what it prints as it comes.
#[cfg(feature = "terminal")]
pub(crate) fn queue_heard<H>(
    cx: &mut Cx<'_, H>,
    line: &str,
    source: Source,
    heard: Heard,
    done: DoneFn<H>,
) {
    let mut task = asked_for(cx, line, source, Some(done));
    task.is_heard_by(Some(heard));
    arrive(cx, task);
}

/// A line that somebody wants run. What a command asks for is heard by who hears that command.
fn asked_for<H>(
    cx: &mut Cx<'_, H>,
    line: &str,
    source: Source,
    done: Option<DoneFn<H>>,
) -> Task<H> {
    let tasks = &console(cx).tasks;
    let mut task = Task::new(line, source, tasks.nested, done);
    let command = tasks.printing.last();
    let heard = command.and_then(|command| command.borrow().heard.clone());
    task.unseen = Some(Unseen {
        source,
        by_command: command.is_some(),
    });
    task.is_heard_by(heard);
    task
}

/// Echo and history of a line that a person has typed; the log has every line. Of one that has waited for its
/// turn only now, as only now is known what its names mean.
fn begin_unseen<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>) {
    let Some(Unseen { source, by_command }) = task.unseen.take() else {
        return;
    };
    let console = console(cx);
    // Of a line that a command runs: what that has printed comes first.
    for printed in &console.tasks.printing {
        printed.borrow_mut().show(&mut console.shown);
    }
    let is_typed = matches!(source, Source::Local | Source::Terminal) && !by_command;
    if !is_typed && !tracing::enabled!(target: "stillcooking", tracing::Level::DEBUG) {
        return;
    }
    let Some(frame) = task.frames.first().filter(|frame| !frame.is_blank()) else {
        return;
    };
    let (shown, _) = mask(
        frame.text(),
        secrets(frame.text(), frame.commands(), &*console),
    );
    tracing::debug!(target: "stillcooking", %source, "console: {shown}");
    if is_typed {
        for text in shown.lines() {
            console.shown.push(OutputLine {
                kind: LineKind::Echo,
                text: ["> ", text].concat(),
            });
        }
        console.history.push(shown);
    }
}

/// A line waits for the next stage, if there is to be one.
fn arrive<H>(cx: &mut Cx<'_, H>, task: Task<H>) {
    if cx.runtime().is_shut_down() {
        waiting::cancel_at_end(cx, task);
    } else {
        keep(cx, task);
    }
}

fn keep<H>(cx: &mut Cx<'_, H>, task: Task<H>) {
    let tasks = &mut console(cx).tasks;
    tasks.arrived += 1;
    tasks.waiting.insert(tasks.arrived, task);
}

/// The stage `Console`: every line whose turn it is, in order of arrival. Lines that arrive meanwhile
/// run in the next frame.
pub(crate) fn stage<H>(cx: &mut Cx<'_, H>) {
    let (last, frame) = (console(cx).tasks.arrived, cx.frame());
    let mut next = 0;
    loop {
        #[cfg(feature = "terminal")]
        let_terminals_hear(cx, next);
        let Console { tasks, shown, .. } = console(cx);
        let Some((&number, task)) = tasks.waiting.range_mut(next..).next() else {
            break;
        };
        if number > last {
            break;
        }
        next = number + 1;
        let is_ready = wake(frame, task);
        show(shown, task);
        if !is_ready {
            continue;
        }
        let Some(mut task) = tasks.waiting.remove(&number) else {
            continue;
        };
        task.nested = 0;
        begin_unseen(cx, &mut task);
        match go_on(cx, task) {
            Gone::Done(run, done) => tell(cx, done, run),
            Gone::Waits(task) => _ = console(cx).tasks.waiting.insert(number, *task),
            Gone::Unwinds(task, panic) => {
                console(cx).tasks.waiting.insert(number, *task);
                resume_unwind(panic)
            }
        }
    }
}

/// Lets the terminals there are now hear the next task, if that is the program's start.
#[cfg(feature = "terminal")]
fn let_terminals_hear<H>(cx: &mut Cx<'_, H>, next: u64) {
    let Some((&number, task)) = console(cx).tasks.waiting.range(next..).next() else {
        return;
    };
    if task.is_startup {
        let feeds = feeds_of(cx);
        let heard = move |line: &OutputLine| {
            for feed in &feeds {
                feed.push(Item::Output(line.clone()));
            }
        };
        if let Some(task) = console(cx).tasks.waiting.get_mut(&number) {
            task.is_heard_by(Some(Rc::new(heard)));
        }
    }
}

/// Whether what a task waits for has come.
fn wake<H>(now: u64, task: &mut Task<H>) -> bool {
    match &task.waiting {
        Waiting::No => true,
        Waiting::Frame(frame) => *frame <= now,
        Waiting::Latent(latent) => {
            let (printed, outcome) = latent.poll();
            for line in printed {
                // The output has nothing that fails.
                let _ = writeln!(task.output, "{line}");
            }
            match outcome {
                None => false,
                Some(Ok(())) => true,
                Some(Err(text)) => {
                    let command = task.output.command().to_owned();
                    task.error(&format!("`{command}` failed: "), &text);
                    fail(task);
                    true
                }
            }
        }
    }
}

/// What has become of a task that had its turn.
enum Gone<H: 'static> {
    Done(LineRun, Option<DoneFn<H>>),
    Waits(Box<Task<H>>),
    /// What it has ended, a world perhaps, has panicked, and that goes on: what is left of the line is for the next
    /// stage.
    Unwinds(Box<Task<H>>, Box<dyn Any + Send>),
}

/// Runs a task until it is done, or must wait.
fn go_on<H>(cx: &mut Cx<'_, H>, mut task: Task<H>) -> Gone<H> {
    task.waiting = Waiting::No;
    task.entered = 0;
    while let Some(next) = next_command(&mut task) {
        let ran = catch_unwind(AssertUnwindSafe(|| step(cx, &mut task, next)));
        let (step, panic) = match ran {
            Ok(step) => (step, None),
            Err(panic) => {
                // Not of its command, which is caught: of what the console has let go of on the way.
                task.output
                    .error("a panic, which goes on, has cut this off");
                (Step::Failed, Some(panic))
            }
        };
        task.output.end_line();
        match step {
            Step::Done => {}
            Step::Failed => fail(&mut task),
            Step::Wait(waiting) => task.waiting = waiting,
            Step::Enter(frame) => enter(&mut task, *frame),
        }
        let attended = catch_unwind(AssertUnwindSafe(|| cx.attend()));
        if let Some(panic) = panic.or(attended.err()) {
            return Gone::Unwinds(Box::new(task), panic);
        }
        show(&mut console(cx).shown, &mut task);
        if !matches!(task.waiting, Waiting::No) {
            return Gone::Waits(Box::new(task));
        }
    }
    let outcome = if task.failed {
        LineOutcome::Failed
    } else {
        LineOutcome::Done
    };
    Gone::Done(task.output.into_run(outcome), task.done)
}

fn step<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>, next: Result<CommandText, ParseError>) -> Step {
    match next {
        Ok(command) => dispatch::dispatch(cx, task, command),
        Err(error) => {
            let spot = dispatch::Spot::here(task, error.span.clone());
            dispatch::complain(cx, task, &spot, &error.to_string())
        }
    }
}

/// The next command of the top frame, or what is wrong with its next line; frames that have none left are done.
fn next_command<H>(task: &mut Task<H>) -> Option<Result<CommandText, ParseError>> {
    loop {
        let next = task.frames.last_mut()?.next();
        if next.is_some() {
            return next;
        }
        task.frames.pop();
    }
}

fn enter<H>(task: &mut Task<H>, frame: Frame) {
    task.entered += 1;
    let is_deep = task.nested + task.frames.len() >= DEEPEST;
    if !is_deep && task.entered <= MOST {
        task.frames.push(frame);
        return;
    }
    let names = task.frames.iter().chain([&frame]).filter_map(Frame::name);
    let folded: Vec<String> = names.clone().map(fold).collect();
    let is_loop = folded.iter().collect::<BTreeSet<_>>().len() < folded.len();
    let names = names.take(6).collect::<Vec<_>>().join(" > ");
    task.output.error(&match is_deep {
        true => format!(
            "aliases and scripts go deeper than {DEEPEST}: {names} ..{}",
            if is_loop { "; one of them leads to itself" } else { "" }
        ),
        false => format!(
            "one line leads to more than {MOST} aliases and scripts: {names} ..; `wait` spreads them over frames"
        ),
    });
    fail(task);
}

/// What failed ends its line, and what led to it, up to a script that goes on regardless.
fn fail<H>(task: &mut Task<H>) {
    task.failed = true;
    let mut said = BTreeSet::new();
    while let Some(frame) = task.frames.last_mut() {
        let left = frame.give_up_line();
        if frame.keeps_going() {
            break;
        }
        // Once, of a script that has run itself.
        if let Some(text) = frame.not_run(left)
            && !said.contains(&text)
        {
            task.output.error(&text);
            said.insert(text);
        }
        task.frames.pop();
    }
}

/// Shows what a task has printed since the last time.
fn show<H>(shown: &mut Ring, task: &mut Task<H>) {
    task.output.printed().borrow_mut().show(shown);
}

/// Tells who asked for a line of its end.
fn tell<H>(cx: &mut Cx<'_, H>, done: Option<DoneFn<H>>, run: LineRun) {
    let Some(done) = done else {
        return;
    };
    let outcome = cx.callback(None, Duration::ZERO, |cx| done(cx, run));
    cx.attend();
    if let Err(panic) = outcome {
        let culprit = Culprit::new("caller of a console line", reports::DONE_FIX);
        cx.settle_panic(&culprit, panic);
    }
}
