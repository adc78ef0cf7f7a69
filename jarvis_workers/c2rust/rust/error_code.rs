
/// A result of a C function that means a failure: the number that C returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode<T> {
    pub code: T,
}

impl<T> ErrorCode<T> {
    pub const fn new(code: T) -> Self {
        Self { code }
    }
}

impl<T: core::fmt::Display> core::fmt::Display for ErrorCode<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "error {}", self.code)
    }
}

impl<T: core::fmt::Debug + core::fmt::Display> std::error::Error for ErrorCode<T> {}
