import type { PlanScope } from '../features/rights/index.ts';
import { command } from '../kernel/argv.ts';
import { type ExitName, Fault } from '../kernel/fault.ts';
import { hasFullManifest } from '../kernel/installation.ts';
import { isAnswer } from '../kernel/interruption.ts';
import { ownName } from '../kernel/own-name.ts';
import type { Profile } from '../kernel/profile.ts';
import { look, text } from '../kernel/step.ts';
import { namedProfile } from '../profiles/choose.ts';
import type { RunFlags } from './flags.ts';
import { readRelease } from './options.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';

/** Which role is asked for, of which installation. */
export type RoleRequest = RunFlags & { readonly [Name in 'for' | 'path' | 'profile']: NonNullable<RunFlags[Name]> } & Shown;

/** What only the cluster tells. */
interface Shown {
  /** Its operator installs the CRDs itself. */
  readonly leavesCrds?: boolean;
}

type Found = Pick<RoleRequest, 'path' | 'profile' | 'leavesCrds'>;

/** `permissions`: by what is said of the installation, else by what the cluster shows. */
export async function runPermissionsCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  const { flags } = asked;
  const { for: wanted = '', profile, path } = flags;
  await assertPermitted(wanted);
  if (profile !== undefined) namedProfile(profile);
  const print = async (role: RoleRequest) => {
    seams.terminal.out(await permissionsText(role));
    return 'done' as const;
  };
  if (profile !== undefined && path !== undefined) return print({ ...flags, for: wanted, profile, path });
  const found = await installedHere(asked, seams);
  return print({ ...flags, for: wanted, ...found });
}

/** Throws Fault('usage') without a cluster that shows it. */
async function installedHere(asked: Asked, seams: Seams): Promise<Found> {
  let found: Found | undefined;
  const read = async ({ composition, context }: Session) => {
    const { readInstalled } = await import('../features/survey/detect.ts');
    const { path, restoresCrds } = await readInstalled(composition, context);
    found = { profile: context.profile.name, path, leavesCrds: restoresCrds };
    return 'done' as const;
  };
  // The namespace is for the role alone: nothing is probed here.
  const { 'probe-namespace': _, ...flags } = asked.flags;
  await inSession(seams, { ...asked, flags, looksOnly: true }, read).catch((thrown: unknown) => {
    throw isAnswer(thrown) ? unsaid(asked, thrown) : thrown;
  });
  if (found === undefined) throw unsaid(asked, undefined);
  return found;
}

function unsaid({ flags }: Asked, thrown: unknown): Fault {
  const why = thrown instanceof Fault ? `: ${thrown.message}` : '';
  const { for: wanted = 'run', profile = 'calico', path = 'manifest' } = flags;
  return new Fault(
    'usage',
    `whose roles are asked for is not known: the cluster does not show its installation${why}`,
    [
      look(text`say both, the profile and the install path: ${command`kubectl netsvc-upgrade permissions --help`}`),
      text`for example: ${command`kubectl netsvc-upgrade permissions --for ${wanted} --profile ${profile} --path ${path}`}`,
    ],
    thrown,
  );
}

async function assertPermitted(wanted: string): Promise<void> {
  const { permittedCommands } = await import('../features/permissions.ts');
  if (permittedCommands.includes(wanted)) return;
  throw new Fault('usage', `--for ${wanted}: there is no role for that`, [`name one of ${permittedCommands.join(', ')}`]);
}

/** The roles that a command needs, for `kubectl apply -f -`; asks no cluster. */
export async function permissionsText(asked: RoleRequest): Promise<string> {
  const [{ adminRights, roleLines, withoutWideSecrets }, { permissionsOf }] = await Promise.all([
    import('../features/rights/index.ts'),
    import('../features/permissions.ts'),
  ]);
  const profile = namedProfile(asked.profile);
  const { scope, from } = await scopeFor(asked, profile);
  const placed = { ...scope, probeNamespace: asked['probe-namespace'] };
  const permissions = withoutWideSecrets(permissionsOf(asked.for, profile, placed));
  return `${[...head(asked, profile, from, adminRights(permissions, profile)), ...roleLines(asked.for, permissions)].join('\n')}\n`;
}

function head(asked: RoleRequest, profile: Profile, from: string, ways: readonly string[]): readonly string[] {
  const name = `netsvc-upgrade-${asked.for}`;
  return [
    `# What ${ownName()} ${asked.for} asks of its account: path ${asked.path}, profile ${profile.name}, ${from}.`,
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
  if (!hasFullManifest(asked)) return { scope: appliedBy(scope(profile), asked), from: NO_NAMES };
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

/** CRDs that the operator keeps are not applied: no right on them is needed. */
function appliedBy(scope: PlanScope, { leavesCrds = false }: Shown): PlanScope {
  return leavesCrds ? { ...scope, documents: scope.documents.filter(({ kind }) => kind.plural !== 'customresourcedefinitions') } : scope;
}
