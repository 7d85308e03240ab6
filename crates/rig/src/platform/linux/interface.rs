//! How fast the network interface is that leads to a file server: nothing comes from there faster.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Mount, System};

/// The link to the server of a network mount, in words: `Ethernet 10 Gb/s`. `None` where the mount does not name its
/// server's address, or the interface no speed (a wireless one, a virtual one, the machine itself).
pub(super) fn link_to_server(system: &System, mount: &Mount) -> Option<String> {
    // NFS and SMB both list the address that was resolved when the mount was made.
    let address: IpAddr = mount.option("addr")?.parse().ok()?;
    let interface = match address {
        IpAddr::V4(address) => by_route(&system.text("/proc/net/route")?, address),
        IpAddr::V6(address) => by_route_6(&system.text("/proc/net/ipv6_route")?, address),
    }?;
    let text = system.text(format!("/sys/class/net/{interface}/speed"))?;
    speed(&text)
}

/// `speed` is in Mb/s, and -1 where the driver does not know.
fn speed(text: &str) -> Option<String> {
    let megabits_per_s: f64 = text.parse().ok().filter(|&speed| speed > 0.0 && speed < 1e9)?;
    Some(match megabits_per_s {
        speed if speed >= 1000.0 => format!("Ethernet {} Gb/s", speed / 1000.0),
        speed => format!("Ethernet {speed} Mb/s"),
    })
}

/// Interface of the most specific route to an address; among equals, the one with the least metric. Columns: interface,
/// destination, gateway, flags, references, uses, metric, mask; addresses as the bytes lie in memory.
fn by_route(table: &str, address: Ipv4Addr) -> Option<String> {
    let wanted = u32::from_ne_bytes(address.octets());
    let route = |line: &str| -> Option<(u32, u32, String)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| u32::from_str_radix(words.get(place)?, 16).ok();
        let (destination, mask) = (number(1)?, number(7)?);
        let metric: u32 = words.get(6)?.parse().ok()?;
        (wanted & mask == destination).then(|| (mask.count_ones(), metric, words[0].to_owned()))
    };
    let routes = table.lines().skip(1).filter_map(route);
    routes.min_by_key(|(bits, metric, _)| (32 - bits, *metric)).map(|(.., name)| name)
}

/// Columns: destination, its prefix, source, its prefix, next hop, metric, references, uses, flags, interface.
fn by_route_6(table: &str, address: Ipv6Addr) -> Option<String> {
    let wanted = u128::from(address);
    let route = |line: &str| -> Option<(u32, u32, String)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let destination = u128::from_str_radix(words.first()?, 16).ok()?;
        let prefix = u32::from_str_radix(words.get(1)?, 16).ok().filter(|&prefix| prefix <= 128)?;
        let metric = u32::from_str_radix(words.get(5)?, 16).ok()?;
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        (wanted & mask == destination & mask)
            .then(|| (prefix, metric, words.last().map(|w| (*w).to_owned())))
            .and_then(|(prefix, metric, name)| Some((prefix, metric, name?)))
    };
    let routes = table.lines().filter_map(route);
    routes.min_by_key(|(prefix, metric, _)| (128 - prefix, *metric)).map(|(.., name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROUTES: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
        wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n\
        eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
        eth1\t0000000A\t00000000\t0001\t0\t0\t100\t000000FF\t0\t0\t0\n";

    #[test]
    fn the_narrowest_route_leads_to_the_server() {
        let to = |address: &str| by_route(ROUTES, address.parse().unwrap());
        assert_eq!(to("10.1.2.3").as_deref(), Some("eth1"));
        assert_eq!(to("192.168.1.9").as_deref(), Some("eth0"));
        let six = "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 \
                   00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1\n\
                   00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
                   fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n";
        let to = |address: &str| by_route_6(six, address.parse().unwrap());
        assert_eq!((to("fe80::7").as_deref(), to("2001:db8::1").as_deref()), (Some("eth1"), Some("eth0")));
    }

    #[test]
    fn the_servers_address_and_the_interfaces_speed() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/net/route", ROUTES);
        write("sys/class/net/eth1/speed", "10000\n");
        write("sys/class/net/eth0/speed", "-1\n");
        let link = |options: &str| {
            let mount = Mount {
                id: 1,
                number: "0:50".parse().unwrap(),
                root: "/".into(),
                at: "/mnt".into(),
                file_system: "nfs4".into(),
                source: "server:/data".into(),
                options: options.into(),
            };
            link_to_server(&System::at(root.path()), &mount)
        };
        assert_eq!(link("rw,vers=4.2,addr=10.1.2.3").as_deref(), Some("Ethernet 10 Gb/s"));
        assert_eq!(link("rw,addr=192.168.1.9"), None);
        assert_eq!(link("rw"), None);
        assert_eq!(speed("2500").as_deref(), Some("Ethernet 2.5 Gb/s"));
        assert_eq!(speed("100").as_deref(), Some("Ethernet 100 Mb/s"));
    }

    proptest! {
        #[test]
        fn no_table_panics(text in "\\PC*", words in prop::collection::vec("[0-9a-f]{0,33}", 0..24)) {
            let _ = (by_route(&text, Ipv4Addr::LOCALHOST), by_route_6(&text, Ipv6Addr::LOCALHOST), speed(&text));
            let line = words.join(" ");
            let _ = (by_route(&format!("\n{line}"), Ipv4Addr::LOCALHOST), by_route_6(&line, Ipv6Addr::LOCALHOST));
        }
    }
}
