fn flush(file: &mut File, state: &Mutex<u32>, sender: Sender<u32>) -> io::Result<()> {
    let _ = file.write_all(b"header"); // ruleid: ignored_result
    let _ = state.lock(); // ruleid: ignored_result
    let _ = sender.send(1); // ruleid: ignored_result
    let _ = std::fs::rename("a", // ruleid: ignored_result
        "b");
    file.flush().ok(); // ruleid: ignored_result
    std::fs::remove_file("a").ok() ; // ruleid: ignored_result
    let _: Result<(), Error> = commit(&mut |x| { x + 1; }); // ruleid: ignored_result
    let _ = write!(out, "{}", 1); // ruleid: ignored_result
    let _ = read_config().await; // ruleid: ignored_result
    if let Some(child) = child {
        child
            .kill()
            .ok(); // ruleid: ignored_result
    }
    let size = file.metadata().ok(); // ok: ignored_result
    let _ = argument; // ok: ignored_result
    let _ = &self.unused; // ok: ignored_result
    let _guard = state.lock(); // ok: ignored_result
    let (_, rest) = split(text); // ok: ignored_result
    let _ = tokio::spawn(async move { run().await }); // ok: ignored_result
    let _ = counter.fetch_add(1, Ordering::Relaxed); // ok: ignored_result
    self.size = text.parse().ok(); // ok: ignored_result
    let _ = matches!(state, State::Open); // ok: ignored_result
    let text = "let _ = file.flush();"; // ok: ignored_result
    // let _ = file.flush(); // ok: ignored_result
    return env::var("HOME").ok(); // ok: ignored_result
}
fn read_config() -> Result<Config, Error> {
    #[cfg(unix)]
    let size = path.metadata().map(|m| m.len()).ok(); // ok: ignored_result
    match size { None => text.parse().ok(), Some(n) => Some(n) } // ok: ignored_result
}
