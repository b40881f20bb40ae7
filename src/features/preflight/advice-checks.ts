import { ADVICE, ok } from '../../kernel/check.ts';
import { preflightCheck, withInstallation } from '../survey/index.ts';

/** Recommendations of the procedure (§1/3): told, never counted against the upgrade. */
export const datastoreAdvice = preflightCheck('NS-901', {
  category: 'installation',
  severity: 'warning',
  ref: '§1/3',
  judge: withInstallation(({ datastore }) =>
    ok(
      datastore === 'kvstore'
        ? `${ADVICE}move the data to the API datastore some time after this upgrade (a procedure of its own)`
        : 'the data is in the API datastore, as recommended',
    ),
  ),
});

export const operatorAdvice = preflightCheck('NS-902', {
  category: 'installation',
  severity: 'warning',
  ref: '§1/3',
  judge: withInstallation(({ path }) =>
    ok(
      path === 'manifest' || path === 'kvstore'
        ? `${ADVICE}move from the combined manifest to the operator some time after this upgrade (a procedure of its own)`
        : 'managed by the operator, as recommended',
    ),
  ),
});
