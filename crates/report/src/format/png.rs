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

/// An SVG document as PNG, with the font that is compiled in: the same picture on every machine, one without fonts too.
#[cfg(feature = "png")]
fn picture(svg: &str) -> Result<Vec<u8>, ReportError> {
    use resvg::{tiny_skia, usvg};
    const SCALE: f32 = 2.0;
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    if svg.chars().any(|letter| !in_own_font(letter)) {
        fonts.load_system_fonts();
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    let fail = |error: String| ReportError::Picture(format!("a picture could not be drawn: {error}"));
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE) as u32, (size.height() * SCALE) as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or_else(|| fail("no room for it".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| fail(error.to_string()))
}

// Their source and licence are beside them. Two faces: titles are bold.
#[cfg(feature = "png")]
const REGULAR: &[u8] = include_bytes!("../../assets/font/DejaVuSans.ttf");
#[cfg(feature = "png")]
const BOLD: &[u8] = include_bytes!("../../assets/font/DejaVuSans-Bold.ttf");

/// True for the scripts of the font that is compiled in: Latin, Greek, Cyrillic, punctuation, arrows, signs. A label in
/// another script is drawn with a font of the system, where one is installed.
#[cfg(feature = "png")]
fn in_own_font(letter: char) -> bool {
    matches!(letter, '\0'..='\u{52f}' | '\u{1e00}'..='\u{1eff}' | '\u{2000}'..='\u{27bf}')
}

#[cfg(all(test, feature = "png"))]
mod tests {
    use super::*;

    fn words(text: &str, weight: u32) -> Vec<u8> {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='40' font-family='system-ui, sans-serif'>\
             <text x='5' y='30' font-size='20' font-weight='{weight}'>{text}</text></svg>"
        );
        picture(&svg).expect("the font is compiled in")
    }

    /// Every sign that a chart writes has a shape of its own: a font without it would draw nothing, or one box for all.
    #[test]
    fn the_font_compiled_in_draws_each_sign_in_regular_and_bold() {
        let signs = "aZ0µ±×–→↑↓·≥≤₀½°∞θσ¹²³Яλ";
        let nothing = words("", 400);
        let mut drawn: Vec<Vec<u8>> = Vec::new();
        for sign in signs.chars() {
            assert!(in_own_font(sign), "{sign}");
            for weight in [400, 600] {
                let picture = words(&sign.to_string(), weight);
                assert_ne!(picture, nothing, "{sign}");
                assert!(!drawn.contains(&picture), "{sign} at weight {weight} looks like another sign");
                drawn.push(picture);
            }
        }
    }

    #[test]
    fn other_scripts_are_not_promised() {
        assert!(["東京", "दिल्ली", "한"].iter().all(|word| !word.chars().all(in_own_font)));
    }
}
