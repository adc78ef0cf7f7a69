pub fn pixel(rows: &[u8], at: usize) -> u8 {
    unsafe { *rows.get_unchecked(at) } // ruleid: get_unchecked
}
pub fn put(&mut self, x: usize, y: usize, value: u8) {
    let at = y * self.width + x;
    unsafe { *self.pixels.get_unchecked_mut(at) = value } // ruleid: get_unchecked
}
pub fn slot(&self, id: u32) -> &Slot {
    unsafe { self.slots.get_unchecked(id as usize) } // ruleid: get_unchecked
}
fn next_state(&self, state: usize, class: usize) -> usize {
    let at = state * self.stride + class;
    unsafe { *self.table.get_unchecked(at) } // ruleid: get_unchecked
}
pub fn part(text: &str, from: usize) -> &str {
    unsafe { text.get_unchecked(from..) } // ruleid: get_unchecked
}
pub fn pair(&mut self, a: usize, b: usize) -> (u8, u8) {
    let first = unsafe { *self.items.get_unchecked(a) }; // ruleid: get_unchecked
    let second = unsafe { *self.items.get_unchecked(b) }; // ok: get_unchecked
    (first, second)
}
impl Index<usize> for Grid {
    type Output = u8;
    fn index(&self, at: usize) -> &u8 {
        unsafe { self.cells.get_unchecked(at) } // ruleid: get_unchecked
    }
}
pub fn weight(table: &[f32], row: u16, column: u16) -> f32 {
    unsafe { *table.get_unchecked(row as usize * COLUMNS + column as usize) } // ruleid: get_unchecked
}
pub fn last_of(&self, used: usize) -> &T {
    unsafe { self.items.get_unchecked(used - 1) } // ruleid: get_unchecked
}
pub fn asserted(rows: &[u8], at: usize) -> u8 {
    assert!(at < rows.len());
    unsafe { *rows.get_unchecked(at) } // ok: get_unchecked
}
pub fn compared(rows: &[u8], at: usize) -> Option<u8> {
    if at < rows.len() { Some(unsafe { *rows.get_unchecked(at) }) } else { None } // ok: get_unchecked
}
pub fn sum(rows: &[u8]) -> u32 {
    let mut sum = 0;
    for at in 0..rows.len() {
        sum += u32::from(unsafe { *rows.get_unchecked(at) }); // ok: get_unchecked
    }
    sum
}
pub fn ring(&self, at: usize) -> u8 {
    unsafe { *self.items.get_unchecked(at & self.mask) } // ok: get_unchecked
}
pub fn bucket(&self, hash: usize) -> &Bucket {
    unsafe { self.buckets.get_unchecked(hash % self.buckets.len()) } // ok: get_unchecked
}
pub fn crc(&self, sum: u32, byte: u8) -> u32 {
    unsafe { *TABLE.get_unchecked((sum as u8 ^ byte) as usize) } // ok: get_unchecked
}
pub unsafe fn trusting(rows: &[u8], at: usize) -> u8 {
    *rows.get_unchecked(at) // ok: get_unchecked
}
pub fn explained(&self, at: usize) -> u8 {
    // SAFETY: the constructor checked all stored indices.
    unsafe { *self.items.get_unchecked(at) } // ruleid: get_unchecked
}
pub fn head(rows: &[u8; 16]) -> u8 {
    unsafe { *rows.get_unchecked(0) } // ok: get_unchecked
}
pub fn clamped(rows: &[u8], at: usize) -> u8 {
    let at = at.min(rows.len() - 1);
    unsafe { *rows.get_unchecked(at) } // ok: get_unchecked
}
pub fn position(rows: &[u8], wanted: u8) -> Option<&u8> {
    let at = rows.iter().position(|one| *one == wanted)?;
    Some(unsafe { rows.get_unchecked(at) }) // ok: get_unchecked
}
impl<'a> Iterator for Entries<'a> {
    type Item = u8;
    fn next(&mut self) -> Option<u8> {
        if self.current >= self.bytes.len() {
            return None;
        }
        let byte = unsafe { *self.bytes.get_unchecked(self.current) }; // ok: get_unchecked
        self.current += 1;
        Some(byte)
    }
    fn peek(&self) -> u8 {
        unsafe { *self.bytes.get_unchecked(self.current) } // ruleid: get_unchecked
    }
}
fn get<'a, I: MatrixIndex<'a>>(index: I, matrix: &'a Matrix) -> Option<I::Output> {
    if index.contained_by(matrix) { Some(unsafe { index.get_unchecked(matrix) }) } else { None } // ok: get_unchecked
}
