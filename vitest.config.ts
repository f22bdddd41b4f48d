import { defineConfig } from 'vitest/config';

const rooms = '{services,containers,selection,simulator,loadtest,deploy}';

const LATENCIES = [
  'services/tests/hostileClients.system.test.ts',
  'services/tests/policyFile.system.test.ts',
] as const;

export default defineConfig({
  test: {
    // Two cores are the size that the suite is planned for.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: [`${rooms}/**/*.test.ts`],
          exclude: ['**/*.system.test.ts'],
          // Modules are loaded once a worker and not once a file: of a file's time that was a third.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Whole processes, as a user starts them.
        test: {
          name: 'system',
          include: [`${rooms}/**/*.system.test.ts`],
          exclude: [...LATENCIES],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // They wait for other processes for a third of their time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // What compares latencies runs by itself: a neighbour that starts processes would be a part of them.
        test: {
          name: 'latency',
          include: [...LATENCIES],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
