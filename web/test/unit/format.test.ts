import { describe, expect, test } from "vitest";
import * as format from "../../src/data/format";

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("numbers", () => {
  test.each([
    [0, "0"],
    [7.5, "7.50"],
    [99.44, "99.4"],
    [1_234.5, "1,235"],
    [78_012, "78,012"],
  ])("%d IOPS", (value, text) => expect(format.iops(value)).toBe(text));

  test.each([
    [0.1, "0.1"],
    [1, "1"],
    [20, "20"],
    [1_000, "1K"],
    [2_500, "2.5K"],
    [100_000, "100K"],
    [2e6, "2M"],
    [1e9, "1G"],
  ])("tick %d", (value, text) => expect(format.shortCount(value)).toBe(text));

  test("numbers have the form of the language, at every size and sign", () => {
    const values = [0, 0.5, 1.5, 2.5, 0.05, 9.94, 999.5, 999.95, 1e3, 12_345.678, 1e6, 123_456_789.4, 1e15];
    for (const digits of [0, 1, 3, 6]) {
      const intl = new Intl.NumberFormat("en-US", {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });
      for (const value of values.flatMap((one) => [one, -one - 1])) {
        expect(format.separated(value, digits)).toBe(intl.format(value));
      }
    }
    for (const value of values) {
      const intl = new Intl.NumberFormat("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
      expect(format.tick(value)).toBe(intl.format(value));
    }
  });

  test.each([
    [0, "0%"],
    [0.0412, "4.12%"],
    [0.243, "24.3%"],
    [1, "100%"],
    [1_999 / 2_000, ">99.9%"],
    [0.9994, "99.9%"],
    [1.2, "120%"],
    [0.0004, "0.040%"],
    [1e-6, "<0.001%"],
  ])("share %d", (value, text) => expect(format.percent(value)).toBe(text));

  test.each([
    [0, "0%"],
    [0.001, "<1%"],
    [0.02, "2%"],
    [0.996, ">99%"],
    [1, "100%"],
  ])("share %d without decimals", (value, text) => expect(format.wholePercent(value)).toBe(text));

  test.each([
    [0.042, "42 mW"],
    [0.0004, "0.40 mW"],
    [0.9994, "999 mW"],
    [2.934, "2.93 W"],
  ])("%d W", (value, text) => expect(plain(format.watts(value))).toBe(text));
});

describe("times", () => {
  test.each([
    [0, "0 s"],
    [840, "840 ns"],
    [61_200, "61.2 µs"],
    [999_600, "1.00 ms"],
    [4_520_000, "4.52 ms"],
    [396_000_000, "396 ms"],
    [1_890_000_000, "1.89 s"],
  ])("%d ns", (value, text) => expect(plain(format.duration(value))).toBe(text));

  test.each([
    [0.4e9, "0.4 s"],
    [60e9, "60 s"],
    [2_000e9, "33 min 20 s"],
    [3_600e9, "1 h"],
    [5_400e9, "1 h 30 min"],
  ])("%d ns of work", (value, text) => expect(plain(format.clock(value))).toBe(text));

  test("moments are told in UTC", () => {
    expect(format.moment("2026-01-02T03:04:05Z")).toBe("2026-01-02 03:04 UTC");
    expect(format.moment("unknown")).toBe("unknown");
  });
});

describe("sizes", () => {
  test.each([
    [480e9, "480 GB"],
    [1_000_204_886_016, "1 TB"],
    [512, "512 bytes"],
    [131_072, "131 KB"],
    [999_999_999, "1 GB"],
    [32e6, "32 MB"],
  ])("%d bytes", (value, text) => expect(plain(format.bytes(value))).toBe(text));

  test("raw NAND comes in powers of two", () => {
    expect(plain(format.rawBytes(256 * 2 ** 30))).toBe("256 GiB");
    expect(plain(format.rawBytes(250e9))).toBe("250 GB");
  });
});

test.each([
  [1, "all", "all"],
  [0.5, "1 in 2", "1 in 2"],
  [0.0001, "1 in 10,000", "1 in 10K"],
  [1e-8, "1 in 100,000,000", "1 in 100M"],
])("a share of %d", (share, long, short) => {
  expect(format.oneIn(share)).toBe(long);
  expect(format.shortOneIn(share)).toBe(short);
});

test("CSV quotes what needs it", () => {
  expect(format.csvField('a "b", c')).toBe('"a ""b"", c"');
  expect(format.csvField(null)).toBe("");
  expect(format.csvField(1.5)).toBe("1.5");
});

test("CSV holds no formulas", () => {
  expect(format.csvField('=HYPERLINK("x")')).toBe(`"'=HYPERLINK(""x"")"`);
  expect(["+a", "-a", "@a", "a=b"].map(format.csvField)).toEqual(["'+a", "'-a", "'@a", "a=b"]);
  expect(["\ta", "a;=b", "＝a"].map(format.csvField)).toEqual([`"'\ta"`, `"a;=b"`, "'＝a"]);
  expect(format.csvField("\u0000=a\u202eb")).toBe("\ufffd=a\ufffdb");
  expect([-5, "-5.5", "+3"].map(format.csvField)).toEqual(["-5", "-5.5", "+3"]);
});

test("a name shows every letter, and ends", () => {
  expect(format.visible("a\u202eb\u2028c\u0000d\te")).toBe("a\ufffdb\ufffdc\ufffdd\te");
  expect(format.nameText("Drive 480 GB")).toBe("Drive 480 GB");
  expect(format.nameText("שלום 480")).toBe("שלום 480");
  const long = format.nameText("😀".repeat(1e5));
  expect([...long]).toHaveLength(80);
  expect(() => encodeURIComponent(long), "no letter is cut in two").not.toThrow();
  expect(format.shortened("😀".repeat(80), 80)).toBe("😀".repeat(80));
});
