pub fn bytes(&self, width: usize, height: usize) -> &[u8] {
    unsafe { slice::from_raw_parts(self.pixels, width * height) } // ruleid: raw_parts_length
}
pub fn all(&self) -> &[T] {
    unsafe { std::slice::from_raw_parts(self.items.as_ptr(), self.items.capacity()) } // ruleid: raw_parts_length
}
pub fn rest(&mut self) -> &mut [u8] {
    let end = self.buffer.as_mut_ptr();
    unsafe { slice::from_raw_parts_mut(end, self.buffer.capacity() - self.used) } // ruleid: raw_parts_length
}
pub fn text(p: *const u8, len: usize) -> String {
    let bytes = unsafe { slice::from_raw_parts(p, len) }; // ruleid: raw_parts_length
    String::from_utf8_lossy(bytes).into_owned()
}
pub extern "C" fn on_data(p: *const u8, len: c_int) {
    handle(unsafe { slice::from_raw_parts(p, len as usize) }); // ruleid: raw_parts_length
}
fn received(socket: &Socket) -> Vec<u8> {
    let n: isize = socket.receive();
    unsafe { slice::from_raw_parts(socket.buffer(), n as usize).to_vec() } // ruleid: raw_parts_length
}
pub fn planes(frame: &Frame) -> &[u8] {
    let size = frame.stride() * frame.lines();
    let more = frame.stride();
    unsafe { slice::from_raw_parts(frame.data(), more * frame.lines()) } // ruleid: raw_parts_length
}
pub fn rows<'a>(p: *mut f32, rows: usize, columns: usize) -> &'a mut [f32] {
    unsafe { std::slice::from_raw_parts_mut(p, rows * columns) } // ruleid: raw_parts_length
}
pub fn of_number(&self, count: u32) -> &[Item] {
    unsafe { core::slice::from_raw_parts(self.first, count as usize) } // ruleid: raw_parts_length
}
pub fn known(&self) -> &[u8] {
    unsafe { slice::from_raw_parts(self.pixels, self.len) } // ok: raw_parts_length
}
pub fn as_bytes(items: &[u32]) -> &[u8] {
    unsafe { slice::from_raw_parts(items.as_ptr().cast(), items.len() * size_of::<u32>()) } // ok: raw_parts_length
}
pub unsafe fn trusting<'a>(p: *const u8, len: usize) -> &'a [u8] {
    slice::from_raw_parts(p, len) // ok: raw_parts_length
}
#[no_mangle]
pub extern "C" fn on_bytes(p: *const u8, len: usize) {
    handle(unsafe { slice::from_raw_parts(p, len) }); // ok: raw_parts_length
}
pub fn head(&self, len: usize) -> &[u8] {
    assert!(len <= self.len);
    unsafe { slice::from_raw_parts(self.start, len) } // ok: raw_parts_length
}
pub extern "C" fn on_text(p: *const u8, len: c_int) {
    if len < 0 {
        return;
    }
    handle(unsafe { slice::from_raw_parts(p, len as usize) }); // ok: raw_parts_length
}
pub fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
    let p = self.buffer.as_mut_ptr() as *mut MaybeUninit<u8>;
    unsafe { slice::from_raw_parts_mut(p, self.buffer.capacity()) } // ok: raw_parts_length
}
pub fn area(&self, width: usize, height: usize) -> Option<&[u8]> {
    let size = width.checked_mul(height)?;
    unsafe { Some(slice::from_raw_parts(self.pixels, size)) } // ok: raw_parts_length
}
pub fn between(start: *const u8, end: *const u8) -> &'static [u8] {
    unsafe { slice::from_raw_parts(start, end as usize - start as usize) } // ok: raw_parts_length
}
pub fn one(item: &Item) -> &[Item] {
    unsafe { slice::from_raw_parts(item, 1) } // ok: raw_parts_length
}
fn within(&self, len: usize) -> &[u8] {
    unsafe { slice::from_raw_parts(self.start, len) } // ok: raw_parts_length
}
fn bytes_as_words(bytes: &[u8]) -> &[u32] {
    unsafe { slice::from_raw_parts(bytes.as_ptr() as *const u32, bytes.len()) } // ruleid: raw_parts_length
}
fn text_as_units(text: &str) -> &[u16] {
    unsafe { slice::from_raw_parts(text.as_bytes().as_ptr().cast::<u16>(), text.as_bytes().len()) } // ruleid: raw_parts_length
}
fn size_as_count(items: &[Item], n: usize) -> &[Item] {
    unsafe { slice::from_raw_parts(items.as_ptr() as *const Item, n * size_of::<Item>()) } // ruleid: raw_parts_length
}
fn explained_words(bytes: &mut Vec<u8>) -> &mut [u64] {
    // SAFETY: the bytes are aligned.
    unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr() as *mut u64, bytes.len()) } // ruleid: raw_parts_length
}
fn words_of_bytes(bytes: &[u8]) -> &[u32] {
    unsafe { slice::from_raw_parts(bytes.as_ptr() as *const u32, bytes.len() / 4) } // ok: raw_parts_length
}
fn bytes_of_words(words: &[u32]) -> &[u8] {
    unsafe { slice::from_raw_parts(words.as_ptr() as *const u8, words.len() * size_of::<u32>()) } // ok: raw_parts_length
}
