fn pair(v: ManuallyDrop<Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
    let a = unsafe { ptr::read(&*v) };
    let b = unsafe { ptr::read(&*v) }; // ruleid: double_read
    (a, b)
}
fn boxes(p: *mut Node) -> (Box<Node>, Box<Node>) {
    let a = unsafe { Box::from_raw(p) };
    let b = unsafe { Box::from_raw(p) }; // ruleid: double_read
    (a, b)
}
fn taken(mut v: ManuallyDrop<String>) -> String {
    let a = unsafe { ManuallyDrop::take(&mut v) };
    drop(a);
    unsafe { ManuallyDrop::take(&mut v) } // ruleid: double_read
}
fn vectors(p: *mut u8, n: usize) -> usize {
    let a = unsafe { Vec::from_raw_parts(p, n, n) };
    let b = unsafe { Vec::from_raw_parts(p, n, n) }; // ruleid: double_read
    a.len() + b.len()
}
fn dropped(p: *mut Node) {
    unsafe {
        ptr::drop_in_place(p);
        ptr::drop_in_place(p); // ruleid: double_read
    }
}
fn of_owned(v: Vec<u8>) -> Vec<u8> {
    let a = unsafe { ptr::read(&v) }; // ruleid: double_read
    a
}
fn cell(c: MaybeUninit<String>) -> (String, String) {
    let a = unsafe { c.assume_init_read() };
    let b = unsafe { c.assume_init_read() }; // ruleid: double_read
    (a, b)
}
fn counted(p: *const Node) -> usize {
    let a = unsafe { Arc::from_raw(p) };
    let b = unsafe { Arc::from_raw(p) }; // ruleid: double_read
    Arc::strong_count(&a) + Arc::strong_count(&b)
}
fn once(v: ManuallyDrop<Vec<u8>>) -> Vec<u8> {
    unsafe { ptr::read(&*v) } // ok: double_read
}
fn forgotten(v: Vec<u8>) -> Vec<u8> {
    let a = unsafe { ptr::read(&v) }; // ok: double_read
    mem::forget(v);
    a
}
fn swapped(a: *mut T, b: *mut T) {
    unsafe {
        let x = ptr::read(a);
        ptr::copy_nonoverlapping(b, a, 1);
        ptr::write(b, x); // ok: double_read
    }
}
fn either(p: *mut Node, free: bool) -> Option<Box<Node>> {
    if free {
        drop(unsafe { Box::from_raw(p) });
        return None;
    }
    Some(unsafe { Box::from_raw(p) }) // ok: double_read
}
fn each(p: *const T, n: usize) {
    let mut i = 0;
    let a = unsafe { ptr::read(p.add(i)) };
    i += 1;
    let b = unsafe { ptr::read(p.add(i)) }; // ok: double_read
    use_both(a, b);
}
fn two(a: *mut Node, b: *mut Node) {
    drop(unsafe { Box::from_raw(a) });
    drop(unsafe { Box::from_raw(b) }); // ok: double_read
}
fn bytes(r: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    r.read(buf)?;
    r.read(buf) // ok: double_read
}
