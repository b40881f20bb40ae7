import type { Hook } from '@oclif/core/hooks';
import { toldFault } from '../cli/command-line.ts';
import { flushed } from '../cli/lost-output.ts';
import { seamsOf } from '../cli/own-command.ts';
import { command } from '../kernel/command.ts';
import { EXIT, Fault } from '../kernel/fault.ts';
import { nearest } from '../kernel/nearest.ts';
import { look, text } from '../kernel/step.ts';

/** Says which command was most likely meant, and ends with 64: oclif's own code would be that of pending changes. */
export const commandNotFound: Hook.CommandNotFound = async function ({ id, argv = [], config }) {
  const seams = seamsOf(config);
  await toldFault(unknown(id, config.commandIDs), { command: id, flags: [], argv: [id, ...argv], seams });
  await flushed();
  this.exit(EXIT.usage);
};

function unknown(written: string, commands: readonly string[]): Fault {
  const help = { next: command`kubectl netsvc-upgrade --help` };
  if (written.startsWith('-')) {
    // What follows it on the line may be a credential.
    const [flag] = written.split('=');
    return new Fault(
      'usage',
      `a flag must follow the command: ${flag}`,
      [text`put the command first: ${command`kubectl netsvc-upgrade COMMAND`} [flags]`],
      undefined,
      help,
    );
  }
  const meant = nearest(written, commands);
  const fact = `unknown command "${written}"`;
  if (meant === undefined) return new Fault('usage', fact, [look(text`see the commands: ${help.next}`)], undefined, help);
  return new Fault('usage', fact, [text`did you mean: ${command`kubectl netsvc-upgrade ${meant}`}`], undefined, {
    next: command`kubectl netsvc-upgrade ${meant} --help`,
  });
}
