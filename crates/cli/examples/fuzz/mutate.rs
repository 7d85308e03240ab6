//! Texts and files as somebody might have damaged or made them: by chance, or to do harm.

/// A generator of random numbers (splitmix64): every mutant follows from its seed.
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below a number; 0 below 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }
}

/// What stands where a number was.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "3",
    "1e-9",
    "0.3",
    "1e18",
    "1e308",
    "-1e308",
    "nan",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "999999999999",
    "\"x\"",
];
/// What stands where anything was.
const TEXTS: [&str; 12] =
    ["", "\0", "\u{202e}", "[", "{", "\"", "\n", "[[[[[[[[", "null", "<script>", "%s%n", "é"];

/// Where numbers stand.
fn numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        if length > 0 {
            found.push((at, at + length));
        }
        at += length.max(1);
    }
    found
}

fn replace(text: &mut Vec<u8>, (from, to): (usize, usize), with: &[u8]) {
    text.splice(from..to, with.iter().copied());
}

/// A damaged text: one to three changes of numbers, spans, lines or bytes.
pub fn text(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = original.to_vec();
    for _ in 0..=dice.below(3) {
        let numbers = numbers(&text);
        let at = dice.below(text.len());
        let end = (at + 1 + dice.below(40)).min(text.len());
        match dice.below(8) {
            // Most of all numbers: they are what is computed with.
            0..=3 if !numbers.is_empty() => {
                let place = numbers[dice.below(numbers.len())];
                replace(&mut text, place, NUMBERS[dice.below(NUMBERS.len())].as_bytes());
            }
            4 => replace(&mut text, (at, end), b""),
            5 => {
                let span = text[at..end].to_vec();
                let place = dice.below(text.len());
                replace(&mut text, (place, place), &span);
            }
            6 => replace(&mut text, (at, end), TEXTS[dice.below(TEXTS.len())].as_bytes()),
            _ => lines(&mut text, dice),
        }
    }
    text
}

/// A line twice, not at all, or elsewhere.
fn lines(text: &mut Vec<u8>, dice: &mut Dice) {
    let mut all: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = all.remove(dice.below(all.len()));
    for _ in 0..dice.below(3) {
        all.insert(dice.below(all.len() + 1), line.clone());
    }
    *text = all.join(&b'\n');
}

/// A damaged file: bytes changed, or its end gone.
pub fn bytes(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = original.to_vec();
    if dice.below(8) == 0 {
        bytes.truncate(dice.below(original.len()));
    }
    for _ in 0..=dice.below(20) {
        let at = dice.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = [0, 1, 0x7f, 0x80, 0xff, *byte ^ (1 << dice.below(8))][dice.below(6)];
        }
    }
    // Where the layout is written down: the header, and the beginning of each page.
    let pages = bytes.len() / 4096;
    let at = 4096 * dice.below(pages) + dice.below(112);
    if let Some(byte) = bytes.get_mut(at) {
        *byte = dice.below(256) as u8;
    }
    bytes
}
