import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Installation, type InstallPath, isKeyValue } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { continues, type RunRecord, resumedBackwards } from '../../kernel/run-record.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { text } from '../../kernel/step.ts';
import { named, unattributed } from '../../kube/lean-objects.ts';
import { onPaths } from '../install/index.ts';
import { type IpamFacts, keptIpam, readIpamAlone } from '../ipam/index.ts';
import { type AgentsOf, tryConnections } from '../network-probe/index.ts';
import { needs } from '../rights/index.ts';
import { serviceWorkloads } from '../rollout/index.ts';
import { backupFolder, isBookkeeping, liveOf, pathPart, pathStage } from '../survey/index.ts';
import { type BackupObjects, backupFiles, inOneLine, packedFile } from './effects.ts';
import { type StoreBackup, storeBackup } from './store.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    readonly withSecrets?: boolean;
  }
}

interface BackupFacts {
  readonly path: InstallPath;
  /** Undefined where their names are not known. */
  readonly agents: AgentsOf | undefined;
  readonly record: RunRecord | undefined;
  readonly found: BackupObjects;
  /** Where the service's data is in a key-value store, which no reader of Kubernetes reaches. */
  readonly store: StoreBackup | undefined;
  /** Undefined where the service gives no addresses. */
  readonly ipam: IpamFacts | undefined;
}

/** What the upgrade writes on a path: the live objects behind these documents are backed up. */
type DocumentsOf = (sources: Sources, context: Context, installation: Installation) => Promise<readonly KubeObject[]>;

const NOTHING: BackupObjects = { definitions: [], customResources: [], packed: [], objects: [], secrets: [] };

const backupOf = (documentsOf: DocumentsOf) =>
  pathPart<BackupFacts>({
    checks: [],
    async survey(sources, context, installation) {
      const record = await sources.records.load();
      const { path } = installation;
      const agent = serviceWorkloads(installation, context.profile)?.agent;
      const agents = agent && { ...agent, runs: { release: context.goal.release, digests: [] } };
      if (takenBefore(record, context) !== undefined) return { path, agents, record, found: NOTHING, store: undefined, ipam: undefined };
      const found = await readBackupObjects(sources, context, await documentsOf(sources, context, installation));
      const store = isKeyValue(installation) ? storeBackup(found.objects, context.profile) : undefined;
      return { path, agents, record, found, store, ipam: await readIpamAlone(sources.cluster, context, installation) };
    },
    plan: planBackup,
  });

function planBackup({ path, agents, record, found, store, ipam }: BackupFacts, context: Context): StagePlan {
  const trial = agents ? tryConnections(agents, context.options) : [];
  const taken = takenBefore(record, context);
  if (taken !== undefined) return trial.length > 0 ? { actions: trial } : { skip: `this run took it already: ${taken}` };
  const folder = backupFolder(context);
  const files = backupFiles(found, context, { path, withSecrets: context.options.withSecrets ?? false, store });
  const count = found.definitions.length + found.customResources.length + found.objects.length;
  return {
    // A trial that fails ends the run, which is resumed with this backup: the record names its folder from the first action on.
    actions: [
      {
        id: 'files',
        title: `write ${counted(count, 'object')} to ${folder}`,
        ref: '§7',
        undo: 'full',
        effect: { type: 'backup', folder, files },
      },
      ...trial,
    ],
    ...(store ? { notes: [store.note] } : {}),
    remember: { backup: folder },
    // What `verify` compares with, once all agents have asked for their addresses again.
    ...(ipam && ipam.blocks > 0 ? { keep: keptIpam(ipam) } : {}),
  };
}

/** Everything of the service that the upgrade can touch, as files, before the first write (domain §14/34). */
export const backupStage = pathStage({
  id: 'backup',
  title: 'Back up what the upgrade can touch',
  ref: '§7',
  readOnly: false,
  needs: [needs.detection, needs.storedResources, needs.chartRead, needs.backup],
  on: onPaths(({ written }) => backupOf(written)),
});

/** The folder. A run that goes forward again has that of the run which it resumes: what is there now is not what was there before the upgrade. */
function takenBefore(record: RunRecord | undefined, context: Context): string | undefined {
  return continues(record, context) ? record.backup : resumedBackwards(record, context)?.backup;
}

/** Of the service's own groups, and of kinds in foreign ones that the target no longer acts on: their objects are the user's to convert. */
async function readBackupObjects(sources: Sources, context: Context, documents: readonly KubeObject[]): Promise<BackupObjects> {
  const { profile } = context;
  const { kinds, failed } = await sources.cluster.discover();
  const unknown = failed.filter((group) => group.startsWith(profile.crdGroup) || group.startsWith(profile.operatorGroup));
  if (unknown.length > 0) {
    throw new Fault(
      'failed',
      `the resources of ${unknown.join(', ')} cannot be listed: its discovery fails, so a backup would not be whole`,
      [text`fix the API group (${command`kubectl get apiservices`}), then run again`],
    );
  }
  const groups = [profile.crdGroup, profile.operatorGroup];
  const dropped = new Set(profile.removedKinds.map(crdName));
  const savedKinds = kinds.filter((kind) => groups.includes(kind.group) || dropped.has(crdName(kind)));
  const brought = documents.filter((one) => one.kind === 'CustomResourceDefinition').map((one) => one.metadata.name);
  const ours = new Set([...brought, ...dropped]);
  const isOurs = (crd: KubeObject) => ours.has(crd.metadata.name) || groups.some((group) => crd.metadata.name.endsWith(`.${group}`));
  const [found, customResources, definitions] = await Promise.all([
    Promise.all(documents.map((one) => liveOf(sources.cluster, one))),
    Promise.all(savedKinds.map((kind) => savedOf(sources, kind, isBookkeeping(kind, profile)))),
    // Those of others may be hundreds, each with its schema.
    sources.cluster.list(K.CustomResourceDefinition, { keep: (crd) => (isOurs(crd) ? unattributed(crd) : named(crd)) }),
  ]);
  // Documents that are new have none.
  const live = found.filter((one) => one !== undefined);
  return {
    definitions: definitions.filter(isOurs),
    customResources: customResources.flatMap(({ named }) => named),
    packed: customResources.flatMap(({ file }) => file ?? []),
    objects: live.filter((one) => one.kind !== 'CustomResourceDefinition' && one.kind !== 'Secret'),
    secrets: live.filter((one) => one.kind === 'Secret'),
  };
}

async function savedOf({ cluster }: Sources, kind: Kind, inLines: boolean): ReturnType<typeof packedFile> {
  return inLines ? packedFile(await cluster.list(kind, { keep: inOneLine })) : { named: await cluster.list(kind) };
}
