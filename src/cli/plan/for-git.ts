import { lstat, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitContent, GitFile } from '../../features/git-files/index.ts';
import type { Finding } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import { THEN_AGAIN } from '../../kernel/step.ts';
import type { PlannedGit } from '../documents.ts';
import type { Session } from '../session.ts';

/** The folder for Git as it came out: without a document where the user has to decide first. */
export interface ForGit {
  readonly document?: PlannedGit;
  readonly lines: readonly string[];
}

/** The stage that tells and merges the edits evaluates whether the merged manifest is settled. Throws Fault('usage') where it is left out. */
export function assertMerged(stages: readonly AnyStage[]): void {
  if (stages.some(({ installs }) => installs)) return;
  throw new Fault('usage', '--for-git needs the stage apply in the plan', ['leave --from, --through or --skip out']);
}

/** Writes what Git should hold after the upgrade; nothing where the content itself is still open. */
export async function writeForGit(
  { context }: Pick<Session, 'context'>,
  directory: string,
  { findings, writes, sources }: { readonly findings: readonly Finding[]; readonly writes: boolean; readonly sources: Sources },
): Promise<ForGit> {
  const open = findings.filter(isOpen).map(({ id }) => id);
  if (open.length > 0) return { lines: [`No files for Git were written: decide first what ${[...new Set(open)].join(', ')} asks.`] };
  const [{ readInstalled }, { readGitContent }] = await Promise.all([
    import('../../features/survey/detect.ts'),
    import('../../features/git-files/content.ts'),
  ]);
  const content = await readGitContent(sources, context, await readInstalled(sources, context));
  const { files, leftOut, notes } = content;
  if (files.length > 0) await writeGitFiles(directory, files);
  return { document: { directory, files: files.map(({ path }) => path), leftOut, notes }, lines: gitLines(directory, content, writes) };
}

/** What else stops a run, such as a sync that is still on, leaves the content as it is. */
function isOpen({ outcome, exit, category }: Finding): boolean {
  return outcome === 'error' && (exit === 'conflicts' || category === 'manifest');
}

function gitLines(directory: string, { files, leftOut, notes }: GitContent, writes: boolean): readonly string[] {
  const done = [
    `${counted(files.length, 'file')} for Git in ${directory}: what Git should hold after the upgrade.`,
    `${writes ? 'Pause the sync, upgrade, commit' : 'Commit'} these files in place of the old ones, resume the sync.`,
  ];
  return [
    ...(files.length === 0 ? ['Git needs no files for this upgrade: none were written.'] : done),
    ...(leftOut.length === 0 ? [] : [`Secrets are left out; keep those that are in Git: ${leftOut.join(', ')}`]),
    ...notes,
  ];
}

const ANOTHER = ['name a new folder: --for-git DIR'];

/** Before the cluster is asked anything. Throws Fault('usage') naming the flag. */
export async function assertGitFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) throw new Fault('usage', `--for-git ${folder} is not a folder`, ANOTHER);
  if (found || (await stat(dirname(folder)).catch(() => undefined))?.isDirectory()) return;
  throw new Fault('usage', `--for-git ${folder}: there is no folder ${dirname(folder)}`, ['make the folder, or name one in another']);
}

/**
 * Writes into a folder that is new, empty, or has nothing but these very files: what else is there would be committed with them, and nobody's
 * file is written over. Each file is whole or not there, so that the same command ends what was interrupted.
 */
export async function writeGitFiles(folder: string, files: readonly GitFile[]): Promise<void> {
  const wanted = new Map(files.map(({ path, text }) => [path, text]));
  const other = await firstOther(folder, wanted);
  if (other !== undefined)
    throw new Fault('usage', `--for-git ${folder} has ${other}, which is not what would be written there: nothing was written`, ANOTHER);
  try {
    await mkdir(folder, { recursive: true });
    for (const { path, text } of files) await writeMissing(join(folder, ...path.split('/')), text);
  } catch (thrown) {
    throw new Fault('failed', `the files for Git could not be written: ${messageOf(thrown)}`, [THEN_AGAIN], thrown);
  }
}

async function writeMissing(path: string, text: string): Promise<void> {
  if (await lstat(path).catch(() => undefined)) return;
  await mkdir(dirname(path), { recursive: true });
  const { writeDurablyNew } = await import('../../adapters/durable-write.ts');
  await writeDurablyNew(path, Buffer.from(text), 0o644);
}

/** The first thing in the folder that is none of these files with the same content; links are none. Undefined if there is nothing else. */
async function firstOther(folder: string, wanted: ReadonlyMap<string, string>, below = ''): Promise<string | undefined> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw new Fault('usage', `--for-git ${folder}: ${messageOf(thrown)}`, ANOTHER, thrown);
  });
  for (const entry of entries) {
    const path = `${below}${entry.name}`;
    if (entry.isDirectory()) {
      const other = await firstOther(folder, wanted, `${path}/`);
      if (other !== undefined) return other;
    } else if (!entry.isFile() || !wanted.has(path) || (await readFile(join(folder, path), 'utf8')) !== wanted.get(path)) return path;
  }
  return undefined;
}
