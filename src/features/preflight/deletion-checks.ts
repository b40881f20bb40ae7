import { read } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Unfinished } from '../../kernel/installation.ts';
import {
  beingDeleted,
  deletionOf,
  judgeDeletions,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  serviceNamespaces,
  withInstallation,
} from '../survey/index.ts';

/** What is deleted with its namespace, and what the operator or the agents go by. */
export const nothingDeleted: PreflightCheck = {
  ...beingDeleted.atPreflight,
  judge: withInstallation((installation, facts, context) => {
    // What every stage sees needs nothing else: no account that may read less can pass it.
    const known = installation.deletions;
    return judgeDeletions(known.length > 0 ? known : deletionsAround(facts, context));
  }),
};

function deletionsAround({ operated, ...facts }: PreflightFacts, { profile }: Context): readonly Unfinished[] {
  const { operator, operatorGroup, crdGroup, procedures: names } = profile;
  // The target's operator deletes the old namespace of the API server by itself.
  const ours = serviceNamespaces(profile).filter((name) => name !== operator.end?.api.oldNamespace);
  const stored = (names?.needed ?? []).flatMap((plural) =>
    objectsOf(facts, plural).flatMap((one) => deletionOf(one, HELD, `${plural}.${crdGroup}`)),
  );
  const ofOperator = operated ? [...read(operated.components), ...read(operated.imageSets), ...read(operated.gateways)] : [];
  return [
    ...read(facts.namespaces)
      .filter(({ metadata }) => ours.includes(metadata.name) && metadata.name !== 'kube-system')
      .flatMap((one) => deletionOf({ ...one, apiVersion: 'v1', kind: 'Namespace' }, WITH_ALL)),
    ...stored,
    ...ofOperator.flatMap((one) => deletionOf(one, HELD, `${one.kind.toLowerCase()}.${operatorGroup}`)),
  ];
}

const HELD =
  'Find out who deleted it and what holds its finalizers. Keep a copy of it, let the deletion end, and create it again if you need it.';
const WITH_ALL =
  'All that is in the namespace is deleted with it. Save what you need, let the deletion end, and have its workloads created again.';
