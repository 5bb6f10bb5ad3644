//! `SC.Debug.Ping`: the worked example of a static command.

use sc_core::AnyCx;

crate::command! {
    /// Answers, and says where it ran: the smallest static command.
    SC.Debug.Ping (
        /// What to answer.
        answer: String = "pong".to_owned(),
    ) |cx: &mut dyn AnyCx, out| {
        let world = cx.world().and_then(|world| cx.world_info(world).ok());
        let world = world.map_or_else(|| "no world".to_owned(), |world| world.name);
        writeln!(out, "{answer} from {world} in frame {}", cx.frame())?;
        Ok(())
    }
}
