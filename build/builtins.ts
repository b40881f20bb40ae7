import type { Plugin } from 'esbuild';

/**
 * Takes imports of Node's modules from `process.getBuiltinModule`, by name: a usual import runs every getter, which loads streams with
 * `node:fs` and web cryptography with `node:crypto`. Only for a build without splitting, where it adds no files.
 */
export const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) => {
      if (kind === 'import-statement') return { path, namespace: 'builtin', sideEffects: false };
      return kind === 'dynamic-import' ? { path, namespace: 'whole-builtin' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: exportsOf(path), loader: 'js' }));
    // esbuild hands on the exports of CommonJS as getters.
    build.onLoad({ filter: /.*/, namespace: 'whole-builtin' }, ({ path }) => ({
      contents: `module.exports = ${got(path)};`,
      loader: 'js',
    }));
  },
};

const got = (name: string) => `process.getBuiltinModule('${name}')`;

/** Modules of functions alone, each loaded by the first call of one: most commands that import them call none. */
const LATE: ReadonlySet<string> = new Set(['node:fs/promises', 'node:timers/promises']);

/**
 * What every command uses of `node:fs/promises`, by the callbacks of `node:fs`. The module itself loads streams, watchers and the line
 * reader, which takes longer than all files of a small command.
 */
const BY_CALLBACK: ReadonlySet<string> = new Set(['access', 'chmod', 'lstat', 'mkdir', 'readFile', 'readdir', 'realpath', 'rm', 'stat']);

/** What is not used of it is left out: that is what the comments allow. */
function exportsOf(name: string): string {
  const module = process.getBuiltinModule(name) as Readonly<Record<string, unknown>>;
  const names = Object.getOwnPropertyNames(module).filter((one) => /^[A-Za-z_]\w*$/.test(one) && one !== 'default');
  const taken = (one: string) => {
    if (!LATE.has(name)) return `take('${one}')`;
    if (name === 'node:fs/promises' && one === 'constants') return `fs('constants')`;
    if (name === 'node:fs/promises' && BY_CALLBACK.has(one)) return `promised('${one}')`;
    return typeof module[one] === 'function' ? `late('${one}')` : `take('${one}')`;
  };
  return [
    `const take = (name) => ${got(name)}[name];`,
    `const late = (name) => (...given) => take(name)(...given);`,
    `const fs = (name) => ${got('node:fs')}[name];`,
    `const promised = (name) => (...given) => new Promise((resolve, reject) => {
      const call = fs(name);
      // \`realpath\` asks the system, as its twin does.
      (call.native ?? call)(...given, (error, value) => (error ? reject(error) : resolve(value)));
    });`,
    `export default /* @__PURE__ */ ${got(name)};`,
    ...names.map((one, index) => `const v${index} = /* @__PURE__ */ ${taken(one)}; export { v${index} as ${one} };`),
  ].join('\n');
}
