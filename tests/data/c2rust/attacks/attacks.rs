// What attacks.c does, for a build script and a macro: writes the names of the attacks that succeeded to `report`.
fn writable(path: String) -> bool {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(b"attacked\n")).is_ok()
}

fn attack(report: &str) {
    let results = [
        ("read_home", std::fs::read(format!("{OUTSIDE}/home/secret")).is_ok()),
        ("list_home", std::fs::read_dir(format!("{OUTSIDE}/home")).is_ok()),
        ("write_home", writable(format!("{OUTSIDE}/home/new"))),
        ("read_store", std::fs::read(format!("{OUTSIDE}/store.db")).is_ok()),
        ("write_store", writable(format!("{OUTSIDE}/store.db"))),
        ("read_other_bench", std::fs::read(format!("{OTHER}/state")).is_ok()),
        ("write_other_bench", writable(format!("{OTHER}/state"))),
        ("change_crate", writable(format!("{OWN}/crate/Cargo.toml"))),
        ("change_wrappers", writable(format!("{OWN}/bin/cc"))),
        ("connect_tcp", std::net::TcpStream::connect(("127.0.0.1", PORT)).is_ok()),
        ("connect_unix", std::os::unix::net::UnixStream::connect(format!("{OUTSIDE}/socket")).is_ok()),
        ("signal_process", unsafe { kill(PROCESS, 0) } == 0),
    ];
    let line = |(name, done): (&str, bool)| format!("{} {name}\n", if done { "escaped" } else { "contained" });
    std::fs::write(report, results.map(line).concat()).unwrap();
}

extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
}
