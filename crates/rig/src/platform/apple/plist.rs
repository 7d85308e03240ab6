//! Property lists in XML, read without a library: one flat dictionary of keys and plain values.

use std::collections::BTreeMap;

/// Values by key; numbers and truths as their words.
pub(in crate::platform) type Facts = BTreeMap<String, String>;

/// The keys and values on the first level of the dictionary. Values that hold others are passed over.
pub(in crate::platform) fn facts(plist: &str) -> Facts {
    let mut facts = Facts::new();
    let (mut key, mut depth) = (None, 0_u32);
    let mut rest = plist;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, behind)) = after.split_once('>') else { break };
        rest = behind;
        match tag {
            "dict" | "array" => depth += 1,
            "/dict" | "/array" => depth = depth.saturating_sub(1),
            "key" if depth == 1 => {
                key = text(behind, "</key>");
            }
            "string" | "integer" | "real" if depth == 1 => {
                if let (Some(key), Some(value)) = (key.take(), text(behind, &format!("</{tag}>"))) {
                    facts.insert(key, value);
                }
            }
            "true/" | "false/" if depth == 1 => {
                if let Some(key) = key.take() {
                    facts.insert(key, tag.trim_end_matches('/').to_owned());
                }
            }
            _ => {}
        }
    }
    facts
}

pub(super) fn text(behind: &str, end: &str) -> Option<String> {
    let (text, _) = behind.split_once(end)?;
    // The ampersand last: what it leaves is not read again.
    Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}
