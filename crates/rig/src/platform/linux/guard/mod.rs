//! Judging targets on Linux: who uses them, what they hold, and which descriptor may write.

pub(crate) mod block;
mod direct;
pub(crate) mod directory;
pub(crate) mod file;
mod held;
mod identity;
mod inode;
mod links;
mod loops;
mod open;
mod own;
mod own_folder;
mod room;
mod signature;
mod strays;
mod users;

pub use direct::{DirectAbility, direct_ability, set_direct};
pub use links::refuse_strangers_link;
pub use own::OwnFile;
pub(crate) use own::{open_of_another, unnamed};
pub use own_folder::OwnFolder;
pub use strays::remove_strays;
pub use users::user_of;
