fn copied(text: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len() as u16 as usize); // ruleid: truncated_index
    unsafe { copy.set_len(text.len()) };
    copy
}
fn offset_of(items: &[Item], offset: u64) -> &Item {
    &items[offset as u32 as usize] // ruleid: truncated_index
}
fn table(sizes: &[u64]) -> Vec<u8> {
    let total = sizes.len() as u32; // ruleid: truncated_index
    Vec::with_capacity(total as usize * 8)
}
fn entry(directory: &[u8], position: usize) -> u8 {
    let at = position as u16; // ruleid: truncated_index
    directory[at as usize]
}
fn put(&mut self, size: u64) {
    let needed = size as u32; // ruleid: truncated_index
    self.buffer.reserve(needed as usize);
    self.fill(size);
}
fn raw(p: *const u8, len: u64) -> &'static [u8] {
    unsafe { slice::from_raw_parts(p, len as u32 as usize) } // ruleid: truncated_index
}
fn length_byte(name: &str) -> Vec<u8> {
    let n = name.len() as u8; // ruleid: truncated_index
    let mut out = Vec::with_capacity(n as usize + 1);
    out.push(n);
    out.extend(name.bytes());
    out
}
fn step(base: *const u8, distance: i64) -> *const u8 {
    unsafe { base.add(distance as i32 as usize) } // ruleid: truncated_index
}
fn layout(count: usize) -> *mut u8 {
    let n = count as u32; // ruleid: truncated_index
    unsafe { alloc(Layout::array::<u64>(n as usize).unwrap()) }
}
fn checked(text: &[u8]) -> Result<Vec<u8>, Error> {
    let size = u16::try_from(text.len())?; // ok: truncated_index
    Ok(Vec::with_capacity(usize::from(size)))
}
fn bounded(directory: &[u8], position: usize) -> u8 {
    if position >= directory.len() {
        return 0;
    }
    let at = position as u16; // ok: truncated_index
    directory[at as usize]
}
fn crc(table: &[u32; 256], sum: u64) -> u32 {
    table[(sum as u8) as usize] // ok: truncated_index
}
fn hash(&self, key: u64) -> usize {
    self.buckets[key as u32 as usize & self.mask] // ok: truncated_index
}
fn shown(list: &[u8]) {
    let n = list.len() as u32; // ok: truncated_index
    println!("{n} items");
}
fn header(list: &[u8], out: &mut Vec<u8>) {
    out.extend((list.len() as u32).to_le_bytes()); // ok: truncated_index
}
fn widened(id: u16) -> usize {
    let at = id as u32; // ok: truncated_index
    TABLE[at as usize]
}
fn quotient(i: u32) -> u64 {
    let base = i / TABLE.len() as u32; // ok: truncated_index
    TABLE[base as usize]
}
fn asserted(items: &[Item], offset: u64) -> &Item {
    assert!(offset < u64::from(u32::MAX));
    &items[offset as u32 as usize] // ok: truncated_index
}
fn limited(items: &[Item]) -> Vec<Item> {
    let count = items.len().min(255) as u8; // ok: truncated_index
    Vec::with_capacity(count as usize)
}
