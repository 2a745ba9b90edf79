//! The sections of a model file that are no mechanism of one file: with their keys, their rules and the resulting
//! parameters.

mod controller;
mod gc;
mod interface;
pub(super) mod map;
mod nand;

pub use controller::Controller;
pub use gc::GcModel;
pub use interface::{Interface, InterfaceKind};
pub use map::MapModel;
pub use nand::{NandModel, PagesModel, SpreadModel, SuspendModel};
