import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { probeAtEnd, probeBetween } from '../network-probe/index.ts';
import { defaultWaitMs, readNodes } from '../rollout/index.ts';
import { attempt, type PathPart, pathPart } from '../survey/index.ts';
import type { OperatorExpected } from './effects.ts';
import { readPinnedImages, registryOf } from './operated-images.ts';
import type { OperatorEndNames } from './operator-causes.ts';
import { operatorLags } from './operator-verdict.ts';
import { readOperatorView } from './read-operator.ts';

/** The whole image of the operator's container in the target, with the registry in use. */
type OperatorImageOf = (sources: Sources, context: Context, installation: Installation) => Promise<string>;

interface OperatorEndFacts {
  readonly until: OperatorExpected;
  readonly nodes: number;
}

/** The operator takes over only once the old one's lease has run out, and an API server that moves takes its time, in milliseconds. */
const OPERATOR_MS = 300_000;

/** What these warn of is over at the end: the order of the agents' update, other registries, the namespace of the old API server. */
const OVER = ['NS-405', 'NS-606', 'NS-621'];

/**
 * The wait where an operator upgrades the components to the target (§4.2, §4.3): a rule over everything that it writes, held for a
 * while. It is never skipped: one look at green statuses proves nothing.
 */
export function operatorEnd(imageOf: OperatorImageOf): PathPart {
  return pathPart<OperatorEndFacts>({
    paths: ['chart', 'operator'],
    checks: [],
    survey: async (sources, context, installation) => ({
      until: await readExpectation(sources, context, installation, imageOf),
      nodes: (await readNodes(sources)).length,
    }),
    plan({ until, nodes }, { options, profile: { operator } }) {
      const timeoutMs = options.timeoutMs ?? defaultWaitMs(nodes) + OPERATOR_MS;
      const title = `wait until the operator has upgraded every component to ${options.release}`;
      const effect = { type: 'wait', until, timeoutMs } as const;
      const { release, digests } = until.target;
      const agents = { ...operator.agent, namespace: operator.workloadNamespace, runs: { release, digests } };
      const end: Action = { id: 'operator', title, ref: '§4.3/2', undo: 'full', effect, cures: OVER.map((check) => ({ check })) };
      const first = probeBetween(agents, { ...until, firstOf: agents }, options, timeoutMs);
      return { actions: [...first, end, ...probeAtEnd(agents, options)] };
    },
  });
}

/** What the operator has to reach. Throws Fault('blocked') where the profile does not know the names. */
export async function readExpectation(
  sources: Sources,
  context: Context,
  installation: Installation,
  imageOf: OperatorImageOf,
): Promise<OperatorExpected> {
  const { profile, options } = context;
  const names = operatorEndNames(profile, installation.operator);
  if (!names) {
    throw new Fault('blocked', `profile ${profile.name} does not say by what the end of an upgrade by the operator is told`, [
      'give a profile with `operator.end` and `operator.statusVersionField`',
    ]);
  }
  const [operatorImage, registry, pinned] = await Promise.all([
    imageOf(sources, context, installation),
    readRegistry(sources, names),
    readPinnedImages(sources.cluster, context),
  ]);
  const digests = pinned.map(({ digest }) => digest);
  const target = { release: options.release, operatorImage, digests, ...(registry === undefined ? {} : { registry }) };
  return { type: 'operator-end', names, target };
}

/** One look: true if anything of the rule does not hold now. A look that fails proves nothing. */
export async function stillBringing({ cluster, clock }: Pick<Sources, 'cluster' | 'clock'>, until: OperatorExpected): Promise<boolean> {
  const looked = await attempt(async () => operatorLags(await readOperatorView(cluster, until, clock.now().getTime())));
  return 'unread' in looked || looked.value.length > 0;
}

/** The registry that the user set for the components; the operator's own default cannot be read anywhere. */
async function readRegistry({ cluster }: Sources, { installation }: OperatorEndNames): Promise<string | undefined> {
  const registry = registryOf(await cluster.get(installation, 'default'));
  return registry?.replace(/\/?$/, '/');
}

/** The names that the rule for the end needs, and the operator's Deployment; undefined without them: no end is declared. */
export function operatorEndNames(
  { operator }: Pick<Profile, 'operator'>,
  found?: OperatorEndNames['deployment'],
): OperatorEndNames | undefined {
  const { namespace, deployment: name, end, statusVersionField: versionField } = operator;
  if (!end || versionField === undefined) return undefined;
  const required = [operator.agent, operator.controllers].map((workload) => `${workload.kind}/${workload.name}`);
  return {
    deployment: found ?? { namespace, name },
    installation: { ...operator.installationKind, namespaced: false },
    workloads: operator.workloadNamespace,
    versionField,
    required,
    ...end,
  };
}
