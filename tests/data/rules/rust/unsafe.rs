#![forbid(unsafe_code)] // ok: unsafe
pub fn read(p: *const u8) -> u8 {
    unsafe { *p } // ruleid: unsafe
}
pub unsafe fn raw<'a>(p: *const u8) -> &'a u8 { // ruleid: unsafe
    &*p
}
unsafe extern "C" fn callback() {} // ruleid: unsafe
unsafe trait Zeroable {} // ruleid: unsafe
unsafe impl Zeroable for u8 {} // ok: unsafe
type Callback = unsafe extern "C" fn(i32); // ok: unsafe
struct Table { call: Option<unsafe fn()> } // ok: unsafe
#[unsafe(no_mangle)] // ok: unsafe
pub fn text() -> (char, &'static str) {
    /* unsafe { } /* unsafe { nested } */ unsafe { } */ // ok: unsafe
    let quote = '"'; unsafe { go() } // ok: unsafe
    let raw = r#"" unsafe { } "#; unsafe { go(b"\"") } // ok: unsafe
    ('\'', "unsafe { }") // ok: unsafe
}
macro_rules! wrap { ($b:block) => { unsafe $b }; } // ruleid: unsafe
macro_rules! run { ($e:expr) => { unsafe { $e } }; } // ruleid: unsafe
fn r#unsafe() {} // ok: unsafe
pub fn read_all(fd: OwnedFd, p: *const u8) -> u8 {
    let made = unsafe { File::from_raw_fd(number) }; // ruleid: unsafe
    let file = unsafe { File::from_raw_fd(fd.into_raw_fd()) }; // ok: unsafe
    let lent = unsafe { BorrowedFd::borrow_raw(file.as_raw_fd()) }; // ok: unsafe
    // SAFETY: the first of a file speaks for the rest.
    let first = unsafe { *p }; // ok: unsafe
    // SAFETY: as above.
    let second = unsafe { *p }; // ok: unsafe
    first + second
}
unsafe fn within(p: *const u8) -> u8 { // ruleid: unsafe
    unsafe { *p } // ok: unsafe
}
pub fn of_two(p: *const u8, q: *const u8) -> u8 {
    let first = unsafe { *p }; // ruleid: unsafe
    let second = unsafe { *q }; // ok: unsafe
    first + second
}
