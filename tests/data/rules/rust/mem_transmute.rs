use std::mem::transmute; // ok: mem_transmute
fn main() {
    let a: u32 = mem::transmute(1.0f32); // ruleid: mem_transmute
    let b = std::mem::transmute::<f32, u32>(1.0); // ruleid: mem_transmute
    let c: fn() = transmute(p); // ruleid: mem_transmute
    let d = core::mem::transmute_copy::<A, B>(&a); // ruleid: mem_transmute
    let e = transmute::<&'a T, &'static T>(t); // ruleid: mem_transmute
    let f = zerocopy::transmute!(a); // ok: mem_transmute
    let g = x.transmute(); // ok: mem_transmute
    let h = transmute_elements(a); // ok: mem_transmute
    let i = "transmute(a)"; // ok: mem_transmute
    // transmute(a) // ok: mem_transmute
}
fn transmute(x: u8) {} // ok: mem_transmute
