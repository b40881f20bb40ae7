import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import {
  crosses,
  failed,
  failIfAny,
  type PreflightCheck,
  type PreflightFacts,
  type SecretCertificate,
  sourceRelease,
  table,
  withInstallation,
} from '../survey/index.ts';

const DAY = 86_400_000;
const SOON = 30;

interface Held {
  readonly names: NonNullable<OperatorCrossings['certificates']>;
  readonly certificates: Reading<readonly SecretCertificate[]>;
  readonly installation: Installation;
  readonly facts: PreflightFacts;
  readonly context: Context;
}

function withCertificates(judge: (held: Held) => Verdict) {
  return withInstallation((installation, facts, context): Verdict => {
    const names = context.profile.operator.crossings?.certificates;
    if (!facts.operated || !names) return notApplicable('no operator holds certificates of the service here');
    return judge({ names, certificates: facts.operated.certificates, installation, facts, context });
  });
}

export const certificatesChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'error', ref: 'domain §11.3' }, [
  /** The operator renews its own certificates but keeps others, even without the target's address. */
  {
    id: 'NS-630',
    title: 'certificate of the API server fits the target',
    judge: withCertificates(({ names, certificates, installation, facts, context }): Verdict => {
      const { api, signer } = names;
      const moves = installation.hasApiServer && crosses(sourceRelease(installation, facts, context), context.options.release, api.since);
      if (moves && 'unread' in certificates) return unreadable(names, 'certificate of the API server', certificates.unread);
      const found = moves ? read(certificates).find(({ secret }) => secret === api.secret) : undefined;
      if (!found) return notApplicable('this upgrade gives no API server another address');
      if (found.names.includes(api.name)) return ok(`the certificate of the API server is for ${api.name} too`);
      if (found.issuer === signer) return ok('the operator has signed the certificate of the API server, and renews it');
      return failed(
        `the certificate of the API server is not for ${api.name}, its address from ${api.since} on, and was signed by ${found.issuer || 'an issuer without a name'}. The operator keeps it, and the v3 API does not come back after the upgrade`,
        `If it is your own certificate, issue it for ${api.name} as well. If an earlier operator signed it (${signer}@…), delete the Secret right before the upgrade: the operator makes a new one.`,
        {
          evidence: [evidenceFor(found, `for ${found.names.join(', ')}; signed by ${found.issuer}`)],
          next: command`kubectl -n ${found.namespace} describe secret ${found.secret}`,
        },
      );
    }),
  },
  /** Agents that restart connect to Typha again: with certificates that are over they cannot. */
  {
    id: 'NS-631',
    title: 'certificates of agents and Typha valid',
    judge: withCertificates(({ names, certificates, facts, context: { options } }): Verdict => {
      if ('unread' in certificates) return unreadable(names, 'certificates of agents and Typha', certificates.unread);
      const own = certificates.value.filter(({ secret }) => names.secrets.includes(secret));
      const ending = own.filter(({ until }) => until - facts.now < SOON * DAY);
      const isOver = ending.some(({ until }) => until < facts.now);
      const older = options.enableFlowLogs ? own.filter(({ issuer }) => issuer.startsWith(`${names.signer}@`)) : [];
      const evidence = [
        ...ending.map((one) =>
          evidenceFor(one, `${one.until < facts.now ? 'ended' : 'ends'} on ${new Date(one.until).toISOString().slice(0, 10)}`),
        ),
        ...older.map((one) => evidenceFor(one, `signed by ${one.issuer}, which the flow logs of the target do not trust`)),
      ];
      return failIfAny(evidence, 'the certificates of agents and Typha are valid', (found) => ({
        because: `${counted(evidence.length, 'certificate')} of agents and Typha that will not do: ${found}. Agents that restart may not connect`,
        hint: 'Renew a certificate of your own. One that the operator signed: delete its Secret before the upgrade, the operator makes a new one and restarts the agents.',
        next: command`kubectl -n ${names.namespace} get secrets ${names.secrets}`,
        severity: isOver ? 'error' : 'warning',
      }));
    }),
  },
]);

/** An account that may not read Secrets can upgrade: such certificates are rare, and the right is optional. */
function unreadable({ namespace }: Held['names'], what: string, because: string): Verdict {
  return failed(
    `${what} not read: ${because}`,
    'Look at names, issuer and end with an account that may read these Secrets, before the upgrade.',
    {
      severity: 'warning',
      next: command`kubectl auth can-i get secrets -n ${namespace}`,
    },
  );
}

function evidenceFor({ namespace, secret }: SecretCertificate, detail: string): Evidence {
  return { text: `Secret/${namespace}/${secret}`, object: { apiVersion: 'v1', kind: 'Secret', namespace, name: secret }, detail };
}
