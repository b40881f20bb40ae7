import { type Command, command } from '../../src/kernel/command.ts';

/** A command from one line, as the template makes it. */
export function commandOf(line: string): Command {
  return command(Object.assign([line], { raw: [line] }));
}
