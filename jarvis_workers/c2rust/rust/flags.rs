macro_rules! flags {
    ($name:ident) => {
        flags!($name, BitOr, bitor, BitOrAssign, bitor_assign, |);
        flags!($name, BitAnd, bitand, BitAndAssign, bitand_assign, &);
        flags!($name, BitXor, bitxor, BitXorAssign, bitxor_assign, ^);

        impl $name {
            pub const fn contains(self, other: Self) -> bool {
                self.bits & other.bits == other.bits
            }
        }

        impl core::ops::Not for $name {
            type Output = Self;

            fn not(self) -> Self {
                Self { bits: !self.bits }
            }
        }
    };
    ($name:ident, $trait:ident, $method:ident, $assigning:ident, $assign:ident, $operator:tt) => {
        impl core::ops::$trait for $name {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self { bits: self.bits $operator other.bits }
            }
        }

        impl core::ops::$assigning for $name {
            fn $assign(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    };
}
