import { type Command, command, type Tools } from './argv.ts';
import type { JournalStore } from './journal.ts';
import type { JsonPatchOp, Kind, KubeObject, ObjectRef } from './object.ts';
import type { TextFile } from './packed-text.ts';
import type { Records } from './run-record.ts';

/** Status of an API server that has too much to do, and has done nothing of what was asked. */
export const TOO_MUCH = 429;

/** The API server said no, or did not answer. `status` 0 means that no answer came. */
export class ApiFailure extends Error {
  readonly status: number;
  /** As the server's Status names it; `HTTP 502` where the answer was no Status: something before the server may have given it. */
  readonly reason: string;
  /** Field causes of a 422. */
  readonly causes: readonly { readonly field?: string; readonly message?: string; readonly reason?: string }[];
  /** Of status 0: what the system said, without the server's name. */
  readonly system: string;

  constructor(status: number, reason: string, message: string, causes: ApiFailure['causes'] = [], system = message) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.system = system;
  }
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only metadata is wanted (PartialObjectMetadataList): use wherever the spec is not needed. */
  readonly metadataOnly?: boolean;
  /** Only objects with an owner reference of one of these API groups; implies `metadataOnly`. Memory does not grow with what is left out. */
  readonly ownedBy?: readonly string[];
  /** Cuts each object down as it is read, so that thousands of whole ones never pile up; a source may leave them whole. */
  readonly keep?: (object: KubeObject) => KubeObject;
  readonly signal?: AbortSignal;
}

/** A watch that resumes by itself; after a gap that it cannot bridge it sends a whole snapshot again. */
export type WatchUpdate =
  | { readonly type: 'snapshot'; readonly items: readonly KubeObject[] }
  | { readonly type: 'changed'; readonly object: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

export interface AccessRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface ServerVersion {
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
}

/** Reading the cluster. Nothing here changes it: dry runs are sent with `dryRun=All`. */
export interface ClusterReader {
  version(): Promise<ServerVersion>;
  /** Difference server clock − our clock in milliseconds, from the Date header of an answer. */
  clockSkewMs(): Promise<number>;
  /** Every served resource with its preferred version; `failed`: groups without an answer. One look asks once, unless `how`. */
  discover(how?: 'anew'): Promise<{ readonly kinds: readonly Kind[]; readonly failed: readonly string[] }>;
  /** The resource behind an object's apiVersion and kind; undefined if the server does not serve it. */
  resolve(apiVersion: string, kind: string): Promise<Kind | undefined>;
  /** Undefined if there is no such object; any other refusal throws ApiFailure. */
  get(kind: Kind, name: string, namespace?: string): Promise<KubeObject | undefined>;
  list(kind: Kind, options?: ListOptions): Promise<readonly KubeObject[]>;
  watch(kind: Kind, options: ListOptions & { readonly signal: AbortSignal }): AsyncIterable<WatchUpdate>;
  /** `PATCH … dryRun=All&force=true` with the document; the object as it would be stored. */
  dryRunApply(kind: Kind, document: KubeObject, fieldManager: string): Promise<KubeObject>;
  dryRunPatch(kind: Kind, ref: ObjectRef, patch: readonly JsonPatchOp[], fieldManager: string): Promise<KubeObject>;
  dryRunCreate(kind: Kind, document: KubeObject): Promise<KubeObject>;
  /** One answer per request, in order. */
  reviewAccess(requests: readonly AccessRequest[]): Promise<readonly boolean[]>;
  /** Raw text of a path, for log-like subresources and discovery documents. */
  raw(path: string): Promise<string>;
}

/** Changing the cluster without a tool: preconditioned patches, the lock and the record. */
export interface ClusterWriter {
  /** The metadata afterwards. The server tests the reference's uid, if there is one, in the moment of the write. */
  patch(kind: Kind, ref: ObjectRef, patch: readonly JsonPatchOp[], fieldManager: string): Promise<Pick<KubeObject, 'metadata'>>;
  create(kind: Kind, object: KubeObject): Promise<KubeObject>;
  /** PUT; the object's resourceVersion is the precondition. */
  replace(kind: Kind, object: KubeObject): Promise<KubeObject>;
  /** Only the instance that `ref` names by its uid, and only in that version where one is given. */
  remove(kind: Kind, ref: ObjectRef, resourceVersion?: string): Promise<void>;
}

export type Cluster = ClusterReader & ClusterWriter;

export interface Artifact {
  readonly url: string;
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The SHA-256 that a file has to have, and who says so. */
export interface KnownSum {
  readonly sha256: string;
  /** `this program`, `--artifact-digest`, or the file that lists it. */
  readonly from: string;
}

/** `Artifacts.source` where neither the profile nor the user names one. */
export const NO_SOURCE = '(none)';

/** Versioned release files: `{manifest_url}/<release>/manifests/<file>` over https, or a folder of that layout (§4.1). */
export interface Artifacts {
  readonly source: string;
  /** Where a file would be fetched from. */
  urlOf(release: string, path: string): string;
  /** `path` is below the release: `manifests/calico.yaml`; or an absolute URL. Fetched once: asked again, it is the same artifact. */
  fetch(release: string, path: string, limitBytes?: number): Promise<Artifact>;
  /** An absolute URL, or a path below a folder source's release. */
  has(release: string, path: string): Promise<boolean>;
  /** What is known of a file before it is fetched; `fetch` refuses another. */
  sumOf(release: string, path: string): Promise<KnownSum | undefined>;
  /** What the source has there now, for comparing alone: the file is not handed out. Undefined if it has none. */
  sumSeen(release: string, path: string): Promise<Pick<Artifact, 'file' | 'sha256' | 'url'> | undefined>;
  /** Releases of a folder source; undefined if the source cannot list. */
  releases(): Promise<readonly string[] | undefined>;
}

/** Files of this run on this machine. */
export interface WorkFolder {
  readonly path: string;
  /** The folder that cannot be written and that this one, which goes when the command ends, stands in for. */
  readonly standsInFor?: string;
  read(name: string): Promise<string | undefined>;
  /** Atomic; 0600. Returns the full path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** An empty folder (0700) for a program that chooses the names of what it writes; removed after `use`. */
  fresh<T>(use: (folder: string) => Promise<T>): Promise<T>;
  freeBytes(): Promise<number>;
}

/** The user's own files, named by flags. */
export interface UserFiles {
  readText(path: string): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  exists(path: string): Promise<boolean>;
  isFolder(path: string): Promise<boolean>;
  /** Where it really lies, past links and dots; the path itself if there is no such thing. */
  realPath(path: string): Promise<string>;
  writable(path: string): Promise<boolean>;
}

/** Changes on this machine that an action asks for. Each is atomic. */
export interface Machine {
  /**
   * Checks the sha256 of `from`, runs `trial` in the folder of `to`, keeps a durable copy of `to` as `keepAs`, then renames it into place
   * (0755). If the trial throws, nothing has changed.
   */
  installExecutable(from: string, sha256: string, to: string, trial: (file: string) => Promise<void>, keepAs?: string): Promise<void>;
  /** Copies the file to `keepAs`, makes the copy durable, then removes the file. */
  moveAside(file: string, keepAs: string): Promise<void>;
  /** Writes a file (0600) that is not there yet; the same content once more is no write. Throws Fault('failed') where there is other content. */
  writeNew(file: string, content: string): Promise<void>;
  /** Writes files (0600) below a folder (0700) that must not exist yet half-written: the folder appears whole or not at all. */
  writeFolder(folder: string, files: readonly TextFile[]): Promise<void>;
}

export interface Clock {
  now(): Date;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface LockHolder {
  readonly identity: string;
  readonly acquiredAt: string;
  readonly renewedAt: string;
}

/** The lock as its holder has it. */
export interface LockHold {
  /** Aborts if the lease is lost. */
  readonly lost: AbortSignal;
  /** False if the lease is lost, or was not renewed for so long that another run may have it by now; asked right before each write. */
  isHeld(): boolean;
  /** Since `holder` was first asked, no other run had the lock, nor a program of one: what was read since then is what it would be under the lock. */
  readonly isUndisturbed: boolean;
  release(): Promise<void>;
}

/** Lease lock: one run per cluster. */
export interface Lock {
  /** As which it is acquired. */
  readonly identity: string;
  holder(): Promise<LockHolder | undefined>;
  /** Where `holder` just said nobody: who has let the lock run out and may live elsewhere. The next run takes it only after it has watched it. */
  left(): Promise<LockHolder | undefined>;
  /** Throws Fault('locked') if another run holds it, or if a program that a killed run had started does not end. */
  acquire(): Promise<LockHold>;
  /**
   * Releases the lock of the holder that the user was shown, on that user's word. Throws Fault('locked') if another one holds it by now, or
   * if this one has renewed it since it was shown (`renewedAt`): then it is no dead run.
   */
  breakLock(identity: string, renewedAt?: string): Promise<LockHolder | undefined>;
}

/** Manifests of releases that the program carries: old ones are published nowhere as files. */
export interface StoredManifests {
  /** Releases that have such a file, oldest first. */
  releasesOf(file: string): Promise<readonly string[]>;
  /** The objects of a release's file; undefined if it is not stored. */
  documentsOf(release: string, file: string): Promise<readonly KubeObject[] | undefined>;
}

/** What one endpoint of the key-value store answered. `unreached`: nothing, which from here may mean nothing. */
export interface StoreHealth {
  readonly endpoint: string;
  readonly state: 'healthy' | 'unhealthy' | 'refused' | 'unreached';
  /** The answer, or why there was none; empty if healthy. */
  readonly because: string;
}

/** PEM texts; absent where the store is used without TLS. Never written or shown. */
export interface StoreCertificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The key-value store of the service, as far as this machine reaches it. */
export interface StoreProbe {
  /** Never throws; at most a few seconds. */
  ask(endpoint: string, certificates: StoreCertificates): Promise<StoreHealth>;
  /** The text that the store keeps under a key; undefined if there is none. Throws Fault('failed') if it does not say, within seconds. */
  value(endpoint: string, certificates: StoreCertificates, key: string): Promise<string | undefined>;
}

/** Where notifications of a run go. */
export interface Notifier {
  /** As a screen may have it: an address without its path, which is a credential. */
  readonly to: string;
  /** Rejects with why it was not delivered, within seconds. `cut`: the command ends without it. */
  send(text: string, cut: AbortSignal): Promise<void>;
}

/** What stages read from. */
export interface Sources {
  readonly cluster: ClusterReader;
  readonly tools: Tools;
  readonly artifacts: Artifacts;
  readonly stored: StoredManifests;
  readonly store: StoreProbe;
  readonly work: WorkFolder;
  readonly files: UserFiles;
  readonly clock: Clock;
  readonly records: Records;
  readonly journal: Pick<JournalStore, 'load' | 'leftOver'>;
  /** Who holds the lock now; a holder that certainly no longer runs is nobody. */
  readonly lock: Pick<Lock, 'holder' | 'identity'>;
}

/** An answer over HTTP that tells to come back, or none at all (0). */
export function isPassingStatus(status: number): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** No answer, or one that tells to come back: a wait continues over it, for that is usual while the network of the cluster is moved. */
export function isPassing(thrown: unknown): thrown is ApiFailure {
  return thrown instanceof ApiFailure && isPassingStatus(thrown.status);
}

/** `patch daemonsets.apps in kube-system` */
export function accessText({ verb, group, resource, subresource, namespace, name }: AccessRequest): string {
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`;
  return `${verb} ${type}${name ? `/${name}` : ''}${namespace ? ` in ${namespace}` : ''}`;
}

/** The same question, asked with kubectl. */
export function accessQuestion({ verb, group, resource, subresource, namespace }: AccessRequest): Command {
  const type = `${resource}${group === '' ? '' : `.${group}`}`;
  const flags = [...(subresource ? [`--subresource=${subresource}`] : []), ...(namespace ? ['-n', namespace] : ['--all-namespaces'])];
  return command`kubectl auth can-i ${verb} ${type} ${flags}`;
}
