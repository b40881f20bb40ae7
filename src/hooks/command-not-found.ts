import type { Hook } from '@oclif/core/hooks';
import { toldFault } from '../cli/command-line.ts';
import { flushed } from '../cli/lost-output.ts';
import { seamsOf } from '../cli/own-command.ts';
import { EXIT, Fault } from '../kernel/fault.ts';
import { nearest } from '../kernel/nearest.ts';

/** Says which command was most likely meant, and ends with 64: oclif's own code would be that of pending changes. */
export const commandNotFound: Hook.CommandNotFound = async function ({ id, argv = [], config }) {
  const seams = seamsOf(config);
  await toldFault(unknown(id, config.commandIDs), { command: id, flags: [], argv: [id, ...argv], seams });
  await flushed();
  this.exit(EXIT.usage);
};

const OURS = 'kubectl netsvc-upgrade';

function unknown(written: string, commands: readonly string[]): Fault {
  const help = { next: `${OURS} --help` };
  if (written.startsWith('-')) {
    // What follows it on the line may be a credential.
    const [flag] = written.split('=');
    return new Fault(
      'usage',
      `a flag must follow the command: ${flag}`,
      [`put the command first: ${OURS} COMMAND [flags]`],
      undefined,
      help,
    );
  }
  const meant = nearest(written, commands);
  const fact = `unknown command "${written}"`;
  if (meant === undefined) return new Fault('usage', fact, [`see the commands: ${OURS} --help`], undefined, help);
  return new Fault('usage', fact, [`did you mean: ${OURS} ${meant}`], undefined, { next: `${OURS} ${meant} --help` });
}
