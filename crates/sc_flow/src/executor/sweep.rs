//! What flows are bound to besides worlds and objects has to be asked: before each turn, and here,
//! a bounded number a frame, for those that sleep.

use sc_core::Cx;

use super::board::Board;
use super::end;
use super::turn::panicked;
use crate::finish::FlowFinish;

/// How many are asked a frame.
const A_FRAME: usize = 64;

/// Asks the next ones, and ends those whose binding is gone.
pub(crate) fn sweep<H>(cx: &mut Cx<'_, H>, board: &Board<H>) {
    for _ in 0..A_FRAME {
        let mut table = board.table.borrow_mut();
        let at = table.ask_next;
        let Some(&flow) = table.asked_in_turn.get(at) else {
            // Round again in the next frame.
            table.ask_next = 0;
            return;
        };
        let Some(home) = table.home(board, flow) else {
            table.asked_in_turn.swap_remove(at);
            table.asked_ended = table.asked_ended.saturating_sub(1);
            continue;
        };
        table.ask_next += 1;
        drop(table);
        match end::is_bound(cx, board, flow) {
            Ok(true) => {}
            Ok(false) => end::end(cx, board, flow, FlowFinish::Aborted),
            Err(panic) => panicked(cx, &home, flow, panic),
        }
        cx.attend();
    }
}
