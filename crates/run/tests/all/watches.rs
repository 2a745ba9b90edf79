//! Do the watches beside a run leave its commands alone, and end it where they must?

mod health;
mod in_use;
