import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { isOfDefaultTier } from '../../kube/stored-metadata.ts';
import { askBehindCli, type BehindCli } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';
import type { InStore } from './checks.ts';
import { formerName, type Naming, namingOf } from './former-names.ts';
import { inItsTier, type NameProblem, type NamesJudged } from './policy-names.ts';

/**
 * What of a key-value store the old release does not find, or takes for something else. The CLI of the newer one shows it: an older one leaves
 * out what it does not know. Nothing once the agents are old: that CLI may be replaced by then.
 */
export async function readBehindCli(sources: Sources, context: Context, { release }: Installation): Promise<InStore> {
  const isBack = release === context.goal.release;
  const found = isBack ? { value: undefined } : await attempt(() => askedBehindCli(sources, context));
  if ('unread' in found) return { names: found, tiered: found, newBlocks: found };
  return { names: { value: found.value?.names }, tiered: { value: found.value?.tiered }, newBlocks: { value: found.value?.newBlocks } };
}

async function askedBehindCli(sources: Sources, context: Context) {
  const { goal, profile } = context;
  const { tiersSince, newBlocks } = profile.olderReaders ?? {};
  const cli = await askBehindCli(sources, context, [goal.takesBack?.to ?? goal.release]);
  const naming = namingOf(goal.release, profile);
  const policies = naming ? (await eachOf(naming.kinds, 2, (kind) => cli.list(pluralOf(kind)))).flat() : [];
  const others = tiersSince !== undefined && isOlder(goal.release, tiersSince) ? policies.filter((one) => !isOfDefaultTier(one)) : [];
  return {
    names: naming && (await judgeNamesBehind(cli, policies, naming, goal.release)),
    tiered: others.map((one) => problem(one, `tier ${textAt(one.spec, 'tier')}`)),
    newBlocks: newBlocks && isOlder(goal.release, newBlocks.since) ? await readPools(cli, newBlocks.pools) : [],
  };
}

/** A list shows a policy by its own name, whatever it is stored under: whether it stands under the former one is asked by that name. */
async function judgeNamesBehind(cli: BehindCli, policies: readonly KubeObject[], naming: Naming, release: string): Promise<NamesJudged> {
  const renamed = policies.filter(
    (one) => isOfDefaultTier(one) && naming.unprefixed.every((start) => !one.metadata.name.startsWith(start)),
  );
  const former = ({ metadata }: KubeObject) => formerName(metadata.name, naming);
  const lists = await eachOf([...Map.groupBy(renamed, placeOf).values()], 2, async (all) => {
    const [first] = all;
    if (!first) return [];
    const byName = Map.groupBy(all, former);
    const there = new Set((await cli.named(pluralOf(first.kind), [...byName.keys()], first.metadata.namespace)).map(former));
    return [...byName].map(([name, same]) => ({ name, same, isThere: there.has(name) }));
  });
  const found = lists.flat();
  const twice = found.filter(({ same }) => same.length > 1);
  const away = found.filter(({ same, isThere }) => same.length === 1 && !isThere);
  return {
    ...{ moves: [], handWritten: [] },
    conflicts: twice.flatMap(({ name, same: [one] }) => (one ? [problem(one, `stored twice, and ${release} finds ${name} alone`)] : [])),
    unnameable: [
      ...away.flatMap(({ name, same }) => same.map((one) => problem(one, `it is not stored as ${name}`))),
      ...policies.filter((one) => !isOfDefaultTier(one)).flatMap((one) => misplaced(one, naming)),
    ],
  };
}

function misplaced(policy: KubeObject, naming: Naming): readonly NameProblem[] {
  const standing = inItsTier(policy, naming);
  return standing === 'found' ? [] : [problem(policy, standing.because)];
}

/** No CLI shows for what a block is: as long as there is a pool for such addresses, one may hold some. */
async function readPools(cli: BehindCli, use: string): Promise<readonly NameProblem[]> {
  const pools = (await cli.list('ippools')).filter(({ spec }) => [jsonAt(spec, 'allowedUses')].flat().includes(use));
  return pools.map((pool) => problem(pool, `${textAt(pool.spec, 'cidr') ?? ''}: its blocks are not shown`));
}

const placeOf = ({ kind, metadata: { namespace = '' } }: KubeObject): string => `${kind}/${namespace}`;
const problem = (object: KubeObject, detail: string): NameProblem => ({ object: refOf(object), detail });
const pluralOf = (kind: string): string => `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
