//! PNG: the same pictures as SVG's, for programs that draw no SVG; twice as many pixels as they are wide on a page.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::{Files, Format};
use crate::chart::figures;
use crate::error::ReportError;
use crate::picture::sheet;

/// The format.
pub struct Png;

impl Named for Png {
    fn name(&self) -> &'static str {
        "png"
    }
}

impl Format for Png {
    fn extension(&self) -> &'static str {
        "png"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        picture(&sheet(&figures(run)))
    }

    fn folder(&self, run: &Run) -> Result<Option<Files>, ReportError> {
        let one = |figure: &crate::figure::Figure| {
            Ok((format!("{}.png", figure.name), picture(&sheet(std::slice::from_ref(figure)))?))
        };
        figures(run).iter().map(one).collect::<Result<_, ReportError>>().map(Some)
    }

    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        picture(&sheet(&crate::several::figures_of_several(sides, compared)))
    }
}

#[cfg(not(feature = "png"))]
fn picture(_svg: &str) -> Result<Vec<u8>, ReportError> {
    Err(ReportError::Picture("this iosonde was built without PNG; take -f svg".into()))
}

/// An SVG document as PNG, with the fonts of the system.
#[cfg(feature = "png")]
fn picture(svg: &str) -> Result<Vec<u8>, ReportError> {
    use resvg::{tiny_skia, usvg};
    const SCALE: f32 = 2.0;
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        let what = "no font is installed here, so a PNG would have no words; take -f svg, or install a font";
        return Err(ReportError::Picture(what.into()));
    }
    // What a page calls by these names may not be installed under any of them.
    if let Some(family) = preferred(fonts) {
        fonts.set_sans_serif_family(family);
    }
    let fail = |error: String| ReportError::Picture(format!("a picture could not be drawn: {error}"));
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE) as u32, (size.height() * SCALE) as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or_else(|| fail("no room for it".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| fail(error.to_string()))
}

/// The first of the usual fonts without serifs that is installed, else the first of all.
#[cfg(feature = "png")]
fn preferred(fonts: &resvg::usvg::fontdb::Database) -> Option<String> {
    let usual = ["DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica", "Segoe UI"];
    let installed = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|(own, _)| own == *name));
    let first = || fonts.faces().next()?.families.first().map(|(name, _)| name.clone());
    usual.iter().find(|name| installed(name)).map(|name| (*name).to_owned()).or_else(first)
}
