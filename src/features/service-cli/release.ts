import type { Tools } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type CliVersion, parseCliVersion } from '../survey/index.ts';
import type { CliCall } from './cli-list.ts';

/** Every call of the service's CLI gets a limit: with an unreachable datastore it hangs for ever (cli notes 1.1). */
const ANSWER_MS = 10_000;

/** A CLI of the service on this machine; `release` is missing if it does not tell. */
export interface FoundCli {
  readonly file: string;
  readonly release?: string;
}

/** Every CLI of the service on PATH and in its kubectl plugin form, first first. */
export async function readClis(tools: Tools, { cli }: Profile): Promise<readonly FoundCli[]> {
  const files = (await Promise.all([cli.program, cli.kubectlPlugin].map((program) => tools.which(program)))).flat();
  return Promise.all(
    [...new Set(files)].map(async (file) => {
      const release = await releaseOf(tools, file);
      return release === undefined ? { file } : { file, release };
    }),
  );
}

/** New CLIs tell their release without a connection; old ones only as the first line of the whole answer. */
export async function releaseOf(tools: Tools, file: string): Promise<string | undefined> {
  const asked = { program: file, timeoutMs: ANSWER_MS };
  const alone = parseCliVersion(await tools.run({ tool: 'netsvcctl', args: ['version', '--client'] }, asked));
  if (alone.client !== undefined) return alone.client;
  return parseCliVersion(await tools.run({ tool: 'netsvcctl', args: ['version'] }, asked)).client;
}

/** The whole answer of one CLI about the cluster. */
export async function readCliVersion(tools: Tools, { program, args }: CliCall): Promise<CliVersion> {
  return parseCliVersion(await tools.run({ tool: 'netsvcctl', args: ['version', ...args] }, { program, timeoutMs: ANSWER_MS }));
}

/** The file of a program in a folder, as that machine writes it: Windows finds programs by their ending. */
export function fileIn(folder: string, program: string, os: string): string {
  const [slash, ending] = os === 'windows' ? ['\\', '.exe'] : ['/', ''];
  return `${/[/\\]$/.test(folder) ? folder : folder + slash}${program}${ending}`;
}
