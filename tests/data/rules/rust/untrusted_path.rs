fn serve(peer: &mut TcpStream, root: &Path) -> io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    fs::read(root.join(name.trim())) // ruleid: untrusted_path
}
fn stored(peer: &mut BufReader<TcpStream>, root: &Path) -> io::Result<()> {
    let mut line = String::new();
    peer.read_line(&mut line)?;
    let name = line.trim_end();
    let path = root.join(name); // ruleid: untrusted_path
    fs::write(path, b"x")
}
fn pushed(peer: &mut TcpStream, mut path: PathBuf) -> io::Result<File> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    path.push(name); // ruleid: untrusted_path
    File::open(path)
}
fn received(s: &UdpSocket, root: &Path) -> io::Result<File> {
    let mut buf = [0u8; 64];
    let (n, _) = s.recv_from(&mut buf)?;
    let name = std::str::from_utf8(&buf[..n]).map_err(bad)?;
    File::open(root.join(name)) // ruleid: untrusted_path
}
fn listed(root: &Path) -> io::Result<Vec<u8>> {
    let name = fs::read_to_string("current")?;
    fs::read(root.join(name.trim())) // ruleid: untrusted_path
}
fn absolute(peer: &mut TcpStream, root: &Path) -> io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    let path = root.join(&name).canonicalize()?; // ok: untrusted_path
    fs::read(path)
}
fn joined(parts: &[String]) -> String {
    let mut text = String::new();
    io::stdin().read_line(&mut text).unwrap();
    parts.join(", ") // ok: untrusted_path
}
fn named(peer: &mut TcpStream, root: &Path) -> io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    let name = Path::new(&name).file_name().ok_or_else(bad)?;
    fs::read(root.join(name)) // ok: untrusted_path
}
fn refused(peer: &mut TcpStream, root: &Path) -> io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    if name.contains("..") || name.starts_with('/') {
        return Err(bad());
    }
    fs::read(root.join(name)) // ok: untrusted_path
}
fn constant(root: &Path) -> io::Result<Vec<u8>> {
    fs::read(root.join("index.html")) // ok: untrusted_path
}
