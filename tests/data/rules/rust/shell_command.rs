fn unpack(archive: &str) -> io::Result<ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("tar xf {archive}")).status() // ruleid: shell_command
}
fn list(folder: &str) -> io::Result<Output> {
    let command = format!("ls {} | wc -l", folder);
    std::process::Command::new("/bin/bash") // ruleid: shell_command
        .arg("-c")
        .arg(&command)
        .output()
}
fn copy(from: &str, to: &str) {
    Command::new("cmd").args(["/C", &format!("copy {from} {to}")]).spawn().unwrap(); // ruleid: shell_command
}
fn run(script: &str) -> Child {
    Command::new("bash").args(&["-c", script]).spawn().unwrap() // ruleid: shell_command
}
fn ping(host: &str) {
    let mut command = Command::new("sh"); // ruleid: shell_command
    command.arg("-c").arg("ping -c 1 ".to_owned() + host);
    command.status().unwrap();
}
fn show(name: &str) {
    Command::new("powershell").arg("-Command").arg(format!("Get-Item {name}")).status(); // ruleid: shell_command
}
fn joined(words: &[String]) {
    Command::new("/bin/sh").arg("-c").arg(words.join(" ")).status(); // ruleid: shell_command
}
async fn later(user: String) {
    tokio::process::Command::new("zsh").arg("-lc").arg(format!("id {user}")).output().await; // ruleid: shell_command
}
fn in_order(hook: &Hook) {
    Command::new("sh").current_dir(&hook.folder).arg("-c").arg(&hook.command).status(); // ruleid: shell_command
}
fn direct(archive: &str) -> io::Result<ExitStatus> {
    Command::new("tar").arg("xf").arg(archive).status() // ok: shell_command
}
fn constant() -> io::Result<Output> {
    Command::new("sh").arg("-c").arg("ls /etc | wc -l").output() // ok: shell_command
}
fn constant_list() -> io::Result<Output> {
    Command::new("bash").args(["-c", "echo $HOME"]).output() // ok: shell_command
}
fn raw() -> io::Result<Output> {
    Command::new("sh").arg("-c").arg(r#"echo "hello""#).output() // ok: shell_command
}
fn named() -> io::Result<Output> {
    Command::new("sh").arg("-c").arg(SCRIPT).output() // ok: shell_command
}
fn script(path: &Path) -> io::Result<Output> {
    Command::new("sh").arg(path).output() // ok: shell_command
}
fn local() -> io::Result<Output> {
    let command = "uname -a";
    Command::new("sh").arg("-c").arg(command).output() // ok: shell_command
}
fn quoted(name: &str) -> io::Result<Output> {
    let command = format!("cat {}", shell_escape::escape(name.into()));
    Command::new("sh").arg("-c").arg(command).output() // ok: shell_command
}
fn parameters(name: &str) -> io::Result<Output> {
    Command::new("sh").arg("-c").arg("cat \"$1\"").arg("sh").arg(name).output() // ok: shell_command
}
fn other(program: &str) -> Command {
    Command::new(program) // ok: shell_command
}
fn built() -> clap::Command {
    clap::Command::new("sh").arg(Arg::new("name")) // ok: shell_command
}
#[test]
fn runs() {
    Command::new("sh").arg("-c").arg(format!("exit {CODE}")).status().unwrap(); // ok: shell_command
}
