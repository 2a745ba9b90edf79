//! A picture with letters of its own: no library of fonts draws them.
//!
//! `letters.png` has the printable part of ASCII in DejaVu Sans: a row of cells for each size. A value is the coverage
//! of the pixel. The last line of a cell is as long as the letter is wide.

use std::io::Cursor;

use plotters::prelude::BitMapBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use crate::export::ExportError;

const SHEET: &[u8] = include_bytes!("../../../assets/letters.png");
/// Size of the letters of each row, and height of their line.
const ROWS: [(f64, i32); 3] = [(15.0, 18), (16.0, 19), (24.0, 29)];
/// Width and height of a cell.
const CELL: (usize, usize) = (28, 32);
/// Columns of a cell before the letter, for parts that hang over.
const BEARING: i32 = 2;

/// Pixels with letters.
pub(super) struct LetteredPixels<'a> {
    pixels: BitMapBackend<'a>,
    sheet: Vec<u8>,
    sheet_width: usize,
}

impl<'a> LetteredPixels<'a> {
    /// # Errors
    /// If the letters are damaged.
    pub(super) fn new(pixels: &'a mut [u8], size: (u32, u32)) -> Result<Self, ExportError> {
        let decoder = ::png::Decoder::new(Cursor::new(SHEET));
        let mut reader = decoder.read_info().map_err(ExportError::format)?;
        let mut sheet = vec![0; reader.output_buffer_size().unwrap_or_default()];
        let frame = reader.next_frame(&mut sheet).map_err(ExportError::format)?;
        let pixels = BitMapBackend::with_buffer(pixels, size);
        Ok(Self { pixels, sheet, sheet_width: frame.width as usize })
    }

    /// The lines of a letter in a row of the sheet.
    fn cell(&self, row: usize, letter: u8) -> impl Iterator<Item = &[u8]> {
        let column = usize::from(letter.saturating_sub(b' ')) * CELL.0;
        let first = row * CELL.1 * self.sheet_width + column;
        let lines = self.sheet.get(first..).unwrap_or_default().chunks(self.sheet_width);
        lines.take(CELL.1).map(|line| &line[..CELL.0.min(line.len())])
    }

    fn advance(&self, row: usize, letter: u8) -> i32 {
        let line = self.cell(row, letter).last().unwrap_or_default();
        line.iter().filter(|value| **value > 0).count() as i32
    }

    fn width(&self, row: usize, text: &str) -> i32 {
        text.bytes().map(|letter| self.advance(row, letter)).sum()
    }
}

/// The row of the sheet with letters of this size.
fn row<S: BackendTextStyle>(style: &S) -> usize {
    ROWS.iter().position(|(size, _)| *size >= style.size()).unwrap_or(ROWS.len() - 1)
}

impl DrawingBackend for LetteredPixels<'_> {
    type ErrorType = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.pixels.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.pixels.ensure_prepared()
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.pixels.present()
    }

    fn draw_pixel(
        &mut self,
        point: BackendCoord,
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.pixels.draw_pixel(point, color)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (left, top): BackendCoord,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        let row = row(style);
        let (width, height) = (self.width(row, text), ROWS[row].1);
        let mut x = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Right => -width,
            HPos::Center => -width / 2,
        };
        let y = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -height / 2,
            VPos::Bottom => -height,
        };
        let color = style.color();
        let (columns, lines) = self.get_size();
        let is_inside = |(x, y): BackendCoord| {
            (0..columns as i32).contains(&x) && (0..lines as i32).contains(&y)
        };
        for letter in text.bytes() {
            let cell: Vec<Vec<u8>> =
                self.cell(row, letter).take(CELL.1 - 1).map(<[u8]>::to_vec).collect();
            for (down, line) in cell.iter().enumerate() {
                for (right, coverage) in line.iter().enumerate().filter(|(_, value)| **value > 0) {
                    let place = (x + right as i32 - BEARING, y + down as i32);
                    let (right, down) = style.transform().transform(place.0, place.1);
                    let alpha = color.alpha * f64::from(*coverage) / 255.0;
                    if is_inside((left + right, top + down)) {
                        let color = BackendColor { alpha, ..color };
                        self.draw_pixel((left + right, top + down), color)?;
                    }
                }
            }
            x += self.advance(row, letter);
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        let row = row(style);
        Ok((self.width(row, text) as u32, ROWS[row].1 as u32))
    }
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;

    use super::*;

    const SIZE: (u32, u32) = (300, 40);

    /// Columns of the picture with ink, the first and the last.
    fn inked(text: &str, size: i32) -> (usize, usize) {
        let mut pixels = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
        let area = LetteredPixels::new(&mut pixels, SIZE).unwrap().into_drawing_area();
        area.draw_text(text, &("sans-serif", size).into_font().color(&WHITE), (10, 4)).unwrap();
        area.present().unwrap();
        drop(area);
        let column = |at: usize| at / 3 % SIZE.0 as usize;
        let ink = pixels.iter().enumerate().filter(|(_, value)| **value > 0);
        let columns: Vec<usize> = ink.map(|(at, _)| column(at)).collect();
        (*columns.iter().min().unwrap(), *columns.iter().max().unwrap())
    }

    #[test]
    fn letters_stand_beside_each_other_in_every_size() {
        for (size, word) in [(15, 100..140), (16, 110..150), (24, 170..220)] {
            let (first, last) = inked("840 Pro, IOPS", size);
            assert!((10..14).contains(&first), "{size}: {first}");
            assert!(word.contains(&last), "{size}: {last}");
        }
    }

    #[test]
    fn every_printable_letter_has_ink() {
        for letter in b'!'..=b'~' {
            let (first, last) = inked(char::from(letter).encode_utf8(&mut [0; 4]), 24);
            assert!(
                first as i32 >= 10 - BEARING && last < 10 + CELL.0,
                "{}: {first} {last}",
                char::from(letter)
            );
        }
    }
}
