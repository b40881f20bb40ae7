import { command } from '../../kernel/command.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type Said, text } from '../../kernel/step.ts';
import { testedLine } from '../tested-way/index.ts';
import { NEEDED_MIB, OLDEST_KUBECTL } from './machine-checks.ts';
import { OLDEST_KERNEL } from './nodes-checks.ts';

/** What an upgrade to a release needs, each with how much of it: the box of README, the quick start, `preflight` and the page of NS-002. */
export function prerequisites(profile: Profile, release: string): readonly (readonly [what: string, needed: Said])[] {
  const kubernetes = kubernetesText(profile, release);
  return [
    [profile.title.replace(/^Project /, ''), `${profile.minimumSource.replace(/\.0$/, '')} or later; the target is ${release}`],
    ...(kubernetes === undefined ? [] : [['Kubernetes', kubernetes] as const]),
    ['Nodes', `Linux ${OLDEST_KERNEL.join('.')} or later, or 4.18 of Red Hat 8; processors with x86-64-v2, or arm64, ppc64le, s390x`],
    ['kubectl', `1.${OLDEST_KUBECTL} or later, within one minor of the server; tested from 1.27 on`],
    ['helm', '3.14 or later, or 4; for chart installs. 3.12 and older do not ask the server first (NS-239)'],
    ['Rights', text`cluster-admin, or the roles that ${command`kubectl netsvc-upgrade permissions`} prints`],
    ['Disk', `${NEEDED_MIB} MiB in the work folder, ~/.local/state/netsvc-upgrade`],
  ];
}

/** Undefined where nothing says what the release was tested with. */
function kubernetesText(profile: Profile, release: string): string | undefined {
  const line = testedLine(profile, release);
  if (!line) return undefined;
  const [first, last] = line.kubernetes;
  return `${line.floor ?? first} or later; ${release} is tested upstream with ${first} to ${last}`;
}
