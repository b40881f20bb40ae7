import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { parsedJson } from '../../kernel/json.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import type { Suggestion } from '../../kernel/step.ts';
import { look, text } from '../../kernel/step.ts';
import { type Connection, connectionText, SEE_ENTRY } from '../kubeconfig/connection.ts';

interface Status {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly causes?: readonly { readonly field?: string; readonly message?: string; readonly reason?: string }[] | null;
  } | null;
}

/** An answer of 400 or more, from its Status body; any other body, as from a proxy, is quoted in short. */
export function failureOf(status: number, body: string): ApiFailure {
  const parsed = parsedJson(body) as Status | null | undefined;
  const answered = `the server answered ${status}`;
  if (parsed?.kind === 'Status')
    // A webhook need not give a reason.
    return new ApiFailure(status, parsed.reason || 'Unknown', parsed.message || answered, parsed.details?.causes ?? []);
  const quoted = body.trim().replace(/\s+/g, ' ').slice(0, 200);
  return new ApiFailure(status, `HTTP ${status}`, answered + (quoted ? `: ${quoted}` : ' without a text'));
}

/** No answer came: status 0, the reason is the system's or OpenSSL's code. */
export function noAnswer(thrown: unknown, server: string): ApiFailure {
  const error = thrown as { readonly code?: unknown; readonly message?: string };
  const code = typeof error.code === 'string' ? error.code : 'NoAnswer';
  const system = error.message || code;
  return new ApiFailure(0, code, `no answer from ${server}: ${system}`, [], system);
}

const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

/** The same refusal in words for the user: which file and context, and what to do next. Faults pass through. */
export function explainFailure(thrown: unknown, connection: Connection): unknown {
  if (!(thrown instanceof ApiFailure)) return thrown;
  const where = connectionText(connection);
  const fault = (fact: string, ...next: Suggestion[]) => new Fault('failed', `${fact} (${where})`, next, thrown);
  const user = connection.user.as ? `"${connection.user.as}" (impersonated)` : `user "${connection.userName}"`;
  if (thrown.status === 401)
    return fault(
      `the server ${connection.server} does not accept the credentials of ${user}`,
      'log in again, or choose another --user or --context',
      look(text`see whether you are known then: ${command`kubectl auth whoami`}`),
    );
  if (thrown.status === 403)
    return fault(
      `${user} may not do this: ${thrown.message}`,
      'choose another --user or --context, or ask for the right',
      text`print the roles for whoever grants rights: ${command`kubectl netsvc-upgrade permissions --for run`}`,
    );
  if (thrown.status !== 0) return fault(thrown.message, 'try again; if it stays, look at the API server');
  return explainSilence(thrown, connection, fault);
}

function explainSilence(failure: ApiFailure, { server }: Connection, fault: (fact: string, ...next: Suggestion[]) => Fault): Fault {
  if (UNTRUSTED.has(failure.reason))
    return fault(
      `the certificate of ${server} is signed by an unknown authority (x509, ${failure.reason})`,
      'check that the context is of this cluster',
      'give its authority with --certificate-authority',
      SEE_ENTRY,
    );
  if (failure.reason === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return fault(
      `the certificate of ${server} is for another name: ${failure.message}`,
      'give the name in it with --tls-server-name',
      SEE_ENTRY,
    );
  if (failure.reason === 'CERT_HAS_EXPIRED')
    return fault(`the certificate of ${server} has expired`, 'renew the certificate of the API server', SEE_ENTRY);
  if (/SSL|TLS|_CERT/.test(failure.reason))
    return fault(`the TLS connection to ${server} failed: ${failure.message}`, 'check client certificate, server URL and proxy', SEE_ENTRY);
  return fault(
    `the server ${server} cannot be reached: ${failure.system}`,
    'check that the cluster is up and this machine can reach it (VPN, proxy)',
    look(text`see whether it answers kubectl: ${command`kubectl cluster-info`}`),
  );
}

/** The refusal of house rule 5: what answers is not the cluster that was confirmed. */
export class OtherCluster extends Fault {
  constructor(expected: string, found: string | undefined, where: string) {
    super('failed', `this is another cluster than the one confirmed: kube-system has UID ${found ?? 'none'}, not ${expected} (${where})`, [
      'check the context and what the server name points to; nothing was written',
    ]);
  }
}
