import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.test.ts"],
    // For a page that hangs: beside a compiler on two cores a test takes several times its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A browser waits for most of its time.
    maxWorkers: 2,
  },
});
