//! The program on several hosts: rank 0 leads, and what the other hosts do for it.

use std::{path::Path, process::ExitCode};

use iosonde_hosts::{Cannot, Deed, Leader, Link, Opening, Workplace, follow};
use iosonde_model::{Medium, Phase, RunHost};
use iosonde_rig::{
    confine,
    guard::{StrayRecorder, Writes},
    interrupt,
    stall::{STALLED_AFTER, StallWatch},
    trial::Bed,
};

use crate::{
    failure::{Failure, INTERRUPTED},
    hosts::Hosts,
    joined::{self, VERSION},
    layout::Sharing,
    measure::{power, stall},
    options::Options,
    session::{self, Asked, Session},
};

/// Runs the program on several hosts: rank 0 reads the command line and leads, the others follow it.
pub fn run_on_hosts<L: Link + 'static>(link: L) -> ExitCode {
    if link.rank() > 0 {
        return followed(link);
    }
    let hosts = Hosts::new(Box::new(Leader::new(link)));
    hosts.lead();
    let several = hosts.count() > 1;
    let code = crate::run_after(true, |cli| if several { crate::refuse_on_hosts(cli) } else { Ok(()) });
    // Bad usage touched nothing, and a verdict is no accident: all are there to say good-bye.
    let well = code != crate::failure::FAILED && code != INTERRUPTED;
    hosts.end(well);
    crate::leave(code)
}

fn followed<L: Link>(mut link: L) -> ExitCode {
    let mut place = Place { rank: link.rank(), session: None };
    let ended = follow(&mut link, &mut place, interrupt::catch());
    // Its file goes before rank 0 does.
    drop(place.session.take());
    let well = ended.unwrap_or_else(|error| {
        crate::screen::Screen::complain(&format!("host {}: {error}", place.rank));
        false
    });
    link.close(well);
    crate::leave(if well { 0 } else { crate::failure::FAILED })
}

/// A host that follows, with its target.
struct Place {
    rank: u32,
    session: Option<Session>,
}

fn cannot(failure: Failure) -> Cannot {
    Cannot { usage: failure.code == crate::failure::USAGE, why: failure.text }
}

impl Place {
    fn opened(&mut self, opening: &Opening, strays: &mut dyn StrayRecorder) -> Result<RunHost, Failure> {
        if opening.version != VERSION {
            return Err(Failure::usage(format!(
                "it runs iosonde {VERSION}, and host 0 runs {}; install one version on all hosts",
                opening.version
            )));
        }
        let words = joined::own_words();
        if !words.is_empty() && words != opening.words {
            return Err(Failure::usage(format!(
                "its command line is `{}`, and that of host 0 is `{}`; start all hosts with the same one",
                words.join(" "),
                opening.words.join(" ")
            )));
        }
        let options: Options = serde_json::from_value(opening.options.clone()).map_err(Failure::failed)?;
        let asked: (String, bool, bool, Sharing) =
            serde_json::from_value(opening.asked.clone()).map_err(Failure::failed)?;
        let writes = match asked {
            (_, false, ..) => Writes::None,
            (_, true, false, _) => Writes::Optional,
            (_, true, true, _) => Writes::Needed,
        };
        let place = Some((&asked.3, self.rank));
        let asked = Asked { command: &asked.0, writes, apart: &[], workers: asked.3.files, place };
        let session = session::open_here(&opening.target, &options, asked, strays)?;
        let host = joined::about(self.rank, &session);
        // The same least power as on rank 0.
        // It has no notebook; MPI removes its shared memory when it ends.
        let places = power::places(Path::new("/dev/shm/iosonde"), std::iter::once(&session));
        confine::confine(&places);
        self.session = Some(session);
        Ok(host)
    }
}

impl Workplace for Place {
    fn open(&mut self, opening: &Opening, strays: &mut dyn StrayRecorder) -> Result<RunHost, Cannot> {
        self.opened(opening, strays).map_err(cannot)
    }

    fn bed(&mut self) -> Option<&mut Bed> {
        self.session.as_mut().map(|session| &mut session.bed)
    }

    fn share(&mut self, deed: &Deed) -> Result<(), Cannot> {
        let Some(session) = &mut self.session else { return Ok(()) };
        match *deed {
            Deed::Settle => session
                .bed
                .settle()
                .map_err(|error| Failure::failed(format!("what was written could not be flushed: {error}"))),
            Deed::PageCache(buffered) => session.go_through_page_cache(buffered),
            Deed::Address(bytes) => {
                session.address(bytes);
                Ok(())
            }
            Deed::Apart(bytes) => {
                session.lie_apart(bytes);
                Ok(())
            }
            Deed::Meet => session.meet(),
            Deed::See { length_bytes, digest } => session.see(length_bytes, digest),
        }
        .map_err(cannot)
    }

    fn watch(&self, phase: Phase) -> Option<StallWatch> {
        let session = self.session.as_ref()?;
        if session.device.medium == Medium::Simulated {
            return None;
        }
        let after = if phase == Phase::Prepare { stall::STALLED_FILLING_AFTER } else { STALLED_AFTER };
        let target = session.admitted.as_ref().map(|admitted| admitted.path.display().to_string());
        Some(stall::watch(
            after,
            format!("host {}: {}", self.rank, target.unwrap_or_default()),
            String::new(),
        ))
    }
}
