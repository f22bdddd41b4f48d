import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{services,containers,selection,simulator,loadtest}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**', '**/*.system.test.ts'],
    // Two cores are the size that the suite is planned for.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
