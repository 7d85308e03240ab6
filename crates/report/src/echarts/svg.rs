//! Still pictures: the same option drawn by the same library, in a JavaScript engine inside the program.
//!
//! QuickJS runs ECharts in its server-side mode, which wants no document, only `self`, `setTimeout` and
//! `console`. Loading the library takes longer than drawing a chart, so a [`Painter`] is kept for a report's
//! charts.

use rquickjs::{CatchResultExt, Context, Runtime};

use super::{FUNCTIONS, LIBRARY, Theme, option};
use crate::figure::Figure;

/// Width of a still picture, in CSS pixels.
pub(crate) const WIDTH: u32 = 760;
/// Height of a still picture.
pub(crate) const HEIGHT: u32 = 430;

/// A picture that could not be drawn. It is a defect of this program, never of the data.
#[derive(Debug, Clone, thiserror::Error)]
#[error("chart `{chart}` could not be drawn: {message}")]
pub struct DrawError {
    /// The figure's name; `library` when ECharts itself did not load.
    pub chart: String,
    /// What the JavaScript engine said.
    pub message: String,
}

/// What ECharts expects of its surroundings. A timer never fires: a still picture has no animation.
const SHIM: &str = "var self = globalThis; var setTimeout = () => 0; var clearTimeout = () => {};
    var console = { log() {}, warn() {}, error() {} };";

/// A JavaScript engine with the chart library in it.
pub struct Painter {
    context: Context,
    // The context lives in it.
    _runtime: Runtime,
}

impl Painter {
    /// Loads the library: about 0.1 s.
    ///
    /// # Errors
    /// The engine could not be started (no memory) or the library did not load.
    pub fn new() -> Result<Self, DrawError> {
        let fail = |message: String| DrawError { chart: "library".into(), message };
        let runtime = Runtime::new().map_err(|error| fail(error.to_string()))?;
        // ECharts merges options recursively; the default of 256 KiB is just enough, twice that is safe.
        runtime.set_max_stack_size(1 << 20);
        let context = Context::full(&runtime).map_err(|error| fail(error.to_string()))?;
        context.with(|js| {
            for source in [SHIM, LIBRARY, FUNCTIONS] {
                js.eval::<(), _>(source).catch(&js).map_err(|error| fail(error.to_string()))?;
            }
            Ok(())
        })?;
        Ok(Self { context, _runtime: runtime })
    }

    /// A figure as an SVG document.
    ///
    /// # Errors
    /// The library refused the option: a defect of this program.
    pub fn svg(&self, figure: &Figure, theme: Theme) -> Result<String, DrawError> {
        let fail = |message: String| DrawError { chart: figure.name.into(), message };
        let colours: serde_json::Map<String, serde_json::Value> =
            theme.colours().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let call = format!(
            "iosondeCharts.still({}, {WIDTH}, {HEIGHT}, {:?}, {})",
            serde_json::Value::from(option(figure).to_string()),
            figure.name,
            serde_json::Value::Object(colours)
        );
        self.context.with(|js| js.eval::<String, _>(call).catch(&js).map_err(|error| fail(error.to_string())))
    }
}

/// One figure as an SVG document. For several, a [`Painter`] loads the library once.
///
/// # Errors
/// See [`Painter`].
pub fn svg(figure: &Figure, theme: Theme) -> Result<String, DrawError> {
    Painter::new()?.svg(figure, theme)
}
