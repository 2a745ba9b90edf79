#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::Target::find("fio_job")
    .expect("a target")
    .run(data));
