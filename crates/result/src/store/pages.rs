//! Pages of a column chunk, whose claims are compared with their bytes before the decoder trusts
//! them.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;

/// The smallest value that a dictionary can hold: a 32-bit number, or the length of a text.
const VALUE_BYTES_MIN: usize = 4;

/// The reader of a column of a row group.
///
/// # Errors
/// If the column chunk cannot be read.
pub(super) fn column_reader(group: &dyn RowGroupReader, index: usize) -> Result<ColumnReader> {
    let description = group.metadata().column(index).column_descr_ptr();
    let pages = CheckedPages(group.get_column_page_reader(index)?);
    Ok(get_column_reader(description, Box::new(pages)))
}

/// Passes pages on, except for a dictionary that claims more values than its bytes can contain: the
/// decoder reserves memory for the claimed number.
struct CheckedPages(Box<dyn PageReader>);

fn checked(page: Option<Page>) -> Result<Option<Page>> {
    if let Some(Page::DictionaryPage { buf, num_values, .. }) = &page {
        let most = buf.len() / VALUE_BYTES_MIN;
        if *num_values as usize > most {
            return Err(ParquetError::General(format!(
                "a dictionary of {} bytes claims {num_values} values, more than the {most} that fit",
                buf.len()
            )));
        }
    }
    Ok(page)
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        checked(self.0.get_next_page()?)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;

    use super::*;

    #[test]
    fn a_dictionary_holds_no_more_values_than_its_bytes() {
        let dictionary = |num_values| Page::DictionaryPage {
            buf: vec![0; 64].into(),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        assert!(checked(Some(dictionary(16))).is_ok_and(|page| page.is_some()));
        let error = checked(Some(dictionary(864_000_000))).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("64 bytes claims 864000000 values"), "{error}");
    }
}
