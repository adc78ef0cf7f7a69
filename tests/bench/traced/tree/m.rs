fn main() { std::thread::spawn(|| 1).join().unwrap(); std::process::Command::new("true").status().unwrap(); }
