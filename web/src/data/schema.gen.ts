// Written by hand to the shape of crates/result/src/report.rs until schema/report.schema.json exists;
// from then on `npm run types` replaces it.

export type RunStatus = "running" | "complete" | "interrupted" | "failed";

export interface Report {
  report_version: number;
  tool_version: string;
  title: string;
  runs: RunView[];
}

export interface RunView {
  run_id: string;
  test: string;
  status: RunStatus;
  started: string;
  target: Target;
  environment: { [k: string]: string };
  seed: number;
  command: string;
  span: Span;
  config: { [k: string]: unknown };
  phases: Phase[];
  series: Series;
  steady_from_s: number;
  latency_bins: [number, number][];
  metrics: { [k: string]: number | null };
  findings: Finding[];
  warnings: string[];
}

export interface Series {
  time_s: number[];
  iops: number[];
  mb_per_s: number[];
  latency_ns_p50: (number | null)[];
  latency_ns_p99: (number | null)[];
  latency_ns_max: (number | null)[];
  waf: (number | null)[];
  free_superblocks: number[];
  buffer_bytes: number[];
  gc_moved_pages: number[];
  die_busy_share: number[];
}

export interface Target {
  kind: string;
  name: string;
  spec: string;
  serial?: string | null;
  firmware?: string | null;
  capacity_bytes: number;
  raw_bytes?: number | null;
  engine: string;
  details: { [k: string]: string };
}

export interface Span {
  span_bytes: number;
  variant: string;
  base: string;
}

export interface Phase {
  name: string;
  what: string;
  start_ns: number;
  duration_ns: number;
  ios: number;
  bytes: number;
  errors: number;
  ios_after_end: number;
  complete: boolean;
}

export interface Finding {
  text: string;
  metric: string;
}
