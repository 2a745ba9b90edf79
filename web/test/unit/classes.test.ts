import { describe, expect, test } from "vitest";
import { mixedLengths, reportOf, runOf, SHAPES } from "../../fixtures/report";
import { appOf, axesNow, zoomShown } from "../../src/app";
import { AxesBook, plannedSeconds, runClasses } from "../../src/chart/classes";
import { endOf } from "../../src/chart/scales";
import { libraryOf } from "../../src/data/load";

const library = libraryOf(mixedLengths());
const { runs } = library;
const book = new AxesBook(runs);
const named = (name: string) => {
  const found = runs.find((run) => run.drive.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
const [even, stopped, short] = ["Fixture Even 480", "Fixture Block 1000", "Fixture short file"].map(named);

describe("classes of runs", () => {
  test("hold what differs by less than a tenth, longest first", () => {
    expect(runClasses(runs).map((one) => [one.seconds, one.runs.length])).toEqual([
      [2_000, 5],
      [15, 1],
    ]);
  });

  test("an interrupted run stays with its like", () => {
    expect(endOf(stopped)).toBe(612);
    expect(plannedSeconds(stopped)).toBe(2_000);
    expect(book.of([stopped]).scales).toBe(book.of([even]).scales);
  });

  test("without a planned length the measured one counts", () => {
    const view = runOf({ ...SHAPES[0], stopAt: 300 }, 1);
    const old = { ...view, config: {} };
    expect(plannedSeconds(libraryOf(reportOf([old])).runs[0])).toBe(300);
  });
});

describe("axes of a class", () => {
  test("belong to that class alone", () => {
    expect(book.of([even]).scales).toMatchObject({
      whole: { max: 2_000 },
      steady: { min: 1_330, max: 2_000 },
    });
    expect(book.of([short]).scales).toMatchObject({ whole: { max: 15 }, steady: { min: 11, max: 15 } });
    expect(book.of([even]).scales.iopsSteadyLinear.max).toBeLessThan(
      book.of([short]).scales.iopsSteadyLinear.max,
    );
    expect(book.others(book.of([even]))).toEqual([15]);
  });

  test("hold the values of a guest, in the time of the host", () => {
    const axes = book.of([short, even]);
    expect(axes.guests).toEqual([short]);
    expect(axes.scales.whole.max).toBe(2_000);
    expect(axes.scales.iopsWhole.max).toBeGreaterThanOrEqual(Math.max(...short.columns.iops));
    expect(book.of([even, short])).toBe(axes);
  });

  test("no runs at all do not fail", () => {
    expect(new AxesBook([]).of([]).scales.whole.max).toBeGreaterThan(0);
  });

  test("seconds with hardly a write do not decide about write amplification", () => {
    const { waf } = book.of([even]).scales.strip;
    expect(waf.clipped).toBe(true);
    expect(waf.scale.kind).toBe("log");
    expect(waf.scale.min).toBe(1);
    expect(waf.scale.max).toBeLessThanOrEqual(20);
  });
});

describe("what is shown decides", () => {
  test("one run, several, none", () => {
    const axes = (hash: string) => axesNow(appOf(library, hash)).seconds;
    expect(axes("#drive=fixture-short-file")).toBe(15);
    expect(axes(`#compare=${short.id}`)).toBe(15);
    expect(axes(`#compare=${short.id},${even.id}`)).toBe(2_000);
    const app = appOf(library, `#compare=${short.id}&drive=fixture-short-file`);
    app.store.set({ compare: [] });
    expect(axesNow(app).seconds).toBe(15);
  });

  test("a zoom counts as far as it meets the axes", () => {
    const zoom = (hash: string) => zoomShown(appOf(library, hash));
    expect(zoom("#drive=fixture-even-480&x=300-500")).toEqual([300, 500]);
    expect(zoom("#drive=fixture-short-file&x=300-500")).toBeNull();
    expect(zoom("#drive=fixture-short-file&x=10-500")).toEqual([10, 15]);
    expect(zoom("#drive=fixture-short-file&x=0-500")).toBeNull();
  });
});
