// Mocha's own dots, the seeds of sampled sweeps, and the totals as a line of JSON in the file that TEST_TOTALS names:
// the runner adds up several mocha processes and says at the end what did not run and why, and which files took longest.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const Mocha = require('mocha');

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Mocha.Runner.constants;

class CountingReporter extends Mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const totals = { passed: 0, failed: 0, skipped: [], tookMs: {} };
    // Hooks count: what starts a control plane is one.
    const took = ({ file = 'elsewhere', duration = 0 }) => {
      const name = relative(process.cwd(), file);
      totals.tookMs[name] = (totals.tookMs[name] ?? 0) + duration;
    };
    runner.on(EVENT_HOOK_END, took);
    runner.on(EVENT_TEST_END, took);
    const seeds = new Map();
    runner.on(EVENT_TEST_END, (test) => {
      const [, seed] = /SEED=(\d+)/.exec(test.fullTitle()) ?? [];
      if (seed) seeds.set(relative(process.cwd(), test.file ?? 'elsewhere'), seed);
    });
    runner.on(EVENT_TEST_PASS, () => {
      totals.passed += 1;
    });
    // Said at once: a long run that is cut off has then told what failed.
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      totals.failed += 1;
      process.stdout.write(`\nfailed: ${test.fullTitle()} (${relative(process.cwd(), test.file ?? 'elsewhere')})\n  ${error.message}\n`);
    });
    runner.on(EVENT_TEST_PENDING, (test) => totals.skipped.push(test.fullTitle()));
    runner.on(EVENT_RUN_END, () => {
      // Also of what went well: the same points again, where a later failure raises doubts.
      for (const [file, seed] of seeds) process.stdout.write(`\nseed of ${file}: ${seed} (--seed ${seed})`);
      if (seeds.size > 0) process.stdout.write('\n');
      if (process.env.TEST_TOTALS) appendFileSync(process.env.TEST_TOTALS, `${JSON.stringify(totals)}\n`);
    });
  }
}

module.exports = CountingReporter;
