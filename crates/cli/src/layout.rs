//! How the hosts of a run share what they measure: the requested layout, and what each host makes and opens.

use iosonde_model::HostLayout;
use iosonde_rig::{
    guard::{OwnFiles, Target, random_name},
    placement::Placement,
};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, options::Options};

/// Layout of a run on its hosts, the same on all of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// Layout; `None` for one host that was asked for none.
    pub layout: Option<HostLayout>,
    /// Reads go to what the next host wrote.
    pub rotate: bool,
    /// Number of hosts.
    pub hosts: u32,
    /// Files of each host.
    pub files: u32,
    /// Names of the files that several hosts open: the shared one, or those of each host in turn.
    names: Vec<String>,
    /// A simulated device has no files.
    simulated: bool,
}

impl Sharing {
    /// The layout of this many hosts on a target, each with so many workers at most.
    ///
    /// # Errors
    /// The layout makes no sense there.
    pub fn of(target: &Target, options: &Options, hosts: u32, workers: u32) -> Result<Self, Failure> {
        let (directory, simulated) =
            (matches!(target, Target::Directory(_)), matches!(target, Target::Simulated(_)));
        let usual = if directory { HostLayout::FilePerHost } else { HostLayout::Shared };
        let layout = options.layout.or((hosts > 1).then_some(usual));
        let known = layout.unwrap_or(usual);
        let apart = !known.is_shared();
        let files = if known == HostLayout::FilePerWorker && directory { workers.max(1) } else { 1 };
        if layout.is_some()
            && apart
            && !directory
            && !simulated
            && (hosts > 1 || known == HostLayout::FilePerWorker)
        {
            return Err(Failure::usage(format!(
                "--layout {known} makes files, and the target is one; name a directory, or use shared-segmented, \
                 shared-strided or shared"
            )));
        }
        if options.rotate {
            refuse_rotation(known, hosts, options)?;
        }
        let named = match directory && hosts > 1 {
            true if known.is_shared() => 1,
            true if options.rotate => hosts * files,
            _ => 0,
        };
        let names = (0..named).map(|_| random_name()).collect();
        Ok(Self { layout, rotate: options.rotate, hosts, files, names, simulated })
    }

    /// What a host makes or opens in a directory.
    pub fn own_files(&self, rank: u32) -> OwnFiles {
        if self.names.is_empty() {
            return OwnFiles::Private(self.files.max(1));
        }
        match (self.is_shared(), rank) {
            (true, 0) => OwnFiles::Named(self.names.clone()),
            (true, _) => OwnFiles::OfHost0(self.names[0].clone()),
            (false, _) => OwnFiles::Named(self.names_of(rank).to_vec()),
        }
    }

    /// The host whose files this one reads, with their names; `None` where it reads its own.
    pub fn next_files(&self, rank: u32) -> Option<(u32, &[String])> {
        let next = (rank + 1) % self.hosts.max(1);
        (self.rotate && !self.is_shared() && !self.names.is_empty()).then(|| (next, self.names_of(next)))
    }

    fn names_of(&self, rank: u32) -> &[String] {
        let first = (rank * self.files) as usize;
        &self.names[first..first + self.files as usize]
    }

    /// Whether all hosts use one file or device.
    pub fn is_shared(&self) -> bool {
        self.layout.is_some_and(HostLayout::is_shared)
    }

    /// Whether hosts must see the same storage, which is to be proved.
    pub fn needs_proof(&self) -> bool {
        self.is_shared() && self.hosts > 1 && !self.simulated
    }

    /// Place of a host.
    pub fn placement(&self, rank: u32) -> Placement {
        let usual = Placement::default();
        Placement {
            layout: self.layout.unwrap_or(usual.layout),
            rank,
            hosts: self.hosts.max(1),
            files: self.files.max(1),
            rotate: self.rotate,
            no_files: self.simulated,
            ..usual
        }
    }
}

/// Rotation where no host reads another one's data.
fn refuse_rotation(layout: HostLayout, hosts: u32, options: &Options) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::usage(text));
    if hosts == 1 {
        return refuse(
            "--rotate reads what another host wrote, and there is one host; start several with iosonde-mpi, or \
             --hosts N on a simulated target",
        );
    }
    if !layout.separates_hosts() {
        return refuse(
            "--rotate needs a part for each host, and --layout shared has none; add --layout shared-segmented, \
             shared-strided or, in a directory, file-per-host",
        );
    }
    if layout == HostLayout::SharedStrided && options.state.is_some() {
        return refuse(
            "--state writes blocks of its own size, which --rotate with --layout shared-strided would read on the host \
             that wrote them; use --layout shared-segmented",
        );
    }
    if options.read_only {
        return refuse(
            "--rotate reads what another host wrote, and --read-only writes nothing; leave one out",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(layout: Option<HostLayout>, rotate: bool) -> Options {
        Options { layout, rotate, ..Options::usual(1, 0.05, 1) }
    }

    fn directory() -> Target {
        Target::Directory("/mnt".into())
    }

    fn of(target: &Target, layout: Option<HostLayout>, rotate: bool, hosts: u32) -> Result<Sharing, String> {
        Sharing::of(target, &options(layout, rotate), hosts, 3).map_err(|failure| failure.text)
    }

    #[test]
    fn a_layout_that_was_not_asked_for_is_todays() {
        let (file, simulated) = (Target::File("/x".into()), Target::Simulated("dfs".into()));
        let layout = |target: &Target, hosts| of(target, None, false, hosts).unwrap().layout;
        assert_eq!(layout(&directory(), 1), None);
        assert_eq!(layout(&directory(), 2), Some(HostLayout::FilePerHost));
        assert_eq!(layout(&file, 2), Some(HostLayout::Shared));
        assert_eq!(layout(&simulated, 64), Some(HostLayout::Shared));
    }

    #[test]
    fn host_0_makes_the_shared_file_and_the_others_open_it() {
        let sharing = of(&directory(), Some(HostLayout::SharedStrided), true, 4).unwrap();
        let OwnFiles::Named(names) = sharing.own_files(0) else { panic!("{sharing:?}") };
        assert_eq!(sharing.own_files(3), OwnFiles::OfHost0(names[0].clone()));
        assert_eq!(sharing.next_files(1), None);
        assert!(sharing.needs_proof());
    }

    #[test]
    fn files_have_names_only_where_another_host_reads_them() {
        let private = of(&directory(), Some(HostLayout::FilePerWorker), false, 2).unwrap();
        assert_eq!(private.own_files(1), OwnFiles::Private(3));
        let rotated = of(&directory(), Some(HostLayout::FilePerWorker), true, 2).unwrap();
        let OwnFiles::Named(of_0) = rotated.own_files(0) else { panic!("{rotated:?}") };
        assert_eq!((of_0.len(), rotated.next_files(1)), (3, Some((0, &of_0[..]))));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_way_out() {
        let file = Target::File("/x".into());
        let refused = |target: &Target, layout, rotate, hosts| of(target, layout, rotate, hosts).unwrap_err();
        assert!(refused(&file, Some(HostLayout::FilePerHost), false, 2).contains("name a directory"));
        assert!(refused(&file, Some(HostLayout::FilePerWorker), false, 1).contains("name a directory"));
        assert!(refused(&directory(), None, true, 1).contains("one host"));
        assert!(refused(&directory(), Some(HostLayout::Shared), true, 2).contains("a part for each host"));
        assert!(refused(&file, None, true, 2).contains("shared-segmented"));
    }
}
