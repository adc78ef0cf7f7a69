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
