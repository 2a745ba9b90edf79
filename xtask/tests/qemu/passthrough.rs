//! Do commands past the block layer have the same effect as those through it, and are they refused
//! where they are impossible?

use crate::engines::must_have_used;
use crate::machine::Record;

#[test]
fn a_generic_node_stands_for_its_block_device() {
    let run = must_have_used("past", "NVMe passthrough through /dev/ng");
    assert!(run["target"]["engine"].as_str().expect("an engine").contains("registered buffers"));
    let node = run["target"]["details"]["node"].as_str().expect("a node");
    assert!(node.starts_with("/dev/nvme"), "{run:#}");
    assert_eq!(run["target"]["serial"], "NVME-ONE");
}

#[test]
fn completions_past_the_block_layer_can_be_polled() {
    let run = must_have_used("past-polled", "polled completions");
    assert!(run["target"]["engine"].as_str().expect("an engine").contains("passthrough"));
}

#[test]
fn two_threads_each_have_a_submission_thread_past_the_block_layer() {
    let run = must_have_used("past-submitted", "submission thread");
    assert!(run["target"]["engine"].as_str().expect("an engine").contains("passthrough"));
    assert_eq!(run["config"]["workers"], 2);
}

/// Blocks of 4 KiB, and of 128 KiB in two commands each.
#[test]
fn what_is_written_past_the_block_layer_is_read_through_it() {
    for (name, blocks) in [("past", 500), ("past-long", 100)] {
        Record::of(&format!("{name}-written")).must_exit_with(0);
        let read = Record::of(&format!("{name}-read"));
        read.must_exit_with(0);
        let document = read.document();
        assert_eq!(document["counts"]["kept"], document["promised_blocks"], "{document:#}");
        assert!(document["promised_blocks"].as_u64() > Some(blocks), "{document:#}");
    }
}

/// As the driver's tracepoint shows them: blocks of 512 bytes, lengths counted from 0.
#[test]
fn each_kind_of_command_arrives_as_it_was_asked_for() {
    Record::of("past-replayed").must_exit_with(0);
    let seen = &Record::of("past-commands").stdout;
    for command in [
        "nvme_cmd_write slba=0, len=7, ctrl=0x0,",
        // Forced unit access.
        "nvme_cmd_write slba=80, len=15, ctrl=0x4000,",
        "nvme_cmd_flush",
        "nvme_cmd_dsm nr=0, attributes=4",
        // 160 KiB is more than the emulated controller takes at once.
        "nvme_cmd_write slba=1024, len=127,",
        "nvme_cmd_write slba=1152, len=127,",
        "nvme_cmd_write slba=1280, len=63,",
    ] {
        assert!(seen.contains(command), "no {command} in\n{seen}");
    }
}

#[test]
fn deallocated_blocks_hold_nothing_afterwards() {
    Record::of("past-trimmed").must_exit_with(0);
    let bytes: u64 = Record::of("past-trimmed.bytes").stdout.trim().parse().expect("a number");
    // Of 64 MiB of random bytes one in 256 is zero; a dozen blocks are far more than chance adds.
    let random = (64 << 20) / 256 * 255;
    assert!(bytes < random - 12 * 4096, "{bytes} of {random} bytes are not zero");
}

#[test]
fn a_drive_without_nvme_commands_is_refused() {
    let refused = Record::of("past-sata");
    refused.must_exit_with(5);
    assert!(refused.stderr.contains("it is no NVMe namespace"), "{refused:#?}");
}

#[test]
fn a_namespace_with_metadata_is_refused() {
    let refused = Record::of("past-metadata");
    refused.must_exit_with(5);
    assert!(refused.stderr.contains("8 bytes of metadata for each block"), "{refused:#?}");
}

#[test]
fn a_failed_write_ends_a_run_as_it_does_on_the_block_device() {
    let (through, past) = (Record::of("failing-auto"), Record::of("failing-uring,passthrough"));
    for record in [through, past] {
        record.must_exit_with(4);
        assert!(record.stderr.contains("No data available"), "{record:#?}");
    }
    assert!(past.stderr.contains("NVMe status 0x0280: write fault"), "{past:#?}");
}

#[test]
fn a_generic_node_of_a_mounted_drive_is_refused_as_the_drive_is() {
    Record::of("refused-generic").must_be_refused_as("mounted");
}
