//! Colours by their meaning, in light, in dark, and as names that a style sheet fills in.

/// Where a picture will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// On white: a file of its own, paper.
    Light,
    /// On black.
    Dark,
    /// In a page whose style sheet sets `--read`, `--ink`, ..
    Page,
}

/// Name, on light, on dark. Text and lines reach 4.5 : 1 against their paper, the second tones 3 : 1 (WCAG AA
/// for text and for graphics); reads and writes differ in lightness too, so that they stay apart without
/// colour.
pub(crate) const COLOURS: [(&str, &str, &str); 19] = [
    ("paper", "#ffffff", "#15171a"),
    ("ink", "#1d1f21", "#e7e5e0"),
    ("muted", "#5d6166", "#a5a8ab"),
    ("rule", "#e3e4e6", "#2f3338"),
    ("read", "#175cad", "#7ab5f7"),
    ("write", "#a8490a", "#f2a65e"),
    ("other-read", "#5c93d1", "#4f83bd"),
    ("other-write", "#cf7f3f", "#b5733a"),
    ("neutral", "#5d6166", "#a5a8ab"),
    ("knee", "#1b7a5a", "#5fcfa4"),
    ("good", "#1b7a5a", "#5fcfa4"),
    ("doubt", "#8a5a00", "#e5b34d"),
    ("bad", "#b3261e", "#ff8f85"),
    // Machines and devices beside each other: hues that stay apart for the colour-blind, too.
    ("side-1", "#175cad", "#7ab5f7"),
    ("side-2", "#a8490a", "#f2a65e"),
    ("side-3", "#1b7a5a", "#5fcfa4"),
    ("side-4", "#8e3f9e", "#d39be0"),
    ("side-5", "#7a6200", "#d9bf4a"),
    ("side-6", "#5d6166", "#a5a8ab"),
];

impl Theme {
    /// The colour of that name in this theme.
    pub(crate) fn colour(self, name: &str) -> String {
        let found = self.colours().find(|(known, _)| *known == name);
        found.map_or_else(|| "currentColor".to_owned(), |(_, value)| value)
    }

    /// Each colour's name and value in this theme.
    pub(crate) fn colours(self) -> impl Iterator<Item = (&'static str, String)> {
        COLOURS.into_iter().map(move |(name, light, dark)| {
            let value = match self {
                Self::Light => light.to_owned(),
                Self::Dark => dark.to_owned(),
                Self::Page => format!("var(--{name})"),
            };
            (name, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_can_be_read_on_its_paper() {
        let paper = COLOURS[0];
        for (name, light, dark) in COLOURS.into_iter().skip(1).filter(|c| c.0 != "rule") {
            // WCAG 2: 4.5 for text, 3 for graphics.
            let least = if name.starts_with("other") { 3.0 } else { 4.5 };
            assert!(contrast(light, paper.1) >= least, "{name} on light: {}", contrast(light, paper.1));
            assert!(contrast(dark, paper.2) >= least, "{name} on dark: {}", contrast(dark, paper.2));
        }
    }
}
