import { fileURLToPath } from 'node:url';
import { EXIT, type ExitName } from '../kernel/fault.ts';
import { outliveOutput } from './lost-output.ts';

/** Milliseconds until a program that has printed everything and still holds a handle is ended. */
const LINGER_MS = 3000;
/** Nobody waits for one that was interrupted. */
const INTERRUPTED_LINGER_MS = 100;

// A user may have set it for another program. Whatever connects here, and the libraries that do, verify certificates.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

// Threads of these compilers wait for the main one to collect memory, often so with the flags of a session. One that waits while the process
// ends is waited for itself: the program has said all and never exits (https://github.com/nodejs/node/issues/64274).
for (const flag of ['--no-maglev', '--no-concurrent-sparkplug']) process.getBuiltinModule('node:v8').setFlagsFromString(flag);

/** The entry. No top-level await: with a closed stdout (`--help | head -1`) Node would warn and exit 13. */
function main(): void {
  const [first, ...words] = process.argv.slice(2);
  // oclif would answer a line that has `-h` in it with help.
  if (first === '__complete') import('./complete.ts').then(({ printCompletion }) => printCompletion(words));
  else
    import('@oclif/core/execute')
      .then(({ default: { execute } }) => execute({ loadOptions: { root: fileURLToPath(import.meta.url), userPlugins: false } }))
      .then((exit) => end(exit as ExitName | undefined));
}

function end(exit: ExitName = 'done'): void {
  process.exitCode = EXIT[exit];
  setTimeout(() => process.exit(), exit === 'interrupted' ? INTERRUPTED_LINGER_MS : LINGER_MS).unref();
}

outliveOutput();
main();
