//! Printing: what is on screen and for how long, what goes to the log, templates at run time.
#![cfg(feature = "print")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use sc_console::{
    Color, LogRing, Print, PrintExt, PrintTo, Screen, ScreenMessage, Template, print_string,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Extension, PanicPolicy, Severity, Stage, Tickable, secs};

type Test = TestWorld<()>;

fn texts(t: &mut Test) -> Vec<String> {
    let mut cx = t.cx();
    let messages = cx.screen().messages();
    messages.map(|message| message.text.clone()).collect()
}

/// For how many frames of a length a message is on screen at the frame's end.
fn frames_on_screen(t: &mut Test, frame: f64) -> u32 {
    let mut frames = 0;
    while frames < 100 {
        t.tick(frame);
        if texts(t).is_empty() {
            break;
        }
        frames += 1;
    }
    frames
}

#[test]
fn case_h1_a_key_replaces_and_no_key_appends() {
    let mut t = Test::new(());
    let cx = &mut t.cx();
    print_string!(cx, "first"; key = 7, color = Color::RED, duration = 10);
    print_string!(cx, "other");
    print_string!(cx, "second"; key = 7, color = Color::BLUE, duration = 1);
    print_string!(cx, "other");
    let shown: Vec<ScreenMessage> = cx.screen().messages().cloned().collect();
    let texts_now: Vec<&str> = shown.iter().map(|m| &*m.text).collect();
    assert_eq!(texts_now, ["second", "other", "other"]);
    assert_eq!(shown[0].color, Color::BLUE);
    assert_eq!((shown[0].number, shown[0].first_number), (3, 1));
    // Its time is replaced too: one second from its first frame, not ten.
    t.ticks(0.5, 2);
    assert_eq!(texts(&mut t), ["second", "other", "other"]);
    t.tick(0.5);
    assert_eq!(texts(&mut t), ["other", "other"]);
}

#[test]
fn a_replaced_message_gets_the_new_time_also_when_that_is_longer() {
    let mut t = Test::new(());
    print_string!(t.cx(), "a"; key = "k", duration = 0.1);
    print_string!(t.cx(), "a"; key = "k", duration = 1);
    assert_eq!(frames_on_screen(&mut t, 0.25), 4);
}

#[test]
fn case_h2_five_entities_in_a_loop_are_five_lines() {
    let mut t = Test::new(());
    for entity in 0..5 {
        print_string!(t.cx(), "entity {entity}");
    }
    assert_eq!(
        texts(&mut t),
        ["entity 0", "entity 1", "entity 2", "entity 3", "entity 4"]
    );
}

/// Prints in every stage there is: between frames, posted, in a tick and in hooks.
#[test]
fn case_h4_a_duration_of_zero_is_exactly_one_frame() {
    fn print(cx: &mut Cx<'_, ()>) {
        print_string!(cx, "blink"; duration = 0);
    }
    // Between frames.
    let mut t = Test::new(());
    print(&mut t.cx());
    assert_eq!(texts(&mut t), ["blink"], "at once");
    assert_eq!(frames_on_screen(&mut t, 0.1), 1);

    // Posted, so in `Begin`; the very first print of a runtime, too.
    let mut t = Test::new(());
    t.rt.poster().post(print).unwrap();
    assert_eq!(frames_on_screen(&mut t, 0.1), 1);
    t.rt.poster().post(print).unwrap();
    assert_eq!(frames_on_screen(&mut t, 0.1), 1);

    // In every stage, by a hook that prints in one frame only.
    for stage in Stage::ALL {
        let mut t = Test::new(());
        let hook = |cx: &mut Cx<'_, ()>| {
            if cx.frame() == 3 {
                print(cx);
            }
        };
        t.cx().screen();
        t.cx()
            .install(Extension::new("x").on_runtime_stage(stage, hook));
        t.ticks(0.1, 2);
        assert_eq!(frames_on_screen(&mut t, 0.1), 1, "{stage:?}");
    }

    // In a frame that takes no time.
    let mut t = Test::new(());
    print(&mut t.cx());
    assert_eq!(frames_on_screen(&mut t, 0.0), 1);
}

#[test]
fn case_h4_negative_and_nan_are_the_default() {
    for duration in [-1.0, -0.0001, f64::NAN, f64::NEG_INFINITY] {
        let mut t = Test::new(());
        print_string!(t.cx(), "x"; duration = duration);
        assert_eq!(frames_on_screen(&mut t, 0.5), 4, "{duration}: 2 s");
    }
    let mut t = Test::new(());
    t.cx().print("no duration");
    assert_eq!(frames_on_screen(&mut t, 0.5), 4);
    assert_eq!(Screen::DEFAULT_DURATION, Duration::from_secs(2));
}

#[test]
fn case_h4_after_a_hitch_it_is_seen_once() {
    // The frame in which it is printed is the hitch.
    let mut t = Test::new(());
    t.cx().print("a");
    t.tick(60);
    assert_eq!(texts(&mut t), ["a"]);
    // Its two seconds begin there.
    t.ticks(0.5, 3);
    assert_eq!(texts(&mut t), ["a"]);
    t.tick(0.5);
    assert!(texts(&mut t).is_empty());

    // It was seen in a frame; the next one is the hitch.
    t.cx().print("a");
    t.tick(0.1);
    assert_eq!(texts(&mut t), ["a"]);
    t.tick(60);
    assert!(texts(&mut t).is_empty());

    struct Printer;
    impl Tickable<()> for Printer {
        fn tick(&mut self, cx: &mut Cx<'_, ()>) {
            print_string!(cx, "tick"; duration = 0.5);
        }
    }
    let mut t = Test::new(());
    let world = t.world;
    let printer = t.cx().spawn_in(world, Printer).unwrap();
    t.tick(60);
    assert_eq!(texts(&mut t), ["tick"]);
    printer.shutdown(&mut t.cx()).unwrap();
    t.tick(60);
    assert!(texts(&mut t).is_empty());
}

#[test]
fn a_duration_is_real_time() {
    let mut t = Test::new(());
    let world = t.world;
    t.cx().set_paused(world, true).unwrap();
    t.cx().set_dilation(world, 0.01).unwrap();
    print_string!(t.cx(), "x"; duration = 1);
    assert_eq!(frames_on_screen(&mut t, 0.25), 4);
}

#[test]
fn a_duration_is_exact() {
    // 0.1 is one tenth, also as an `f32`; ten frames of it are one second.
    let mut t = Test::new(());
    print_string!(t.cx(), "x"; duration = 1.0_f32);
    assert_eq!(frames_on_screen(&mut t, 0.1), 10);
    let mut t = Test::new(());
    print_string!(t.cx(), "x"; duration = Duration::from_millis(300));
    assert_eq!(frames_on_screen(&mut t, 0.1), 3);
}

#[test]
fn an_infinite_duration_is_until_it_is_replaced_or_taken_off() {
    let mut t = Test::new(());
    print_string!(t.cx(), "stays"; key = "k", duration = f64::INFINITY);
    print_string!(t.cx(), "long"; duration = secs(1e300));
    t.ticks(1e6, 100);
    assert_eq!(texts(&mut t), ["stays", "long"]);
    assert!(t.cx().screen().remove("k"));
    assert!(!t.cx().screen().remove("k"));
    assert_eq!(texts(&mut t), ["long"]);
    t.cx().screen().clear();
    assert!(texts(&mut t).is_empty());
}

#[test]
fn the_screen_is_bounded_and_the_oldest_goes() {
    let mut t = Test::new(());
    let capacity = Screen::CAPACITY;
    for n in 0..capacity + 3 {
        print_string!(t.cx(), "{n}"; key = n);
    }
    let shown = texts(&mut t);
    assert_eq!((shown.len(), &*shown[0]), (128, "3"));
    assert_eq!(t.cx().screen().pushed_out(), 3);
    assert_eq!(t.cx().screen().printed(), 131);
    // A replacement pushes nothing out.
    print_string!(t.cx(), "again"; key = 3);
    assert_eq!(texts(&mut t)[0], "again");
    assert_eq!(t.cx().screen().pushed_out(), 3);
}

#[test]
fn keys_are_names_and_numbers() {
    let mut t = Test::new(());
    for text in ["a", "b"] {
        print_string!(t.cx(), "{text}"; key = "7");
        print_string!(t.cx(), "{text}"; key = 7_u64);
        print_string!(t.cx(), "{text}"; key = 7_i64);
        print_string!(t.cx(), "{text}"; key = 7_u8);
        print_string!(t.cx(), "{text}"; key = 7_i16);
        print_string!(t.cx(), "{text}"; key = 7_isize);
        print_string!(t.cx(), "{text}"; key = format!("{}", 7));
        print_string!(t.cx(), "{text}"; key = -1);
        print_string!(t.cx(), "{text}"; key = u64::MAX);
    }
    assert_eq!(texts(&mut t), ["b", "b", "b", "b"]);
}

#[test]
fn what_is_captured_is_what_format_captures() {
    let mut t = Test::new(());
    let (name, width, n) = ("ogre", 6, 3);
    let cx = &mut t.cx();
    print_string!(cx, "{name:>width$}|{0}|{}|{n:03}|{x}", n, x = 1.5,);
    print_string!(cx, "{a}{b}{c}{d}", a = [1, 2].len(), b = { 7 }, c = "x;y", d = cx.frame() + 1;);
    print_string!(cx, "plain",; to = PrintTo::Screen,);
    print_string!(cx, "{}; {}", 1, 2; key = (7), duration = 1.0 + 0.5, color = Color::rgb(1, 2, 3));
    print_string!(cx, "{{}}");
    assert_eq!(
        texts(&mut t),
        ["  ogre|3|3|003|1.5", "27x;y1", "plain", "1; 2", "{}"]
    );
}

#[test]
fn the_arguments_may_use_the_cx_and_the_cx_may_be_a_temporary() {
    let mut t = TestWorld::new(41_u32);
    print_string!(t.cx(), "score {}", 1);
    let mut cx = t.cx();
    print_string!(cx, "score {}", cx.host());
    let by_reference = &mut cx;
    print_string!(by_reference, "score {}", by_reference.host() + 1);
    let shown: Vec<&str> = by_reference.screen().messages().map(|m| &*m.text).collect();
    assert_eq!(shown, ["score 1", "score 41", "score 42"]);
}

#[test]
fn long_argument_lists_are_taken_apart() {
    let mut t = Test::new(());
    print_string!(
        t.cx(), "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}",
        1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2, 3, 4, 5, 6, 7, 8, 9, 10,
        1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2, 3, 4, 5, 6, 7, 8, 9, 10;
        key = "k"
    );
    assert_eq!(texts(&mut t), ["3625634567891036256345678910"]);
}

#[test]
fn it_goes_to_screen_log_or_both() {
    let ring = LogRing::new();
    let mut t = Test::new(());
    tracing::subscriber::with_default(ring.subscriber(), || {
        let cx = &mut t.cx();
        // Other tests print at the same time. The place in the code that logs may note that nobody
        // listens, just when this begins to: so it has been there once, and is asked again.
        print_string!(cx, "x"; to = PrintTo::Log);
        ring.set_filter("info").unwrap();
        ring.clear();
        print_string!(cx, "both");
        print_string!(cx, "screen"; to = PrintTo::Screen);
        print_string!(cx, "log"; to = PrintTo::Log);
        let there = 1;
        print_string!("no cx {there} {}", 2);
        print_string!("no cx");
    });
    assert_eq!(texts(&mut t), ["both", "screen"]);
    let logged: Vec<String> = ring.records().iter().map(|r| r.message.clone()).collect();
    assert_eq!(logged, ["both", "log", "no cx 1 2", "no cx"]);
    let record = &ring.records()[0];
    assert_eq!(
        (record.level, record.target),
        (tracing::Level::INFO, "stillcooking::print")
    );
}

#[test]
fn case_h5_text_of_a_user_with_braces_is_printed_as_it_is() {
    let mut t = Test::new(());
    let said = "{target} {} }{ {0}";
    print_string!(t.cx(), "{said}");
    let template = Template::new("{Who}: {what}");
    t.cx().print(Print::template(
        &template,
        &[("who", &"{what}"), ("what", &said)],
    ));
    assert_eq!(texts(&mut t), [said, "{what}: {target} {} }{ {0}"]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn case_h7_numbers_are_the_same_on_every_machine() {
    let mut t = Test::new(());
    print_string!(t.cx(), "{} {}", 1234, 1234.5);
    t.cx().print(Print::template(
        &"{n} {x}".into(),
        &[("n", &1_234_567), ("x", &0.25)],
    ));
    assert_eq!(texts(&mut t), ["1234 1234.5", "1234567 0.25"]);
    if std::env::var_os("SC_OTHER_LOCALE").is_some() {
        return;
    }
    // And this test again, where numbers are written otherwise.
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "case_h7_numbers_are_the_same_on_every_machine"]);
    for name in ["LC_ALL", "LC_NUMERIC", "LANG"] {
        again.env(name, "de_DE.UTF-8");
    }
    let again = again.env("SC_OTHER_LOCALE", "1").output().unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn a_missing_argument_is_visible_and_warned_about_once() {
    let mut t = Test::new(());
    let template = Template::new("{Who} found {what} and {WHAT}, {where}");
    for _ in 0..3 {
        t.cx().print(Print::template(&template, &[("who", &"Mia")]));
    }
    assert_eq!(texts(&mut t)[2], "Mia found {what} and {WHAT}, {where}");
    let reports = t.reports.take();
    let texts: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "the template `{Who} found {what} and {WHAT}, {where}` was printed without a value for `what`; to fix: pass a value of that name, or take the argument out of the template",
            "the template `{Who} found {what} and {WHAT}, {where}` was printed without a value for `where`; to fix: pass a value of that name, or take the argument out of the template",
        ]
    );
    assert_eq!(reports[0].severity, Severity::Warning);
    // Another template is another warning, and so is one in another runtime.
    t.cx().print(Print::template(&"{what}?".into(), &[]));
    assert_eq!(t.reports.take().len(), 1);
    let mut other = Test::new(());
    other.cx().print(Print::template(&"{what}?".into(), &[]));
    assert_eq!(other.reports.take().len(), 1);
}

#[test]
fn screens_of_two_runtimes_do_not_meet() {
    let (mut a, mut b) = (Test::new(()), Test::new(()));
    print_string!(a.cx(), "a"; key = 1);
    print_string!(b.cx(), "b"; key = 1);
    assert_eq!(
        (texts(&mut a), texts(&mut b)),
        (vec!["a".into()], vec!["b".into()])
    );
}

#[test]
fn the_screen_can_be_inspected() {
    let mut t = Test::new(());
    print_string!(t.cx(), "a");
    assert_eq!(t.rt.inspect("sc.screen"), Some(vec!["a".to_owned()]));
}

#[test]
fn a_report_handler_that_panics_does_not_lose_the_print() {
    let mut t = Test::new(());
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    t.rt.set_report_handler(|_| panic!("no"));
    let template = Template::new("{x}");
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        t.cx().print(Print::template(&template, &[]));
    }));
    assert!(thrown.is_err());
    t.cx().print(Print::template(&template, &[]));
    assert_eq!(texts(&mut t), ["{x}", "{x}"]);
}
