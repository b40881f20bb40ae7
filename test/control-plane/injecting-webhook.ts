import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Api, ApiObject } from './api.ts';
import { createAuthority } from './certificates.ts';
import { listening } from './listening.ts';
import type { Played } from './played.ts';

/** What the played mesh puts into new pods. */
export interface Injection {
  /** Where the injector's template is. */
  readonly namespace: string;
  readonly configMap: string;
  /** Container that is put into pods. */
  readonly container: string;
  /** Namespaces with this label are meshed. */
  readonly label: readonly [key: string, value: string];
}

const PATH = '/inject';

/** The mesh's injector: a mutating webhook that puts the sidecar with the template's image into every new pod of meshed namespaces. */
export async function startInjector(api: Api, injection: Injection): Promise<Played> {
  const authority = createAuthority('injector');
  const identity = authority.issue({ commonName: 'injector', hosts: ['127.0.0.1'] });
  const server = createServer({ key: identity.key, cert: identity.certificate }, (request, response) => {
    void answer(api, injection, request).then((body) => {
      response.setHeader('content-type', 'application/json');
      response.end(body);
    });
  });
  const { port, close } = await listening(server);
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  await api.send('POST', path, configuration(port, authority.certificate, injection));
  return { stop: close };
}

function configuration(port: number, certificate: string, { label: [key, value] }: Injection): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'injector' },
    webhooks: [
      {
        name: 'injector.mesh.test',
        clientConfig: { url: `https://127.0.0.1:${port}${PATH}`, caBundle: Buffer.from(certificate).toString('base64') },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { [key]: value } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  };
}

async function answer(api: Api, injection: Injection, request: IncomingMessage): Promise<string> {
  const review = (await json(request)) as { request: { uid: string } };
  const image = await sidecarImage(api, injection);
  const patch = [{ op: 'add', path: '/spec/containers/-', value: { name: injection.container, image } }];
  const response = {
    uid: review.request.uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

/** The image that stands behind the sidecar's name in the template. */
async function sidecarImage(api: Api, { namespace, configMap, container }: Injection): Promise<string> {
  const map = await api.get<ApiObject>(`/api/v1/namespaces/${namespace}/configmaps/${configMap}`);
  const { config = '' } = map.data as { config?: string };
  return new RegExp(`name: ${container}\\s+image: (\\S+)`).exec(config)?.[1] ?? 'none';
}
