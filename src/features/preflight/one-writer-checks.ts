import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, type Verdict } from '../../kernel/check.ts';
import { isRecord } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { evidenceOf, failIfAny, objectsOf, type PreflightCheck, withInstallation } from '../survey/index.ts';

/** Tools that write what their source says again and again. */
const TOOLS = ['argocd', 'kustomize-controller', 'helm-controller'];

export const oneWriterChecks: readonly PreflightCheck[] = [
  /** What the operator sets must have no other repeated writer: they would overwrite each other for ever. */
  {
    id: 'NS-113',
    title: 'settings of the operator written by it alone',
    category: 'installation',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((_installation, facts, { profile }): Verdict => {
      const { operated } = facts;
      const writes = profile.operator.crossings?.writes;
      if (!operated || !writes) return notApplicable('no operator writes settings here');
      const found = writes.flatMap(({ plural, fields }) => objectsOf(facts, plural).flatMap((object) => otherWriters(object, fields)));
      const [first] = found;
      return failIfAny(found, 'the operator alone writes its settings', (names) => ({
        because: `settings that the operator writes are also written by another tool: ${names}. The two overwrite each other again and again`,
        hint: 'Remove these fields from the source of that tool, and set what you want in the Installation.',
        next: command`kubectl get ${`${first?.object?.kind.toLowerCase() ?? ''}.${profile.crdGroup}`} ${first?.object?.name ?? ''} --show-managed-fields -o yaml`,
      }));
    }),
  },
];

function otherWriters(object: KubeObject, fields: readonly string[]): readonly Evidence[] {
  const { managedFields = [] } = object.metadata;
  return managedFields.flatMap(({ manager = '', fieldsV1 }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1['f:spec'] : undefined;
    const owned = fields.filter((field) => isRecord(spec) && `f:${field}` in spec);
    const isTool = TOOLS.some((prefix) => manager.startsWith(prefix));
    return isTool && owned.length > 0 ? [evidenceOf(object, `${manager} writes ${owned.join(', ')}`)] : [];
  });
}
