pub fn replace_with<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
    unsafe {
        let value = f(ptr::read(slot)); // ruleid: panic_safety
        ptr::write(slot, value);
    }
}
pub fn modify<T>(slot: &mut T, change: impl FnOnce(T) -> T) {
    unsafe {
        let old = std::ptr::read(slot); // ruleid: panic_safety
        let new = change(old);
        std::ptr::write(slot, new);
    }
}
impl<T: Swapped> Swapped for [T] {
    fn swapped(&mut self) {
        for one in self.iter_mut() {
            unsafe { ptr::write(one, ptr::read(one).swapped()) } // ruleid: panic_safety
        }
    }
}
pub fn insert_all<T, I>(list: &mut Vec<T>, at: usize, items: I) where I: IntoIterator<Item = T> {
    let len = list.len();
    list.reserve(LEAST);
    unsafe {
        let p = list.as_mut_ptr().add(at);
        ptr::copy(p, p.add(LEAST), len - at); // ruleid: panic_safety
        let mut put = 0;
        for item in items {
            ptr::write(p.add(put), item);
            put += 1;
        }
        list.set_len(len + put);
    }
}
pub fn insert_cloned<T: Clone>(list: &mut Vec<T>, at: usize, more: &[T]) {
    let len = list.len();
    list.reserve(more.len());
    unsafe {
        let p = list.as_mut_ptr().add(at);
        ptr::copy(p, p.add(more.len()), len - at); // ruleid: panic_safety
        for (i, one) in more.iter().enumerate() {
            ptr::write(p.add(i), one.clone());
        }
        list.set_len(len + more.len());
    }
}
pub fn read_some<R: Read>(mut reader: R, size: usize) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::with_capacity(size);
    unsafe { buffer.set_len(size) }; // ruleid: panic_safety
    reader.read_exact(&mut buffer[..])?;
    Ok(buffer)
}
pub fn filled<T, F>(size: usize, mut make: F) -> Vec<T> where F: FnMut(usize) -> T {
    let mut list = Vec::with_capacity(size);
    unsafe {
        list.set_len(size); // ruleid: panic_safety
        for at in 0..size {
            ptr::write(&mut list[at], make(at));
        }
    }
    list
}
pub fn keep<T, F>(list: &mut Vec<T>, mut wanted: F) where F: FnMut(&T) -> bool {
    let len = list.len();
    let mut gone = 0;
    unsafe {
        for at in 0..len {
            let p = list.as_mut_ptr().add(at);
            if !wanted(&*p) {
                gone += 1;
                ptr::drop_in_place(p); // ruleid: panic_safety
            } else if gone > 0 {
                ptr::copy_nonoverlapping(p, p.sub(gone), 1);
            }
        }
        list.set_len(len - gone);
    }
}
impl<T: Ord> Heap<T> {
    fn sift_up(&mut self, mut at: usize) {
        unsafe {
            let item = ptr::read(&self.items[at]); // ruleid: panic_safety
            while at > 0 && item.cmp(&self.items[(at - 1) / 2]) == Ordering::Less {
                ptr::copy_nonoverlapping(&self.items[(at - 1) / 2], &mut self.items[at], 1);
                at = (at - 1) / 2;
            }
            ptr::write(&mut self.items[at], item);
        }
    }
}
impl<T, F: FnMut(&T) -> bool> Filter<T, F> {
    fn shift(&mut self) {
        while self.at < self.end {
            unsafe {
                if (self.wanted)(&*self.p.add(self.at)) {
                    ptr::copy_nonoverlapping(self.p.add(self.at), self.p.add(self.to), 1); // ruleid: panic_safety
                    self.to += 1;
                }
            }
            self.at += 1;
        }
    }
}
/* a guard repairs, or aborts */
pub fn replace_or_abort<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
    let guard = AbortOnDrop;
    unsafe {
        let value = f(ptr::read(slot)); // ok: panic_safety
        ptr::write(slot, value);
    }
    mem::forget(guard);
}
pub fn replace_caught<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
    unsafe {
        let old = ptr::read(slot); // ok: panic_safety
        let new = panic::catch_unwind(AssertUnwindSafe(|| f(old))).unwrap_or_else(|_| process::abort());
        ptr::write(slot, new);
    }
}
pub fn keep_leaking<T, F>(list: &mut Vec<T>, mut wanted: F) where F: FnMut(&T) -> bool {
    let len = list.len();
    unsafe { list.set_len(0) };
    let mut gone = 0;
    for at in 0..len {
        let p = unsafe { list.as_mut_ptr().add(at) };
        if !wanted(unsafe { &*p }) {
            gone += 1;
            unsafe { ptr::drop_in_place(p) }; // ok: panic_safety
        } else if gone > 0 {
            unsafe { ptr::copy_nonoverlapping(p, p.sub(gone), 1) };
        }
    }
    unsafe { list.set_len(len - gone) };
}
/* the caller's code runs before, or not at all */
pub fn push_made<T, F: FnOnce() -> T>(list: &mut Small<T>, make: F) {
    let item = make();
    unsafe {
        ptr::write(list.end(), item);
        list.set_len(list.len() + 1); // ok: panic_safety
    }
}
pub fn remove<T>(list: &mut Small<T>, at: usize) -> T {
    let len = list.len();
    unsafe {
        let p = list.as_mut_ptr().add(at);
        let item = ptr::read(p); // ok: panic_safety
        ptr::copy(p.add(1), p, len - at - 1); // ok: panic_safety
        list.set_len(len - 1);
        item
    }
}
pub fn pop<T, F: FnOnce(T)>(list: &mut Small<T>, give: F) {
    unsafe {
        list.set_len(list.len() - 1); // ok: panic_safety
        give(ptr::read(list.end())); // ok: panic_safety
    }
}
pub fn extended<R: Read>(mut reader: R, size: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; size];
    reader.read_exact(&mut buffer[..])?;
    unsafe { buffer.set_len(size) }; // ok: panic_safety
    Ok(buffer)
}
pub fn appended(list: &mut Vec<u8>, more: &[u8]) {
    list.reserve(more.len());
    unsafe {
        ptr::copy_nonoverlapping(more.as_ptr(), list.as_mut_ptr().add(list.len()), more.len()); // ok: panic_safety
        list.set_len(list.len() + more.len()); // ok: panic_safety
    }
}
impl<T: Ord> Heap<T> {
    fn sift_with_hole(&mut self, at: usize) {
        unsafe {
            let mut hole = Hole { item: ptr::read(&self.items[at]), at, items: &mut self.items }; // ok: panic_safety
            while hole.at > 0 && hole.item.cmp(hole.parent()) == Ordering::Less {
                hole.move_to((hole.at - 1) / 2);
            }
            ptr::write(hole.end(), hole.last());
        }
    }
}
fn from_file(file: &mut File, lines: &RwLock<Lines>) -> io::Result<usize> {
    file.read(&mut lines.read().buffer()) // ok: panic_safety
}
#[cfg(test)]
mod tests {
    fn twice<T, F: FnOnce(T) -> T>(slot: &mut T, f: F) {
        unsafe { ptr::write(slot, f(ptr::read(slot))) } // ok: panic_safety
    }
}
