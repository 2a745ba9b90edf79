//! Workload files and fio's job files: what is accepted issues commands within its span, and reads again as it was
//! written.

use load::Generator;
use load::fio;
use load::spec::{WorkloadFile, WorkloadSite, library};

const PLACES: [WorkloadSite; 2] = [
    WorkloadSite { span_bytes: 1 << 30, queue_depth_max: 32, logical_block_bytes: 512 },
    WorkloadSite { span_bytes: 37 * 4096, queue_depth_max: 1024, logical_block_bytes: 4096 },
];
/// Commands of each job that are drawn.
const COMMANDS: usize = 100;

pub(crate) fn file(data: &[u8]) {
    let Some(text) = readable(data) else { return };
    let Ok(file) = WorkloadFile::parse(text) else { return };
    issue(&file);
    if let Ok(text) = file.to_toml() {
        assert_eq!(WorkloadFile::parse(&text).as_ref(), Ok(&file), "{text}");
    }
    let (job_file, _) = fio::export(&file);
    let _ = fio::import(&job_file, &fio::Context::default());
}

pub(crate) fn job_file(data: &[u8]) {
    let Some(text) = readable(data) else { return };
    let Ok(imported) = fio::import(text, &fio::Context::default()) else { return };
    issue(&imported.file);
    let _ = imported.file.to_toml().expect("no number of a job file exceeds TOML's");
    let (again, _) = fio::export(&imported.file);
    let _ = fio::import(&again, &fio::Context::default());
}

/// Text without the one pattern that opens files, which are the input of other targets.
fn readable(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok().filter(|text| !text.contains("trace"))
}

fn issue(file: &WorkloadFile) {
    for place in PLACES {
        let Ok(jobs) = file.jobs(&place) else { continue };
        for job in &jobs.jobs {
            let (workload, mut generator) =
                (&job.workload, Generator::new(job.workload.clone(), 1));
            let span = workload.span_offset_bytes..workload.span_offset_bytes + workload.span_bytes;
            for op in std::iter::from_fn(|| generator.next_op(0)).take(COMMANDS) {
                let end = op.offset + u64::from(op.len);
                assert!(
                    op.len == 0 || (span.contains(&op.offset) && end <= span.end),
                    "{op:?} of {job:?}"
                );
                let block = u64::from(place.logical_block_bytes);
                assert!(op.offset.is_multiple_of(block), "{op:?} of {job:?}");
                assert!(u64::from(op.len).is_multiple_of(block), "{op:?} of {job:?}");
            }
        }
    }
}

pub(crate) fn file_seeds() -> Vec<Vec<u8>> {
    library::BUILT_IN.map(|(_, text)| text.as_bytes().to_vec()).to_vec()
}

pub(crate) fn job_file_seeds() -> Vec<Vec<u8>> {
    let samples: [&[u8]; 4] = [
        b"[global]\nioengine=libaio\niodepth=32\ndirect=1\nsize=100m\n[a]\nrw=randrw\nrwmixread=70\nbs=4k\n[b]\nstonewall\nrw=write\nbs=128k\nnumjobs=2\n",
        b"[a]\nrw=randwrite\nbssplit=4k/60:64k/40\nnorandommap\nsize=50%\nrandom_distribution=zipf:1.2\nruntime=30s\ntime_based\nramp_time=2\n",
        b"[a]\nrw=write\nrate_iops=1k\nrate_process=poisson\nfsync=8\nsync=1\nthinktime=500\nthinktime_blocks=4\noffset=1m\nio_size=10m\nstartdelay=1\n",
        b"[a]\nrw=read\nzonemode=strided\nzonesize=4k\nzoneskip=12k\nbuffer_compress_percentage=50\npercentage_random=30\nrandom_distribution=zoned:60/10:40/90\n",
    ];
    samples.map(<[u8]>::to_vec).to_vec()
}
