//! A label: its text, its place, and the room that it takes.

/// The area that labels are laid out for: that of a page at its usual width, in pixels.
pub(super) const AREA: (f64, f64) = (620.0, 300.0);
/// The same on a phone: what fits there fits everywhere.
pub(super) const NARROW: f64 = 300.0;
/// A letter at the size of labels, on average.
pub(super) const LETTER: f64 = 6.6;
/// A line of them.
pub(super) const LINE: f64 = 15.0;

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where a label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Above its point.
    Above,
    /// Below its point.
    Below,
    /// To the right of its point, or to the left where it ends there.
    Beside,
    /// In the middle of a field.
    Centre,
    /// In the field, on a dark ground.
    CentreOnDark,
    /// Above the area, in so many-th line from below.
    Header(usize),
}

/// A text and its place, in shares of the area from its upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) text: String,
    pub(crate) tone: &'static str,
    pub(crate) anchor: Anchor,
    pub(crate) place: Place,
    /// The series that it goes with.
    pub(crate) series: Option<usize>,
    /// Only written where the page is wide: on a phone it would lie upon another.
    pub(crate) wide_only: bool,
}

/// Left, top, right and bottom, in pixels.
pub(super) type Frame = (f64, f64, f64, f64);

/// Where a label lies on an area of this width.
pub(super) fn frame(label: &Label, area: f64) -> Frame {
    let wide = label.text.chars().count() as f64 * LETTER;
    let (x, y) = (label.x * area, label.y * AREA.1);
    let left = match label.anchor {
        Anchor::Start => x + 8.0,
        Anchor::Middle => x - wide / 2.0,
        Anchor::End if label.place == Place::Beside => x - 8.0 - wide,
        Anchor::End => x - wide,
    };
    let top = match label.place {
        Place::Above => y - LINE - 5.0,
        Place::Below => y + 5.0,
        _ => y - LINE / 2.0,
    };
    (left, top, left + wide, top + LINE)
}

pub(super) fn apart(a: Frame, b: Frame) -> bool {
    a.2 < b.0 || b.2 < a.0 || a.3 < b.1 || b.3 < a.1
}
