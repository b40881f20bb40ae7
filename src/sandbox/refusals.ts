import type { Kind, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { resourceText } from './store.ts';

/** The wanted object names the very state that it changes: 409 if that is not the live one. */
export function assertPreconditions(kind: Kind, live: KubeObject, { metadata }: KubeObject): void {
  const { name, uid, resourceVersion } = live.metadata;
  if (metadata.name !== name) throw badRequest('the name of the object does not match the name on the URL');
  if (metadata.uid && metadata.uid !== uid) {
    throw conflict(kind, name, `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`);
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) {
    throw conflict(kind, name, 'the object has been modified; please apply your changes to the latest version and try again');
  }
}

export function conflict(kind: Kind, name: string, why: string): ApiFailure {
  return new ApiFailure(409, 'Conflict', `Operation cannot be fulfilled on ${resourceText(kind)} "${name}": ${why}`);
}

export function badRequest(why: string): ApiFailure {
  return new ApiFailure(400, 'BadRequest', why);
}
