use std::mem::{self, forget}; // ok: mem_forget
fn leak(file: File, guard: Guard) {
    mem::forget(file); // ruleid: mem_forget
    std::mem::forget(guard); // ruleid: mem_forget
    core::mem::forget( // ruleid: mem_forget
        Box::new(1),
    );
    forget(vec![1, 2, 3]); // ruleid: mem_forget
}
impl Handle {
    fn into_raw(self) -> RawHandle {
        let raw = self.raw;
        mem::forget(self); // ruleid: mem_forget
        raw
    }
    fn forget(&mut self, key: &str) { // ok: mem_forget
        self.cache.forget(key); // ok: mem_forget
        Cache::forget(&mut self.cache, key); // ok: mem_forget
        forget_all(); // ok: mem_forget
        let name = "mem::forget(x)"; // ok: mem_forget
        // mem::forget(x) // ok: mem_forget
        std::mem::drop(name); // ok: mem_forget
    }
}
