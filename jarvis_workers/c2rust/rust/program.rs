//! The program of $file.
#![no_main]

use $library as _;

extern "C" {
    #[link_name = "$symbol"]
    fn program(count: i32, arguments: *mut *mut u8, environment: *mut *mut u8) -> i32;
}

#[no_mangle]
pub unsafe extern "C" fn main(count: i32, arguments: *mut *mut u8, environment: *mut *mut u8) -> i32 {
    program(count, arguments, environment)
}
