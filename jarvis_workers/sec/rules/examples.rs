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
