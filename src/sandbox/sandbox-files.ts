import { Fault } from '../kernel/fault.ts';
import type { Machine, UserFiles, WorkFolder } from '../kernel/ports.ts';
import { sha256Of } from '../kube/sha256.ts';

/** This machine's files, in memory: the work folder, the user's own files, programs. */
export class SandboxFiles {
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly executable: boolean }>();

  read(path: string): Uint8Array | undefined {
    return this.#files.get(path)?.bytes;
  }

  text(path: string): string | undefined {
    const bytes = this.read(path);
    return bytes && new TextDecoder().decode(bytes);
  }

  write(path: string, content: string | Uint8Array, executable = false): void {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    this.#files.set(path, { bytes, executable });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  isExecutable(path: string): boolean {
    return this.#files.get(path)?.executable ?? false;
  }

  /** Paths of every file below a folder. */
  below(folder: string): readonly string[] {
    return [...this.#files.keys()].filter((path) => path.startsWith(`${folder}/`)).sort();
  }
}

const FREE_BYTES = 10_000_000_000;

export function sandboxWorkFolder(files: SandboxFiles, path: string): WorkFolder {
  return {
    path,
    read: async (name) => files.text(`${path}/${name}`),
    async write(name, content) {
      files.write(`${path}/${name}`, content);
      return `${path}/${name}`;
    },
    async fresh(use) {
      const folder = `${path}/fresh`;
      try {
        return await use(folder);
      } finally {
        for (const file of files.below(folder)) files.remove(file);
      }
    },
    freeBytes: async () => FREE_BYTES,
  };
}

export function sandboxUserFiles(files: SandboxFiles): UserFiles {
  const readBytes = async (path: string) => {
    const bytes = files.read(path);
    if (!bytes) throw new Fault('usage', `${path}: there is no such file`, ['check the name that was given by the flag']);
    return bytes;
  };
  return {
    readBytes,
    readText: async (path) => new TextDecoder().decode(await readBytes(path)),
    exists: async (path) => files.read(path) !== undefined || files.below(path).length > 0,
    isFolder: async (path) => files.below(path).length > 0,
    realPath: async (path) => path,
    writable: async () => true,
  };
}

/** `alive` throws if the process that asks is no more. */
export function sandboxMachine(files: SandboxFiles, alive: () => void): Machine {
  return {
    async installExecutable(from, sha256, to, trial, keepAs) {
      alive();
      const bytes = files.read(from);
      const actual = sha256Of(bytes ?? '');
      if (!bytes || actual !== sha256)
        throw new Fault('failed', `${from} has sha256 ${actual}, expected ${sha256}: nothing was installed`, ['fetch it again']);
      files.write(`${to}.new`, bytes, true);
      await trial(`${to}.new`).finally(() => files.remove(`${to}.new`));
      const old = files.read(to);
      if (keepAs !== undefined && old) files.write(keepAs, old);
      files.write(to, bytes, true);
    },
    async moveAside(file, keepAs) {
      alive();
      const bytes = files.read(file);
      if (!bytes) throw new Fault('failed', `${file} does not exist`, ['check the name']);
      files.write(keepAs, bytes);
      files.remove(file);
    },
    async writeNew(file, content) {
      alive();
      const there = files.text(file);
      if (there === content) return;
      if (there !== undefined) throw new Fault('failed', `${file} exists already, with other content`, ['name another file']);
      files.write(file, content);
    },
    async writeFolder(folder, content) {
      alive();
      if (files.below(folder).length > 0)
        throw new Fault('failed', `${folder} exists already: a backup is never written over`, ['name another folder']);
      for (const one of content) files.write(`${folder}/${one.name}`, one.content ?? (await one.packed.text()));
    },
  };
}
