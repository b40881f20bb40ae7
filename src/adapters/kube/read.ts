import type { Kind, KubeObject } from '../../kernel/object.ts';
import { type AccessRequest, ApiFailure, type ClusterReader, type ServerVersion } from '../../kernel/ports.ts';
import { uptimeMs } from '../clock.ts';
import type { Call } from '../trace.ts';
import { discoverAll, resolverOf } from './discovery.ts';
import { collectionPath, listAll, objectPath, withQuery } from './items.ts';
import { listOwned } from './owned.ts';
import type { Transport } from './transport.ts';
import { watchAll } from './watch.ts';

export interface ReaderSettings {
  /** Objects per page of a list. */
  readonly limit: number;
  /** Namespace of documents that name none. */
  readonly namespace: string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const APPLY = 'application/apply-patch+yaml';
export const JSON_PATCH = 'application/json-patch+json';
/** The reading half of a cluster. Its dry runs carry `dryRun=All`, so every request may be repeated. */
export function readerOf(transport: Transport, settings: ReaderSettings): ClusterReader {
  const pathOf = (kind: Kind, name: string, namespace: string | undefined) =>
    objectPath(kind, name, kind.namespaced ? (namespace ?? settings.namespace) : undefined);
  const tried = (path: string, query: object, call: Omit<Call, 'path'>) =>
    transport.json<KubeObject>({
      path: withQuery(path, { dryRun: 'All', ...query, fieldValidation: 'Strict' }),
      ...call,
      repeatable: true,
    });
  return {
    version: () => transport.json<ServerVersion>({ path: '/version' }),
    clockSkewMs: () => skewOf(transport),
    discover: () => discoverAll(transport),
    resolve: resolverOf(transport),
    get: (kind, name, namespace) => getObject(transport, pathOf(kind, name, namespace)),
    list: async (kind, options = {}) => {
      const { ownedBy } = options;
      if (ownedBy) return listOwned(transport, kind, { ...options, ownedBy }, { limit: settings.limit, now: uptimeMs });
      return (await listAll(transport, kind, options, settings.limit)).items;
    },
    watch: (kind, options) => watchAll(transport, kind, options, settings),
    dryRunApply: (kind, document, fieldManager) => {
      const path = pathOf(kind, document.metadata.name, document.metadata.namespace);
      return tried(path, { fieldManager, force: true }, { method: 'PATCH', body: document, contentType: APPLY });
    },
    dryRunPatch: (kind, ref, patch, fieldManager) => {
      const path = pathOf(kind, ref.name, ref.namespace);
      return tried(path, { fieldManager }, { method: 'PATCH', body: patch, contentType: JSON_PATCH });
    },
    dryRunCreate: (kind, document) =>
      tried(collectionPath(kind, document.metadata.namespace ?? settings.namespace), {}, { method: 'POST', body: document }),
    reviewAccess: (requests) => reviewAccess(transport, requests),
    raw: (path) => transport.text({ path, accept: '*/*', ...(path.includes('/log?') ? { most: OF_KUBELET } : {}) }),
  };
}

/** The kubelet of a node writes the answer to a question for a log, and keeps to its `limitBytes` (16 KiB) or not. */
const OF_KUBELET = { bytes: 32 * 1024, ms: 5_000 };

async function getObject(transport: Transport, path: string): Promise<KubeObject | undefined> {
  try {
    return await transport.json<KubeObject>({ path });
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined;
    throw thrown;
  }
}

/** An answer this recent and this quick shows the time as well as a new one. */
const FRESH_MS = 5000;
const QUICK_MS = 500;

async function skewOf(transport: Transport): Promise<number> {
  const known = transport.skew;
  if (known && uptimeMs() - known.at < FRESH_MS && known.tookMs < QUICK_MS) return known.ms;
  await transport.text({ path: '/version' });
  if (transport.skew === undefined) throw new ApiFailure(200, 'NoDate', 'the server sends no Date header');
  return transport.skew.ms;
}

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface RulesStatus {
  readonly resourceRules?: readonly Rule[];
  readonly incomplete?: boolean;
  readonly evaluationError?: string;
}

const AUTHORIZATION = 'authorization.k8s.io/v1';

/** No namespace can have this name, so the answer has only rules that hold in every namespace. */
const NO_NAMESPACE = 'every.namespace';
/** What the authorizer of the kubelets says of its own rules; it has none for other accounts, and refuses nothing. */
const OF_NODES = 'node authorizer does not support user rule resolution';
/** Fewer are asked for one by one. */
const FEW = 4;

/** One answer per request: most of them by the rules of the account, if the server can tell all; the others each by a request of its own. */
async function reviewAccess(transport: Transport, requests: readonly AccessRequest[]): Promise<readonly boolean[]> {
  const rules = requests.length < FEW ? [] : await rulesOf(transport);
  return Promise.all(requests.map(async (request) => rules.some((rule) => allows(rule, request)) || (await mayDo(transport, request))));
}

/** The rules by which this account is allowed something everywhere; none where another authorizer, such as a webhook, could still refuse it. */
async function rulesOf(transport: Transport): Promise<readonly Rule[]> {
  const asked = reviewOf<RulesStatus>(transport, 'SelfSubjectRulesReview', { namespace: NO_NAMESPACE });
  const status = await asked.catch((thrown: unknown) => {
    if (!(thrown instanceof ApiFailure)) throw thrown;
  });
  const { resourceRules = [], incomplete = false, evaluationError = '' } = status ?? {};
  return evaluationError === OF_NODES || (evaluationError === '' && !incomplete) ? resourceRules : [];
}

/** As the API server matches a rule (RBAC): `*` stands for all, and `*` + `/sub` for that of every resource. */
function allows(
  { verbs, apiGroups, resources, resourceNames = [] }: Rule,
  { verb, group, resource, subresource, name }: AccessRequest,
): boolean {
  const has = (list: readonly string[] | undefined, ...any: readonly string[]) =>
    list?.some((one) => one === '*' || any.includes(one)) === true;
  const asked = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  const isNamed = resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));
  return isNamed && has(verbs, verb) && has(apiGroups, group) && has(resources, ...asked);
}

async function mayDo(transport: Transport, { verb, group, resource, subresource, namespace, name }: AccessRequest): Promise<boolean> {
  const resourceAttributes = { verb, group, resource, subresource, namespace, name };
  const status = await reviewOf<{ readonly allowed?: boolean }>(transport, 'SelfSubjectAccessReview', { resourceAttributes });
  return status?.allowed === true;
}

/** What the server says of this account. */
async function reviewOf<Status>(transport: Transport, kind: string, spec: object): Promise<Status | undefined> {
  const [path, body] = [`/apis/${AUTHORIZATION}/${kind.toLowerCase()}s`, { apiVersion: AUTHORIZATION, kind, spec }];
  const review = await transport.json<{ readonly status?: Status }>({ method: 'POST', path, body, repeatable: true });
  return review.status;
}
