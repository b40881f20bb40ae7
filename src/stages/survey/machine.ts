import type { ClientFacts, WorkFolderFacts } from '../../checks/facts.ts';
import type { Sources, Tools } from '../../core/ports.ts';

const ANSWER_MS = 15_000;

/** The kubectl that would be run, and its own version. */
export async function readClient(tools: Tools): Promise<ClientFacts> {
  const [path] = await tools.which('kubectl');
  if (path === undefined) return {};
  const { exitCode, stdout } = await tools.run({ tool: 'kubectl', args: ['version', '--client', '-o', 'json'] }, { timeoutMs: ANSWER_MS });
  const gitVersion = exitCode === 0 ? /"gitVersion":\s*"([^"]+)"/.exec(stdout)?.[1] : undefined;
  return gitVersion === undefined ? { path } : { path, gitVersion };
}

export async function readWorkFolder({ work, files }: Pick<Sources, 'work' | 'files'>): Promise<WorkFolderFacts> {
  const { standsInFor } = work;
  if (standsInFor !== undefined) return { path: standsInFor, freeBytes: await work.freeBytes(), writable: false };
  const [freeBytes, writable] = await Promise.all([work.freeBytes(), files.writable(work.path)]);
  return { path: work.path, freeBytes, writable };
}
