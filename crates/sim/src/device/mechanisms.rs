//! The optional mechanisms of a drive.

use crate::geometry::Geometry;
use crate::mechanism::basis::Section;
use crate::mechanism::mechanisms;
use crate::model::Options;

macro_rules! states {
    ($($(#[doc = $about:literal])* $name:ident: $section:ty,)*) => {
        /// Their states.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub(super) struct Mechanisms {
            $(pub(super) $name: Option<<$section as Section>::State>,)*
        }

        impl Mechanisms {
            /// The mechanisms of a new drive.
            pub(super) fn new(options: &Options, geometry: &Geometry, queue_depth: usize) -> Self {
                Self { $($name: options.$name.map(|plan| <$section>::begin(plan, geometry, queue_depth)),)* }
            }
        }
    };
}

mechanisms!(states);
