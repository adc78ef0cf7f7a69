struct Queue<T> {
    head: *mut T,
}
unsafe impl<T> Send for Queue<T> {} // ruleid: unsafe_send_sync
unsafe impl<T: Send> Sync for Queue<T> {} // ruleid: unsafe_send_sync
unsafe impl Send for Handle {} // ruleid: unsafe_send_sync
unsafe impl<'a, T> std::marker::Sync for Guard<'a, T> where T: ?Sized + Sync {} // ruleid: unsafe_send_sync
unsafe impl<K, V> core::marker::Send // ruleid: unsafe_send_sync
    for Map<K, V>
where
    K: Send,
    V: Send,
{
}
// SAFETY: only a marker is held.
unsafe impl<T> Send for Marker<T> {} // ruleid: unsafe_send_sync
pub struct Connection {
    db: RefCell<*mut ffi::sqlite3>,
}
#[allow(clippy::non_send_fields_in_send_ty)]
unsafe impl Send for Connection {} // ruleid: unsafe_send_sync
pub struct RingWriter<T> {
    slots: Arc<[UnsafeCell<Option<T>>]>,
    next: Cell<usize>,
}
unsafe impl<T: Send> Sync for RingWriter<T> {} // ruleid: unsafe_send_sync
impl<T> !Send for Local<T> {} // ok: unsafe_send_sync
impl Sync for Automatic {} // ok: unsafe_send_sync
unsafe impl GlobalAlloc for Counter {} // ok: unsafe_send_sync
unsafe impl<T: Send + Sync> Zeroable for Cell<T> {} // ok: unsafe_send_sync
unsafe trait Send {} // ok: unsafe_send_sync
fn spawn<F: Send + 'static>(f: F) { // ok: unsafe_send_sync
    let text = "unsafe impl Send for X {}"; // ok: unsafe_send_sync
    // unsafe impl Send for X {} // ok: unsafe_send_sync
    unsafe { f() } // ok: unsafe_send_sync
}
