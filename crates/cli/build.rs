//! Links the program at a fixed address on Linux with glibc, so that nothing is relocated at the start.
//! See docs/decisions/0034-fixed-address.md.

use std::env::var;

#[expect(clippy::disallowed_methods, reason = "what cargo tells build scripts")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, wanted: &str| var(name).is_ok_and(|value| value == wanted);
    let is_optimized = !is("OPT_LEVEL", "0");
    // A static program is linked in a form of its own.
    let is_static = var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|all| all.contains("crt-static"));
    if is_optimized
        && !is_static
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
