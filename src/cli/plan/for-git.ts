import type { GitContent } from '../../features/git-files/index.ts';
import type { Finding } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import type { PlannedGit } from '../documents.ts';
import type { Session } from '../session.ts';
import { writeGitFiles } from './git-folder.ts';

/** The folder for Git as it came out: without a document where the user has to decide first. */
export interface ForGit {
  readonly document?: PlannedGit;
  readonly lines: readonly string[];
}

/** The stage that tells and merges the edits evaluates whether the merged manifest is settled. Throws Fault('usage') where it is left out. */
export function assertMerged(stages: readonly AnyStage[]): void {
  if (stages.some(({ id }) => id === 'apply')) return;
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
    import('../../features/survey/installed.ts'),
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
