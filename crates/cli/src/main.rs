//! The program `iosonde`.

fn main() -> std::process::ExitCode {
    iosonde_cli::run_program()
}
