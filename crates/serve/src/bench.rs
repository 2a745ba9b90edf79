//! The state of a running server: the index, and `library.json` as of the last look.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use result::run_id::is_run_id;

use crate::ServeError;
use crate::index::{Index, IndexChanges, PackedRun};

/// Least time between two looks at the run directories.
const FRESH: Duration = Duration::from_secs(1);

/// A library, its index and its document.
pub(crate) struct LibraryBench {
    library: PathBuf,
    title: String,
    state: Mutex<State>,
}

struct State {
    index: Index,
    document: Arc<Document>,
    /// Time of the last look at the run directories, or `None` if the next reader must look.
    looked: Option<Instant>,
}

/// `library.json` and the mark of this state of it.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) content: Vec<u8>,
    pub(crate) mark: String,
}

impl LibraryBench {
    /// Opens the index and brings it up to date.
    pub(crate) fn open(library: &Path, title: &str) -> Result<(Self, IndexChanges), ServeError> {
        let mut index = Index::open(library)?;
        let refreshed = index.refresh()?;
        let document = Arc::new(document(&index, title, 0)?);
        let state = State { index, document, looked: Some(Instant::now()) };
        let bench =
            Self { library: library.to_owned(), title: title.to_owned(), state: Mutex::new(state) };
        Ok((bench, refreshed))
    }

    /// The directory of the runs.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// The present `library.json`.
    pub(crate) fn document(&self) -> Result<Arc<Document>, ServeError> {
        let mut state = self.state();
        if state.looked.is_some_and(|looked| looked.elapsed() < FRESH) {
            return Ok(Arc::clone(&state.document));
        }
        let refreshed = state.index.refresh()?;
        state.looked = Some(Instant::now());
        if refreshed != IndexChanges::default() {
            let number = state.document.mark.parse::<u64>().unwrap_or(0);
            state.document = Arc::new(document(&state.index, &self.title, number + 1)?);
        }
        Ok(Arc::clone(&state.document))
    }

    /// The next reader of `library.json` looks at the run directories.
    pub(crate) fn look_again(&self) {
        self.state().looked = None;
    }

    /// A packed run, or `None` if there is none of this name.
    pub(crate) fn packed(&self, name: &str) -> Result<Option<PackedRun>, ServeError> {
        self.state().index.packed_run(name)
    }

    /// The directory of a run, or `None` if no run can have this name.
    pub(crate) fn run_dir(&self, name: &str) -> Option<PathBuf> {
        is_run_id(name).then(|| self.library.join(name))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn document(index: &Index, title: &str, number: u64) -> Result<Document, ServeError> {
    let mut library = index.library(title)?;
    library.is_live = true;
    Ok(Document { content: serde_json::to_vec(&library)?, mark: number.to_string() })
}
