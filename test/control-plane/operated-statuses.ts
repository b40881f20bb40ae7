import { type Api, type ApiObject, find } from './api.ts';

const STATUSES = '/apis/operator.tigera.io/v1/tigerastatuses';

/** What the operator says of one component. */
export interface Said {
  /** Generation that it is about; undefined: of nothing. */
  readonly generation: number | undefined;
  /** What is wrong; empty: all is well. */
  readonly why: string;
  /** Set: it is Degraded for this reason, and makes no progress. Else it is only not there yet. */
  readonly reason?: 'ResourceUpdateError' | 'ResourceReadError' | 'PodFailure' | 'InvalidConfigurationError';
  /** Only that it is Degraded is written; what was said of its being available stays, about the generation of then. */
  readonly alone?: boolean;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** Condition by condition, as the real one: Available may be true next to an old Degraded. What is said already is not written. */
export async function writeStatus(api: Api, name: string, { generation, why, reason, alone = false }: Said): Promise<void> {
  const path = `${STATUSES}/${name}`;
  if (!(await find(api, path)))
    await api.send('POST', STATUSES, { apiVersion: 'operator.tigera.io/v1', kind: 'TigeraStatus', metadata: { name } });
  const about = generation === undefined ? {} : { observedGeneration: generation };
  const good = why === '';
  const degraded = reason !== undefined;
  const words = alone ? { Degraded: degraded } : { Available: good, Progressing: !good && !degraded, Degraded: degraded };
  const live = await api.get<ApiObject>(path);
  let conditions: readonly Condition[] = (live.status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
  for (const [type, is] of Object.entries(words)) {
    const said = { type, status: is ? 'True' : 'False', message: why, ...about };
    const before = conditions.find((one) => one.type === type);
    if (before?.status === said.status && (before.message ?? '') === why && before.observedGeneration === generation) continue;
    const full = { ...said, lastTransitionTime: new Date().toISOString(), reason: reason ?? 'ResourceNotReady' };
    conditions = [...conditions.filter((one) => one.type !== type), full];
    await api.send('PATCH', `${path}/status`, { status: { conditions } });
  }
}
