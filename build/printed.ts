import { join, relative } from 'node:path';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { API, type Checker, type Project, type Type } from 'typescript/unstable/sync';

/**
 * What tsc lets pass: a command, or a sentence with commands, that becomes a string by itself (`${next}`, `String(step)`, `hints.join('; ')`).
 * It would be given no flags of the connection, and a line break could part it.
 */
const DATA = ['Command', 'Text', 'Again', 'Step'];

interface Use {
  readonly node: Node;
  /** Of what is a list, its items are printed. */
  readonly isList?: boolean;
}

/** Where something becomes a string. */
function usesIn(node: Node): readonly Use[] {
  const uses: Use[] = [];
  const visit = (one: Node): void => {
    uses.push(...usesOf(one));
    one.forEachChild(visit);
  };
  node.forEachChild(visit);
  return uses;
}

// The nodes of the unstable API are not told apart by their kind.
// biome-ignore lint/suspicious/noExplicitAny: see above
function usesOf(node: any): readonly Use[] {
  switch (node.kind) {
    case SyntaxKind.TemplateExpression:
      if (node.parent?.kind === SyntaxKind.TaggedTemplateExpression) return [];
      return node.templateSpans.map(({ expression }: { readonly expression: Node }) => ({ node: expression }));
    case SyntaxKind.BinaryExpression:
      return node.operatorToken.kind === SyntaxKind.PlusToken ? [{ node: node.left }, { node: node.right }] : [];
    case SyntaxKind.CallExpression:
      return usesOfCall(node);
    default:
      return [];
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function usesOfCall({ expression, arguments: given }: any): readonly Use[] {
  if (expression.text === 'String') return given.map((node: Node) => ({ node }));
  const method = expression.kind === SyntaxKind.PropertyAccessExpression ? expression.name.text : undefined;
  if (method === 'join') return [{ node: expression.expression, isList: true }];
  if (method === 'toString') return [{ node: expression.expression }];
  return given.some((one: { readonly text?: string }) => one.text === 'String') ? [{ node: expression.expression, isList: true }] : [];
}

function isData(checker: Checker, type: Type | undefined, { isList }: Use): boolean {
  if (type === undefined) return false;
  const names = new Set(checker.typeToString(type).match(/\w+/g));
  // An alias hides what it is made of.
  if (names.has('Said') || names.has('Suggestion') || names.has('Part')) return true;
  const isNamed = DATA.some((name) => names.has(name));
  return isNamed && (isList === true || !checker.isArrayLikeType(type));
}

/** Each place below a folder, as `src/cli/x.ts:12: …`. */
export function printedIn(root: string, folder: string): readonly string[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects();
    if (project === undefined) throw new Error('tsconfig.json is no project');
    const files = project.program.getSourceFileNames().filter((file) => !relative(join(root, folder), file).startsWith('..'));
    return files.flatMap((file) => printedInFile(project, file).map((found) => `${relative(root, file)}:${found}`));
  } finally {
    api.close();
  }
}

function printedInFile({ program, checker }: Project, file: string): readonly string[] {
  const source = program.getSourceFile(file);
  const uses = source ? usesIn(source) : [];
  if (source === undefined || uses.length === 0) return [];
  const types = checker.getTypeAtLocation(uses.map(({ node }) => node));
  return uses.flatMap((use, index) => {
    if (!isData(checker, types[index], use)) return [];
    const line = source.text.slice(0, use.node.end).split('\n').length;
    return [
      `${line}: ${source.text.slice(use.node.pos, use.node.end).trim()} becomes a string by itself: use its plain, or said of the palette`,
    ];
  });
}

if (import.meta.main) {
  const found = printedIn(join(import.meta.dirname, '..'), 'src');
  process.stdout.write(found.map((one) => `${one}\n`).join(''));
  process.exitCode = found.length > 0 ? 1 : 0;
}
