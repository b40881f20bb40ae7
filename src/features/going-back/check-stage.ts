import type { Reading } from '../../kernel/check.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { text } from '../../kernel/step.ts';
import { named } from '../../kube/lean-objects.ts';
import { isOfDefaultTier } from '../../kube/stored-metadata.ts';
import { allow, needs } from '../rights/index.ts';
import { attempt, readInstalled } from '../survey/index.ts';
import { readBehindCli } from './behind-cli.ts';
import { type BackFacts, backChecks, type InStore } from './checks.ts';
import { namingOf } from './former-names.ts';
import { readNames } from './names-stage.ts';
import type { NameProblem } from './policy-names.ts';
import { backwards } from './stage.ts';
import { listedOf } from './stored-lists.ts';
import { readTables } from './tables.ts';
import { readUnread } from './unread.ts';

/** It needs the service's CLI, and is no matter of a release: the old controllers have such endpoints as well. */
const HOSTS_STAY = text`automatic host endpoints stay; to take their migration back as well: ${command`kubectl netsvc-upgrade hep --undo`}`;

/** First of a rollback, before anything is written: what the old release could not read, by name. */
export const rollbackCheckStage = backwards<BackFacts>({
  id: 'rollback-check',
  title: 'Check that the old release can read what is stored',
  ref: 'domain §7.2c',
  readOnly: true,
  needs: [
    needs.detection,
    needs.storedResources,
    ({ olderReaders }) => allow(['list'], olderReaders?.kindsBeside ?? [], 'resources that the old release does not act upon'),
  ],
  checks: backChecks,
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const readStored = isKeyValue(installation) ? readBehindCli : readInApi;
    const [found, unread, tables] = await Promise.all([
      readStored(sources, context, installation),
      readUnread(sources, context, installation),
      readTables(sources, context, installation),
    ]);
    return { ...found, installation, unread, tables };
  },
  plan: (_, { goal }) => ({ actions: [], notes: goal.takesBack?.wrote.includes('hep') ? [HOSTS_STAY] : [] }),
});

async function readInApi(sources: Sources, context: Context, installation: Installation): Promise<InStore> {
  const [names, tiered, newBlocks] = await Promise.all([
    readNames(sources, context, installation),
    readTiered(sources, context),
    readNewBlocks(sources, context),
  ]);
  return { names, tiered, newBlocks };
}

const NONE: Reading<readonly NameProblem[]> = { value: [] };

async function readTiered({ cluster }: Pick<Sources, 'cluster'>, { profile, goal }: Context): Promise<Reading<readonly NameProblem[]>> {
  const since = profile.olderReaders?.tiersSince;
  const kinds = namingOf(goal.release, profile)?.kinds ?? [];
  if (since === undefined || !isOlder(goal.release, since)) return NONE;
  return attempt(async () => {
    const found = await listedOf(cluster, profile.crdGroup, (kind) => kinds.includes(kind), tierAlone);
    return found.flatMap((policy) =>
      isOfDefaultTier(policy) ? [] : [{ object: refOf(policy), detail: `tier ${textAt(policy.spec, 'tier')}` }],
    );
  });
}

const tierAlone = (policy: KubeObject): KubeObject => ({ ...named(policy, 'uid'), spec: { tier: jsonAt(policy.spec, 'tier') } });

async function readNewBlocks({ cluster }: Pick<Sources, 'cluster'>, { profile, goal }: Context): Promise<Reading<readonly NameProblem[]>> {
  const blocks = profile.olderReaders?.newBlocks;
  if (!blocks || !isOlder(goal.release, blocks.since)) return NONE;
  return attempt(async () => {
    const found = await listedOf(cluster, profile.crdGroup, (_, plural) => plural === blocks.plural, countedBlock);
    return found.flatMap((block) => {
      const [affinity = '', held] = [textAt(block.spec, 'affinity'), jsonAt(block.spec, 'held')];
      if (!affinity.startsWith(blocks.affinity) || held === 0) return [];
      return [{ object: refOf(block), detail: `${textAt(block.spec, 'cidr') ?? ''}: ${String(held)} held by ${affinity}` }];
    });
  });
}

/** A block has a place for each of its addresses: whose it is, or null. */
function countedBlock(block: KubeObject): KubeObject {
  const allocations = jsonAt(block.spec, 'allocations');
  const held = Array.isArray(allocations) ? allocations.filter((one) => one !== null).length : 0;
  return { ...named(block), spec: { affinity: jsonAt(block.spec, 'affinity'), cidr: jsonAt(block.spec, 'cidr'), held } };
}
