import { ADVICE, ok } from '../../kernel/check.ts';
import { type PreflightCheck, withInstallation } from '../survey/index.ts';

export const adviceChecks: readonly PreflightCheck[] = [
  /** Recommendations of the procedure (§1/3): told, never counted against the upgrade. */
  {
    id: 'NS-901',
    title: 'datastore',
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
  },
  {
    id: 'NS-902',
    title: 'kind of installation',
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
  },
];
