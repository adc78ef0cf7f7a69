pub use core::ffi::c_void;

macro_rules! assert_layout {
    ($name:ident, $size:expr, $align:expr $(, $field:ident @ $offset:expr)*) => {
        const _: () = {
            assert!(core::mem::size_of::<$name>() == $size);
            assert!(core::mem::align_of::<$name>() == $align);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}
