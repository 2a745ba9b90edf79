//! The graph of a run: IOPS of every second of the load, or the rates of a pass over the address
//! space.

mod letters;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::{Shift, types::RangedCoordf64};
use plotters::prelude::*;

use self::letters::LetteredPixels;
use super::ExportError;
use crate::report::view;
use crate::schema::MarkKind;
use crate::stats::words::count;
use crate::store::RunDir;

const SIZE: (u32, u32) = (1200, 640);
const DARK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
const GREY: RGBColor = RGBColor(0x5c, 0x66, 0x70);
const POINT: RGBColor = RGBColor(0x0b, 0x5f, 0xa5);
/// The lowest rate on a logarithmic axis: seconds without a command stand there.
const FLOOR_IOPS: f64 = 1.0;

/// The kinds of marks that concern the whole graph.
const RESERVATIONS: [(MarkKind, &str); 4] = [
    (MarkKind::NotSteady, "not in steady state"),
    (MarkKind::Interrupted, "interrupted"),
    (MarkKind::PartOfDrive, "a part of the drive"),
    (MarkKind::HostLimited, "limited by the host"),
];

/// The graph as SVG.
///
/// # Errors
/// If the rows cannot be read, or the run has neither a load nor a pass.
pub fn svg(dir: &RunDir) -> Result<String, ExportError> {
    let graph = Graph::of(dir)?;
    let mut text = String::new();
    graph.draw(SVGBackend::with_string(&mut text, SIZE))?;
    Ok(text)
}

/// The graph as PNG.
///
/// # Errors
/// As [`svg`].
pub fn png(dir: &RunDir) -> Result<Vec<u8>, ExportError> {
    let graph = Graph::of(dir)?;
    let mut pixels = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
    graph.draw(LetteredPixels::new(&mut pixels, SIZE)?)?;
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, SIZE.0, SIZE.1);
    encoder.set_color(::png::ColorType::Rgb);
    let mut writer = encoder.write_header().map_err(ExportError::format)?;
    writer.write_image_data(&pixels).map_err(ExportError::format)?;
    writer.finish().map_err(ExportError::format)?;
    Ok(file)
}

/// Points with their axes.
struct Graph {
    title: String,
    conditions: String,
    x: &'static str,
    y: &'static str,
    points: Vec<(f64, f64)>,
    is_log: bool,
}

impl Graph {
    fn of(dir: &RunDir) -> Result<Self, ExportError> {
        let view = view(dir)?;
        let series = &view.series;
        let time = |at: usize| series.time_s.get(at).copied().unwrap_or(at as f64);
        let (x, y, points, is_log) = if let Some(pass) = view.passes.first() {
            let places = pass.offset_bytes.iter().map(|bytes| *bytes as f64 / 1e9);
            let points = places.zip(pass.mb_per_s.iter().copied()).collect();
            ("GB", "MB/s", points, false)
        } else {
            let rates = series.iops.iter().map(|rate| rate.max(FLOOR_IOPS));
            let points = rates.enumerate().map(|(at, rate)| (time(at), rate)).collect();
            ("s", "IOPS", points, true)
        };
        let (run, test) = (view.run_id.clone(), view.test.clone());
        if Vec::is_empty(&points) {
            let (content, instead) = ("load and no pass to draw", "`--as csv` has its rows");
            return Err(ExportError::Nothing { run, test, content, instead });
        }
        let simulated = if view.target.is_simulated() { " (simulated)" } else { "" };
        let title = format!("{}{simulated}: {test}", drawable(&view.target.name));
        let span = base::Bytes(view.span.span_bytes).rounded();
        let mut conditions = format!("span {span}, spare area {}, run {run}", view.span.variant);
        for (kind, words) in RESERVATIONS {
            if view.marks.iter().any(|mark| mark.kind == kind) {
                conditions = format!("{conditions}, {words}");
            }
        }
        Ok(Self { title, conditions: drawable(&conditions), x, y, points, is_log })
    }

    fn draw<B: DrawingBackend>(&self, backend: B) -> Result<(), ExportError> {
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(ExportError::format)?;
        let area = self.headings(&area)?;
        let x_max = self.points.iter().map(|(x, _)| *x).fold(1.0, f64::max);
        let y_max = self.points.iter().map(|(_, y)| *y).fold(10.0, f64::max) * 1.2;
        if self.is_log {
            self.chart(&area, x_max, (FLOOR_IOPS..y_max).log_scale())?;
        } else {
            self.chart(&area, x_max, 0.0..y_max)?;
        }
        area.present().map_err(ExportError::format)
    }

    /// Draws title and conditions, and returns the area below.
    fn headings<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<DrawingArea<B, Shift>, ExportError> {
        let (head, body) = area.split_vertically(72);
        for (text, size, color, y) in
            [(&self.title, 24, DARK, 14), (&self.conditions, 16, GREY, 46)]
        {
            let style = ("sans-serif", size).into_font().color(&color);
            head.draw_text(text, &style, (24, y)).map_err(ExportError::format)?;
        }
        Ok(body)
    }

    fn chart<B: DrawingBackend, Y>(
        &self,
        area: &DrawingArea<B, Shift>,
        x_max: f64,
        y: Y,
    ) -> Result<(), ExportError>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut builder = ChartBuilder::on(area);
        builder.margin(16).margin_right(32).x_label_area_size(44).y_label_area_size(96);
        let chart = builder.build_cartesian_2d(0.0..x_max, y);
        let mut chart: ChartContext<'_, B, Cartesian2d<RangedCoordf64, _>> =
            chart.map_err(ExportError::format)?;
        let letters = ("sans-serif", 15).into_font().color(&DARK);
        let number = |value: &f64| count(*value);
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x).y_desc(self.y).label_style(letters.clone()).axis_desc_style(letters);
        mesh.x_label_formatter(&number).y_label_formatter(&number).light_line_style(TRANSPARENT);
        mesh.draw().map_err(ExportError::format)?;
        let point = |at: &(f64, f64)| Circle::new(*at, 2, POINT.mix(0.7).filled());
        chart.draw_series(self.points.iter().map(point)).map_err(ExportError::format)?;
        Ok(())
    }
}

/// Text with a `?` for each letter that [`letters`] does not have.
fn drawable(text: &str) -> String {
    text.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }).collect()
}
