//! No chance: hash maps get the same keys in every process, so that a run can be repeated.
//!
//! The standard library asks the C library for the keys of its hash maps, and a function of the program comes before one
//! of that name in a library.

use std::ffi::{c_uint, c_void};

/// Fills the buffer with zeros and says that they are random.
#[unsafe(no_mangle)]
extern "C" fn getrandom(buffer: *mut c_void, length: usize, _flags: c_uint) -> isize {
    // SAFETY: the caller promises a buffer of this length.
    unsafe { buffer.cast::<u8>().write_bytes(0, length) };
    length.cast_signed()
}
