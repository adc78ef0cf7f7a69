fn blob(peer: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0u8; 8];
    peer.read_exact(&mut head)?;
    let n = u64::from_le_bytes(head) as usize;
    let mut room = vec![0u8; n]; // ruleid: untrusted_number
    peer.read_exact(&mut room)?;
    Ok(room)
}
fn kind(peer: &mut impl Read) -> io::Result<&'static str> {
    let mut b = [0u8; 1];
    peer.read_exact(&mut b)?;
    Ok(KINDS[b[0] as usize]) // ruleid: untrusted_number
}
fn short(peer: &mut TcpStream) -> io::Result<usize> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let len = u32::from_be_bytes(head) as usize;
    Ok(len - 4) // ruleid: untrusted_number
}
fn slice(buf: &[u8]) -> &[u8] {
    let start = u16::from_be_bytes([buf[0], buf[1]]) as usize;
    &buf[start..] // ruleid: untrusted_number
}
fn by_byteorder(r: &mut impl Read) -> io::Result<Vec<Item>> {
    let count = r.read_u32::<BigEndian>()?;
    let mut items = Vec::with_capacity(count as usize); // ruleid: untrusted_number
    fill(&mut items);
    Ok(items)
}
fn by_bytes(mut b: Bytes) -> Bytes {
    let len = b.get_u32() as usize;
    b.split_to(len) // ruleid: untrusted_number
}
fn argument(table: &[u32]) -> u32 {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    table[n] // ruleid: untrusted_number
}
fn line(table: &[u32]) -> u32 {
    let mut text = String::new();
    io::stdin().read_line(&mut text).unwrap();
    let n: usize = text.trim().parse().unwrap();
    table[n] // ruleid: untrusted_number
}
fn datagram(s: &UdpSocket, names: &[String]) -> io::Result<String> {
    let mut buf = [0u8; 64];
    let (n, _) = s.recv_from(&mut buf)?;
    let which = buf[0] as usize;
    Ok(names[which].clone()) // ruleid: untrusted_number
}
fn rest(buf: &[u8], total: usize) -> usize {
    let used = u32::from_le_bytes(buf[..4].try_into().unwrap()) as usize;
    total - used // ruleid: untrusted_number
}
fn lower_only(peer: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let len = u32::from_be_bytes(head) as usize;
    if len < 4 {
        return Err(bad());
    }
    Ok(vec![0u8; len]) // ruleid: untrusted_number
}
fn upper_only(peer: &mut impl Read) -> io::Result<usize> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let len = u32::from_be_bytes(head) as usize;
    if len > 4096 {
        return Err(bad());
    }
    Ok(len - 4) // ruleid: untrusted_number
}
fn records(buf: &[u8], out: &mut [u8]) {
    let count = u32::from_be_bytes([buf[0], buf[1], buf[2], buf[3]]) as usize;
    for i in 0..count {
        out[i] = 1; // ruleid: untrusted_number
    }
}
fn header(r: &mut impl Read, h: &mut Header) -> io::Result<u8> {
    h.offset = r.read_u32::<LittleEndian>()? as usize;
    Ok(h.bytes[h.offset]) // ruleid: untrusted_number
}
fn checked(peer: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0u8; 4];
    peer.read_exact(&mut head)?;
    let len = u32::from_be_bytes(head) as usize;
    let rest = len.checked_sub(4).filter(|n| *n <= 4096).ok_or_else(bad)?;
    let body = vec![0u8; rest]; // ok: untrusted_number
    Ok(body)
}
fn limited(peer: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0u8; 8];
    peer.read_exact(&mut head)?;
    let n = u64::from_le_bytes(head) as usize;
    if n > MAX {
        return Err(bad());
    }
    Ok(vec![0u8; n]) // ok: untrusted_number
}
fn least(peer: &mut impl Read) -> io::Result<Vec<u8>> {
    let n = peer.read_u32::<BigEndian>()? as usize;
    Ok(Vec::with_capacity(n.min(4096))) // ok: untrusted_number
}
fn gets(peer: &mut impl Read) -> io::Result<Option<&'static str>> {
    let mut b = [0u8; 1];
    peer.read_exact(&mut b)?;
    Ok(KINDS.get(b[0] as usize).copied()) // ok: untrusted_number
}
fn within(buf: &[u8]) -> Option<&[u8]> {
    let start = u16::from_be_bytes([buf[0], buf[1]]) as usize;
    if start < buf.len() {
        return Some(&buf[start..]); // ok: untrusted_number
    }
    None
}
fn masked(peer: &mut impl Read) -> io::Result<u8> {
    let n = peer.read_u32::<BigEndian>()? as usize;
    Ok(TABLE[n % TABLE.len()]) // ok: untrusted_number
}
fn asserted(peer: &mut impl Read, out: &mut [u8]) -> io::Result<u8> {
    let n = peer.read_u32::<BigEndian>()? as usize;
    assert!(n < out.len());
    Ok(out[n]) // ok: untrusted_number
}
fn received(s: &UdpSocket) -> io::Result<Vec<u8>> {
    let mut buf = [0u8; 64];
    let n = s.recv(&mut buf)?;
    Ok(buf[..n].to_vec()) // ok: untrusted_number
}
fn all_bytes(r: &mut impl Read) -> io::Result<[u32; 256]> {
    let mut counts = [0u32; 256];
    let mut b = [0u8; 1];
    r.read_exact(&mut b)?;
    counts[b[0] as usize] += 1; // ok: untrusted_number
    Ok(counts)
}
fn both(peer: &mut impl Read) -> io::Result<usize> {
    let len = peer.read_u32::<BigEndian>()? as usize;
    if !(4..=4096).contains(&len) {
        return Err(bad());
    }
    Ok(len - 4) // ok: untrusted_number
}
fn of_memory(r: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    r.read_to_end(&mut all)?;
    let mut copy = Vec::with_capacity(all.len()); // ok: untrusted_number
    copy.extend_from_slice(&all);
    Ok(copy)
}
fn by_key(r: &mut impl Read, map: &HashMap<u32, String>) -> io::Result<String> {
    let key = r.read_u32::<BigEndian>()?;
    Ok(map[&key].clone()) // ok: untrusted_number
}
fn signed(r: &mut impl Read) -> io::Result<i64> {
    let a = i64::from(r.read_i32::<BigEndian>()?);
    Ok(a - 4) // ok: untrusted_number
}
fn at_least(peer: &mut impl Read) -> io::Result<usize> {
    let len = peer.read_u32::<BigEndian>()? as usize;
    if len < 4 {
        return Err(bad());
    }
    Ok(len - 4) // ok: untrusted_number
}
