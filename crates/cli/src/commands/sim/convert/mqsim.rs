//! Parameters of MQSim (Tavakkol and others, FAST 2018) in the words of ssdlab.
//!
//! Source: the README of MQSim and its reader of parameters (github.com/CMU-SAFARI/MQSim, `src/exec`).
//! docs/guide/from-mqsim.md has the table. A parameter without a counterpart is told, never dropped in
//! silence.

use std::fmt::{Display, Write};

use serde::Serialize;

use super::parameters::{Parameters, Section, sections};

const SECTOR_BYTES: u64 = 512;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Drive,
    Load,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Drive => "drive",
            Self::Load => "load",
        }
    }
}

/// A parameter without a counterpart.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) reason: &'static str,
}

/// A file of ssdlab.
#[derive(Debug)]
pub(super) struct Conversion {
    pub(super) toml: String,
    pub(super) kind: Kind,
    pub(super) left_out: Vec<LeftOut>,
}

/// Converts a file of MQSim; of a load, the scenario of this number from 1.
///
/// # Errors
/// If it is no file of MQSim, or a value is none.
pub(super) fn convert(text: &str, scenario: usize) -> Result<Conversion, String> {
    let sections = sections(text)?;
    match sections.first().map(|root| root.name.as_str()) {
        Some("Execution_Parameter_Set") => drive(sections),
        Some("MQSim_IO_Scenarios") => load(sections, scenario),
        _ => Err("expected XML of MQSim with the element Execution_Parameter_Set (a drive) or MQSim_IO_Scenarios \
                  (a load)"
            .to_owned()),
    }
}

/// Reasons of parameters that have no counterpart, by the start of their names.
const REASONS: [(&str, &str); 28] = [
    ("Enable_ResponseTime_Logging", "--ios records every command"),
    ("ResponseTime_Logging", "--ios records every command"),
    (
        "SATA_Processing_Delay",
        "time of the host, for a drive with SATA; name a host instead (host=...)",
    ),
    ("Seed", "the seed belongs to a run: --seed"),
    ("Enabled_Preconditioning", "tests purge and fill by their own parameters"),
    (
        "Queue_Fetch_Size",
        "interface.command_slots counts all commands in the drive, not those of a queue",
    ),
    ("Caching_Mechanism", "the buffer has one form"),
    ("Data_Cache", "DRAM has no timing of its own"),
    ("CMT", "give [map_cache] its bytes and entry_bytes"),
    ("Ideal_Mapping_Table", "give [map_cache] for a map that does not fit into DRAM"),
    (
        "Plane_Allocation_Scheme",
        "a superblock lies on all dies; pages go to channel, die and plane in turn",
    ),
    (
        "Transaction_Scheduling_Policy",
        "reads go before writes; gc.host_reads ranks them against collection",
    ),
    ("Use_Copyback_for_GC", "moved pages cross the channel"),
    ("Preemptible_GC_Enabled", "gc.pacing spreads collection over the writes of the host"),
    ("Dynamic_Wearleveling", "give [wear_leveling]"),
    ("Static_Wearleveling", "give [wear_leveling] its spread_max"),
    ("Preferred_suspend", "give [nand.suspend]"),
    ("CMD_Suspension_Support", "give [nand.suspend]"),
    ("Suspend_", "give [nand.suspend]"),
    ("Block_PE_Cycles_Limit", "blocks do not fail by age; [nand.wear] slows them"),
    ("Page_Metadat_Capacity", "spare bytes of a page do not cross the channel"),
    ("Priority_Class", "queues have one class"),
    ("Device_Level_Data_Caching_Mode", "every write goes through the buffer, and no read is kept"),
    ("Initial_Occupancy_Percentage", "`run workload` fills by its parameter fill"),
    ("Channel_IDs", "flows share all dies"),
    ("Chip_IDs", "flows share all dies"),
    ("Die_IDs", "flows share all dies"),
    ("Plane_IDs", "flows share all dies"),
];

fn left_out(parameters: &Parameters) -> impl Iterator<Item = LeftOut> + '_ {
    parameters.left().map(|parameter| {
        let (name, value) = (parameter.name.clone(), base::text::shortened(&parameter.value));
        let known = REASONS.iter().find(|(start, _)| name.starts_with(start));
        let reason =
            known.map_or("MQSim or this version of it alone knows it", |(_, reason)| *reason);
        LeftOut { name, value, reason }
    })
}

/// The parameters of a section, or an error if the file has none of that name.
fn take(sections: &mut Vec<Section>, name: &str) -> Result<Parameters, String> {
    let place = sections.iter().position(|section| section.name == name);
    let place = place.ok_or_else(|| format!("it has no parameters in {name}"))?;
    Ok(sections.remove(place).parameters)
}

/// A word that must be one of a list; the answer is its place.
fn word(parameters: &mut Parameters, name: &str, known: &[&str]) -> Result<usize, String> {
    let text = parameters.text(name).ok_or_else(|| format!("it has no {name}"))?;
    known.iter().position(|word| *word == text).ok_or_else(|| {
        format!(
            "{name} is `{}`, expected one of {}",
            base::text::shortened(&text),
            known.join(", ")
        )
    })
}

/// A drive model in the making: a line for each of its values.
struct Draft(String);

impl Draft {
    fn put(&mut self, key: &str, value: impl Display, from: &str) {
        let _ = writeln!(self.0, "{key} = {{ value = {value}, from = \"{from}\" }}");
    }

    fn derived(&mut self, key: &str, value: impl Display, from: &str) {
        self.put(key, value, &format!("derived: MQSim {from}"));
    }
}

fn drive(mut sections: Vec<Section>) -> Result<Conversion, String> {
    let mut host = take(&mut sections, "Host_Parameter_Set")?;
    let mut device = take(&mut sections, "Device_Parameter_Set")?;
    let mut flash = take(&mut sections, "Flash_Parameter_Set")?;
    let head = "# Converted from MQSim by `ssdlab sim convert`.\nname = \"MQSim drive\"\n";
    let mut draft = Draft(head.to_owned());
    word(&mut device, "Memory_Type", &["FLASH"])?;
    word(&mut device, "Flash_Comm_Protocol", &["NVDDR2"])?;
    word(&mut device, "Address_Mapping", &["PAGE_LEVEL"])?;
    let (blocks, page_bytes) = shape(&mut draft, &mut device, &mut flash)?;
    let without_map = map(&mut draft, page_bytes);
    interface(&mut draft, &mut host, &mut device)?;
    times(&mut draft, &mut device, &mut flash)?;
    let cache = device.whole("Data_Cache_Capacity")?;
    draft.derived("buffer.write_bytes", cache, "Data_Cache_Capacity");
    draft.put("buffer.power_loss_protected", false, "assumed: MQSim has no flush");
    collection(&mut draft, &mut device, blocks)?;
    let left_out = [&host, &device, &flash].into_iter().flat_map(left_out);
    let left_out = left_out.chain(without_map).collect();
    Ok(Conversion { toml: draft.0, kind: Kind::Drive, left_out })
}

/// The pages of the map: MQSim maps pages of the NAND, and a write of a part of one programs it whole. The answer is the
/// size that a map here cannot have, or `None` if it can.
fn map(draft: &mut Draft, page_bytes: u64) -> Option<LeftOut> {
    if !page_bytes.is_power_of_two() || page_bytes > 64 << 10 {
        return Some(LeftOut {
            name: "Page_Capacity".to_owned(),
            value: page_bytes.to_string(),
            reason: "MQSim maps pages of this size; a map here has 4, 8, 16, 32 or 64 KiB",
        });
    }
    draft.derived("map.unit_bytes", page_bytes, "Page_Capacity: it maps pages of the NAND");
    None
}

/// Capacity and structure; the answer is the blocks of a plane and the bytes of a page.
fn shape(
    draft: &mut Draft,
    device: &mut Parameters,
    flash: &mut Parameters,
) -> Result<(u64, u64), String> {
    let planes = flash.whole("Plane_No_Per_Die")?;
    let (blocks, pages) = (flash.whole("Block_No_Per_Plane")?, flash.whole("Page_No_Per_Block")?);
    let page_bytes = flash.whole("Page_Capacity")?;
    let channels = device.whole("Flash_Channel_Count")?;
    let dies = device.whole("Chip_No_Per_Channel")?.saturating_mul(flash.whole("Die_No_Per_Chip")?);
    let raw = [channels, dies, planes, blocks, pages, page_bytes].map(u128::from);
    let raw: u128 = raw.into_iter().fold(1, u128::saturating_mul);
    let spare = device.number("Overprovisioning_Ratio", 0.99)?;
    let user = (raw.min(1 << 62) as f64 * (1.0 - spare)) as u64;
    let capacity = format!("\"{user}B\"");
    draft.derived("capacity", capacity, "Overprovisioning_Ratio, (raw - user) / raw");
    for (key, value, from) in [
        ("channels", channels, "Flash_Channel_Count"),
        ("dies_per_channel", dies, "Chip_No_Per_Channel x Die_No_Per_Chip"),
        ("planes", planes, "Plane_No_Per_Die"),
        ("blocks_per_plane", blocks, "Block_No_Per_Plane"),
        ("pages_per_block", pages, "Page_No_Per_Block"),
        ("page_bytes", page_bytes, "Page_Capacity"),
    ] {
        draft.derived(&format!("nand.{key}"), value, from);
    }
    draft.put("nand.reserved_superblocks", 0, "derived: MQSim reserves none");
    Ok((blocks, page_bytes))
}

fn interface(
    draft: &mut Draft,
    host: &mut Parameters,
    device: &mut Parameters,
) -> Result<(), String> {
    let is_nvme = word(device, "HostInterface_Type", &["NVME", "SATA"])? == 0;
    let lanes = host.number("PCIe_Lane_Bandwidth", 1e3)? * host.number("PCIe_Lane_Count", 64.0)?;
    let depth = device.whole("IO_Queue_Depth")?;
    let link = "interface.link_bytes_per_s";
    if is_nvme {
        draft.derived("interface.kind", "\"nvme\"", "HostInterface_Type");
        draft.derived(link, (lanes * 1e9) as u64, "PCIe_Lane_Bandwidth x PCIe_Lane_Count");
    } else {
        draft.put(link, 600_000_000, "assumed: SATA of 6 Gbit/s");
    }
    let depth_max = if is_nvme { 1 << 16 } else { 32 };
    draft.derived("interface.queue_depth", depth.min(depth_max), "IO_Queue_Depth");
    for key in ["read_command_ns", "write_command_ns", "relocate_ns"] {
        let from = "derived: MQSim has no time of the processor";
        draft.put(&format!("controller.{key}"), 0, from);
    }
    Ok(())
}

/// Times of the NAND and of its channels.
fn times(draft: &mut Draft, device: &mut Parameters, flash: &mut Parameters) -> Result<(), String> {
    draft.derived("nand.erase_ns", flash.whole("Block_Erase_Latency")?, "Block_Erase_Latency");
    let kinds = [&["LSB"][..], &["LSB", "MSB"], &["LSB", "CSB", "MSB"]];
    let kinds = kinds[word(flash, "Flash_Technology", &["SLC", "MLC", "TLC"])?];
    for (key, name) in [("read_ns", "Page_Read_Latency"), ("program_ns", "Page_Program_Latency")] {
        let mut sum = 0;
        for kind in kinds {
            sum += flash.whole(&format!("{name}_{kind}"))?;
        }
        // Kinds of pages that these cells do not have.
        for kind in ["LSB", "CSB", "MSB"] {
            flash.text(&format!("{name}_{kind}"));
        }
        let mean = sum / kinds.len() as u64;
        draft.derived(&format!("nand.{key}"), mean, &format!("{name}, mean of its pages"));
    }
    let transfers = device.number("Channel_Transfer_Rate", 1e6)?;
    let rate = (transfers * device.number("Flash_Channel_Width", 64.0)? * 1e6) as u64;
    let from = "Channel_Transfer_Rate x Flash_Channel_Width";
    draft.derived("nand.channel_bytes_per_s", rate, from);
    Ok(())
}

/// Garbage collection of a drive with so many blocks in a plane.
fn collection(draft: &mut Draft, device: &mut Parameters, blocks: u64) -> Result<(), String> {
    let from = "GC_Block_Selection_Policy";
    let choices = u64::from(blocks.max(2).ilog2());
    let (policy, candidates) = match word(device, from, &["GREEDY", "RGA", "RANDOM", "FIFO"])? {
        0 => ("\"greedy\"", 1),
        1 => ("\"d-choices\"", choices),
        2 => ("\"d-choices\"", 1),
        _ => ("\"fifo\"", 1),
    };
    draft.derived("gc.policy", policy, from);
    draft.derived("gc.candidates", candidates, from);
    let pacing = "assumed: MQSim collects beside the writes of the host";
    draft.put("gc.pacing", "\"proportional\"", pacing);
    let hard = device.number("GC_Hard_Threshold", 1.0)? * blocks as f64;
    let low = (hard as u64).max(2);
    draft.derived("gc.free_low", low, "GC_Hard_Threshold x Block_No_Per_Plane");
    let high = device.number("GC_Exec_Threshold", 1.0)? * blocks as f64;
    let high = (high as u64).max(low + 1);
    draft.derived("gc.free_high", high, "GC_Exec_Threshold x Block_No_Per_Plane");
    Ok(())
}

fn load(sections: Vec<Section>, scenario: usize) -> Result<Conversion, String> {
    let mut scenarios: Vec<Vec<Section>> = Vec::new();
    for section in sections.into_iter().skip(1) {
        match (section.name.as_str(), scenarios.last_mut()) {
            ("IO_Scenario", _) => scenarios.push(Vec::new()),
            (_, Some(flows)) => flows.push(section),
            (other, None) => {
                return Err(format!(
                    "`{}` stands outside an IO_Scenario",
                    base::text::shortened(other)
                ));
            }
        }
    }
    let count = scenarios.len();
    let flows = scenarios.into_iter().nth(scenario - 1).ok_or_else(|| {
        format!("it has {count} scenarios, and --scenario {scenario} is none of them")
    })?;
    let (mut toml, mut left) = (String::new(), Vec::new());
    let _ = writeln!(toml, "about = \"Scenario {scenario} of a load of MQSim\"");
    let _ = writeln!(toml, "source = \"Converted by `ssdlab sim convert`\"");
    let flows_count = flows.len();
    for (number, mut flow) in flows.into_iter().enumerate() {
        match flow.name.as_str() {
            "IO_Flow_Parameter_Set_Synthetic" => {
                job(&mut toml, &mut flow.parameters, (number, flows_count))?;
            }
            "IO_Flow_Parameter_Set_Trace_Based" => {
                let path = flow.parameters.text("File_Path").unwrap_or_default();
                return Err(format!(
                    "flow {} is the trace `{}`: read it with `ssdlab trace import FILE --from mqsim`, with \
                     --time-unit for its Time_Unit and --repeat for its Relay_Count, and replay that",
                    number + 1,
                    base::text::shortened(&path)
                ));
            }
            other => {
                return Err(format!("there is no flow `{}`", base::text::shortened(other)));
            }
        }
        left.extend(left_out(&flow.parameters).map(|parameter| LeftOut {
            name: format!("flow {}: {}", number + 1, parameter.name),
            ..parameter
        }));
    }
    Ok(Conversion { toml, kind: Kind::Load, left_out: left })
}

/// A job for a synthetic flow, the one of this number of so many, which share the addresses evenly.
fn job(
    toml: &mut String,
    flow: &mut Parameters,
    (number, count): (usize, usize),
) -> Result<(), String> {
    let reads = flow.number("Read_Percentage", 100.0)?;
    word(flow, "Request_Size_Distribution", &["FIXED"])?;
    flow.text("Variance_Request_Size");
    let block_bytes = flow.whole("Average_Request_Size")? * SECTOR_BYTES;
    let working_set = flow.number("Working_Set_Percentage", 100.0)?;
    let hot = flow.number("Percentage_of_Hot_Region", 100.0)?;
    let known = ["RANDOM_UNIFORM", "STREAMING", "RANDOM_HOTCOLD"];
    let pattern = match word(flow, "Address_Distribution", &known)? {
        0 => "uniform".to_owned(),
        1 => "sequential".to_owned(),
        // The hot part of h percent gets the other 100 - h percent of the requests.
        _ => format!("zones(\"{hot}:{}\")", 100.0 - hot),
    };
    let share = 100.0 / count as f64;
    let _ = writeln!(toml, "\n[job.flow-{}]", number + 1);
    let _ = writeln!(toml, "mix = {{ read = {reads}, write = {} }}", 100.0 - reads);
    let _ = writeln!(toml, "block = \"{block_bytes}B\"\npattern = '{pattern}'");
    let _ = writeln!(
        toml,
        "offset = \"{:.2}%\"\nspan = \"{:.2}%\"",
        number as f64 * share,
        working_set * share / 100.0
    );
    let unit = flow.whole("Address_Alignment_Unit")?;
    if word(flow, "Generated_Aligned_Addresses", &["true", "false"])? == 0 {
        let _ = writeln!(toml, "align = \"{}B\"", unit * SECTOR_BYTES);
    }
    let depth = flow.whole("Average_No_of_Reqs_in_Queue")?;
    let bandwidth = flow.text("Bandwidth").or_else(|| flow.text("Intensity"));
    if word(flow, "Synthetic_Generator_Type", &["QUEUE_DEPTH", "BANDWIDTH"])? == 0 {
        let _ = writeln!(toml, "queue_depth = {depth}");
    } else {
        let bandwidth: f64 = bandwidth.and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let rate = (bandwidth / block_bytes.max(1) as f64).max(1.0);
        let _ = writeln!(toml, "rate = \"poisson:{rate:.0}\"");
    }
    let stop_ns = flow.number("Stop_Time", 1e18)? as u64;
    let requests = flow.whole("Total_Requests_To_Generate")?;
    if stop_ns > 0 {
        let _ = writeln!(toml, "duration = \"{stop_ns}ns\"");
    } else {
        let _ = writeln!(toml, "bytes = \"{}B\"", requests.saturating_mul(block_bytes));
    }
    if let Some(seed) = flow.text("Seed") {
        let _ = writeln!(
            toml,
            "seed = {}",
            seed.parse::<u32>().map_err(|_| "Seed is no whole number")?
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::Ratio;
    use sim::Model;

    use super::*;

    fn elements(values: &[(&str, &str)]) -> String {
        values.iter().map(|(name, value)| format!("<{name}>{value}</{name}>\n")).collect()
    }

    /// A drive of 4 GiB in 4 dies; `more` stands in the parameters of the device.
    fn drive_xml(spare: &str, more: &str) -> String {
        let host = elements(&[("PCIe_Lane_Bandwidth", "1.0"), ("PCIe_Lane_Count", "2")]);
        let device = elements(&[
            ("Memory_Type", "FLASH"),
            ("HostInterface_Type", "NVME"),
            ("IO_Queue_Depth", "1024"),
            ("Data_Cache_Capacity", "4194304"),
            ("Address_Mapping", "PAGE_LEVEL"),
            ("Overprovisioning_Ratio", spare),
            ("GC_Exec_Threshold", "0.05"),
            ("GC_Block_Selection_Policy", "RGA"),
            ("GC_Hard_Threshold", "0.005"),
            ("Flash_Channel_Count", "2"),
            ("Flash_Channel_Width", "1"),
            ("Channel_Transfer_Rate", "333"),
            ("Chip_No_Per_Channel", "1"),
            ("Flash_Comm_Protocol", "NVDDR2"),
        ]);
        let flash = elements(&[
            ("Flash_Technology", "MLC"),
            ("Page_Read_Latency_LSB", "50000"),
            ("Page_Read_Latency_CSB", "1"),
            ("Page_Read_Latency_MSB", "70000"),
            ("Page_Program_Latency_LSB", "400000"),
            ("Page_Program_Latency_CSB", "1"),
            ("Page_Program_Latency_MSB", "1000000"),
            ("Block_Erase_Latency", "3000000"),
            ("Die_No_Per_Chip", "2"),
            ("Plane_No_Per_Die", "2"),
            ("Block_No_Per_Plane", "1024"),
            ("Page_No_Per_Block", "64"),
            ("Page_Capacity", "8192"),
        ]);
        format!(
            "<?xml version=\"1.0\"?><Execution_Parameter_Set><Host_Parameter_Set>{host}</Host_Parameter_Set>\
             <Device_Parameter_Set>{device}{more}<Flash_Parameter_Set>{flash}</Flash_Parameter_Set>\
             </Device_Parameter_Set></Execution_Parameter_Set>"
        )
    }

    #[test]
    fn a_drive_keeps_its_geometry_times_and_spare_area() {
        let more = elements(&[("CMT_Capacity", "2097152"), ("Invented", "7")]);
        let Conversion { toml, kind, left_out } = convert(&drive_xml("0.12", &more), 1).unwrap();
        assert_eq!(kind, Kind::Drive);
        let model = Model::load("drive", &toml, &[]).unwrap();
        let config = model.resolve(Ratio::ONE).unwrap();
        assert_eq!((config.raw_bytes, config.geometry.dies), (4 << 30, 4));
        let spare = 1.0 - config.capacity_bytes() as f64 / config.raw_bytes as f64;
        assert!((spare - 0.12).abs() < 1e-5, "{spare}");
        assert_eq!(config.geometry.page_bytes, 8192);
        for line in [
            "nand.read_ns = { value = 60000,",
            "nand.program_ns = { value = 700000,",
            "nand.channel_bytes_per_s = { value = 333000000,",
            "interface.link_bytes_per_s = { value = 2000000000,",
            "gc.policy = { value = \"d-choices\",",
            "gc.candidates = { value = 10,",
            "gc.free_low = { value = 5,",
            "gc.free_high = { value = 51,",
        ] {
            assert!(toml.contains(line), "{line} in\n{toml}");
        }
        let left: Vec<_> = left_out.iter().map(|left| (left.name.as_str(), left.reason)).collect();
        assert_eq!(left[0], ("CMT_Capacity", "give [map_cache] its bytes and entry_bytes"));
        assert_eq!(left[1], ("Invented", "MQSim or this version of it alone knows it"));
        assert_eq!(left.len(), 2);
    }

    #[test]
    fn a_size_of_pages_that_no_map_has_is_told() {
        let xml = drive_xml("0.12", "").replace("<Page_Capacity>8192", "<Page_Capacity>12288");
        let Conversion { toml, left_out, .. } = convert(&xml, 1).unwrap();
        assert!(!toml.contains("map.unit_bytes"), "{toml}");
        assert_eq!(
            (left_out[0].name.as_str(), left_out[0].value.as_str()),
            ("Page_Capacity", "12288")
        );
    }

    fn flow(more: &[(&str, &str)]) -> String {
        let all = [
            ("Priority_Class", "HIGH"),
            ("Working_Set_Percentage", "50"),
            ("Read_Percentage", "25"),
            ("Percentage_of_Hot_Region", "20"),
            ("Generated_Aligned_Addresses", "true"),
            ("Address_Alignment_Unit", "16"),
            ("Request_Size_Distribution", "FIXED"),
            ("Average_Request_Size", "8"),
            ("Average_No_of_Reqs_in_Queue", "16"),
            ("Total_Requests_To_Generate", "1000"),
        ];
        let name = "IO_Flow_Parameter_Set_Synthetic";
        format!("<{name}>{}{}</{name}>", elements(&all), elements(more))
    }

    #[test]
    fn flows_of_a_scenario_are_jobs_beside_each_other() {
        let hot = flow(&[
            ("Address_Distribution", "RANDOM_HOTCOLD"),
            ("Synthetic_Generator_Type", "QUEUE_DEPTH"),
            ("Stop_Time", "2000000000"),
        ]);
        let steady = flow(&[
            ("Address_Distribution", "STREAMING"),
            ("Synthetic_Generator_Type", "BANDWIDTH"),
            ("Bandwidth", "4096000"),
            ("Stop_Time", "0"),
        ]);
        let scenario = |flows: &str| format!("<IO_Scenario>{flows}</IO_Scenario>");
        let xml = |scenarios: &str| format!("<MQSim_IO_Scenarios>{scenarios}</MQSim_IO_Scenarios>");
        let two = xml(&(scenario(&steady) + &scenario(&(hot + &steady))));
        let Conversion { toml, left_out, .. } = convert(&two, 2).unwrap();
        let file = ::load::spec::WorkloadFile::parse(&toml).unwrap();
        assert_eq!(toml.matches("[job.flow-").count(), 2, "{file:?}");
        for line in [
            "mix = { read = 25, write = 75 }",
            "pattern = 'zones(\"20:80\")'",
            "offset = \"50.00%\"\nspan = \"25.00%\"",
            "queue_depth = 16",
            "rate = \"poisson:1000\"",
            "duration = \"2000000000ns\"",
            "bytes = \"4096000B\"",
            "align = \"8192B\"",
        ] {
            assert!(toml.contains(line), "{line} in\n{toml}");
        }
        assert!(left_out.iter().any(|left| left.name == "flow 2: Priority_Class"), "{left_out:?}");
        let error = convert(&two, 3).unwrap_err();
        assert!(error.contains("it has 2 scenarios"), "{error}");
        let trace = "<IO_Flow_Parameter_Set_Trace_Based><File_Path>a.trace</File_Path>\
                     </IO_Flow_Parameter_Set_Trace_Based>";
        let error = convert(&xml(&scenario(trace)), 1).unwrap_err();
        assert!(error.contains("trace import FILE --from mqsim"), "{error}");
    }

    #[test]
    fn hostile_files_are_refused_with_the_fault() {
        let whole = drive_xml("0.12", "");
        let entity = "<!DOCTYPE a [<!ENTITY b \"c\">]><Execution_Parameter_Set/>";
        for (text, fault) in [
            ("", "expected XML of MQSim"),
            ("PK\u{3}\u{4}", "expected XML of MQSim"),
            (&whole[..whole.len() - 30], "it is"),
            (entity, "a document type of its own"),
            (&whole.replace(">RGA<", ">&rga;<"), "the entity `&rga;`"),
            (&"<a>".repeat(1000), "more than 16 elements"),
            (&whole.replace(">1024<", ">many<"), "`many`, expected a number"),
            (&whole.replace(">RGA<", ">RANDOM_PP<"), "expected one of GREEDY, RGA"),
            (&whole.replace("Page_Capacity", "Page_Size"), "it has no Page_Capacity"),
            ("<a><b>1</b></a>", "expected XML of MQSim"),
        ] {
            let error = convert(text, 1).unwrap_err();
            assert!(error.contains(fault), "{fault}: {error}");
        }
    }
}
