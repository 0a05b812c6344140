//! Settings of the C library's allocator.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::{sync::Once, time::Duration};

/// Makes the allocator ask the system for memory in large steps. By default, it grows and shrinks each thread's memory a few pages at a
/// time, and each step stops the other threads for a moment. For commands that answer one query and end.
///
/// The setting also fixes the size from which an allocation gets pages of its own, at 128 KB. Other sizes were tried: a list has fewer page
/// faults with 4 MB, but the largest sessions take 10 MB more.
///
/// Call it before threads are started.
pub fn grow_memory_in_large_steps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set(&[(libc::M_TOP_PAD, STEP)]);
}

/// Makes the allocator return freed memory to the system. For processes that answer many queries: by default, each thread of the C
/// library keeps what its largest query needed. It costs page faults, so a command that ends soon does without.
///
/// Call it before threads are started.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    ONCE.call_once(|| {
        set(&[
            (libc::M_TOP_PAD, KEPT),
            (libc::M_ARENA_MAX, POOLS),
            (libc::M_TRIM_THRESHOLD, KEPT),
            (libc::M_MMAP_THRESHOLD, KEPT),
        ]);
        // The settings free only the end of each pool. Free pages between those in use add up over thousands of queries.
        let _trimmer = std::thread::Builder::new().name("memory".to_owned()).spawn(trim);
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
static ONCE: Once = Once::new();

/// Returns free pages to the system from time to time, wherever in a pool they are, as long as there may be new ones.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe interface to this function exists")]
fn trim() {
    let mut before = Duration::ZERO;
    loop {
        let is_busy = processor_time().saturating_sub(before) > BUSY;
        if is_busy {
            // SAFETY: takes a number, and locks each pool while it looks at it.
            unsafe { libc::malloc_trim(0) };
            before = processor_time();
        }
        std::thread::sleep(if is_busy { WHILE_BUSY } else { WHILE_IDLE });
    }
}

/// Returns how much processor time this process has used.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the standard library does not know it")]
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time`, which outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// How often all pools are trimmed: rare enough that nobody notices it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const WHILE_BUSY: Duration = Duration::from_secs(10);
/// How often a process that does nothing looks whether it does: rare enough that it sleeps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const WHILE_IDLE: Duration = Duration::from_secs(60);
/// After less processor time than this since the last time, there is little to trim.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const BUSY: Duration = Duration::from_millis(50);

/// How much more than needed is asked for. A first list of 1 GB has a third of the page faults; more saves little.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STEP: i32 = 8 * 1024 * 1024;
/// How many threads have memory of their own; others share it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const POOLS: i32 = 4;
/// Free memory at the end of a pool above this is returned. Allocations of this size get pages of their own; without a fixed limit,
/// that limit grows up to 32 MB with the allocations that are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 128 * 1024;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe interface to these settings exists")]
fn set(settings: &[(i32, i32)]) {
    for &(setting, value) in settings {
        // SAFETY: takes two numbers, locks the allocator, and ignores what it does not accept.
        unsafe { libc::mallopt(setting, value) };
    }
}
