import { expect, test } from "vitest";
import { wordOf, wordRows } from "../../src/data/words";

const rows = (values: Record<string, unknown>) =>
  wordRows(values).map(([label, value]) => `${label}: ${value.replaceAll("\u202f", " ")}`);

test("the parameters of a run, in the order of reading", () => {
  const config = {
    block_bytes: 4096,
    duration_s: 2000,
    fill: true,
    fill_block_bytes: 131072,
    purge: false,
    queue_depth: 32,
    steady_from_s: 1400,
  };
  expect(rows(config)).toEqual([
    "Length of the load: 2,000 s",
    "Steady state from: 1,400 s",
    "Block size: 4 KiB",
    "Queue depth: 32",
    "Purged before: no",
    "Filled before: yes",
    "Block size of the fill: 128 KiB",
  ]);
});

test("what is not known is taken apart at its unit", () => {
  expect(rows({ idle_time_s: 1.5, odd: { a: 1 }, none: null, size_bytes: 1000, toString: 2 })).toEqual([
    "idle time: 1.5 s",
    'odd: {"a":1}',
    "none: ",
    "size: 1 KB",
    "toString: 2",
  ]);
  expect(wordOf("other_bytes")).toBe("other");
});

test("facts about a machine and a simulator come as text", () => {
  expect(rows({ memory_bytes: "25276510208", virtual_machine: "true", kernel: "6.18.44-v1" })).toEqual([
    "Memory: 25.3 GB",
    "Kernel: 6.18.44-v1",
    "Virtual machine: yes",
  ]);
  expect(rows({ superblock_bytes: "536870912", buffer_bytes: "0" })).toEqual([
    "Superblock size: 512 MiB",
    "Write buffer: 0 bytes",
  ]);
});
