//! The workload files that come with ssdlab, each with its source or reasoning in the file.

/// Name and text of each.
pub const BUILT_IN: [(&str, &str); 17] = [
    ("app-install", include_str!("../../workloads/app-install.toml")),
    ("app-start", include_str!("../../workloads/app-start.toml")),
    ("boot", include_str!("../../workloads/boot.toml")),
    ("boot-storm", include_str!("../../workloads/boot-storm.toml")),
    ("checkpoint", include_str!("../../workloads/checkpoint.toml")),
    ("compile", include_str!("../../workloads/compile.toml")),
    ("game-start", include_str!("../../workloads/game-start.toml")),
    ("level-load", include_str!("../../workloads/level-load.toml")),
    ("log", include_str!("../../workloads/log.toml")),
    ("lsm-compaction", include_str!("../../workloads/lsm-compaction.toml")),
    ("object-store", include_str!("../../workloads/object-store.toml")),
    ("oltp", include_str!("../../workloads/oltp.toml")),
    ("photo-import", include_str!("../../workloads/photo-import.toml")),
    ("video-record", include_str!("../../workloads/video-record.toml")),
    ("vm-mix", include_str!("../../workloads/vm-mix.toml")),
    ("vm-resume", include_str!("../../workloads/vm-resume.toml")),
    ("world-streaming", include_str!("../../workloads/world-streaming.toml")),
];

/// The text of a built-in workload; `None` if there is none of this name.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
