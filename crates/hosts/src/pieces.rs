//! Long messages in short pieces. For long ones MPI has one process read the memory of another (`process_vm_readv`, by
//! UCX from 8 KiB on), which the kernel refuses where both are confined by Landlock: such a run was aborted. Short ones
//! are copied through shared memory by every MPI.

use std::io;

/// Open MPI copies up to 4 KiB, MPICH and UCX more.
const PIECE_BYTES: usize = 2048;
/// Each message begins with its length.
const LENGTH_BYTES: usize = 8;

/// Sends a message piece by piece.
///
/// # Errors
/// Those of `send`.
pub fn send(message: &[u8], mut send: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut whole = (message.len() as u64).to_le_bytes().to_vec();
    whole.extend_from_slice(message);
    whole.chunks(PIECE_BYTES).try_for_each(&mut send)
}

/// What has come of a message of one host. Pieces of one host come in the order in which they were sent.
#[derive(Debug, Clone, Default)]
pub struct Pieces(Vec<u8>);

impl Pieces {
    /// Takes one more piece; returns the message that it completes.
    pub fn take(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        self.0.extend_from_slice(piece);
        let (length, message) = self.0.split_first_chunk::<LENGTH_BYTES>()?;
        if (message.len() as u64) < u64::from_le_bytes(*length) {
            return None;
        }
        let mut whole = std::mem::take(&mut self.0);
        whole.drain(..LENGTH_BYTES);
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_come_whole_and_one_by_one() {
        let mut pieces = Pieces::default();
        for length in [0, 1, PIECE_BYTES - LENGTH_BYTES, PIECE_BYTES - LENGTH_BYTES + 1, PIECE_BYTES, 50_000]
        {
            let message: Vec<u8> = (0..length).map(|at: usize| at as u8).collect();
            let mut came = Vec::new();
            let mut longest = 0;
            let each = |piece: &[u8]| {
                longest = longest.max(piece.len());
                came.extend(pieces.take(piece));
                Ok(())
            };
            send(&message, each).unwrap();
            assert_eq!(came, [message]);
            assert!(longest <= PIECE_BYTES, "{longest}");
        }
    }
}
