import { type AccessRequest, ApiFailure } from '../../kernel/ports.ts';
import type { Transport } from './transport.ts';

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface RulesReview {
  readonly status?: { readonly resourceRules?: readonly Rule[]; readonly incomplete?: boolean; readonly evaluationError?: string };
}

/** No namespace can have this name, so the answer has only rules that hold in every namespace. */
const NO_NAMESPACE = 'every.namespace';
/** What the authorizer of the kubelets says of its own rules; it has none for other accounts, and refuses nothing. */
const OF_NODES = 'node authorizer does not support user rule resolution';
/** Fewer are asked for one by one. */
const FEW = 4;

/** One answer per request: most of them by the rules of the account, if the server can tell all; the others each by a request of its own. */
export async function reviewAccess(transport: Transport, requests: readonly AccessRequest[]): Promise<readonly boolean[]> {
  const rules = requests.length < FEW ? [] : await rulesOf(transport);
  return Promise.all(requests.map(async (request) => rules.some((rule) => allows(rule, request)) || (await mayDo(transport, request))));
}

/** The rules by which this account is allowed something everywhere; none where another authorizer, such as a webhook, could still refuse it. */
async function rulesOf(transport: Transport): Promise<readonly Rule[]> {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: NO_NAMESPACE } };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const { status } = await transport
    .json<RulesReview>({ method: 'POST', path, body: review, repeatable: true })
    .catch((thrown: unknown) => {
      if (thrown instanceof ApiFailure) return {} as RulesReview;
      throw thrown;
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
  const review = await transport.json<{ readonly status?: { readonly allowed?: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
    },
    repeatable: true,
  });
  return review.status?.allowed === true;
}
