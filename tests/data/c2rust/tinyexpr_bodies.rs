//! Bodies in Rust for tinyexpr, with the signatures that `jarvis c2rust transpile` plans: the answers of a scripted model.
//!
//! Each function `rust_NAME` is an answer, with the other items that it mentions inside its body. They do what the C
//! functions do, which are Copyright (c) 2015-2020 Lewis Van Winkle, under the zlib License; this is not the original
//! software. The file is no crate: types and C functions come from the crate that the command writes.

use core::ffi::CStr;

const TYPE_MASK: i32 = 0x1f;
const ARITY_MASK: i32 = 7;

const TE_VARIABLE: i32 = 0;
const TE_CONSTANT: i32 = 1;
const TE_FUNCTION0: i32 = 8;
const TE_FUNCTION1: i32 = 9;
const TE_FUNCTION2: i32 = 10;
const TE_FUNCTION3: i32 = 11;
const TE_FUNCTION4: i32 = 12;
const TE_FUNCTION5: i32 = 13;
const TE_FUNCTION6: i32 = 14;
const TE_FUNCTION7: i32 = 15;
const TE_CLOSURE0: i32 = 16;
const TE_CLOSURE1: i32 = 17;
const TE_CLOSURE2: i32 = 18;
const TE_CLOSURE7: i32 = 23;
const TE_FLAG_PURE: i32 = 32;

const TOK_NULL: i32 = 24;
const TOK_ERROR: i32 = 25;
const TOK_END: i32 = 26;
const TOK_SEP: i32 = 27;
const TOK_OPEN: i32 = 28;
const TOK_CLOSE: i32 = 29;
const TOK_NUMBER: i32 = 30;
const TOK_VARIABLE: i32 = 31;
const TOK_INFIX: i32 = 32;

/// Counts a check, and prints where it failed.
fn lok(passed: bool, line: i32) {
    // SAFETY: the tests run in one thread, and no reference to the counter exists.
    unsafe { smoke__ltests += 1 };
    if !passed {
        // SAFETY: as for the other counter.
        unsafe { smoke__lfails += 1 };
        // SAFETY: the format takes a string with its NUL and an `int`.
        unsafe { printf(c"%s:%d error \n".as_ptr(), c"smoke.c".as_ptr(), line) };
    }
}

fn lequal(found: i32, expected: i32, line: i32) {
    // SAFETY: the tests run in one thread, and no reference to the counter exists.
    unsafe { smoke__ltests += 1 };
    if found != expected {
        // SAFETY: as for the other counter.
        unsafe { smoke__lfails += 1 };
        // SAFETY: the format takes a string with its NUL and three times an `int`.
        unsafe { printf(c"%s:%d (%d != %d)\n".as_ptr(), c"smoke.c".as_ptr(), line, found, expected) };
    }
}

fn lfequal(found: f64, expected: f64, line: i32) {
    // SAFETY: the tests run in one thread, and no reference to the counter exists.
    unsafe { smoke__ltests += 1 };
    let difference = (found - expected).abs();
    if difference > 0.001 || difference.is_nan() {
        // SAFETY: as for the other counter.
        unsafe { smoke__lfails += 1 };
        // SAFETY: the format takes a string with its NUL, an `int` and two times a `double`.
        unsafe { printf(c"%s:%d (%f != %f)\n".as_ptr(), c"smoke.c".as_ptr(), line, found, expected) };
    }
}

/// Returns an entry of a table of variables and functions; it is valid as long as what it points to.
fn entry(name: &'static CStr, address: *const c_void, kind: i32, context: *mut c_void) -> te_variable {
    te_variable { name: name.as_ptr(), address, r#type: kind, context }
}

unsafe fn rust_new_expr(r#type: i32, parameters: *mut *const te_expr) -> *mut te_expr {
    let has_parameters = r#type & (TE_FUNCTION0 | TE_CLOSURE0) != 0;
    let arity = if has_parameters { (r#type & ARITY_MASK) as usize } else { 0 };
    let pointers = arity + usize::from(r#type & TE_CLOSURE0 != 0);
    let size = core::mem::offset_of!(te_expr, parameters) + pointers * size_of::<*mut c_void>();
    // SAFETY: any size can be allocated; null is handled below.
    let expression = unsafe { malloc(size as u64) }.cast::<te_expr>();
    if expression.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: the new block has `size` bytes.
    unsafe { expression.cast::<u8>().write_bytes(0, size) };
    // SAFETY: the block begins with the members before `parameters`, so that the place of these is at most its end.
    let own = unsafe { &raw mut (*expression).parameters };
    if arity != 0 && !parameters.is_null() {
        // SAFETY: the caller passes `arity` pointers, the new block has room for them, and they do not overlap.
        unsafe { own.cast::<*const te_expr>().copy_from_nonoverlapping(parameters, arity) };
    }
    // SAFETY: the member is in the new block, to which there is no reference.
    unsafe { (*expression).r#type = r#type };
    expression
}

unsafe fn rust_te_free_parameters(n: *mut te_expr) {
    if n.is_null() {
        return;
    }
    // SAFETY: `n` is an expression of the caller, who uses it nowhere else.
    let kind = unsafe { (*n).r#type } & TYPE_MASK;
    let arity = if (TE_FUNCTION0..=TE_CLOSURE7).contains(&kind) { kind & ARITY_MASK } else { 0 };
    // SAFETY: as above; the pointer is for the whole block, which goes on after the type.
    let parameters = unsafe { &raw mut (*n).parameters }.cast::<*mut te_expr>();
    for at in (0..arity as usize).rev() {
        // SAFETY: the block of an expression has as many parameters as its arity.
        let parameter = unsafe { *parameters.wrapping_add(at) };
        // SAFETY: the expression owns its parameters, and is freed or replaced by a constant next.
        unsafe { te_free(parameter) };
    }
}

unsafe fn rust_te_free(n: *mut te_expr) {
    if n.is_null() {
        return;
    }
    // SAFETY: `n` is an expression that the caller gives away.
    unsafe { te_free_parameters(n) };
    // SAFETY: its block comes from `malloc`, and nothing uses it any more.
    unsafe { free(n.cast()) };
}

fn rust_pi() -> f64 {
    core::f64::consts::PI
}

fn rust_e() -> f64 {
    core::f64::consts::E
}

fn rust_fac(a: f64) -> f64 {
    if a < 0.0 {
        return f64::NAN;
    }
    if a > f64::from(u32::MAX) {
        return f64::INFINITY;
    }
    (1..=u64::from(a as u32)).try_fold(1, u64::checked_mul).map_or(f64::INFINITY, |product| product as f64)
}

fn rust_ncr(n: f64, r: f64) -> f64 {
    if n < 0.0 || r < 0.0 || n < r {
        return f64::NAN;
    }
    if n > f64::from(u32::MAX) || r > f64::from(u32::MAX) {
        return f64::INFINITY;
    }
    let (n, r) = (u64::from(n as u32), u64::from(r as u32));
    let r = if r > n / 2 { n.wrapping_sub(r) } else { r };
    let least = n.wrapping_sub(r);
    (1..=r)
        .try_fold(1_u64, |product, i| Some(product.checked_mul(least.wrapping_add(i))? / i))
        .map_or(f64::INFINITY, |product| product as f64)
}

fn rust_npr(n: f64, r: f64) -> f64 {
    rust_ncr(n, r) * rust_fac(r)
}

unsafe fn rust_find_builtin(name: *const i8, len: i32) -> *const te_variable {
    // SAFETY: nothing changes the table, so that a shared reference to it is sound.
    let table = unsafe { &*&raw const functions };
    let builtins = &table[..table.len() - 1];
    let found = builtins.binary_search_by(|builtin| {
        // SAFETY: both strings have `len` characters or end with NUL before.
        let order = unsafe { strncmp(name, builtin.name, len as u64) };
        if order != 0 {
            return 0.cmp(&order);
        }
        // SAFETY: the first `len` characters are those of `name`, so that the NUL is not before this one.
        let next = unsafe { *builtin.name.wrapping_offset(len as isize) };
        next.cmp(&0)
    });
    found.map_or(core::ptr::null(), |at| &raw const builtins[at])
}

unsafe fn rust_find_lookup(s: &state, name: *const i8, len: i32) -> *const te_variable {
    if s.lookup.is_null() {
        return core::ptr::null();
    }
    // C counts down to 0, also from a negative number.
    let variables = (0..s.lookup_len as u32 as usize).map(|at| s.lookup.wrapping_add(at));
    for variable in variables {
        // SAFETY: the table of the caller has `lookup_len` entries, and nothing changes them during the call.
        let candidate = unsafe { (*variable).name };
        // SAFETY: both strings have `len` characters or end with NUL before.
        if unsafe { strncmp(name, candidate, len as u64) } != 0 {
            continue;
        }
        // SAFETY: the first `len` characters are those of `name`, so that the NUL is not before this one.
        if unsafe { *candidate.wrapping_offset(len as isize) } == 0 {
            return variable;
        }
    }
    core::ptr::null()
}

fn rust_add(a: f64, b: f64) -> f64 {
    a + b
}

fn rust_sub(a: f64, b: f64) -> f64 {
    a - b
}

fn rust_mul(a: f64, b: f64) -> f64 {
    a * b
}

fn rust_divide(a: f64, b: f64) -> f64 {
    a / b
}

fn rust_negate(a: f64) -> f64 {
    -a
}

fn rust_comma(_a: f64, b: f64) -> f64 {
    b
}

unsafe fn rust_next_token(s: *mut state) {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    s.r#type = TOK_NULL;
    while s.r#type == TOK_NULL {
        // SAFETY: `next` is in the expression, at most at its NUL.
        let first = unsafe { *s.next } as u8;
        match first {
            0 => s.r#type = TOK_END,
            b'0'..=b'9' | b'.' => {
                let mut end = core::ptr::null_mut();
                // SAFETY: `next` is a string with its NUL; `end` becomes a place in it.
                s.anon_0.value = unsafe { strtod(s.next, &mut end) };
                s.next = end;
                s.r#type = TOK_NUMBER;
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                let start = s.next;
                // SAFETY: the name ends at the NUL of the expression or before.
                while matches!(unsafe { *s.next } as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
                    s.next = s.next.wrapping_add(1);
                }
                let len = s.next.addr().wrapping_sub(start.addr()) as i32;
                // SAFETY: the state is valid, and `start` has `len` characters.
                let mut found = unsafe { find_lookup(s, start, len) };
                if found.is_null() {
                    // SAFETY: `start` has `len` characters.
                    found = unsafe { find_builtin(start, len) };
                }
                // SAFETY: it is null, or an entry of a table that outlives the state.
                let Some(variable) = (unsafe { found.as_ref() }) else {
                    s.r#type = TOK_ERROR;
                    continue;
                };
                match variable.r#type & TYPE_MASK {
                    TE_VARIABLE => {
                        s.r#type = TOK_VARIABLE;
                        s.anon_0.bound = variable.address.cast();
                    }
                    kind @ TE_FUNCTION0..=TE_CLOSURE7 => {
                        if kind >= TE_CLOSURE0 {
                            s.context = variable.context;
                        }
                        s.r#type = variable.r#type;
                        s.anon_0.function = variable.address;
                    }
                    _ => {}
                }
            }
            _ => {
                s.next = s.next.wrapping_add(1);
                let operator = match first {
                    b'+' => add as *const c_void,
                    b'-' => sub as *const c_void,
                    b'*' => mul as *const c_void,
                    b'/' => divide as *const c_void,
                    b'^' => pow as *const c_void,
                    b'%' => fmod as *const c_void,
                    _ => core::ptr::null(),
                };
                if !operator.is_null() {
                    s.anon_0.function = operator;
                }
                s.r#type = match first {
                    b'+' | b'-' | b'*' | b'/' | b'^' | b'%' => TOK_INFIX,
                    b'(' => TOK_OPEN,
                    b')' => TOK_CLOSE,
                    b',' => TOK_SEP,
                    b' ' | b'\t' | b'\n' | b'\r' => TOK_NULL,
                    _ => TOK_ERROR,
                };
            }
        }
    }
}

unsafe fn rust_base(s: *mut state) -> *mut te_expr {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    let kind = s.r#type;
    let node = match kind & TYPE_MASK {
        TOK_NUMBER => TE_CONSTANT,
        TOK_VARIABLE => TE_VARIABLE,
        TE_FUNCTION0..=TE_CLOSURE7 => kind,
        TOK_OPEN => {
            // SAFETY: as for `s`.
            unsafe { next_token(s) };
            // SAFETY: as for `s`.
            let inner = unsafe { list(s) };
            if !inner.is_null() && s.r#type == TOK_CLOSE {
                // SAFETY: as for `s`.
                unsafe { next_token(s) };
            } else if !inner.is_null() {
                s.r#type = TOK_ERROR;
            }
            return inner;
        }
        _ => 0,
    };
    // SAFETY: without parameters, any type can be made.
    let expression = unsafe { new_expr(node, core::ptr::null_mut()) };
    if expression.is_null() {
        return expression;
    }
    match kind & TYPE_MASK {
        TOK_NUMBER => {
            // SAFETY: a token that is a number has a value.
            let value = unsafe { s.anon_0.value };
            // SAFETY: the new expression is not null and used nowhere else.
            unsafe { (*expression).anon_0.value = value };
            // SAFETY: as for `s`.
            unsafe { next_token(s) };
            return expression;
        }
        TOK_VARIABLE => {
            // SAFETY: a token that is a variable has its address.
            let bound = unsafe { s.anon_0.bound };
            // SAFETY: the new expression is not null and used nowhere else.
            unsafe { (*expression).anon_0.bound = bound };
            // SAFETY: as for `s`.
            unsafe { next_token(s) };
            return expression;
        }
        TE_FUNCTION0..=TE_CLOSURE7 => {}
        _ => {
            s.r#type = TOK_ERROR;
            // SAFETY: the new expression is not null and used nowhere else.
            unsafe { (*expression).anon_0.value = f64::NAN };
            return expression;
        }
    }
    let arity = (kind & ARITY_MASK) as usize;
    // SAFETY: a token that is a function has its address.
    let function = unsafe { s.anon_0.function };
    // SAFETY: the new expression is not null and used nowhere else.
    unsafe { (*expression).anon_0.function = function };
    // SAFETY: as above; the pointer is for the whole block, which goes on after the type.
    let parameters = unsafe { &raw mut (*expression).parameters }.cast::<*mut te_expr>();
    if kind & TE_CLOSURE0 != 0 {
        // SAFETY: the block of a closure has room for the context after its parameters.
        unsafe { *parameters.wrapping_add(arity) = s.context.cast() };
    }
    // SAFETY: as for `s`.
    unsafe { next_token(s) };
    if arity == 1 {
        // SAFETY: as for `s`.
        let parameter = unsafe { power(s) };
        // SAFETY: the block has room for one parameter.
        unsafe { *parameters = parameter };
        if parameter.is_null() {
            // SAFETY: the expression is used nowhere else, and its only parameter is null.
            unsafe { te_free(expression) };
            return core::ptr::null_mut();
        }
        return expression;
    }
    if s.r#type != TOK_OPEN {
        // A function without parameters needs no parentheses.
        if arity != 0 {
            s.r#type = TOK_ERROR;
        }
        return expression;
    }
    let mut count = 0;
    while count < arity {
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
        // SAFETY: as for `s`.
        let parameter = unsafe { expr(s) };
        // SAFETY: the block has room for `arity` parameters.
        unsafe { *parameters.wrapping_add(count) = parameter };
        if parameter.is_null() {
            // SAFETY: the expression is used nowhere else; parameters without a value are null.
            unsafe { te_free(expression) };
            return core::ptr::null_mut();
        }
        if s.r#type != TOK_SEP {
            break;
        }
        count += 1;
    }
    if arity == 0 {
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
    }
    if s.r#type == TOK_CLOSE && (arity == 0 || count == arity - 1) {
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
    } else {
        s.r#type = TOK_ERROR;
    }
    expression
}

unsafe fn rust_power(s: *mut state) -> *mut te_expr {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    let mut is_negative = false;
    while s.r#type == TOK_INFIX {
        // SAFETY: an infix token has the address of its function.
        let operator = unsafe { s.anon_0.function };
        if operator == sub as *const c_void {
            is_negative = !is_negative;
        } else if operator != add as *const c_void {
            break;
        }
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
    }
    // SAFETY: as for `s`.
    let operand = unsafe { base(s) };
    if !is_negative || operand.is_null() {
        return operand;
    }
    let mut operands = [operand.cast_const()];
    // SAFETY: a function of one parameter takes one pointer.
    let negative = unsafe { new_expr(TE_FUNCTION1 | TE_FLAG_PURE, operands.as_mut_ptr()) };
    if negative.is_null() {
        // SAFETY: nothing else uses the operand.
        unsafe { te_free(operand) };
        return negative;
    }
    // SAFETY: the new expression is not null and used nowhere else.
    unsafe { (*negative).anon_0.function = negate as *const c_void };
    negative
}

unsafe fn rust_term(s: *mut state) -> *mut te_expr {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    // SAFETY: as for `s`.
    let mut left = unsafe { factor(s) };
    while !left.is_null() && s.r#type == TOK_INFIX {
        // SAFETY: an infix token has the address of its function.
        let operator = unsafe { s.anon_0.function };
        if ![mul as *const c_void, divide as *const c_void, fmod as *const c_void].contains(&operator) {
            break;
        }
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
        // SAFETY: as for `s`.
        let right = unsafe { factor(s) };
        if right.is_null() {
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return right;
        }
        let mut operands = [left.cast_const(), right.cast_const()];
        // SAFETY: a function of two parameters takes two pointers.
        let whole = unsafe { new_expr(TE_FUNCTION2 | TE_FLAG_PURE, operands.as_mut_ptr()) };
        if whole.is_null() {
            // SAFETY: nothing else uses the right operand.
            unsafe { te_free(right) };
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return whole;
        }
        // SAFETY: the new expression is not null and used nowhere else.
        unsafe { (*whole).anon_0.function = operator };
        left = whole;
    }
    left
}

unsafe fn rust_expr(s: *mut state) -> *mut te_expr {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    // SAFETY: as for `s`.
    let mut left = unsafe { term(s) };
    while !left.is_null() && s.r#type == TOK_INFIX {
        // SAFETY: an infix token has the address of its function.
        let operator = unsafe { s.anon_0.function };
        if ![add as *const c_void, sub as *const c_void].contains(&operator) {
            break;
        }
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
        // SAFETY: as for `s`.
        let right = unsafe { term(s) };
        if right.is_null() {
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return right;
        }
        let mut operands = [left.cast_const(), right.cast_const()];
        // SAFETY: a function of two parameters takes two pointers.
        let whole = unsafe { new_expr(TE_FUNCTION2 | TE_FLAG_PURE, operands.as_mut_ptr()) };
        if whole.is_null() {
            // SAFETY: nothing else uses the right operand.
            unsafe { te_free(right) };
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return whole;
        }
        // SAFETY: the new expression is not null and used nowhere else.
        unsafe { (*whole).anon_0.function = operator };
        left = whole;
    }
    left
}

unsafe fn rust_list(s: *mut state) -> *mut te_expr {
    // SAFETY: the caller passes a valid state that nothing else uses during the call.
    let s = unsafe { &mut *s };
    // SAFETY: as for `s`.
    let mut left = unsafe { expr(s) };
    while !left.is_null() && s.r#type == TOK_SEP {
        // SAFETY: as for `s`.
        unsafe { next_token(s) };
        // SAFETY: as for `s`.
        let right = unsafe { expr(s) };
        if right.is_null() {
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return right;
        }
        let mut operands = [left.cast_const(), right.cast_const()];
        // SAFETY: a function of two parameters takes two pointers.
        let whole = unsafe { new_expr(TE_FUNCTION2 | TE_FLAG_PURE, operands.as_mut_ptr()) };
        if whole.is_null() {
            // SAFETY: nothing else uses the right operand.
            unsafe { te_free(right) };
            // SAFETY: nothing else uses the left operand.
            unsafe { te_free(left) };
            return whole;
        }
        // SAFETY: the new expression is not null and used nowhere else.
        unsafe { (*whole).anon_0.function = comma as *const c_void };
        left = whole;
    }
    left
}

unsafe fn rust_te_eval(n: *const te_expr) -> f64 {
    type F0 = extern "C" fn() -> f64;
    type F1 = extern "C" fn(f64) -> f64;
    type F2 = extern "C" fn(f64, f64) -> f64;
    type F3 = extern "C" fn(f64, f64, f64) -> f64;
    type F4 = extern "C" fn(f64, f64, f64, f64) -> f64;
    type F5 = extern "C" fn(f64, f64, f64, f64, f64) -> f64;
    type F6 = extern "C" fn(f64, f64, f64, f64, f64, f64) -> f64;
    type F7 = extern "C" fn(f64, f64, f64, f64, f64, f64, f64) -> f64;
    type C0 = extern "C" fn(*mut c_void) -> f64;
    type C1 = extern "C" fn(*mut c_void, f64) -> f64;
    type C2 = extern "C" fn(*mut c_void, f64, f64) -> f64;
    type C3 = extern "C" fn(*mut c_void, f64, f64, f64) -> f64;
    type C4 = extern "C" fn(*mut c_void, f64, f64, f64, f64) -> f64;
    type C5 = extern "C" fn(*mut c_void, f64, f64, f64, f64, f64) -> f64;
    type C6 = extern "C" fn(*mut c_void, f64, f64, f64, f64, f64, f64) -> f64;
    type C7 = extern "C" fn(*mut c_void, f64, f64, f64, f64, f64, f64, f64) -> f64;
    use core::mem::transmute;
    if n.is_null() {
        return f64::NAN;
    }
    // SAFETY: what is not null is an expression, which nothing changes during the call.
    let kind = unsafe { (*n).r#type } & TYPE_MASK;
    // SAFETY: as above; all expressions have this member.
    let held = unsafe { &(*n).anon_0 };
    if kind == TE_CONSTANT {
        // SAFETY: a constant has a value.
        return unsafe { held.value };
    }
    if kind == TE_VARIABLE {
        // SAFETY: a variable has its address.
        let bound = unsafe { held.bound };
        // SAFETY: the variables of an expression outlive it, and nothing changes them during the call.
        return unsafe { *bound };
    }
    if !(TE_FUNCTION0..=TE_CLOSURE7).contains(&kind) {
        return f64::NAN;
    }
    let arity = kind & ARITY_MASK;
    // SAFETY: all other expressions have the address of a function.
    let f = unsafe { held.function };
    // SAFETY: only the place is computed: the block goes on after the type, with as many parameters as the arity.
    let parameters = unsafe { &raw const (*n).parameters }.cast::<*mut c_void>();
    // SAFETY: `at` is below the arity; for a closure, the context stands after the parameters.
    let parameter = |at: i32| unsafe { *parameters.wrapping_add(at as usize) };
    let value = |at: i32| {
        let expression = parameter(at).cast::<te_expr>();
        // SAFETY: a parameter is null or an expression, which nothing changes during the call.
        unsafe { te_eval(expression) }
    };
    if kind < TE_CLOSURE0 {
        return match arity {
            // SAFETY: the function of such an expression has no parameters.
            0 => (unsafe { transmute::<*const c_void, F0>(f) })(),
            // SAFETY: the function of such an expression has one parameter.
            1 => (unsafe { transmute::<*const c_void, F1>(f) })(value(0)),
            // SAFETY: the function of such an expression has two parameters.
            2 => (unsafe { transmute::<*const c_void, F2>(f) })(value(0), value(1)),
            // SAFETY: the function of such an expression has three parameters.
            3 => (unsafe { transmute::<*const c_void, F3>(f) })(value(0), value(1), value(2)),
            // SAFETY: the function of such an expression has four parameters.
            4 => (unsafe { transmute::<*const c_void, F4>(f) })(value(0), value(1), value(2), value(3)),
            // SAFETY: the function of such an expression has five parameters.
            5 => (unsafe { transmute::<*const c_void, F5>(f) })(value(0), value(1), value(2), value(3), value(4)),
            // SAFETY: the function of such an expression has six parameters.
            6 => (unsafe { transmute::<*const c_void, F6>(f) })(
                value(0),
                value(1),
                value(2),
                value(3),
                value(4),
                value(5),
            ),
            // SAFETY: the function of such an expression has seven parameters.
            _ => (unsafe { transmute::<*const c_void, F7>(f) })(
                value(0),
                value(1),
                value(2),
                value(3),
                value(4),
                value(5),
                value(6),
            ),
        };
    }
    let context = parameter(arity);
    match arity {
        // SAFETY: the closure of such an expression has a context.
        0 => (unsafe { transmute::<*const c_void, C0>(f) })(context),
        // SAFETY: the closure of such an expression has a context and one parameter.
        1 => (unsafe { transmute::<*const c_void, C1>(f) })(context, value(0)),
        // SAFETY: the closure of such an expression has a context and two parameters.
        2 => (unsafe { transmute::<*const c_void, C2>(f) })(context, value(0), value(1)),
        // SAFETY: the closure of such an expression has a context and three parameters.
        3 => (unsafe { transmute::<*const c_void, C3>(f) })(context, value(0), value(1), value(2)),
        // SAFETY: the closure of such an expression has a context and four parameters.
        4 => (unsafe { transmute::<*const c_void, C4>(f) })(context, value(0), value(1), value(2), value(3)),
        // SAFETY: the closure of such an expression has a context and five parameters.
        5 => (unsafe { transmute::<*const c_void, C5>(f) })(context, value(0), value(1), value(2), value(3), value(4)),
        // SAFETY: the closure of such an expression has a context and six parameters.
        6 => (unsafe { transmute::<*const c_void, C6>(f) })(
            context,
            value(0),
            value(1),
            value(2),
            value(3),
            value(4),
            value(5),
        ),
        // SAFETY: the closure of such an expression has a context and seven parameters.
        _ => (unsafe { transmute::<*const c_void, C7>(f) })(
            context,
            value(0),
            value(1),
            value(2),
            value(3),
            value(4),
            value(5),
            value(6),
        ),
    }
}

unsafe fn rust_optimize(n: *mut te_expr) {
    // SAFETY: the caller passes an expression that nothing else uses during the call.
    let kind = unsafe { (*n).r#type };
    if kind == TE_CONSTANT || kind == TE_VARIABLE || kind & TE_FLAG_PURE == 0 {
        return;
    }
    let arity = if kind & (TE_FUNCTION0 | TE_CLOSURE0) != 0 { kind & ARITY_MASK } else { 0 };
    // SAFETY: as above; the pointer is for the whole block, which goes on after the type.
    let parameters = unsafe { &raw mut (*n).parameters }.cast::<*mut te_expr>();
    let mut is_constant = true;
    for at in 0..arity as usize {
        // SAFETY: the block of an expression has as many parameters as its arity.
        let parameter = unsafe { *parameters.wrapping_add(at) };
        // SAFETY: the parameters of a complete expression are expressions, which only it uses.
        unsafe { optimize(parameter) };
        // SAFETY: as above.
        is_constant &= unsafe { (*parameter).r#type } == TE_CONSTANT;
    }
    if is_constant {
        // SAFETY: the reference ends with the call, which changes nothing.
        let value = unsafe { te_eval(n) };
        // SAFETY: the parameters belong to `n`, which is a constant without any from now on.
        unsafe { te_free_parameters(n) };
        // SAFETY: as at the start.
        unsafe { (*n).r#type = TE_CONSTANT };
        // SAFETY: as at the start.
        unsafe { (*n).anon_0.value = value };
    }
}

unsafe fn rust_te_compile(
    expression: *const i8,
    variables: *const te_variable,
    var_count: i32,
    error: *mut i32,
) -> *mut te_expr {
    let mut s = state {
        start: expression,
        next: expression,
        r#type: TOK_NULL,
        anon_0: state_anon_0 { value: 0.0 },
        context: core::ptr::null_mut(),
        lookup: variables,
        lookup_len: var_count,
    };
    // SAFETY: the state is valid: the caller passes a string with its NUL and a table of `var_count` entries.
    unsafe { next_token(&mut s) };
    // SAFETY: as above.
    let root = unsafe { list(&mut s) };
    let (result, code) = if root.is_null() {
        (root, -1)
    } else if s.r#type != TOK_END {
        // SAFETY: nothing else uses the expression.
        unsafe { te_free(root) };
        let place = s.next.addr().wrapping_sub(s.start.addr()) as i32;
        (core::ptr::null_mut(), if place == 0 { 1 } else { place })
    } else {
        // SAFETY: the expression is complete, and nothing else uses it.
        unsafe { optimize(root) };
        (root, 0)
    };
    // SAFETY: `error` is null, or points to an integer of the caller that nothing else uses during the call.
    if let Some(error) = unsafe { error.as_mut() } {
        *error = code;
    }
    result
}

unsafe fn rust_te_interp(expression: *const i8, error: Option<&mut i32>) -> f64 {
    let error = error.map_or(core::ptr::null_mut(), core::ptr::from_mut);
    // SAFETY: the caller passes a string with its NUL; `error` is null or a reference that is not used otherwise.
    let compiled = unsafe { te_compile(expression, core::ptr::null(), 0, error) };
    if compiled.is_null() {
        return f64::NAN;
    }
    // SAFETY: it is an expression that is used only here.
    let value = unsafe { te_eval(compiled) };
    // SAFETY: it is used only here, and not after this.
    unsafe { te_free(compiled) };
    value
}

unsafe fn rust_pn(n: *const te_expr, depth: i32) {
    // SAFETY: the format takes an `int` and a string with its NUL.
    unsafe { printf(c"%*s".as_ptr(), depth, c"".as_ptr()) };
    // SAFETY: the caller passes an expression, which nothing changes during the call.
    let r#type = unsafe { (*n).r#type };
    // SAFETY: as above; all expressions have this member.
    let held = unsafe { &(*n).anon_0 };
    match r#type & TYPE_MASK {
        TE_CONSTANT => {
            // SAFETY: a constant has a value.
            let value = unsafe { held.value };
            // SAFETY: the format takes a `double`.
            unsafe { printf(c"%f\n".as_ptr(), value) };
        }
        TE_VARIABLE => {
            // SAFETY: a variable has its address.
            let bound = unsafe { held.bound };
            // SAFETY: the format takes a pointer.
            unsafe { printf(c"bound %p\n".as_ptr(), bound) };
        }
        TE_FUNCTION0..=TE_CLOSURE7 => {
            let arity = r#type & ARITY_MASK;
            // SAFETY: only the place is computed: the block goes on after the type, with as many parameters as the arity.
            let parameters = unsafe { &raw const (*n).parameters }.cast::<*const te_expr>();
            // SAFETY: `at` is below the arity.
            let parameter = |at: i32| unsafe { *parameters.wrapping_add(at as usize) };
            // SAFETY: the format takes an `int`.
            unsafe { printf(c"f%d".as_ptr(), arity) };
            for at in 0..arity {
                // SAFETY: the format takes a pointer.
                unsafe { printf(c" %p".as_ptr(), parameter(at)) };
            }
            // SAFETY: the format takes nothing.
            unsafe { printf(c"\n".as_ptr()) };
            for at in 0..arity {
                // SAFETY: the parameters of a complete expression are expressions, which nothing changes during the call.
                unsafe { pn(parameter(at), depth.wrapping_add(1)) };
            }
        }
        _ => {}
    }
}

unsafe fn rust_te_print(n: *const te_expr) {
    // SAFETY: the caller passes an expression.
    unsafe { pn(n, 0) };
}

fn rust_sum0() -> f64 {
    6.0
}

fn rust_sum1(a: f64) -> f64 {
    a * 2.0
}

fn rust_sum2(a: f64, b: f64) -> f64 {
    a + b
}

fn rust_sum3(a: f64, b: f64, c: f64) -> f64 {
    a + b + c
}

fn rust_sum4(a: f64, b: f64, c: f64, d: f64) -> f64 {
    a + b + c + d
}

fn rust_sum5(a: f64, b: f64, c: f64, d: f64, e: f64) -> f64 {
    a + b + c + d + e
}

fn rust_sum6(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) -> f64 {
    a + b + c + d + e + f
}

fn rust_sum7(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64) -> f64 {
    a + b + c + d + e + f + g
}

unsafe fn rust_clo0(context: *mut c_void) -> f64 {
    // SAFETY: the context is null or a `double` that nothing changes during the call.
    match unsafe { context.cast::<f64>().as_ref() } {
        Some(extra) => *extra + 6.0,
        None => 6.0,
    }
}

unsafe fn rust_clo1(context: *mut c_void, a: f64) -> f64 {
    // SAFETY: the context is null or a `double` that nothing changes during the call.
    match unsafe { context.cast::<f64>().as_ref() } {
        Some(extra) => *extra + a * 2.0,
        None => a * 2.0,
    }
}

unsafe fn rust_clo2(context: *mut c_void, a: f64, b: f64) -> f64 {
    // SAFETY: the context is null or a `double` that nothing changes during the call.
    match unsafe { context.cast::<f64>().as_ref() } {
        Some(extra) => *extra + a + b,
        None => a + b,
    }
}

unsafe fn rust_cell(context: *mut c_void, a: f64) -> f64 {
    let cells = context.cast::<f64>();
    // SAFETY: the expressions of the caller name elements of the array that it gives as context.
    unsafe { *cells.wrapping_offset(a as i32 as isize) }
}

fn rust_test_syntax() {
    let errors = [
        (c"", 1),
        (c"1+", 2),
        (c"1)", 2),
        (c"(1", 2),
        (c"1**1", 3),
        (c"1*2(+4", 4),
        (c"1*2(1+4", 4),
        (c"a+5", 1),
        (c"!+5", 1),
        (c"_a+5", 1),
        (c"#a+5", 1),
        (c"1^^5", 3),
        (c"1**5", 3),
        (c"sin(cos5", 8),
    ];
    for (expression, place) in errors {
        let mut error = 0;
        // SAFETY: the string ends with NUL, and nothing else uses `error`.
        let interpreted = unsafe { te_interp(expression.as_ptr(), &mut error) };
        lequal(error, place, 193);
        lok(interpreted.is_nan(), 194);

        // SAFETY: as above; there are no variables.
        let compiled = unsafe { te_compile(expression.as_ptr(), core::ptr::null(), 0, &mut error) };
        lequal(error, place, 197);
        lok(compiled.is_null(), 198);
        if error != place {
            // SAFETY: the format takes a string with its NUL.
            unsafe { printf(c"FAILED: %s\n".as_ptr(), expression.as_ptr()) };
        }

        // SAFETY: the string ends with NUL; the error may be null.
        let unreported = unsafe { te_interp(expression.as_ptr(), core::ptr::null_mut()) };
        lok(unreported.is_nan(), 205);
    }
}

fn rust_test_nans() {
    let nans = [
        c"0/0",
        c"1%0",
        c"1%(1%0)",
        c"(1%0)%1",
        c"fac(-1)",
        c"ncr(2, 4)",
        c"ncr(-2, 4)",
        c"ncr(2, -4)",
        c"npr(2, 4)",
        c"npr(-2, 4)",
        c"npr(2, -4)",
    ];
    for expression in nans {
        let mut error = 0;
        // SAFETY: the string ends with NUL, and nothing else uses `error`.
        let interpreted = unsafe { te_interp(expression.as_ptr(), &mut error) };
        lequal(error, 0, 232);
        lok(interpreted.is_nan(), 233);

        // SAFETY: as above; there are no variables.
        let compiled = unsafe { te_compile(expression.as_ptr(), core::ptr::null(), 0, &mut error) };
        lok(!compiled.is_null(), 236);
        lequal(error, 0, 237);
        // SAFETY: it is null, or an expression that is used only here.
        let value = unsafe { te_eval(compiled) };
        lok(value.is_nan(), 239);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }
}

fn rust_test_infs() {
    let infinities = [
        c"1/0",
        c"log(0)",
        c"pow(2,10000000)",
        c"fac(300)",
        c"ncr(300,100)",
        c"ncr(300000,100)",
        c"ncr(300000,100)*8",
        c"npr(3,2)*ncr(300000,100)",
        c"npr(100,90)",
        c"npr(30,25)",
    ];
    for expression in infinities {
        let mut error = 0;
        // SAFETY: the string ends with NUL, and nothing else uses `error`.
        let interpreted = unsafe { te_interp(expression.as_ptr(), &mut error) };
        lequal(error, 0, 266);
        lok(interpreted == interpreted + 1.0, 267);

        // SAFETY: as above; there are no variables.
        let compiled = unsafe { te_compile(expression.as_ptr(), core::ptr::null(), 0, &mut error) };
        lok(!compiled.is_null(), 270);
        lequal(error, 0, 271);
        // SAFETY: it is null, or an expression that is used only here.
        let value = unsafe { te_eval(compiled) };
        lok(value == value + 1.0, 273);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }
}

fn rust_test_variables() {
    use core::cell::Cell;
    let (x, y, test) = (Cell::new(0.0_f64), Cell::new(0.0_f64), Cell::new(0.0_f64));
    let null = core::ptr::null_mut();
    let lookup = [
        entry(c"x", x.as_ptr() as *const c_void, TE_VARIABLE, null),
        entry(c"y", y.as_ptr() as *const c_void, TE_VARIABLE, null),
        entry(c"te_st", test.as_ptr() as *const c_void, TE_VARIABLE, null),
    ];
    let compile = |expression: &CStr, count: i32| {
        let mut error = 0;
        // SAFETY: the string ends with NUL, the table has three entries, and its variables outlive the expressions.
        let compiled = unsafe { te_compile(expression.as_ptr(), lookup.as_ptr(), count, &mut error) };
        (compiled, error)
    };
    let valid = [(c"cos x + sin y", 2, 287), (c"x+x+x-y", 2, 291), (c"x*y^3", 2, 295), (c"te_st+5", 3, 299)];
    let expressions = valid.map(|(expression, count, line)| {
        let (compiled, error) = compile(expression, count);
        lok(!compiled.is_null(), line);
        lok(error == 0, line + 1);
        compiled
    });
    // SAFETY: it is null, or an expression that is used only here, whose variables are alive.
    let value = |at: usize| unsafe { te_eval(expressions[at]) };

    y.set(2.0);
    while y.get() < 3.0 {
        x.set(0.0);
        while x.get() < 5.0 {
            lfequal(value(0), x.get().cos() + y.get().sin(), 307);
            lfequal(value(1), x.get() + x.get() + x.get() - y.get(), 310);
            lfequal(value(2), x.get() * y.get() * y.get() * y.get(), 313);
            test.set(x.get());
            lfequal(value(3), x.get() + 5.0, 317);
            x.set(x.get() + 1.0);
        }
        y.set(y.get() + 1.0);
    }
    for expression in expressions {
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(expression) };
    }

    for (expression, count, line) in [(c"xx*y^3", 2, 329), (c"tes", 3, 333), (c"sinn x", 2, 337), (c"si x", 2, 341)] {
        let (compiled, error) = compile(expression, count);
        lok(compiled.is_null(), line);
        lok(error != 0, line + 1);
    }
}

fn rust_test_functions() {
    use core::cell::Cell;
    let (x, y) = (Cell::new(0.0_f64), Cell::new(0.0_f64));
    let null = core::ptr::null_mut();
    let lookup = [
        entry(c"x", x.as_ptr() as *const c_void, TE_VARIABLE, null),
        entry(c"y", y.as_ptr() as *const c_void, TE_VARIABLE, null),
    ];
    let cross_check = |expression: &CStr, expected: f64, line: i32| {
        if expected.is_nan() {
            return;
        }
        let mut error = 0;
        // SAFETY: the string ends with NUL, the table has two entries, and its variables outlive the expression.
        let compiled = unsafe { te_compile(expression.as_ptr(), lookup.as_ptr(), 2, &mut error) };
        // SAFETY: it is null, or an expression that is used only here.
        lfequal(unsafe { te_eval(compiled) }, expected, line);
        lok(error == 0, line);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    };
    let unary: [(&CStr, fn(f64) -> f64); 16] = [
        (c"abs x", f64::abs),
        (c"acos x", f64::acos),
        (c"asin x", f64::asin),
        (c"atan x", f64::atan),
        (c"ceil x", f64::ceil),
        (c"cos x", f64::cos),
        (c"cosh x", f64::cosh),
        (c"exp x", f64::exp),
        (c"floor x", f64::floor),
        (c"ln x", f64::ln),
        (c"log10 x", f64::log10),
        (c"sin x", f64::sin),
        (c"sinh x", f64::sinh),
        (c"sqrt x", f64::sqrt),
        (c"tan x", f64::tan),
        (c"tanh x", f64::tanh),
    ];

    x.set(-5.0);
    while x.get() < 5.0 {
        for ((expression, function), line) in unary.into_iter().zip(364..) {
            cross_check(expression, function(x.get()), line);
        }
        y.set(-2.0);
        while y.get() < 2.0 && x.get().abs() >= 0.01 {
            cross_check(c"atan2(x,y)", x.get().atan2(y.get()), 383);
            cross_check(c"pow(x,y)", x.get().powf(y.get()), 384);
            y.set(y.get() + 0.2);
        }
        x.set(x.get() + 0.2);
    }
}

fn rust_test_dynamic() {
    let (x, f) = (2.0_f64, 5.0_f64);
    let null = core::ptr::null_mut();
    let lookup = [
        entry(c"x", (&raw const x).cast(), TE_VARIABLE, null),
        entry(c"f", (&raw const f).cast(), TE_VARIABLE, null),
        entry(c"sum0", sum0 as *const c_void, TE_FUNCTION0, null),
        entry(c"sum1", sum1 as *const c_void, TE_FUNCTION1, null),
        entry(c"sum2", sum2 as *const c_void, TE_FUNCTION2, null),
        entry(c"sum3", sum3 as *const c_void, TE_FUNCTION3, null),
        entry(c"sum4", sum4 as *const c_void, TE_FUNCTION4, null),
        entry(c"sum5", sum5 as *const c_void, TE_FUNCTION5, null),
        entry(c"sum6", sum6 as *const c_void, TE_FUNCTION6, null),
        entry(c"sum7", sum7 as *const c_void, TE_FUNCTION7, null),
    ];
    let cases = [
        (c"x", 2.0),
        (c"f+x", 7.0),
        (c"x+x", 4.0),
        (c"x+f", 7.0),
        (c"f+f", 10.0),
        (c"f+sum0", 11.0),
        (c"sum0+sum0", 12.0),
        (c"sum0()+sum0", 12.0),
        (c"sum0+sum0()", 12.0),
        (c"sum0()+(0)+sum0()", 12.0),
        (c"sum1 sum0", 12.0),
        (c"sum1(sum0)", 12.0),
        (c"sum1 f", 10.0),
        (c"sum1 x", 4.0),
        (c"sum2 (sum0, x)", 8.0),
        (c"sum3 (sum0, x, 2)", 10.0),
        (c"sum2(2,3)", 5.0),
        (c"sum3(2,3,4)", 9.0),
        (c"sum4(2,3,4,5)", 14.0),
        (c"sum5(2,3,4,5,6)", 20.0),
        (c"sum6(2,3,4,5,6,7)", 27.0),
        (c"sum7(2,3,4,5,6,7,8)", 35.0),
    ];
    for (expression, answer) in cases {
        let mut error = 0;
        let count = lookup.len() as i32;
        // SAFETY: the string ends with NUL, the table has `count` entries, and its variables outlive the expression.
        let compiled = unsafe { te_compile(expression.as_ptr(), lookup.as_ptr(), count, &mut error) };
        lok(!compiled.is_null(), 467);
        // SAFETY: it is null, or an expression that is used only here.
        lfequal(unsafe { te_eval(compiled) }, answer, 468);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }
}

fn rust_test_closure() {
    use core::cell::Cell;
    let extra = Cell::new(0.0_f64);
    let cells = [5.0, 6.0, 7.0, 8.0, 9.0].map(Cell::new);
    let context = extra.as_ptr().cast();
    let lookup = [
        entry(c"c0", clo0 as *const c_void, TE_CLOSURE0, context),
        entry(c"c1", clo1 as *const c_void, TE_CLOSURE1, context),
        entry(c"c2", clo2 as *const c_void, TE_CLOSURE2, context),
        entry(c"cell", cell as *const c_void, TE_CLOSURE1, cells.as_ptr().cast_mut().cast()),
    ];
    let compile = |expression: &CStr, line: i32| {
        let mut error = 0;
        let count = lookup.len() as i32;
        // SAFETY: the string ends with NUL, the table has `count` entries, and its contexts outlive the expression.
        let compiled = unsafe { te_compile(expression.as_ptr(), lookup.as_ptr(), count, &mut error) };
        lok(!compiled.is_null(), line);
        compiled
    };

    for (expression, answer) in [(c"c0", 6.0), (c"c1 4", 8.0), (c"c2 (10, 20)", 30.0)] {
        let compiled = compile(expression, 517);
        for (value, line) in [(0.0, 520), (10.0, 523)] {
            extra.set(value);
            // SAFETY: it is null, or an expression that is used only here.
            lfequal(unsafe { te_eval(compiled) }, answer + value, line);
        }
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }

    let cases = [(c"cell 0", 5.0), (c"cell 1", 6.0), (c"cell 0 + cell 1", 11.0), (c"cell 1 * cell 3 + cell 4", 57.0)];
    for (expression, answer) in cases {
        let compiled = compile(expression, 542);
        // SAFETY: it is null, or an expression that is used only here.
        lfequal(unsafe { te_eval(compiled) }, answer, 543);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }
}

fn rust_test_optimize() {
    for (expression, answer) in [(c"5+5", 10.0), (c"pow(2,2)", 4.0), (c"sqrt 100", 10.0), (c"pi * 2", 6.2832)] {
        let mut error = 0;
        // SAFETY: the string ends with NUL, and nothing else uses `error`; there are no variables.
        let compiled = unsafe { te_compile(expression.as_ptr(), core::ptr::null(), 0, &mut error) };
        lok(!compiled.is_null(), 564);
        // The answer is known before the expression is evaluated.
        // SAFETY: as in C, the expression was compiled.
        let root = unsafe { &(*compiled).anon_0 };
        // SAFETY: an expression without variables is compiled to a constant, which has a value.
        lfequal(unsafe { root.value }, answer, 568);
        // SAFETY: it is null, or an expression that is used only here.
        lfequal(unsafe { te_eval(compiled) }, answer, 569);
        // SAFETY: the expression is used only here, and not after this; null is ignored.
        unsafe { te_free(compiled) };
    }
}

fn rust_test_combinatorics() {
    let cases = [
        (c"fac(0)", 1.0),
        (c"fac(0.2)", 1.0),
        (c"fac(1)", 1.0),
        (c"fac(2)", 2.0),
        (c"fac(3)", 6.0),
        (c"fac(4.8)", 24.0),
        (c"fac(10)", 3_628_800.0),
        (c"ncr(0,0)", 1.0),
        (c"ncr(10,1)", 10.0),
        (c"ncr(10,0)", 1.0),
        (c"ncr(10,10)", 1.0),
        (c"ncr(16,7)", 11_440.0),
        (c"ncr(16,9)", 11_440.0),
        (c"ncr(100,95)", 75_287_520.0),
        (c"npr(0,0)", 1.0),
        (c"npr(10,1)", 10.0),
        (c"npr(10,0)", 1.0),
        (c"npr(10,10)", 3_628_800.0),
        (c"npr(20,5)", 1_860_480.0),
        (c"npr(100,4)", 94_109_400.0),
    ];
    for (expression, answer) in cases {
        let mut error = 0;
        // SAFETY: the string ends with NUL, and nothing else uses `error`.
        let value = unsafe { te_interp(expression.as_ptr(), &mut error) };
        lok(error == 0, 683);
        lfequal(value, answer, 684);
        if error != 0 {
            // SAFETY: the format takes a string with its NUL and an `int`.
            unsafe { printf(c"FAILED: %s (%d)\n".as_ptr(), expression.as_ptr(), error) };
        }
    }
}
