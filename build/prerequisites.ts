import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NEEDED_MIB } from '../src/features/preflight/machine-checks.ts';
import { OLDEST_KERNEL } from '../src/features/preflight/nodes-checks.ts';
import type { Profile } from '../src/kernel/profile.ts';
import { calico } from '../src/profiles/calico.ts';

/** Pages that show the box. */
export const BOXED: readonly string[] = ['README.md', 'docs/use/quick-start.md', 'docs/reference/checks/NS-002.md'];

const BEGIN = '<!-- prerequisites, by build/prerequisites.ts -->';
const END = '<!-- end -->';

/** What a cluster and a machine have to have; from the profile and the checks that ask for it. */
export function prerequisites({ kubernetes, minimumSource, defaultRelease }: Profile): string {
  const [first, last] = [kubernetes.tested.at(0), kubernetes.tested.at(-1)];
  const rows = [
    ['Calico', `${minimumSource.replace(/\.0$/, '')} or later; the target is ${defaultRelease}`],
    ['Kubernetes', `${kubernetes.floor} or later; ${defaultRelease} is tested upstream with ${first} to ${last}`],
    ['Nodes', `Linux ${OLDEST_KERNEL.join('.')} or later, or 4.18 of Red Hat 8; processors with x86-64-v2, or arm64, ppc64le, s390x`],
    ['kubectl', '1.27 or later, within one minor of the server'],
    ['helm', '3.14 or later, or 4; for chart installs'],
    ['Rights', 'cluster-admin, or the roles that `permissions` prints'],
    ['Disk', `${NEEDED_MIB} MiB in the work folder, \`~/.local/state/netsvc-upgrade\``],
  ];
  return [BEGIN, '| Needed | |', '|---|---|', ...rows.map(([what, need]) => `| ${what} | ${need} |`), END].join('\n');
}

/** The page with the box of today. Throws if it has none. */
export function withBox(page: string, text: string): string {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} has no box of prerequisites`);
  return `${before}${prerequisites(calico)}${after}`;
}

if (import.meta.main)
  for (const page of BOXED) {
    const file = join(import.meta.dirname, '..', page);
    writeFileSync(file, withBox(page, readFileSync(file, 'utf8')));
  }
