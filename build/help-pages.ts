import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import { Help } from '@oclif/core/help';
import type { Seams } from '../src/cli/seams.ts';
import { loadOptions, type Manifest, MemoryPlugin } from '../src/cli/shell.ts';

/** oclif's help, collected instead of printed. */
class CollectedHelp extends Help {
  readonly lines: string[] = [];

  root(): Promise<void> {
    return this.showRootHelp();
  }

  protected override log(...args: string[]): void {
    this.lines.push(args.join(' '));
  }
}

/** Help of the root ('') and of every command under one displayed name. */
export async function helpPages(manifest: Manifest, name: string, root: string): Promise<Readonly<Record<string, string>>> {
  const pages: Record<string, string> = {};
  for (const id of ['', ...Object.keys(manifest.commands)]) {
    const config = await Config.load(loadOptions(new MemoryPlugin(manifest, { name } as Seams, root)));
    config.userAgent = `netsvc-upgrade v${manifest.version}`;
    const help = new CollectedHelp(config, config.pjson.oclif.helpOptions);
    if (id === '') await help.root();
    else await help.showCommandHelp(config.findCommand(id, { must: true }) as Command.Loadable);
    pages[id] = `${withFirstFlagIndented(help.lines.join('\n')).trimEnd()}\n`;
  }
  return pages;
}

/** oclif trims the first flag of a group, which takes the place of a missing short form from it. */
export function withFirstFlagIndented(page: string): string {
  return page.replaceAll(/^([A-Z ]*FLAGS\n)( {2}--(?:.|\n(?!\n))*)/gm, (group, heading: string, flags: string) =>
    /^ {6}--|^ {2}-\w, /m.test(flags) ? `${heading}    ${flags}` : group,
  );
}
