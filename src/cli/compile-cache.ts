/** Lets Node keep what it compiled, in a folder that only the user can write, as code is run from there; without one it is slower. */
export function keepCompiled(env: Readonly<Record<string, string | undefined>>): void {
  const base = env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`);
  // Below /proc no folder can be made, and Node tries for ever.
  if (!base || /^\/+proc\//.test(base)) return;
  try {
    // Imported, the modules would cost the answers that need no cache as well.
    const { mkdirSync, statSync } = process.getBuiltinModule('node:fs');
    const folder = `${base}/netsvc-upgrade/v8`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOwn) process.getBuiltinModule('node:module').enableCompileCache(folder);
  } catch {
    // A read-only or full disk is no reason not to work.
  }
}
