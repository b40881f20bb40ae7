import type { Command } from '../kernel/command.ts';
import { counted, timeText } from '../kernel/counted.ts';
import { isOperated } from '../kernel/installation.ts';
import { jsonAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { ClusterReader, LockHolder } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { imageAge } from '../kernel/release.ts';
import { type RunRecord, UNKNOWN_PATH } from '../kernel/run-record.ts';
import { type Said, text } from '../kernel/step.ts';
import { heldBy } from '../kube/held.ts';
import { containersOf } from '../kube/workload.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { unlessRefused } from './agents-strategy.ts';
import type { StatusDocument } from './documents.ts';
import { lastOf } from './last-stage.ts';
import { flagIn } from './recorded-flags.ts';
import type { Seams } from './seams.ts';
import type { Session } from './session.ts';

type Until = NonNullable<StatusDocument['until']>;

/** A run that has stopped where `--until` said, by its record and by what the cluster has of it: others may have continued since. */
export async function readUntil(
  { composition: { cluster }, seams }: Pick<Session, 'composition'> & { readonly seams: Pick<Seams, 'loadChain'> },
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
): Promise<StatusDocument['until']> {
  const recorded = await untilOf(record, holder, seams.loadChain);
  const profile = shippedProfiles.find(({ name }) => name === record?.profile);
  if (!recorded || !record || !profile) return recorded;
  const kept = recorded.part === 'agents' ? await oldOf(cluster, record, profile) : await namesOf(cluster, profile);
  return { ...recorded, open: [...(kept ?? []), ...recorded.open], ...(kept?.length === 0 ? { over: true } : {}) };
}

/** By the record alone; `open`: the stages. */
export async function untilOf(
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
  loadChain: Seams['loadChain'],
): Promise<Until | null> {
  const part = record && flagIn(record, 'until');
  if (part === undefined || holder || record?.finishedAt !== undefined || record?.outcome !== 'done') return null;
  const chain = await loadChain(record.intent.kind);
  const last = lastOf(chain, { until: part === 'agents' ? part : 'controllers' });
  const end = chain.findLastIndex(({ judgesResult }) => judgesResult === true);
  const isDone = (id: string) => record.stages.some((one) => one.id === id && (one.state === 'done' || one.state === 'skipped'));
  const open = chain.slice(last + 1, end + 1).flatMap(({ id, optional }) => (optional || isDone(id) ? [] : [id]));
  const stop = chain[last]?.id;
  // The record has the stages in the order in which they were performed: one may have been performed alone since.
  return { part, since: record.stages.find(({ id }) => id === stop)?.endedAt ?? record.startedAt, open };
}

/** Of Typha and the controllers what is not of the target; what this account may not look at is as the run left it. */
async function oldOf(cluster: Pick<ClusterReader, 'get'>, record: RunRecord, profile: Profile): Promise<readonly string[]> {
  const isHeldBack = isByOperator(record);
  const own = isHeldBack ? profile.operator : profile.variants.find(({ id }) => id === record.variant);
  if (!own) return [TYPHA, CONTROLLERS];
  const open: string[] = [];
  // One after another: a second connection costs more than it saves.
  for (const [name, one] of [[TYPHA, own.typha] as const, [CONTROLLERS, own.controllers] as const]) {
    if (!one) continue;
    const asked = cluster.get(K.Deployment, one.name, one.namespace).then((live) => ({ live }));
    const found = await asked.catch(unlessRefused);
    if (!found) open.push(name);
    const live = found?.live;
    if (!live || containersOf(live).every(({ image = '' }) => imageAge(image, record.intent.to) === 'of')) continue;
    open.push(isHeldBack && heldBy(live) === undefined ? `${name} (not held any more)` : name);
  }
  return open;
}

const [TYPHA, CONTROLLERS, NAMES] = ['Typha', 'controllers', 'names of policies'];

/** Nothing where the controllers may rename: somebody has changed their setting. Undefined where they never do. */
async function namesOf(cluster: Pick<ClusterReader, 'get' | 'resolve'>, profile: Profile): Promise<readonly string[] | undefined> {
  if (!profile.policyRenaming) return undefined;
  return (await isDisabled(cluster, profile)) === false ? [] : [NAMES];
}

/** Undefined for an account that may not look. */
async function isDisabled(
  cluster: Pick<ClusterReader, 'get' | 'resolve'>,
  { policyRenaming, crdGroup, controllersConfiguration }: Profile,
): Promise<boolean | undefined> {
  const look = async () => {
    const kind = await cluster.resolve(`${crdGroup}/v1`, controllersConfiguration.kind);
    const live = kind && (await cluster.get(kind, controllersConfiguration.name));
    return policyRenaming !== undefined && jsonAt(live, ...policyRenaming.switchField.split('.')) === 'Disabled';
  };
  return look().catch(unlessRefused);
}

const NOT_BY_NAME = 'the new CLI and the new v3 API do not find a policy of the default tier by its plain name';

/** Of a run, or its `commit`, that came to no end: it holds the names of policies all the same. */
export async function heldNamesLines(
  { composition: { cluster } }: Pick<Session, 'composition'>,
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
  commit: Command,
): Promise<readonly Said[]> {
  const isMeant = record && flagIn(record, 'until') === 'controllers' && record.finishedAt === undefined && record.outcome !== 'done';
  const profile = shippedProfiles.find(({ name }) => name === record?.profile);
  if (!isMeant || holder || !profile || !(await isDisabled(cluster, profile))) return [];
  return [text`this run holds the renaming of stored policies: ${NOT_BY_NAME}. It ends with: ${commit}`];
}

/** Its operator replaces the v3 API server together with the agents. */
const isByOperator = (record: RunRecord | null): boolean => {
  const { path = UNKNOWN_PATH } = record ?? {};
  return path !== UNKNOWN_PATH && isOperated({ path });
};

export function untilLines(
  { until, ownerReferences, record }: Pick<StatusDocument, 'until' | 'ownerReferences' | 'record'>,
  now: Date,
  commit: Command,
): readonly Said[] {
  if (!until) return [];
  const { part, since, open, over = false } = until;
  const { references = 0 } = ownerReferences ?? {};
  const off = references > 0 ? `${counted(references, 'owner reference')} ${references === 1 ? 'stays' : 'stay'} removed; ` : '';
  const holdsNames = open.includes(NAMES) || (!over && part === 'agents' && isByOperator(record));
  const names = holdsNames ? `${NOT_BY_NAME}; ` : '';
  const mixed = over ? '' : 'the CLI of either release may refuse a mixed cluster; ';
  const what = over
    ? `--until ${part} is over: ${part === 'agents' ? 'Typha and the controllers have the new release by now' : 'nothing keeps the controllers from renaming policies any more'}`
    : `stopped on purpose, --until ${part}, for ${timeText(Math.max(0, now.getTime() - Date.parse(since)))}`;
  return [
    `${what}. Open: ${open.join(', ')}`,
    text`  possible from here: ${commit}, or what undo says`,
    `  until then: ${off}${names}${mixed}keep GitOps tools paused. Hold for hours, not for days`,
  ];
}
