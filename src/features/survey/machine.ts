import type { Invocation, Tools } from '../../kernel/argv.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { ClientFacts, WorkFolderFacts } from './facts.ts';

const ANSWER_MS = 15_000;

const VERSION: Invocation = { tool: 'kubectl', args: ['version', '--client', '-o', 'json'] };

/** The kubectl that would be run, and its own version: looked for each time, asked once per command. */
export async function readClient(tools: Tools): Promise<ClientFacts> {
  const [path] = await tools.which('kubectl');
  const { os, arch } = tools.platform();
  const platform = `${os}/${arch}`;
  if (path === undefined) return { platform };
  const { exitCode, stdout } = await tools.run(VERSION, { timeoutMs: ANSWER_MS, answer: 'earlier' });
  const gitVersion = exitCode === 0 ? /"gitVersion":\s*"([^"]+)"/.exec(stdout)?.[1] : undefined;
  return gitVersion === undefined ? { path, platform } : { path, gitVersion, platform };
}

export async function readWorkFolder({ work, files }: Pick<Sources, 'work' | 'files'>): Promise<WorkFolderFacts> {
  const { standsInFor } = work;
  if (standsInFor !== undefined) return { path: standsInFor, freeBytes: await work.freeBytes(), writable: false };
  const [freeBytes, writable] = await Promise.all([work.freeBytes(), files.writable(work.path)]);
  return { path: work.path, freeBytes, writable };
}
