import type { Action, GuardedPatch } from '../../kernel/action.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { pointerTo } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { attempt, liveOf } from '../survey/index.ts';
import type { Misplaced, StoredRelease, Trial } from './chart-facts.ts';
import type { HelmUpgrade } from './helm-argv.ts';
import { type HelmRecord, recordedObjects } from './helm-record.ts';
import { revisionsIn } from './release.ts';
import { rendered } from './rendered.ts';
import { reading } from './source.ts';

const NAME = 'meta.helm.sh/release-name';
const NAMESPACE = 'meta.helm.sh/release-namespace';
const WIDTH = 6;

type Operated = Pick<Installation, 'operator'>;

/** Whether the release is in another namespace than its operator, as charts up to v3.22 wanted it (the chart's README, "Upgrading"). */
export function misplacedIn(stored: StoredRelease, { operator }: Operated, { profile }: Pick<Context, 'profile'>): Misplaced | undefined {
  const to = operator?.namespace ?? profile.operator.namespace;
  const { namespace } = stored.record;
  if (to === namespace) return undefined;
  const name = operator?.name ?? profile.operator.deployment;
  const holdsOperator = recordedObjects(stored.base).some(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === name && metadata.namespace === to,
  );
  return { to, holdsOperator };
}

/**
 * When the release is installed in its new namespace: annotations by which helm takes objects over, and those of no release of this name,
 * over which it refuses to install. Throws ApiFailure.
 */
async function readAdoption(cluster: ClusterReader, documents: readonly KubeObject[], name: string, to: string) {
  const found = await eachOf(documents, WIDTH, (document) => liveOf(cluster, document, to));
  const live = found.filter((one) => one !== undefined);
  const isOurs = ({ metadata }: KubeObject) =>
    metadata.annotations?.[NAME] === name && metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm';
  const elsewhere = live.filter((one) => isOurs(one) && one.metadata.annotations?.[NAMESPACE] !== to);
  return {
    foreign: live.filter((one) => !isOurs(one)).map((one) => refText(refOf(one))),
    patches: elsewhere.map((one): GuardedPatch => {
      const test = { op: 'test', path: pointerTo('metadata', 'annotations', NAME), value: name } as const;
      const add = { op: 'add', path: pointerTo('metadata', 'annotations', NAMESPACE), value: to } as const;
      return { target: refOf(one), uid: one.metadata.uid ?? '', patch: [test, add] };
    }),
  };
}

export interface MoveTried {
  readonly trial: Reading<Trial>;
  readonly patches: readonly GuardedPatch[];
}

/** As far as the move can be tried beforehand: rendered by the chart tool, and whether it may take over every object that is there. */
export async function tryMove(sources: Sources, upgrade: HelmUpgrade, base: HelmRecord): Promise<MoveTried> {
  const { name, namespace } = upgrade;
  const documents = await reading(() => rendered(sources, upgrade, base));
  if ('unread' in documents) return { trial: { value: { type: 'refused', because: documents.unread } }, patches: [] };
  const { foreign, patches } = await readAdoption(sources.cluster, documents.value, name, namespace);
  if (foreign.length === 0) return { trial: { value: { type: 'accepted', documents: documents.value } }, patches };
  const because = `${foreign.join(', ')}: there already, and not of release ${name}: helm does not install over it`;
  return { trial: { value: { type: 'refused', because } }, patches: [] };
}

/** Metadata of what the release was stored in before a run moved it (`moved`, by UID). Nothing is taken for it by what it holds. */
export async function readOldRecords(
  cluster: ClusterReader,
  { record, storage }: StoredRelease,
  { moved = [] }: Pick<RunRecord, 'moved'> = {},
): Promise<readonly KubeObject[]> {
  if (moved.length === 0) return [];
  // An account that may not list all namespaces can still upgrade: leftovers decide nothing.
  const listed = await attempt(() => revisionsIn(cluster, storage, { name: record.name }));
  const isOld = ({ metadata: { uid = '', namespace } }: KubeObject) => moved.includes(uid) && namespace !== record.namespace;
  return 'value' in listed ? listed.value.filter(isOld) : [];
}

/** Re-annotates what is there, so that helm adopts it when it installs the release in its new namespace. */
export function adoptAction(patches: readonly GuardedPatch[], to: string): readonly Action[] {
  if (patches.length === 0) return [];
  return [
    {
      id: 'adopt',
      title: `annotate ${counted(patches.length, 'object')} for the release in ${to}`,
      ref: '§4.2/2',
      undo: 'full',
      effect: { type: 'patch-all', patches, what: 'objects annotated' },
    },
  ];
}

/** Only once the release is deployed in its new namespace: until then the old record is all that helm knows of the values. */
export function dropActions(records: readonly KubeObject[]): readonly Action[] {
  return records.map(
    (one): Action => ({
      id: `drop-${one.metadata.namespace}-${one.metadata.name}`,
      title: `delete the old record ${refText(refOf(one))}`,
      ref: '§4.2/2',
      undo: 'none',
      afresh: true,
      effect: { type: 'delete', target: refOf(one) },
      keep: { changes: [changeTo(one, { '/metadata/labels': undefined })] },
      cures: [{ check: 'NS-245', subject: `${one.metadata.namespace}/${one.metadata.name}` }],
    }),
  );
}
