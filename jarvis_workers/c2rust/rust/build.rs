//! Compile the remaining C files of the library.

use std::{env, path::Path, process::Command};

type Units = &'static [(&'static str, &'static [&'static str])];

const UNITS: Units = &[
$units];

// C files that the conversion could not read: linked where something uses them.
const UNREAD: Units = &[
$unread];

const FILES: &[&str] = &[
$files];

// The symbols that several programs define: program, symbol, definition.
const DEFINITIONS: &[(&str, &str, &str)] = &[
$definitions];

fn run(program: &str, arguments: &[String]) {
    let status = Command::new(program).args(arguments).status();
    assert!(matches!(&status, Ok(code) if code.success()), "{program} {arguments:?}: {status:?}");
}

fn compile(name: &str, link: &str, units: Units) {
    if units.is_empty() {
        return;
    }
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("c");
    let out = env::var("OUT_DIR").unwrap();
    let cc = env::var("CC").unwrap_or("cc".into());
    let mut archive = vec!["crs".to_string(), format!("{out}/lib{name}.a")];
    for (number, (file, flags)) in units.iter().enumerate() {
        let object = format!("{out}/{name}_{number}.o");
        let mut words: Vec<String> = flags.iter().map(|one| one.replace("{root}", root.to_str().unwrap())).collect();
        let own = ["-O2", "-w", "-fPIC", "-ffunction-sections", "-fdata-sections", "-c", "-o", &object];
        words.extend(own.map(String::from));
        words.push(root.join(file).to_str().unwrap().to_string());
        run(&cc, &words);
        archive.push(object);
    }
    let _ = std::fs::remove_file(&archive[1]);
    run(&env::var("AR").unwrap_or("ar".into()), &archive);
    println!("cargo:rustc-link-lib=static:{link}whole-archive={name}");
}

fn main() {
    for file in FILES {
        println!("cargo:rerun-if-changed=c/{file}");
    }
    for variable in ["CC", "AR"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rustc-link-search=native={}", env::var("OUT_DIR").unwrap());
    compile("remainder", "+", UNITS);
    compile("unread", "-", UNREAD);
    for library in [$libraries] {
        println!("cargo:rustc-link-lib={library}");
    }
    for (program, symbol, definition) in DEFINITIONS {
        println!("cargo:rustc-link-arg-bin={program}=-Wl,--defsym={symbol}={definition}");
    }
}
