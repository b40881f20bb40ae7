import type { Plugin } from 'esbuild';

/**
 * Takes what is imported of Node's modules from `process.getBuiltinModule`, name by name. A module that is imported runs every getter that it
 * exports, and each of those loads modules that nobody asked for: streams with `node:fs`, web cryptography with `node:crypto`.
 * Only for a build without splitting: with it, each of Node's modules would become one more file.
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

/** What is not used of it is left out: that is what the comments allow. */
function exportsOf(name: string): string {
  const module = process.getBuiltinModule(name) as object;
  const names = Object.getOwnPropertyNames(module).filter((one) => /^[A-Za-z_]\w*$/.test(one) && one !== 'default');
  return [
    `const all = /* @__PURE__ */ ${got(name)};`,
    'export default all;',
    'const take = (name) => all[name];',
    ...names.map((one, index) => `const v${index} = /* @__PURE__ */ take('${one}'); export { v${index} as ${one} };`),
  ].join('\n');
}
