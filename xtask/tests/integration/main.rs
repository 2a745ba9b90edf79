//! Tests of the real binary against its contract, from outside. `SSDLAB_BIN` names the binary;
//! `cargo xtask test --only integration` (or `devices`, `agreement`, `exposed`, `acceptance`) sets it.

mod lab;
mod loop_device;

mod ends {
    mod cut_off;
    mod full_disk;
    mod interrupt;
    mod killed;
    mod paused;
    mod stall;
    mod stopped;
}

mod exposed {
    mod cuts;
    mod fuse;
    mod fuse_hostile;
    mod nbd;
    mod server;
}

mod figures {
    mod acceptance;
    mod advise;
    mod agreement;
    mod bench;
    mod compare;
    mod engine_flags;
    mod fit;
    mod import;
    mod library;
    mod marks;
    mod parallel;
    mod side_by_side;
    mod simulated;
    mod suite;
    mod trim;
    mod verify;
}

mod replay {
    mod recording;
    mod traces;
}

mod safety {
    mod confirmation;
    mod devices;
    mod hostile;
    mod others;
    mod read_only;
    mod writers;
}

mod words {
    mod book;
    mod card;
    mod cluster;
    mod defaults;
    mod limits;
    mod messages;
    mod output;
    mod support;
    mod usage;
}
