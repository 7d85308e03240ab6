//! What an SMB mount exchanged with its server: the counters of the share in `/proc/fs/cifs/Stats`.
//!
//! They count for everybody who uses the share, and say neither how long the server took nor what was sent again.

use super::network_counters::Counters;

/// The share as the kernel lists it (`\\server\share`), of what was mounted (`//server/share/folder`).
pub(super) fn share(source: &str) -> Option<String> {
    let mut parts = source.trim_start_matches(['/', '\\']).split(['/', '\\']);
    let (server, share) = (parts.next()?, parts.next()?);
    (!server.is_empty() && !share.is_empty()).then(|| format!("\\\\{server}\\{share}"))
}

/// A share begins with its number and name: `2) \\server\share`. SMB 2 and 3 print `Bytes read: N  Bytes written: N`
/// and `Reads: N total M failed`, SMB 1 `Reads: N Bytes: N`.
pub(super) fn parse(text: &str, share: &str) -> Option<Counters> {
    let heads = |line: &str| {
        line.split_once(") ")
            .filter(|(number, name)| number.parse::<u32>().is_ok() && name.starts_with("\\\\"))
            .map(|(_, name)| name.trim().to_owned())
    };
    // Behind a tab: whether it is connected. A share's own name may hold blanks.
    let is_wanted = |name: String| name.split('\t').next().unwrap_or("").trim().eq_ignore_ascii_case(share);
    let mut lines = text.lines().skip_while(|line| !heads(line).is_some_and(is_wanted));
    lines.next()?;
    let own: Vec<&str> = lines.take_while(|line| heads(line).is_none()).collect();
    // The first number behind a label, anywhere in its line.
    let after = |label: &str| -> Option<u64> {
        let rest = own.iter().find_map(|line| line.split_once(label).map(|(_, rest)| rest))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let of_smb_1 = |label: &str| -> Option<u64> {
        let line = own.iter().find(|line| line.trim_start().starts_with(label))?;
        line.split_once("Bytes:")?.1.split_whitespace().next()?.parse().ok()
    };
    Some(Counters {
        read_bytes: after("Bytes read:").or_else(|| of_smb_1("Reads:"))?,
        write_bytes: after("Bytes written:").or_else(|| of_smb_1("Writes:"))?,
        requests: after("Reads:").zip(after("Writes:")).and_then(|(reads, writes)| reads.checked_add(writes)),
        transmissions: None,
        times: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "Resources in use\nCIFS Session: 1\nShare (unique mount targets): 3\n\
        Operations (MIDs): 0\n\n0 session 0 share reconnects\nTotal vfs operations: 16 maximum at one time: 2\n\n\
        Max requests in flight: 3\n\
        1) \\\\srv\\other\nSMBs: 1\nBytes read: 1  Bytes written: 1\nReads: 1 total 0 failed\n\
        Writes: 1 total 0 failed\n\
        2) \\\\SRV\\data\tDISCONNECTED \nSMBs: 40\nBytes read: 5242880  Bytes written: 4096\n\
        Open files: 1 total (local), 1 open on server\nReads: 12 total 0 failed\nWrites: 3 total 1 failed\n\
        3) \\\\old\\share\nSMBs: 9\nReads:  5 Bytes: 20480\nWrites: 2 Bytes: 8192\n";

    #[test]
    fn the_right_shares_counters_are_read() {
        let found = parse(TEXT, "\\\\srv\\data").unwrap();
        assert_eq!((found.read_bytes, found.write_bytes, found.requests), (5_242_880, 4096, Some(15)));
        let old = parse(TEXT, "\\\\old\\share").unwrap();
        assert_eq!((old.read_bytes, old.write_bytes, old.requests), (20_480, 8192, Some(7)));
        assert!(parse(TEXT, "\\\\srv\\dat").is_none());
        assert!(parse("", "\\\\srv\\data").is_none());
        let blank = TEXT.replace("\\\\old\\share", "\\\\old\\my share");
        assert_eq!(parse(&blank, "\\\\old\\my share").unwrap().read_bytes, 20_480);
        // Cut off in the share's own lines: absent, or what was whole.
        let cut = TEXT.find("Bytes read: 5242880").unwrap();
        assert!(parse(&TEXT[..cut], "\\\\srv\\data").is_none());
        assert!(parse("1) \\\\srv\\data\nSMBs: 0\n", "\\\\srv\\data").is_none());
    }

    #[test]
    fn a_mount_of_a_folder_lies_in_its_share() {
        assert_eq!(share("//srv/data/deep/down").as_deref(), Some("\\\\srv\\data"));
        assert_eq!(share("\\\\srv\\data").as_deref(), Some("\\\\srv\\data"));
        assert_eq!(share("//srv"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = (share(&text), parse(&text, "\\\\a\\b"));
            let _ = parse(&format!("1) \\\\a\\b\n{text}"), "\\\\a\\b");
        }
    }
}
