use std::thread;
static mut COUNT: u32 = 0; // ruleid: static_mut
pub static mut CONFIG: Option<Config> = None; // ruleid: static_mut
pub(crate) static mut BUFFER: [u8; 512] = [0; 512]; // ruleid: static_mut
#[no_mangle]
static mut errors: usize = 0; // ruleid: static_mut
pub fn next_id() -> u32 {
    static mut NEXT: u32 = 0; // ruleid: static_mut
    unsafe { NEXT += 1; NEXT }
}
static mut HANDLER: *const Handler = std::ptr::null(); // ruleid: static_mut
static mut QUEUE: Vec<Job> = Vec::new(); // ruleid: static_mut
mod inner {
    pub static mut LEVEL: Level = Level::Info; // ruleid: static_mut
}
pub fn count() -> u32 {
    unsafe { COUNT += 1; COUNT }
}
pub fn use_all() {
    unsafe { BUFFER[0] = 1; CONFIG = None; errors += 1; HANDLER = first(); QUEUE.push(job()); inner::LEVEL = Level::Warn; }
}
static TOTAL: AtomicU32 = AtomicU32::new(0); // ok: static_mut
static TABLE: Mutex<Vec<u32>> = Mutex::new(Vec::new()); // ok: static_mut
static NAME: &str = "static mut X: u8 = 0"; // ok: static_mut
#[thread_local]
static mut DEPTH: u32 = 0; // ok: static_mut
extern "C" {
    static mut environ: *const *const c_char; // ok: static_mut
    pub static mut optind: c_int; // ok: static_mut
}
fn forever(text: &'static mut str, more: &'static mut [u8]) -> &'static mut str { // ok: static_mut
    text
}
static mut UNUSED: u8 = 0; // ok: static_mut
// static mut OLD: u8 = 0; // ok: static_mut
thread_local! { static SEEN: Cell<u32> = Cell::new(0); } // ok: static_mut
fn deeper() { unsafe { DEPTH += 1; } }
#[cfg(test)]
mod tests {
    static mut DROPS: u32 = 0; // ok: static_mut
    fn drops() -> u32 { unsafe { DROPS += 1; DROPS } }
}
