import { notApplicable, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isRecord, type JsonMap } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PreflightFacts } from './facts.ts';
import { withInstallation } from './verdicts.ts';

/** Objects of one kind of the service; none if the cluster has no such kind. Unread objects make the check fail. */
export function objectsOf(facts: PreflightFacts, plural: string): readonly KubeObject[] {
  return read(facts.resources)
    .filter((list) => list.kind.plural === plural)
    .flatMap((list) => read(list.objects));
}

/** Evaluates stored resources; in key-value mode they are not in the API and only the service's own CLI shows them (§4.5). */
export function withResources(
  judge: (installation: Installation, facts: PreflightFacts, context: Context) => Verdict,
): (facts: PreflightFacts, context: Context) => Verdict {
  return withInstallation((installation, facts, context) => {
    if (installation.datastore === 'api') return judge(installation, facts, context);
    return notApplicable(`resources are in the key-value store, not in the API: look with ${context.profile.cli.program} get`);
  });
}

export function specOf(object: KubeObject | undefined): JsonMap {
  return isRecord(object?.spec) ? object.spec : {};
}
