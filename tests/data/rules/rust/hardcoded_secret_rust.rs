const API_KEY: &str = "q8Zt1Lx0Rv5Wn3Kd7Yb2"; // ruleid: hardcoded_secret_rust
static ACCESS_KEY: &'static str = "9f8a7c6d5e4b3a2918f7e6d5c4b3a291"; // ruleid: hardcoded_secret_rust
fn connect() -> Config {
    let password = "S3cure!pass9"; // ruleid: hardcoded_secret_rust
    let token = String::from("f3b1c77d90e24a58ab6c"); // ruleid: hardcoded_secret_rust
    let remote = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"; // ruleid: hardcoded_secret_rust
    let key = r#"-----BEGIN PRIVATE KEY----- // ruleid: hardcoded_secret_rust
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
-----END PRIVATE KEY-----"#;
    if password == "hunter2!" { // ruleid: hardcoded_secret_rust
        return Config { password: "Tr0ub4dor&3", ..base }; // ruleid: hardcoded_secret_rust
    }
    client.password("Tr0ub4dor&3"); // ruleid: hardcoded_secret_rust
    let password = ""; // ok: hardcoded_secret_rust
    let password = env::var("PASSWORD")?; // ok: hardcoded_secret_rust
    let secret = "<secret>"; // ok: hardcoded_secret_rust
    let token = "ident"; // ok: hardcoded_secret_rust
    let password = format!("{user}-{n}"); // ok: hardcoded_secret_rust
    println!("password: {}", password); // ok: hardcoded_secret_rust
    // let password = "S3cure!pass9"; // ok: hardcoded_secret_rust
    const PASSWORD_VARIABLE: &str = "DB_PASSWORD"; // ok: hardcoded_secret_rust
    let begin = "-----BEGIN PRIVATE KEY-----"; // ok: hardcoded_secret_rust
}
