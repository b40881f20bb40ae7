import type { OperatorEndNames } from './operator-view.ts';
import type { Profile } from './profile.ts';

/** The names that the rule for the end needs; undefined where the profile does not know them: then no end may be declared. */
export function operatorEndNames({ operator }: Pick<Profile, 'operator'>): OperatorEndNames | undefined {
  const { namespace, deployment, end, statusVersionField: versionField } = operator;
  if (!end || versionField === undefined) return undefined;
  const required = [operator.agent, operator.controllers].map(({ kind, name }) => `${kind}/${name}`);
  return { deployment: { namespace, name: deployment }, versionField, required, statuses: end.statuses, api: end.api };
}
