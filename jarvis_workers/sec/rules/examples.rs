/* The examples of the rules for Rust: each ends at the next head. */

/* bad: unsafe */
unsafe { *p = 1; }

/* good: unsafe */
// SAFETY: p comes from Box::into_raw above and is used once.
unsafe { *p = 1; }

/* bad: unwrap_expect */
let n: u32 = text.parse().unwrap();

/* good: unwrap_expect */
let n: u32 = text.parse()?;

/* bad: mem_transmute */
let n: f32 = unsafe { std::mem::transmute(bits) };

/* good: mem_transmute */
let n = f32::from_bits(bits);

/* bad: extern_c */
pub extern "C" fn total(p: *const u32, n: usize) -> u32 {
    sum(unsafe { from_raw_parts(p, n) })
}

/* good: extern_c */
#[no_mangle]
pub extern "C" fn answer() -> u32 {
    42
}

/* bad: unsafe_send_sync */
unsafe impl<T> Send for Queue<T> {}

/* good: unsafe_send_sync */
// SAFETY: the queue owns its items and hands each out once.
unsafe impl<T: Send> Send for Queue<T> {}

/* bad: raw_pointer */
pub fn first(p: *const u8) -> u8 {
    unsafe { *p }
}

/* good: raw_pointer */
pub fn first(bytes: &[u8]) -> Option<u8> {
    bytes.first().copied()
}

/* bad: mem_forget */
std::mem::forget(file);

/* good: mem_forget */
let fd = file.into_raw_fd();

/* bad: maybe_uninit */
let n: u32 = unsafe { MaybeUninit::uninit().assume_init() };

/* good: maybe_uninit */
slot.write(7);
// SAFETY: written above.
let n: u32 = unsafe { slot.assume_init() };

/* bad: ignored_result */
let _ = file.write_all(&header);

/* good: ignored_result */
file.write_all(&header)?;

/* bad: panic_safety */
pub fn replace_with<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
    unsafe {
        let value = f(std::ptr::read(slot));
        std::ptr::write(slot, value);
    }
}

/* good: panic_safety */
pub fn replace_with<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
    let guard = AbortIfPanic;
    unsafe {
        let value = f(std::ptr::read(slot));
        std::ptr::write(slot, value);
    }
    std::mem::forget(guard);
}

/* bad: get_unchecked */
pub fn pixel(rows: &[u8], at: usize) -> u8 {
    unsafe { *rows.get_unchecked(at) }
}

/* good: get_unchecked */
pub fn pixel(rows: &[u8], at: usize) -> u8 {
    assert!(at < rows.len());
    unsafe { *rows.get_unchecked(at) }
}

/* bad: raw_parts_length */
pub fn bytes(&self, width: usize, height: usize) -> &[u8] {
    unsafe { std::slice::from_raw_parts(self.pixels, width * height) }
}

/* good: raw_parts_length */
pub fn bytes(&self) -> &[u8] {
    unsafe { std::slice::from_raw_parts(self.pixels, self.len) }
}

/* bad: truncated_index */
pub fn copied(text: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len() as u16 as usize);
    copy.extend_from_slice(text);
    copy
}

/* good: truncated_index */
pub fn copied(text: &[u8]) -> Result<Vec<u8>, Error> {
    let size = u16::try_from(text.len())?;
    let mut copy = Vec::with_capacity(usize::from(size));
    copy.extend_from_slice(text);
    Ok(copy)
}

/* bad: static_mut */
static mut COUNT: u32 = 0;
pub fn next() -> u32 {
    unsafe { COUNT += 1; COUNT }
}

/* good: static_mut */
static COUNT: AtomicU32 = AtomicU32::new(0);
pub fn next() -> u32 {
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/* bad: into_raw_leak */
pub fn share(state: State) -> *mut State {
    Box::into_raw(Box::new(state))
}

/* good: into_raw_leak */
pub fn share(state: State) -> *mut State {
    Box::into_raw(Box::new(state))
}
pub unsafe fn close(state: *mut State) {
    drop(unsafe { Box::from_raw(state) });
}

/* bad: shell_command */
Command::new("sh").arg("-c").arg(format!("tar xf {archive}")).status()?;

/* good: shell_command */
Command::new("tar").arg("xf").arg(archive).status()?;

/* bad: untrusted_number */
pub fn blob(peer: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let size = u32::from_be_bytes(head) as usize;
    let mut body = vec![0u8; size];
    peer.read_exact(&mut body)?;
    Ok(body)
}

/* good: untrusted_number */
pub fn blob(peer: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let size = u32::from_be_bytes(head) as usize;
    if size > LARGEST {
        return Err(Error::from(ErrorKind::InvalidData));
    }
    let mut body = vec![0u8; size];
    peer.read_exact(&mut body)?;
    Ok(body)
}

/* bad: untrusted_path */
pub fn serve(peer: &mut TcpStream, root: &Path) -> std::io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    std::fs::read(root.join(name.trim()))
}

/* good: untrusted_path */
pub fn serve(peer: &mut TcpStream, root: &Path) -> std::io::Result<Vec<u8>> {
    let mut name = String::new();
    peer.read_to_string(&mut name)?;
    let name = Path::new(name.trim()).file_name().ok_or(ErrorKind::InvalidInput)?;
    std::fs::read(root.join(name))
}

/* bad: temporary_pointer */
pub fn say(text: &str) -> i32 {
    let line = CString::new(text).unwrap_or_default().as_ptr();
    unsafe { puts(line) }
}

/* good: temporary_pointer */
pub fn say(text: &str) -> i32 {
    let line = CString::new(text).unwrap_or_default();
    unsafe { puts(line.as_ptr()) }
}

/* bad: double_read */
pub fn pair(v: ManuallyDrop<Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
    let a = unsafe { ptr::read(&*v) };
    let b = unsafe { ptr::read(&*v) };
    (a, b)
}

/* good: double_read */
pub fn pair(v: ManuallyDrop<Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
    let a = unsafe { ptr::read(&*v) };
    let b = a.clone();
    (a, b)
}
