import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A browser waits for most of its time.
    maxWorkers: 2,
  },
});
