import { describe, expect, test } from "vitest";
import { change, healthSentences, reading } from "../../src/view/text/health";

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("counters", () => {
  test.each([
    [84, "degrees C", "84 °C"],
    [-3, "degrees C", "−3 °C"],
    [4.75e12, "bytes", "4.75 TB"],
    [98, "%", "98%"],
    [12_345, "", "12,345"],
    [7, "min", "7 min"],
  ])("%d %s", (value, unit, text) => expect(plain(reading(value, unit))).toBe(text));

  test.each([
    [31, 58, "+27 °C"],
    [58, 31, "−27 °C"],
    [58, 58, "unchanged"],
    [58, null, "–"],
    [null, 58, "–"],
  ])("from %s to %s", (before, after, text) => {
    const row = { label: "temperature", unit: "degrees C", before, after, rise_is_bad: false };
    expect(plain(change(row))).toBe(text);
  });

  test("nothing is said that was not told", () => {
    const health = { source: "ata-smart", rows: [], looks: 2, temperature_c: null, nand_over_host: null };
    expect(healthSentences(health)).toEqual([]);
    expect(healthSentences({ ...health, temperature_c: [40, 40] }).map(plain)).toEqual([
      "Temperature in 2 looks: 40 °C.",
    ]);
  });
});
