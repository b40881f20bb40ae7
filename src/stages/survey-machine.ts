import type { ClientFacts, CliFile, WorkFolderFacts } from '../checks/facts.ts';
import type { Sources, Tools } from '../core/ports.ts';
import type { Profile } from '../core/profile.ts';

const ANSWER_MS = 15_000;

/** The kubectl that would be run, and its own version. */
export async function readClient(tools: Tools): Promise<ClientFacts> {
  const [path] = await tools.which('kubectl');
  if (path === undefined) return {};
  const { exitCode, stdout } = await tools.run({ tool: 'kubectl', args: ['version', '--client', '-o', 'json'] }, { timeoutMs: ANSWER_MS });
  const gitVersion = exitCode === 0 ? /"gitVersion":\s*"([^"]+)"/.exec(stdout)?.[1] : undefined;
  return gitVersion === undefined ? { path } : { path, gitVersion };
}

/** Every CLI of the service on PATH, asked for its own release (it needs no cluster for that). */
export async function readClis(tools: Tools, { cli }: Profile): Promise<readonly CliFile[]> {
  const files = (await Promise.all([cli.program, cli.kubectlPlugin].map((program) => tools.which(program)))).flat();
  return Promise.all([...new Set(files)].map((file) => cliFile(tools, file)));
}

async function cliFile(tools: Tools, file: string): Promise<CliFile> {
  const { exitCode, stdout } = await tools.run(
    { tool: 'netsvcctl', args: ['version', '--client'] },
    { program: file, timeoutMs: ANSWER_MS },
  );
  const release = exitCode === 0 ? /^(?:Client )?Version:\s+(\S+)/m.exec(stdout)?.[1] : undefined;
  return release === undefined ? { file } : { file, release };
}

export async function readWorkFolder({ work, files }: Pick<Sources, 'work' | 'files'>): Promise<WorkFolderFacts> {
  const [freeBytes, writable] = await Promise.all([work.freeBytes(), files.writable(work.path)]);
  return { path: work.path, freeBytes, writable };
}
