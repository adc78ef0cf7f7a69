#[cfg(target_endian = "big")]
compile_error!("bit-fields are laid out for little-endian machines");

/// Returns the bits of a bit-field, of which the first has the lowest value.
fn get_bits(bytes: &[u8], first: usize, width: usize) -> u64 {
    let mut bits = 0u128;
    for index in (first / 8..(first + width + 7) / 8).rev() {
        bits = bits << 8 | bytes[index] as u128;
    }
    (bits >> (first % 8)) as u64 & (u64::MAX >> (64 - width))
}

/// Replaces the bits of a bit-field by the lowest of a value.
fn set_bits(bytes: &mut [u8], first: usize, width: usize, value: u64) {
    let mask = ((u64::MAX >> (64 - width)) as u128) << (first % 8);
    let bits = (value as u128) << (first % 8);
    for index in first / 8..(first + width + 7) / 8 {
        let shift = (index - first / 8) * 8;
        let part = (mask >> shift) as u8;
        bytes[index] = bytes[index] & !part | (bits >> shift) as u8 & part;
    }
}
