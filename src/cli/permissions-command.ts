import type { PlanScope } from '../features/rights/index.ts';
import { Fault } from '../kernel/fault.ts';
import { hasFullManifest } from '../kernel/installation.ts';
import type { Profile } from '../kernel/profile.ts';
import { namedProfile } from '../profiles/choose.ts';
import type { RunFlags } from './flags.ts';
import { readRelease } from './options.ts';

/** Which role is asked for: these flags have a default, or have to be given. */
export type RoleRequest = RunFlags & { readonly [Name in 'for' | 'path' | 'profile']: NonNullable<RunFlags[Name]> };

/** The roles that a command needs, for `kubectl apply -f -`; asks no cluster. Throws Fault('usage') for what has no role. */
export async function permissionsText(asked: RoleRequest): Promise<string> {
  const { adminRights, permissionsOf, permittedCommands, roleLines, withoutWideSecrets } = await import('../features/rights/index.ts');
  if (!permittedCommands.includes(asked.for))
    throw new Fault('usage', `--for ${asked.for}: there is no role for that`, [`name one of ${permittedCommands.join(', ')}`]);
  const profile = namedProfile(asked.profile);
  const { scope, from } = await scopeFor(asked, profile);
  const placed = { ...scope, probeNamespace: asked['probe-namespace'] };
  const permissions = withoutWideSecrets(permissionsOf(asked.for, profile, placed));
  return `${[...head(asked, profile, from, adminRights(permissions, profile)), ...roleLines(asked.for, permissions)].join('\n')}\n`;
}

function head(asked: RoleRequest, profile: Profile, from: string, ways: readonly string[]): readonly string[] {
  const name = `netsvc-upgrade-${asked.for}`;
  return [
    `# What kubectl netsvc-upgrade ${asked.for} asks of its account: path ${asked.path}, profile ${profile.name}, ${from}.`,
    ...(ways.length === 0
      ? ['# It does not amount to cluster-admin.']
      : [
          '# It amounts to cluster-admin: bind it only to trusted accounts, and unbind it afterwards. For:',
          ...ways.map((one) => `#   ${one}`),
        ]),
    '# To bind it:',
    `#   kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=NAME`,
    `#   kubectl create rolebinding ${name} -n NAMESPACE --role=${name} --user=NAME   # for each Role, in its namespace`,
  ];
}

interface Scoped {
  readonly scope: PlanScope;
  /** Where the names of the objects are from. */
  readonly from: string;
}

const NO_NAMES = 'objects of any name';

async function scopeFor(asked: RoleRequest, profile: Profile): Promise<Scoped> {
  const { paths } = await import('../features/install/paths.ts');
  const { scope } = paths[asked.path];
  if (!hasFullManifest(asked)) return { scope: scope(profile), from: NO_NAMES };
  const variant = asked.variant === undefined ? undefined : profile.variants.find(({ id }) => id === asked.variant);
  if (asked.variant !== undefined && !variant)
    throw new Fault('usage', `--variant ${asked.variant}: the profile ${profile.name} has none of that name`, [
      `name one of ${profile.variants.map(({ id }) => id).join(', ')}`,
    ]);
  const release = readRelease(asked.release, profile.defaultRelease);
  const { openStored } = await import('./compose.ts');
  const found = variant && (await openStored(profile.name).documentsOf(release, variant.file));
  return { scope: scope(profile, found), from: found ? `objects of ${variant.file} ${release}` : NO_NAMES };
}
