"""Answers of a translator that are wrong, or made to pass the gates without being right.

`{head}` is the planned signature, `{name}` the C name of the function.
"""

from collections.abc import Mapping
from typing import NamedTuple


class HostileBody(NamedTuple):
    """An answer, and a part of the reason why its form is refused, "" if it is left to the other gates."""

    text: str
    problem: str = ""

    def of(self, head: str, name: str) -> str:
        """Return the answer for a function."""
        return self.text.replace("{head}", head).replace("{name}", name)


LONG = 300_000
HOSTILE: Mapping[str, HostileBody] = {
    "none": HostileBody("", "nothing beside it; it has: nothing"),
    "two bodies": HostileBody("{head} { panic!() }\n{head} { panic!() }", "nothing beside it; it has: fn rust_"),
    "prose": HostileBody("Here is the function: it works.", "nothing beside it"),
    "prose around it": HostileBody("Here it is:\n{head} { panic!() }\nIt works.", "nothing beside it"),
    "half a body": HostileBody("{head} { if true {", "nothing beside it; it has: text"),
    "300 KB": HostileBody("{head} { " + "0; " * (LONG // 3) + "panic!() }", "longer than 100,000"),
    "another function": HostileBody("fn rust_{name}_other() {}", "nothing beside it; it has: fn rust_"),
    "the body of another function": HostileBody("{head} { let all = [3, 1, 2]; let _ = all.iter().max(); panic!() }"),
    "a changed signature": HostileBody("fn rust_{name}(_: u128) {}", "its signature must be"),
    "an item with a taken name": HostileBody("{head} { panic!() }\nfn memcpy() {}", "it has: fn rust_"),
    "unsafe everywhere": HostileBody(
        "{head} { unsafe { unsafe { core::hint::unreachable_unchecked() } } }", "no // SAFETY: comment"
    ),
    "todo!": HostileBody('{head} { todo!("{name}") }', "contains todo!"),
    "unimplemented!": HostileBody("{head} { unimplemented !() }", "contains unimplemented!"),
    "tests of its own": HostileBody("{head} { panic!() }\n#[cfg(test)]\nmod tests {}", "nothing beside it"),
    "code for tests only": HostileBody("#[cfg(not(test))]\n{head} { panic!() }", "the attribute cfg"),
    "#[no_mangle]": HostileBody("#[no_mangle]\n{head} { panic!() }", "the attribute no_mangle"),
    "an exported symbol": HostileBody('#[unsafe(export_name = "malloc")]\n{head} { panic!() }', "export_name"),
    "include!": HostileBody('{head} { include!("/etc/passwd") }', "`include!`"),
    "extern crate": HostileBody("{head} { extern crate libc; panic!() }", "`extern`"),
    "a foreign function": HostileBody('{head} { extern "C" { fn system(); } panic!() }', "`extern`"),
    "build.rs": HostileBody(
        '{head} { panic!() }\n// build.rs\nfn main() { std::process::Command::new("id"); }', "it has: fn rust_"
    ),
    "std::process": HostileBody("{head} { std::process::exit(0) }", "`std::process`"),
    "std::process in raw form": HostileBody("{head} { std::r#process::exit(0) }", "is not allowed"),
    "exit of C": HostileBody("{head} { crate::c::exit(0) }", "`exit` is not allowed: the C function does not use it"),
    "a glob import": HostileBody("{head} { use crate::c::*; panic!() }", "glob import"),
    "a look-alike name": HostileBody("fn rust_{name}\N{CYRILLIC SMALL LETTER A}() {}", "outside of ASCII"),
    "a look-alike variable": HostileBody(
        "{head} { let \N{CYRILLIC SMALL LETTER A} = 0; panic!() }", "outside of ASCII"
    ),
    "a call of the original": HostileBody("{head} { crate::c::jvc_{name}() }", "reserved for the comparison"),
    "the original by its address": HostileBody(
        "{head} { let name = [106u8, 118, 99, 95]; crate::c::dlsym(core::ptr::null_mut(), name.as_ptr()); panic!() }",
        "`dlsym` is not allowed",
    ),
    "a call of itself through C": HostileBody("{head} { rust_{name}() }"),
    "a look at the environment": HostileBody('{head} { std::env::var("CI").unwrap(); panic!() }', "`std::env`"),
    "a look at the environment of C": HostileBody(
        '{head} { crate::c::getenv(c"LD_PRELOAD".as_ptr()); panic!() }', "`getenv` is not allowed"
    ),
    "a look at the variables of the runtime": HostileBody(
        '{head} { crate::c::lookup(c"\\u{4a}ARVIS_C2RUST_SHADOW".as_ptr()); panic!() }', "reserved for the comparison"
    ),
    "a look at the build": HostileBody("{head} { if cfg!(debug_assertions) {} panic!() }", "`cfg!`"),
    "a look at its module": HostileBody("{head} { if module_path!().len() > 5 {} panic!() }", "`module_path!`"),
    "a look at its type name": HostileBody("{head} { core::any::type_name::<u8>(); panic!() }", "`core::any`"),
    "right for the first calls only": HostileBody(
        "{head} { use core::sync::atomic::AtomicU32; static CALLS: AtomicU32 = AtomicU32::new(0); panic!() }",
        "it keeps state between calls",
    ),
    "wrong": HostileBody("{head} { panic!() }"),
    "wrong again": HostileBody("{head} { panic!() }"),
    "wrong for the third time": HostileBody("{head} { panic!() }"),
}
