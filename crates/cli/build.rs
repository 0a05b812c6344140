//! Makes the binary smaller: functions of identical code become one, and a release has no symbols.

#[expect(clippy::disallowed_methods, reason = "this is how cargo and a build script talk")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The linker that rustc brings for this target knows the option; others may not.
    if std::env::var("TARGET").as_deref() == Ok("x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        // A package with a setting of its own in the profile loses the profile's `strip`.
        let is = |name: &str, value: &str| std::env::var(name).as_deref() == Ok(value);
        if is("PROFILE", "release") && is("DEBUG", "false") {
            println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
        }
    }
}
