import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { readPinnedImages, unknownEnd } from '../survey/index.ts';
import { registryOf } from './operated-images.ts';
import type { OperatorEndNames } from './operator-causes.ts';
import type { SettledNames } from './settled-facts.ts';
import type { EndExpected } from './wait-end.ts';

/** The whole image of the operator's container in the target, with the registry in use. */
export type OperatorImageOf = (sources: Sources, context: Context, installation: Installation) => Promise<string>;

/** All signs have to stay for this long, in milliseconds: three ticks of the operator's own status. */
const HOLD_MS = 15_000;
/** The same where it has no status: it may do nothing for most of a minute, and then begin. */
const SETTLED_MS = 60_000;

/** What the operator has to reach. Throws Fault('blocked') for a release whose end no rule tells. */
export async function readExpectation(
  sources: Sources,
  context: Context,
  installation: Installation,
  imageOf: OperatorImageOf,
): Promise<EndExpected> {
  const unknown = unknownEnd(installation, context);
  if (unknown) throw unknown;
  const { profile, goal } = context;
  const names = operatorEndNames(profile, installation.operator, goal.release);
  const [operatorImage, registry, pinned] = await Promise.all([
    imageOf(sources, context, installation),
    names && readRegistry(sources, names),
    readPinnedImages(sources.cluster, context),
  ]);
  const digests = pinned.map(({ digest }) => digest);
  const target = { release: goal.release, operatorImage, digests, ...(registry === undefined ? {} : { registry }) };
  if (names) return { type: 'operator-end', names, target, holdMs: HOLD_MS };
  return { type: 'operator-settled', names: settledNames(profile, installation), target, holdMs: SETTLED_MS };
}

/** The registry that the user set for the components; the operator's own default cannot be read anywhere. */
async function readRegistry({ cluster }: Sources, { installation }: OperatorEndNames): Promise<string | undefined> {
  const registry = registryOf(await cluster.get(installation, 'default'));
  return registry?.replace(/\/?$/, '/');
}

/** The names that the rule over the operator's statuses needs, and the operator's Deployment; undefined where the profile has none. */
export function operatorEndNames(
  { operator }: Pick<Profile, 'operator'>,
  found?: OperatorEndNames['deployment'],
  release?: string,
): OperatorEndNames | undefined {
  const { namespace, deployment: name, end, statusVersionField: versionField } = operator;
  if (!end || versionField === undefined) return undefined;
  const earlier =
    release !== undefined && isOlder(release, end.since) ? end.earlier?.findLast(({ since }) => !isOlder(release, since)) : undefined;
  const required = [operator.agent, operator.controllers].map(({ kind, name }) => ({ kind, name }));
  return {
    deployment: found ?? { namespace, name },
    installation: { ...operator.installationKind, namespaced: false },
    workloads: operator.workloadNamespace,
    versionField,
    required,
    ...(operator.typha ? { typha: operator.typha.name } : {}),
    ...{ statusKind: end.statusKind, statuses: earlier?.statuses ?? end.statuses },
    api: { ...end.api, namespace: earlier?.apiNamespace ?? end.api.namespace },
  };
}

/** What the rule goes by where the profile names no statuses. */
function settledNames(profile: Profile, { operator: found, hasApiServer }: Installation): SettledNames {
  const { operator, images, clusterInformation, crdGroup, apiGroup } = profile;
  const { operator: _operator, sidecar: _sidecar, ...components } = images;
  const { kind, plural, name, versionField } = clusterInformation;
  return {
    deployment: found ?? { namespace: operator.namespace, name: operator.deployment },
    installation: { ...operator.installationKind, namespaced: false },
    agent: operator.agent,
    controllers: operator.controllers,
    images: Object.values(components).flat(),
    api: `v3.${apiGroup}`,
    isServed: hasApiServer,
    information: { kind: { group: crdGroup, version: 'v1', kind, plural, namespaced: false }, name, versionField },
  };
}
