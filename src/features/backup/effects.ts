import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { announced, type EffectTypes } from '../../kernel/effect-type.ts';
import { sizeOf } from '../../kernel/hidden.ts';
import { type InstallPath, isByChart, isOperated } from '../../kernel/installation.ts';
import type { TakenBack } from '../../kernel/intent.ts';
import { textAt } from '../../kernel/json.ts';
import { groupOf, type KubeObject } from '../../kernel/object.ts';
import { PackedText, type TextFile } from '../../kernel/packed-text.ts';
import type { Profile } from '../../kernel/profile.ts';
import { markdownOf, text } from '../../kernel/step.ts';
import { UNDO, undoneBy } from '../../kernel/undo.ts';
import { oneLine } from '../../kernel/visible.ts';
import { HELD_BY } from '../../kube/held.ts';
import { named } from '../../kube/lean-objects.ts';
import { manifestText } from '../../manifest/manifest.ts';
import { restorable } from '../../manifest/prepare.ts';
import { finishedFile } from '../install-manifest/index.ts';
import type { StoreBackup } from './store.ts';

/** Files of a backup, with a checksum list beside them; 0600. */
interface Backup {
  readonly type: 'backup';
  readonly folder: string;
  /** By their paths below the folder. */
  readonly files: readonly TextFile[];
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly backup: Backup;
  }
}

export const backupEffects: Pick<EffectTypes, 'backup'> = {
  backup: {
    does: 'files',
    isFixed: false,
    async perform({ machine }, { folder, files }) {
      await machine.writeFolder(folder, files);
      return { detail: `${counted(files.length, 'file')} in ${folder}` };
    },
    dryRun: announced,
    text: ({ folder, files }) => `write ${counted(files.length, 'file')} to ${folder}`,
    mask: (effect) => ({
      ...effect,
      files: effect.files.map(({ name, content, packed }) => ({ name, content: sizeOf(packed ?? content) })),
    }),
    // Whatever lies in the cluster by then is backed up: an object more is no other plan.
    digest: ({ type }) => ({ type }),
  },
};

/** What `backup` found: whole objects, and those whose values must not be written. */
export interface BackupObjects {
  readonly definitions: readonly KubeObject[];
  readonly customResources: readonly KubeObject[];
  /** Files of kinds of which there are thousands: those of `customResources` are without all but their names then. */
  readonly packed: readonly TextFile[];
  readonly objects: readonly KubeObject[];
  readonly secrets: readonly KubeObject[];
}

/** What kind of backup it is. */
interface BackupManner {
  readonly path: InstallPath;
  readonly withSecrets: boolean;
  /** Where the service's data is in a key-value store. */
  readonly store: StoreBackup | undefined;
}

/** One file per kind of custom resource, one for each other object, and the undo in words. */
export function backupFiles(found: BackupObjects, context: Context, manner: BackupManner): readonly TextFile[] {
  const { withSecrets } = manner;
  const files = [
    ...found.definitions.map((object) => single('crds', object)),
    ...found.packed,
    ...byKind(found.customResources, new Set(found.packed.map(({ name }) => name))),
    ...found.objects.map((object) => single('objects', object)),
    ...(withSecrets ? found.secrets.map((object) => single('secrets', object)) : []),
  ];
  const uids = found.customResources.map(
    (object) => `${object.kind}\t${object.metadata.namespace ?? ''}\t${object.metadata.name}\t${object.metadata.uid ?? ''}`,
  );
  return [
    ...files,
    { name: 'uids.tsv', content: `${uids.join('\n')}\n` },
    { name: 'RESTORE.md', content: restoreText(found, context, manner) },
  ];
}

/** A run that continues its plan's look writes what that has read. */
const texts = new WeakMap<KubeObject, string>();

function textOf(object: KubeObject): string {
  const text = texts.get(object) ?? manifestText([restorable(object)]);
  texts.set(object, text);
  return text;
}

/** Signs that not every file system takes are written by their number: names of roles may differ in those alone. */
function single(folder: string, object: KubeObject): TextFile {
  const { namespace, name } = object.metadata;
  const file = [object.kind, namespace, name]
    .filter(Boolean)
    .join('_')
    .replaceAll(/[^A-Za-z0-9._-]/g, (sign) => `%${(sign.codePointAt(0) ?? 0).toString(16)}`);
  return { name: `${folder}/${file}.yaml`, content: textOf(object) };
}

function byKind(objects: readonly KubeObject[], but: ReadonlySet<string>): readonly TextFile[] {
  const groups = Map.groupBy(objects, fileOf);
  return [...groups].flatMap(([name, list]) => {
    if (but.has(name)) return [];
    const lines = list.flatMap((one) => textAt(one, LINE) ?? []);
    return [{ name, content: lines.length > 0 ? lines.join('') : manifestText(list.map(restorable)) }];
  });
}

const fileOf = ({ kind, apiVersion }: Pick<KubeObject, 'kind' | 'apiVersion'>): string =>
  `custom-resources/${kind}.${groupOf(apiVersion)}.yaml`;

const LINE = 'inOneLine';

/** A document of YAML in one line of JSON: of what agents write there are as many objects as pods. For `ListOptions.keep`. */
export function inOneLine(object: KubeObject): KubeObject {
  return { ...named(object, 'uid'), [LINE]: `---\n${JSON.stringify(restorable(object))}\n` };
}

/** More objects than this are packed: as lines they would be in memory until they are written. */
const MANY = 1000;

/** Of objects in one line each: their file, and what else is asked of them. */
export async function packedFile(
  objects: readonly KubeObject[],
): Promise<{ readonly file?: TextFile; readonly named: readonly KubeObject[] }> {
  const [first] = objects;
  if (!first || objects.length < MANY) return { named: objects };
  const packed = await PackedText.of(objects.map((one) => textAt(one, LINE) ?? ''));
  return { file: { name: fileOf(first), packed }, named: objects.map((one) => named(one, 'uid')) };
}

/** For the paths on which the files can be put back at all. */
const FILES = `
    kubectl apply --server-side --force-conflicts -f objects/
    kubectl replace -f objects/
    for file in objects/*.yaml; do kubectl patch --type=merge -f "$file" --patch-file "$file"; done

Objects that others created after this backup are not touched by it.
`;

const NO_FILES = `
Do not apply the old operator from \`objects/\`: one of v3.29 or older would leave the service without an operator.
A newer one replaces Typha and all agents at once: only \`rollback\` holds them.
`;

/** Of a run that was interrupted between the hold and its release. */
function heldText({ operator: { typha, ignores } }: Profile): string {
  if (!typha || !ignores) return '';
  return `
Until every agent is upgraded, ${typha.kind} \`${typha.name}\` has the annotations \`${ignores.annotation}\` and \`${HELD_BY}\`: the operator
leaves it at its release. The run that is resumed removes them. To remove only these two: ${markdownOf(text`${command`kubectl netsvc-upgrade apply --undo`}`)}, which is refused while agents are old.
`;
}

/** From the one table of undo. */
function returnText(path: InstallPath, { profile, options }: Pick<Context, 'profile' | 'options'>): string {
  const rows = UNDO.filter(({ paths }) => paths.includes(path));
  const keepsYours = isByChart({ path }) || finishedFile({ options }) === undefined;
  const lines = rows.map((row) => {
    const { by, because } = undoneBy(row, keepsYours);
    return `- Once ${row.title}${row.dataPlane === 'ebpf' ? ' (eBPF)' : ''}, undone by: ${markdownOf(by)}. ${because}`;
  });
  const isByFiles = !isOperated({ path });
  return `## To go back to the old release

${profile.title} itself supports no downgrade. Tests of this program go back on a real API server with simulated nodes.
What is possible depends on how far the upgrade is, which \`status\` says:

${lines.join('\n')}
${isByFiles ? FILES : `${NO_FILES}${heldText(profile)}`}`;
}

function beforeText({ release, takesBack }: Context['goal']): string {
  return takesBack ? `rollback to ${release}. It holds what ${takesBack.to} was` : `upgrade to ${release}`;
}

/** A rollback's backup is of the release that it leaves. */
function leftText(path: InstallPath, { from, to, backup }: TakenBack): string {
  const folder = backup === undefined ? '' : `: \`${oneLine(backup)}\``;
  return `## To go back to the old release

These files are of ${to}: applied, they install its agents again. Run ${markdownOf(text`${command`kubectl netsvc-upgrade rollback`}`)} again to come to ${from}.
${isOperated({ path }) ? '' : `Where that is refused, use the backup that was taken before the upgrade${folder}.\n`}`;
}

function restoreText(found: BackupObjects, context: Context, { path, withSecrets, store }: BackupManner): string {
  const secrets = withSecrets
    ? `\`secrets/\` holds ${counted(found.secrets.length, 'Secret')} in clear text: keep this folder private.`
    : `Secrets were left out (${found.secrets.length} seen); take them with \`--with-secrets\`.`;
  return `# Restore from this backup

Taken ${context.startedAt.toISOString()} from cluster ${context.clusterUid} (${context.server}), before the ${beforeText(context.goal)}.

${counted(found.definitions.length, 'CRD')}, ${counted(found.customResources.length, 'custom resource')}, ${counted(found.objects.length, 'other object')}. ${secrets}
Check the files first: \`sha256sum -c SHA256SUMS\`.

${store ? `${store.section}\n` : ''}Run all commands below in this folder. First of all, \`kubectl get namespace kube-system -o jsonpath={.metadata.uid}\` must print \`${context.clusterUid}\`. If it does not, kubectl talks to another cluster: add \`--context\` to each command.

## To put custom resources back

FILE is one of \`custom-resources/\`. It holds all objects of its kind. Keep those that you want back. Remove what the agents write
themselves, such as assigned addresses: they have assigned others since.

    kubectl apply --server-side --force-conflicts -f FILE
    kubectl replace -f FILE

First remove from FILE the \`ownerReferences\` to owners that were deleted too. Such an owner has another UID now, and the garbage
collector would delete what names the old one.

The first command creates what is gone, the second removes what was added since. Resources that were gone have **a new UID**: ownerReferences
to them must be set again (\`uids.tsv\` has the old UIDs).

## To put one other object back

FILE is one of \`objects/\` or \`secrets/\`.

    kubectl apply --server-side --force-conflicts -f FILE
    kubectl replace -f FILE
    kubectl patch --type=merge -f FILE --patch-file FILE

The last one restores the last-applied annotation, which the others overwrite. Without it, a later upgrade would take defaults
of the server for your changes.

## To put a CRD back that is gone

All objects of its kind went with it: CRD-FILE is its file, KIND-FILE is theirs.

    kubectl apply --server-side --force-conflicts -f crds/CRD-FILE
    kubectl patch --type=merge -f crds/CRD-FILE --patch-file crds/CRD-FILE
    kubectl wait --for=condition=Established -f crds/CRD-FILE
    kubectl apply --server-side --force-conflicts -f custom-resources/KIND-FILE

Do not put an old CRD over a newer one while objects use fields that only the newer one knows: those fields would be lost.

${context.goal.takesBack ? leftText(path, context.goal.takesBack) : returnText(path, context)}`;
}
