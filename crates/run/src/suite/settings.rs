//! The settings of a test: its parameters, read once into a struct of its own.

use super::measured::Measurements;
use super::procedure::{Conditions, Config, Figures, Formula, Notes, Procedure, Step};
use super::site::Site;
use crate::error::RunError;
use crate::params::{Param, Params};

/// The keys of a test: its parameters, read once for a site. Tests declare them by
/// [`settings!`](super::keys::settings).
pub(crate) trait Keys: Sized {
    /// The parameters with their defaults.
    const PARAMS: &'static [Param];

    /// Reads the parameters.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a value that is impossible here.
    fn read(params: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<Self, RunError>;

    /// The settings in the form of `run.json`. No figure is computed from that.
    fn config(&self) -> Config;
}

/// The settings of a test. Steps and figures follow from
/// them.
pub(crate) trait TestSettings: Keys + Send + Sync + 'static {
    /// Checks keys against each other and against the site, and adapts those that nobody has set.
    ///
    /// # Errors
    /// [`RunError::Usage`] for values that do not go together, or not with the site.
    fn check(&mut self, _: &Params, _: &Site<'_>, _: &mut Notes) -> Result<(), RunError> {
        Ok(())
    }

    /// The conditions of the figures that the steps do not contain.
    fn conditions(&self) -> Conditions {
        Conditions::new()
    }

    /// The steps, in order.
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step>;

    /// The figures, from all measurements so far.
    fn figures(&self, measured: &Measurements<'_>) -> Figures;
}

impl Procedure {
    /// Reads the settings of a test and takes everything else from them.
    pub(crate) fn of<S: TestSettings>(params: &Params, site: &Site<'_>) -> Result<Self, RunError> {
        let mut notes = Notes::new();
        let mut settings = S::read(params, site, &mut notes)?;
        settings.check(params, site, &mut notes)?;
        Ok(Self {
            config: settings.config(),
            conditions: settings.conditions(),
            steps: settings.steps(site, &mut notes),
            notes,
            figures: Formula::new(move |measured| settings.figures(measured)),
        })
    }
}
