import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { hasFullManifest } from '../../kernel/installation.ts';
import { jsonAt, mapAt } from '../../kernel/json.ts';
import { groupOf, type KubeObject, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { Profile } from '../../kernel/profile.ts';
import { plainText } from '../../kernel/step.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { recordsIn } from '../../manifest/prepare.ts';
import { duplicateEnv, findWorkload } from '../rollout/index.ts';
import { evidenceOf, failed, failIfAny, listed, type PreflightCheck, table, withInstallation, withTarget } from '../survey/index.ts';
import type { Schema } from './schema.ts';

/** Said of a release that has files on the network, by whose sums they are used. */
function newestKnown({ release }: Context['goal'], { defaultRelease, manifestUrl }: Profile): string {
  return manifestUrl !== undefined && release === defaultRelease ? '; no sums of a later release come with this program' : '';
}

export const targetManifestChecks: readonly PreflightCheck[] = table({ category: 'manifest', severity: 'error', ref: 'domain §4.3' }, [
  {
    id: 'NS-601',
    title: 'target manifest readable',
    ref: '§4.1',
    isNeverWaived: true,
    judge: withInstallation((installation, { target }, { goal, profile }) => {
      if ('value' in target)
        return ok(
          `${counted(target.value.documents.length, 'object')} of ${target.value.release} from ${target.value.url}${newestKnown(goal, profile)}`,
        );
      return failed(
        hasFullManifest(installation) ? `the manifest of ${goal.release} could not be read: ${target.unread}` : target.unread,
        target.hint ?? 'Check that the release exists and that its address is reachable, or point --manifest-url to a mirror or a folder.',
        {
          next:
            target.next ??
            (goal.release === profile.defaultRelease
              ? command`kubectl netsvc-upgrade explain NS-601`
              : command`kubectl netsvc-upgrade preflight --release ${profile.defaultRelease}`),
        },
      );
    }),
  },
  {
    id: 'NS-602',
    title: 'kinds of the target served',
    ref: 'domain §12/16',
    judge: withTarget(({ documents }, _installation, facts): Verdict => {
      const { kinds } = read(facts.discovery);
      const known = new Set([...kinds, ...targetCrds(documents)].map(({ group, kind }) => `${group}|${kind}`));
      const unknown = documents.filter((document) => !known.has(`${groupOf(document.apiVersion)}|${document.kind}`));
      const evidence = unknown.map((document) => evidenceOf(document, document.apiVersion));
      return failIfAny(evidence, 'the server serves every kind of the target', (names) => ({
        because: `${counted(unknown.length, 'object')} of the target of a kind that the server does not serve: ${names}`,
        hint: 'Upgrade Kubernetes to a version that serves them, or install the CRDs they need first.',
        next: command`kubectl api-resources`,
      }));
    }),
  },
  {
    id: 'NS-603',
    title: 'server accepts every object of the target',
    judge: withTarget((_target, _installation, facts): Verdict => {
      const planned = read(facts.preview);
      const refused = planned.filter(({ change }) => change === 'refused');
      const immutable = refused.some(({ isImmutable }) => isImmutable);
      return failIfAny(refused.map(noteEvidence), `the server accepts all ${counted(planned.length, 'object')} (dry run)`, (names) => ({
        because: `the server refuses ${counted(refused.length, 'object')} of the target: ${names}`,
        hint: immutable
          ? 'A field that cannot be changed differs: make the target equal in it with your own --upgrade-file, or delete the object in a maintenance window.'
          : 'Fix the reason that the server gives; the same refusal would end the upgrade half-way.',
        next: command`kubectl netsvc-upgrade plan -o wide`,
      }));
    }),
  },
  {
    id: 'NS-604',
    title: 'selectors equal the target',
    isNeverWaived: true,
    judge: withTarget(({ documents }, _installation, facts): Verdict => {
      const live = [...read(facts.daemonSets), ...read(facts.deployments)];
      const differing = documents.flatMap((document) => selectorDifference(document, live));
      return failIfAny(differing, 'selectors of live workloads equal the target', (names) => ({
        because: `${listed([names])}: the selector differs from the target's and can never be changed in place`,
        hint: 'Carry the live selector and pod labels in your own --upgrade-file, or replace the workload in a maintenance window.',
        next: command`kubectl netsvc-upgrade plan -o wide`,
      }));
    }),
  },
  {
    id: 'NS-605',
    title: 'no variable set twice in the target',
    ref: 'domain §6.4',
    isNeverWaived: true,
    judge: withTarget(({ documents }) => {
      const workloads = documents.filter(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
      if (workloads.length === 0) return notApplicable('the target holds no workloads');
      const twice = workloads.flatMap(duplicateEnv);
      return failIfAny(twice, 'every variable is set once in the target', (names) => ({
        because: `${counted(twice.length, 'variable')} set twice in the target, which server-side apply refuses: ${names}`,
        hint: 'Remove the doubled entry from the file given by --upgrade-file, or from the mirror it came from.',
        next: command`kubectl netsvc-upgrade preflight`,
      }));
    }),
  },
]);

/** A planned object with what is said of it. */
export function noteEvidence({ ref, note }: Pick<PlannedObject, 'ref' | 'note'>): Evidence {
  return { text: refText(ref), object: ref, ...(note ? { detail: plainText(note) } : {}) };
}

function selectorDifference(document: KubeObject, live: readonly KubeObject[]): readonly Evidence[] {
  if (document.kind !== 'DaemonSet' && document.kind !== 'Deployment') return [];
  const { name, namespace = '' } = document.metadata;
  const there = findWorkload(live, { name, namespace }, document.kind);
  if (!there) return [];
  const [has, wants] = [selectorText(selectorOf(there)), selectorText(selectorOf(document))];
  return has === wants ? [] : [evidenceOf(there, `${has}, target ${wants}`)];
}

/** A CRD of the target, as far as the checks look at it. */
export interface TargetCrd {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly served: readonly string[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

export function targetCrds(documents: readonly KubeObject[]): readonly TargetCrd[] {
  return documents.filter((document) => document.kind === 'CustomResourceDefinition').map(targetCrd);
}

function targetCrd(document: KubeObject): TargetCrd {
  const versions = recordsIn(jsonAt(document, 'spec', 'versions'));
  const text = (...path: readonly string[]) => String(jsonAt(document, 'spec', ...path) ?? '');
  return {
    name: document.metadata.name,
    group: text('group'),
    kind: text('names', 'kind'),
    plural: text('names', 'plural'),
    served: versions.map((version) => String(version.name)),
    schemas: Object.fromEntries(versions.map((version) => [String(version.name), mapAt(version, 'schema', 'openAPIV3Schema')])),
  };
}
