// Before any test: where the first test that needs it loaded it, a worker was left with half of it (no tls.createSecureContext).
import 'node:https';
import 'node:tls';
import { Runnable } from 'mocha';
import { patient } from './patience.ts';

const { timeout } = Runnable.prototype as { timeout(this: Runnable, ms?: number): unknown };

/**
 * Every limit of a test or hook follows the speed of the machine, whether the command line, a suite or the test sets it. A root hook would
 * be too late for a `before` and for what a test sets itself.
 */
Object.assign(Runnable.prototype, {
  timeout(this: Runnable, ms?: number) {
    return ms === undefined ? timeout.call(this) : timeout.call(this, patient(ms));
  },
});

// Mocha asks for whole stacks, and a reader of YAML makes thousands of errors for one text: collecting theirs took most of its tests' time.
Error.stackTraceLimit = 25;
