extern crate libc; // ok: extern_c
extern "C" { // ok: extern_c
    fn puts(text: *const c_char) -> c_int;
}
unsafe extern "system" { // ok: extern_c
    fn GetTickCount() -> u32;
}
extern { // ok: extern_c
    static environ: *const *const c_char;
}
#[no_mangle]
pub extern "C" fn total(values: *const u32, n: usize) -> u32 { // ruleid: extern_c
    unsafe { std::slice::from_raw_parts(values, n) }.iter().sum()
}
#[no_mangle]
pub unsafe extern "C" fn release(handle: *mut Handle) { // ruleid: extern_c
    if !handle.is_null() {
        drop(unsafe { Box::from_raw(handle) });
    }
}
extern fn answer() -> u32 { // ruleid: extern_c
    text().parse().unwrap()
}
type Callback = unsafe extern "C" fn(i32) -> i32; // ok: extern_c
struct Table {
    call: Option<extern "C" fn(*mut c_void)>, // ok: extern_c
}
extern "Rust" fn inside() {} // ok: extern_c
extern "rust-intrinsic" { // ok: extern_c
    fn abort() -> !;
}
fn external(f: extern "C" fn()) { // ok: extern_c
    let text = "extern \"C\" { }"; // ok: extern_c
    // extern "C" fn gone() {} // ok: extern_c
}
#[no_mangle]
pub extern "C" fn first(values: *const u32) -> u32 { // ruleid: extern_c
    unsafe { *values }
}
pub extern "C" fn set(handle: *mut Handle, n: u32) { // ruleid: extern_c
    unsafe { (*handle).n = n }
}
