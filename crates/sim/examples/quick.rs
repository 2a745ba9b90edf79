use base::*;
use sim::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = &args[1];
    let seconds: u64 = args.get(2).map_or(2000, |s| s.parse().unwrap());
    let spare: u64 = args.get(3).map_or(0, |s| s.parse().unwrap());
    let scale: Ratio = args.get(4).map_or(Ratio::ONE, |s| s.parse().unwrap());
    let model = Model::load(name, model::built_in(name).unwrap(), &[]).unwrap();
    let config = model.resolve(scale).unwrap();
    println!("{config:?}");
    let t = Instant::now();
    let mut span = config.capacity_bytes();
    if spare > 0 {
        span = config.raw_bytes / 100 * (100 - spare);
    }
    let mut d = Device::new(config);
    let mut out = vec![];
    let n = span / 131072;
    let mut next = 0;
    let mut inflight = 0;
    let mut tags: Vec<u32> = (0..32).collect();
    while next < n || inflight > 0 {
        while next < n && !tags.is_empty() {
            d.submit(&Op {
                kind: OpKind::Write,
                data: Data::Incompressible,
                len: 131072,
                tag: tags.pop().unwrap(),
                offset: next * 131072,
            });
            next += 1;
            inflight += 1;
        }
        d.reap(1, &mut out);
        for c in out.drain(..) {
            tags.push(c.tag);
            inflight -= 1;
        }
    }
    println!("fill: wall {:?} sim {:.1}s", t.elapsed(), d.now().as_secs_f64());
    let t = Instant::now();
    let mut rng = Rng::split(1, "a");
    let pages = span / 4096;
    let start = d.now().0;
    d.telemetry_start(Nanos::SECOND);
    let mut ios = 0u64;
    let mut per = vec![0u64; seconds as usize + 10];
    for tag in 0..32 {
        d.submit(&Op {
            kind: OpKind::Write,
            data: Data::Incompressible,
            len: 4096,
            tag,
            offset: rng.below(pages) * 4096,
        });
    }
    loop {
        d.reap(1, &mut out);
        let now = d.now().0 - start;
        if now >= seconds * 1_000_000_000 {
            break;
        }
        for c in out.drain(..) {
            ios += 1;
            per[(now / 1_000_000_000) as usize] += 1;
            d.submit(&Op {
                kind: OpKind::Write,
                data: Data::Incompressible,
                len: 4096,
                tag: c.tag,
                offset: rng.below(pages) * 4096,
            });
        }
    }
    let wall = t.elapsed();
    println!("load: wall {wall:?} ios {ios} {:.0} ns/io", wall.as_nanos() as f64 / ios as f64);
    let mut rows = vec![];
    d.telemetry_take(&mut rows);
    let step = (seconds as usize / 50).max(1);
    for (s, r) in rows.iter().enumerate().step_by(step) {
        println!(
            "{s} iops {} waf {:.2} free {} buf {} die {:.2} gc {}",
            per[s],
            r.programmed_pages as f64 / r.host_pages.max(1) as f64,
            r.free_superblocks,
            r.buffer_pages,
            r.die_busy_ns as f64 / 1e9 / f64::from(d.config().geometry.dies),
            r.gc_moved_pages
        );
    }
    let tail = &rows[rows.len() * 7 / 10..];
    let h: u64 = tail.iter().map(|r| r.host_pages).sum();
    let p: u64 = tail.iter().map(|r| r.programmed_pages).sum();
    let f: f64 = tail.iter().map(|r| r.free_superblocks as f64).sum::<f64>() / tail.len() as f64;
    let mut v: Vec<u64> = per[seconds as usize * 7 / 10..seconds as usize].to_vec();
    v.sort();
    println!(
        "steady waf {:.3} free {f:.1} iops mean {} min {} p10 {} p50 {} p90 {} max {}",
        p as f64 / h as f64,
        v.iter().sum::<u64>() / v.len() as u64,
        v[0],
        v[v.len() / 10],
        v[v.len() / 2],
        v[v.len() * 9 / 10],
        v[v.len() - 1]
    );
    d.check().unwrap();
}
