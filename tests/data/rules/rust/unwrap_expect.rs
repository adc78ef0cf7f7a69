fn main() {
    let a = std::env::args().nth(1).unwrap(); // ruleid: unwrap_expect
    let b: u32 = a.parse().expect("a number"); // ruleid: unwrap_expect
    let c = table
        .get(&b)
        .unwrap(); // ruleid: unwrap_expect
    let d = lock.lock().unwrap(); // ruleid: unwrap_expect
    let e = open(&a).expect(&format!("cannot open {a}")); // ruleid: unwrap_expect
    let k = first(&a)
        .expect( // ruleid: unwrap_expect
            "a message on its own line",
        );
    let f = open(&a).expect(MESSAGE); // ruleid: unwrap_expect
    let g = a.get(0).unwrap_or(&0); // ok: unwrap_expect
    let h = a.get(0).unwrap_or_default(); // ok: unwrap_expect
    self.expect(Token::Comma)?; // ok: unwrap_expect
    parser.expect("{")?; // ok: unwrap_expect
    unwrap(); // ok: unwrap_expect
    key.unwrap(&wrapped); // ok: unwrap_expect
    let i = "x.unwrap()"; // ok: unwrap_expect
    // x.unwrap() // ok: unwrap_expect
    #[expect(dead_code)] // ok: unwrap_expect
    let j = failed.expect_err("must fail"); // ok: unwrap_expect
}
fn constants() {
    let pattern = Regex::new("a+b").unwrap(); // ok: unwrap_expect
    let limit = NonZeroU32::new(7).unwrap(); // ok: unwrap_expect
}
#[cfg(test)]
mod tests {
    #[test]
    fn reads() {
        assert_eq!(read("a").unwrap(), 1); // ok: unwrap_expect
    }
}

pub fn sources() -> PathBuf {
    let root = env::var_os("CARGO_MANIFEST_DIR").unwrap(); // ok: unwrap_expect
    let given = env::var_os("SOURCES").unwrap(); // ruleid: unwrap_expect
    PathBuf::from(root).join(given)
}
