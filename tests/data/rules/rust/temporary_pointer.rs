fn bound(text: &str) -> i32 {
    let line = CString::new(text).unwrap().as_ptr(); // ruleid: temporary_pointer
    unsafe { puts(line) }
}
fn typed(text: &str) -> i32 {
    let line: *const c_char = CString::new(text).expect("no NUL").as_ptr(); // ruleid: temporary_pointer
    unsafe { puts(line) }
}
fn formatted(n: u32) -> *const u8 {
    let p = format!("{n}\0").as_ptr(); // ruleid: temporary_pointer
    p
}
fn copied(bytes: &[u8]) -> u8 {
    let p = bytes.to_vec().as_ptr(); // ruleid: temporary_pointer
    unsafe { *p }
}
fn collected(n: u8) -> u8 {
    let p = (0..n).collect::<Vec<u8>>().as_mut_ptr(); // ruleid: temporary_pointer
    unsafe { *p }
}
fn literal(name: &str) -> Options {
    Options { size: 3, name: CString::new(name).unwrap().as_ptr() } // ruleid: temporary_pointer
}
fn assigned(o: &mut Options, name: &str) {
    o.name = CString::new(name).unwrap().as_ptr(); // ruleid: temporary_pointer
}
fn of_block(text: &str) -> i32 {
    let line = {
        let owned = CString::new(text).unwrap();
        owned.as_ptr() // ruleid: temporary_pointer
    };
    unsafe { puts(line) }
}
fn returned(text: &str) -> *const c_char {
    let owned = CString::new(text).unwrap();
    owned.as_ptr() // ruleid: temporary_pointer
}
fn explained(text: &str) -> i32 {
    // SAFETY: the text has no NUL.
    let line = CString::new(text).unwrap().as_ptr(); // ruleid: temporary_pointer
    unsafe { puts(line) }
}
fn kept(text: &str) -> i32 {
    let line = CString::new(text).unwrap();
    unsafe { puts(line.as_ptr()) } // ok: temporary_pointer
}
fn within_call(text: &str) -> i32 {
    unsafe { puts(CString::new(text).unwrap().as_ptr()) } // ok: temporary_pointer
}
fn given_up(text: &str) -> *const c_char {
    let line = CString::new(text).unwrap().into_raw(); // ok: temporary_pointer
    line
}
fn of_literal() -> *const u8 {
    let p = b"text\0".as_ptr(); // ok: temporary_pointer
    p
}
fn of_parameter(bytes: &[u8]) -> *const u8 {
    let p = bytes.as_ptr(); // ok: temporary_pointer
    p
}
fn of_field(&self) -> *const u8 {
    self.bytes.as_ptr() // ok: temporary_pointer
}
fn of_result(text: &str) -> i32 {
    let n = unsafe { strlen(CString::new(text).unwrap().as_ptr()) }; // ok: temporary_pointer
    n
}
