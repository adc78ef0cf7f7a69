pub fn first(p: *const u8) -> u8 { // ruleid: raw_pointer
    unsafe { *p }
}
pub fn store(mut slot: *mut u32, value: u32) { // ruleid: raw_pointer
    unsafe { slot.write(value) }
}
pub fn checked(p: *const u8) -> Option<u8> { // ruleid: raw_pointer
    if p.is_null() { None } else { Some(unsafe { *p }) }
}
pub struct Node<T> {
    value: T,
    pub(crate) next: *mut Node<T>, // ruleid: raw_pointer
}
fn raw_parts(bytes: &[u8], n: usize) {
    let start = bytes.as_ptr() as *const u32; // ruleid: raw_pointer
    let write = &bytes[0] as *const u8 as *mut u8; // ruleid: raw_pointer
    let words = unsafe { std::slice::from_raw_parts(start, n / 4) }; // ok: raw_pointer
    let owner = unsafe { Box::<Node<u8>>::from_raw(node) }; // ruleid: raw_pointer
    let name = unsafe { CString::from_raw(text) }; // ruleid: raw_pointer
}
extern "C" {
    fn strlen(text: *const c_char) -> usize; // ok: raw_pointer
}
fn near_misses(a: usize, constant: &u32) {
    let product = a *constant; // ok: raw_pointer
    let slot = &mut *mut_slot; // ok: raw_pointer
    let file = File::from_raw_fd(fd); // ok: raw_pointer
    let color = Color::from_raw(0xff00ff); // ok: raw_pointer
    let text = "*const u8"; // ok: raw_pointer
    // p as *mut u8 // ok: raw_pointer
    let error = io::Error::from_raw_os_error(2); // ok: raw_pointer
}
fn named_types(bytes: &[u8]) -> *const u8 { // ok: raw_pointer
    let tag: PhantomData<*const ()> = PhantomData; // ok: raw_pointer
    let address = bytes as *const [u8] as *const u8 as usize; // ok: raw_pointer
    let view = unsafe { &mut *(bytes.as_ptr() as *mut [u8; 4]) }; // ok: raw_pointer
    // SAFETY: never followed.
    let kept = bytes as *const [u8]; // ruleid: raw_pointer
    bytes.as_ptr()
}
/// # Safety
/// `p` is valid.
pub unsafe fn by_contract(p: *const u8) -> u8 { // ok: raw_pointer
    *p
}
