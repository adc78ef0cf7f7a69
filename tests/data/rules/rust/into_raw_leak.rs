pub fn share(state: State) -> *mut State {
    Box::into_raw(Box::new(state)) // ruleid: into_raw_leak
}
#[no_mangle]
pub extern "C" fn name() -> *mut c_char {
    CString::new("jarvis").unwrap().into_raw() // ruleid: into_raw_leak
}
pub fn shared(state: Arc<State>) -> *const State {
    Arc::into_raw(state) // ruleid: into_raw_leak
}
fn counted(state: Rc<State>) -> usize {
    Rc::into_raw(state) as usize // ruleid: into_raw_leak
}
fn node<T>(item: T) -> *mut Node<T> {
    let node = Box::new(Node { item, next: null_mut() });
    Box::into_raw(node) // ruleid: into_raw_leak
}
fn register(callback: Callback) {
    let data = Box::into_raw(Box::new(callback)); // ruleid: into_raw_leak
    unsafe { ffi::register(call, data.cast()) };
}
fn text(of: &str) -> *const c_char {
    let text = CString::into_raw(CString::new(of).unwrap()); // ruleid: into_raw_leak
    text
}
fn typed(state: State) -> *mut dyn Any {
    Box::<dyn Any>::into_raw(Box::new(state)) // ruleid: into_raw_leak
}
fn slice(items: Vec<u8>) -> *mut [u8] {
    std::boxed::Box::into_raw(items.into_boxed_slice()) // ruleid: into_raw_leak
}
fn descriptor(file: File) -> RawFd {
    file.into_raw_fd() // ok: into_raw_leak
}
fn handle(file: File) -> RawHandle {
    file.into_raw_handle() // ok: into_raw_leak
}
fn leaked(items: Box<Items>) -> &'static Items {
    Box::leak(items) // ok: into_raw_leak
}
fn explained(state: State) -> *mut State {
    // SAFETY: lives as long as the program.
    Box::into_raw(Box::new(state)) // ruleid: into_raw_leak
}
impl Token {
    pub fn into_raw(self) -> u64 { // ok: into_raw_leak
        self.0
    }
}
fn number(token: Token) -> u64 {
    token.into_raw() // ok: into_raw_leak
}
fn path() -> u64 {
    Token::into_raw(Token::new()) // ok: into_raw_leak
}
fn mentioned() -> &'static str {
    "Box::into_raw(x)" // ok: into_raw_leak
}
fn bind(statement: *mut ffi::stmt, values: Rc<Values>) -> c_int {
    unsafe {
        ffi::bind_pointer(
            statement,
            1,
            Rc::into_raw(values) as *mut c_void, // ok: into_raw_leak
            c"values".as_ptr(),
            Some(free_values),
        )
    }
}
fn bind_unowned(statement: *mut ffi::stmt, values: Rc<Values>) -> c_int {
    unsafe { ffi::bind_pointer(statement, 1, Rc::into_raw(values) as *mut c_void, c"values".as_ptr(), None) } // ruleid: into_raw_leak
}
#[test]
fn gives_up() {
    let p = Box::into_raw(Box::new(1)); // ok: into_raw_leak
}
