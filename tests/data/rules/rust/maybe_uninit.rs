use std::mem::{self, MaybeUninit};
fn bad() {
    let n: u32 = unsafe { MaybeUninit::uninit().assume_init() }; // ruleid: maybe_uninit
    let old: [u8; 16] = unsafe { mem::uninitialized() }; // ruleid: maybe_uninit
    let reference: &u8 = unsafe { std::mem::zeroed() }; // ruleid: maybe_uninit
    let turbo = unsafe { mem::zeroed::<libc::stat>() }; // ruleid: maybe_uninit
    let array: [MaybeUninit<u8>; 8] = unsafe { MaybeUninit::uninit().assume_init() }; // ruleid: maybe_uninit
}
fn filled(slot: &mut MaybeUninit<u64>) -> u64 {
    slot.write(7);
    // SAFETY: written above.
    unsafe { slot.assume_init_read() } // ruleid: maybe_uninit
}
fn received(buffer: &mut ReadBuf<'_>, n: usize) {
    unsafe { buffer
        .assume_init(n) }; // ruleid: maybe_uninit
}
unsafe fn assume_init(self) -> T { // ok: maybe_uninit
    let zeroed = vec![0; 4]; // ok: maybe_uninit
    let page = Page::zeroed(); // ok: maybe_uninit
    let slot = MaybeUninit::<u8>::zeroed(); // ok: maybe_uninit
    let empty = MaybeUninit::<u8>::uninit(); // ok: maybe_uninit
    let text = "x.assume_init()"; // ok: maybe_uninit
    // x.assume_init() // ok: maybe_uninit
    let f = MaybeUninit::assume_init; // ok: maybe_uninit
    let all = buffer.assume_initialized(); // ok: maybe_uninit
}
fn length_first(n: usize, r: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut v = Vec::with_capacity(n);
    unsafe { v.set_len(n) }; // ruleid: maybe_uninit
    r.read_exact(&mut v)?;
    Ok(v)
}
fn room_first(mut v: Vec<u8>, n: usize) -> Vec<u8> {
    v.reserve(n);
    unsafe { v.set_len(n) }; // ruleid: maybe_uninit
    v
}
fn written_first(n: usize, p: *const u8) -> Vec<u8> {
    let mut v = Vec::with_capacity(n);
    unsafe {
        ptr::copy_nonoverlapping(p, v.as_mut_ptr(), n);
        v.set_len(n); // ok: maybe_uninit
    }
    v
}
fn shorter(v: &mut Vec<u8>) {
    unsafe { v.set_len(0) }; // ok: maybe_uninit
}
